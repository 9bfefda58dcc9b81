"""Every way to write against transformers' own generate, on tiny random models of five families; drafts by hand."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import LogitsProcessorList
from transformers.generation import logits_process as lp

from core import generation as gen
from core.model import Decoder
from core.trace import Trace

IDS = torch.tensor([3, 5, 7, 11])
FIVE = pytest.mark.parametrize("name", ["gpt2", "llama, GQA, biases, base", "mistral", "qwen2", "qwen3"])
SETTINGS = [
    dict(temperature=0.6),
    dict(top_k=5),
    dict(top_p=0.7),
    dict(min_p=0.2),
    dict(repetition=1.7),
    dict(temperature=1.4, top_k=20, top_p=0.8, min_p=0.05, repetition=1.3),
    dict(top_p=0.01),
    dict(top_k=1000),
]


def processors(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, repetition=1.0):
    """transformers' own, in the order in which its generate puts them."""
    made = [lp.RepetitionPenaltyLogitsProcessor(repetition), lp.TemperatureLogitsWarper(temperature)]
    made += [lp.TopKLogitsWarper(top_k)] if top_k else []
    made += [lp.TopPLogitsWarper(top_p)] if top_p < 1 else []
    return LogitsProcessorList(made + ([lp.MinPLogitsWarper(min_p)] if min_p else []))


@pytest.mark.parametrize("how", SETTINGS, ids=str)
def test_the_cuts_are_transformers_own(how):
    logits = torch.randn(200, generator=torch.Generator().manual_seed(1)) * 3
    before = torch.tensor([4, 4, 9, 150])
    theirs = processors(**how)(before[None], logits[None])[0].softmax(-1)
    ours = gen.Sampler(**how).shares(logits, before)
    assert torch.equal(ours > 0, theirs > 0)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


@FIVE
@pytest.mark.parametrize("how", SETTINGS[4:6], ids=str)
def test_a_draw_is_transformers_own(pair, name, how):
    """The same generator state, the same logits processors, token for token."""
    model, text = pair(name), IDS[None]
    words = dict(
        temperature="temperature", top_k="top_k", top_p="top_p", min_p="min_p", repetition="repetition_penalty"
    )
    options = dict(top_k=0, top_p=1.0) | {words[key]: value for key, value in how.items()}
    torch.manual_seed(5)
    theirs = model.theirs.generate(text, max_new_tokens=8, do_sample=True, eos_token_id=None, pad_token_id=0, **options)
    assert list(gen.sample(model.ours, IDS, 8, seed=5, **how).ids) == theirs[0, 4:].tolist()


@FIVE
def test_greedy_is_transformers_own(pair, name):
    theirs = pair(name).theirs.generate(IDS[None], max_new_tokens=9, do_sample=False, eos_token_id=None, pad_token_id=0)
    assert list(gen.greedy(pair(name).ours, IDS, 9).ids) == theirs[0, 4:].tolist()


@FIVE
@pytest.mark.parametrize("width", [2, 5])
def test_beams_are_transformers_own(pair, name, width):
    model = pair(name)
    theirs = model.theirs.generate(
        IDS[None], max_new_tokens=6, num_beams=width, num_return_sequences=width, do_sample=False, eos_token_id=None,
        pad_token_id=0, length_penalty=0.0, return_dict_in_generate=True, output_scores=True)  # fmt: skip
    ours = gen.beams(model.ours, IDS, 6, width=width)
    assert [list(beam.ids) for beam in ours] == theirs.sequences[:, 4:].tolist()
    np.testing.assert_allclose([beam.score for beam in ours], theirs.sequences_scores, rtol=1e-4)


def test_a_beam_as_wide_as_the_vocabulary_finds_the_likeliest_text_of_two(pair):
    """All 61 × 61 continuations, tried one by one."""
    model = pair("llama").ours
    with torch.no_grad():
        first = model(IDS)[-1].log_softmax(-1)
        rest = torch.stack([model(torch.cat([IDS, torch.tensor([i])]))[-1] for i in range(61)]).log_softmax(-1)
    total = first[:, None] + rest
    best = divmod(int(total.argmax()), 61)
    (found, *_others) = gen.beams(model, IDS, 2, width=61)
    assert found.ids == best
    assert found.score == pytest.approx(float(total.max()), rel=1e-5)
    assert gen.beams(model, IDS, 6, width=1)[0].ids == gen.greedy(model, IDS, 6).ids


def test_a_beam_that_is_over_is_kept_as_it_is(pair):
    model = pair("qwen3").ours
    end = gen.greedy(model, IDS, 1).ids[0]
    found = gen.beams(model, IDS, 5, width=3, ends=(end,))
    assert (end,) in [beam.ids for beam in found]
    assert all(end not in beam.ids[:-1] for beam in found)
    chance = float(model(IDS)[-1].log_softmax(-1)[end])
    assert next(beam.score for beam in found if beam.ids == (end,)) == pytest.approx(chance, rel=1e-5)


def followed_plainly(model, text, n, width, ends):
    """The beams that `beams` promises: every text that is not over goes on, all n tokens long, nothing stops early."""
    live, over = [((), 0.0)], []
    for _ in range(n):
        more = [
            ((*ids, i), score + float(p))
            for ids, score in live
            for i, p in enumerate(model(torch.tensor([*text, *ids]))[-1].log_softmax(-1))
        ]
        more.sort(key=lambda one: -one[1])
        more = more[: width * (1 + len(ends))]
        over += [one for one in more if one[0][-1] in ends]
        live = [one for one in more if one[0][-1] not in ends][:width]
    return sorted([*over, *live], key=lambda one: -one[1])[:width]


@pytest.mark.parametrize("width", [2, 3])
def test_a_search_stops_no_sooner_than_it_may(pair, width):
    """A likely token ends a text: the last of the texts that are over decides whether others could still win."""
    model = pair("qwen3").ours
    for start in range(6):
        text = [start, start + 5, start + 9]
        with torch.inference_mode():
            ends = tuple(model(torch.tensor(text))[-1].topk(3).indices.tolist()[1:])
            wanted = followed_plainly(model, text, 4, width, ends)
        found = gen.beams(model, torch.tensor(text), 4, width=width, ends=ends)
        assert [beam.ids for beam in found] == [ids for ids, _ in wanted]
        assert [beam.score for beam in found] == pytest.approx([score for _, score in wanted], rel=1e-4)


def test_every_step_is_recorded(pair):
    model, trace = pair("qwen3").ours, Trace()
    written = gen.sample(model, IDS, 3, seed=2, top_k=4, temperature=1.5, trace=trace)
    text = IDS.tolist()
    for i, id in enumerate(written.ids):
        assert int(trace[f"step{i}.drawn"].value) == id
        said = model(torch.tensor(text))[-1]
        np.testing.assert_allclose(trace[f"step{i}.next_logits"].value, said, atol=1e-4)
        from_them = trace[f"step{i}.drawn_from"].value
        assert set(np.flatnonzero(from_them)) == set(said.topk(4).indices.tolist())
        assert trace[f"step{i}.block2.kept_keys"].value.shape == (2, len(text), 16)
        text.append(id)


@pytest.mark.parametrize("bad", [dict(temperature=-1), dict(top_p=0), dict(top_p=1.1), dict(min_p=2), dict(top_k=-1),
                                 dict(repetition=0)], ids=str)  # fmt: skip
def test_numbers_that_mean_nothing_are_refused(bad):
    with pytest.raises(ValueError):  # noqa: PT011
        gen.Sampler(**bad)


# ---- drafts ----


def drafting(chances):
    return lambda ids: chances


@FIVE
@pytest.mark.parametrize("ahead", [1, 2, 4])
def test_a_drafted_text_is_the_greedy_text(pair, name, ahead):
    model = pair(name).ours
    plain = gen.greedy(model, IDS, 12)
    poor = torch.randn(61, generator=torch.Generator().manual_seed(3)).softmax(-1)
    perfect = lambda ids: model(ids)[-1].softmax(-1)  # noqa: E731
    for draft, taken in ((drafting(poor), None), (perfect, ahead)):
        found = gen.speculate(model, IDS, 12, draft, ahead)
        assert found.ids == plain.ids
        assert len(found.ids) == sum(found.taken) + found.passes
        assert taken is None or found.taken == found.drafted
    assert found.passes == math.ceil(12 / (ahead + 1))


@FIVE
@pytest.mark.parametrize("blocks", [1, 2])
def test_a_drafter_with_a_cache_says_what_its_blocks_say_of_the_whole_text(pair, name, blocks):
    """Whatever it was asked before: a longer text, a shorter one, another one."""
    model = pair(name).ours
    draft, texts = gen.EarlyExit(model, blocks), [IDS, torch.cat([IDS, torch.tensor([9, 2, 2])]), IDS[:2], IDS, IDS + 1]
    longer = torch.cat([IDS.repeat(3), torch.tensor([1])])
    for ids in [*texts, longer, longer[:-4], longer[:-2]]:
        with torch.no_grad():
            whole = model.predict(model.stream(ids, until=blocks)).softmax(-1)
        torch.testing.assert_close(draft(ids), whole, atol=1e-6, rtol=1e-5)


def test_a_drafter_goes_back_further_than_its_window_kept(pair):
    """What a window has let go of is read again, from the first token on."""
    ours = pair("mistral, window").ours
    model = Decoder(replace(ours.config, window=4)).eval()
    model.load_state_dict(ours.state_dict())
    draft, longer = gen.EarlyExit(model, 2), torch.cat([IDS.repeat(3), torch.tensor([1])])
    for ids in [longer, IDS, longer, longer[:-4], IDS[:3]]:
        with torch.no_grad():
            whole = model.predict(model.stream(ids, until=2)).softmax(-1)
        torch.testing.assert_close(draft(ids), whole, atol=1e-6, rtol=1e-5)


def test_a_drafter_reads_each_token_once(pair, monkeypatch):
    model, read = pair("qwen3").ours, []
    draft = gen.EarlyExit(model, 2)
    monkeypatch.setattr(gen, "Cache", None)  # it keeps the one it has
    original = draft.cache.read
    draft.cache.read = lambda ids: (read.append(len(ids)), original(ids))[1]
    for ids in (
        IDS,
        torch.cat([IDS, torch.tensor([9])]),
        torch.cat([IDS, torch.tensor([9, 8])]),
        torch.cat([IDS, torch.tensor([5])]),
    ):
        draft(ids)
    assert read == [4, 1, 1, 1]


def test_taking_and_replacing_together_give_the_models_own_chances():
    dice = torch.Generator().manual_seed(0)
    for _once in range(20):
        p, q = (torch.randn(2, 50, generator=dice, dtype=torch.float64) * 2).softmax(-1)
        taken = torch.minimum(p, q)
        whole = taken + (1 - taken.sum()) * gen.left_over(p, q)
        assert float((whole - p).abs().max()) < 1e-15
    assert torch.equal(gen.left_over(p, p), p)


@pytest.mark.long
def test_drafted_draws_fall_as_the_models_own(pair):
    """Two tokens, drawn 3,000 times with a draft that is wrong: as often as the model itself says."""
    model, n = pair("gpt2").ours, 3000
    draft = torch.randn(61, generator=torch.Generator().manual_seed(4)).mul(2).softmax(-1)
    sampler = gen.Sampler(temperature=0.7, top_k=3)
    counts: dict[tuple[int, int], int] = {}
    for seed in range(n):
        ids = gen.speculate(model, IDS, 2, drafting(draft), 1, sampler=sampler, seed=seed).ids
        counts[ids] = counts.get(ids, 0) + 1
    with torch.no_grad():
        first = sampler.shares(model(IDS)[-1])
        for a, b in itertools.product(first.nonzero()[:, 0].tolist(), range(61)):
            second = sampler.shares(model(torch.cat([IDS, torch.tensor([a])]))[-1])
            p = float(first[a] * second[b])
            assert abs(counts.pop((a, b), 0) - n * p) <= 4 * math.sqrt(n * p * (1 - p)) + 1e-9
    assert not counts
