"""What is written, what it costs and what it is drawn from, against transformers and against sums by hand."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.cache import Cache
from core.generation import Sampler
from core.lab import subject
from core.lab import text as sentence
from core.topics.inference import cuts
from core.topics.inference import writing as wr

FIRST = sentence.of(sentence.read(sentence.SENTENCE))


@torch.no_grad()
def said(theirs, ids):
    return theirs(torch.tensor([ids])).logits[0, -1].softmax(-1).numpy()


def test_what_is_written_is_transformers_own(theirs):
    told = wr.write(wr.Demo(FIRST, n=12))
    whole = theirs.generate(torch.tensor([FIRST.ids]), max_new_tokens=12, do_sample=False)[0].tolist()
    assert list(told.whole.ids) == whole
    for i in (0, 5, 11):
        probs, step = said(theirs, whole[: 14 + i]), told.steps[i]
        assert [word.id for word in step.words] == np.argsort(-probs, kind="stable")[:8].tolist()
        assert step.written.p == pytest.approx(float(probs[whole[14 + i]]), rel=1e-3)
        assert (step.kept, step.drawn[0]) == (1, 1.0)


def test_a_fork_goes_on_from_another_word(theirs):
    told = wr.write(wr.Demo(FIRST, n=6))
    other = told.steps[2].words[1].id
    forked = wr.write(wr.Demo(FIRST, n=6, fork=(2, other)))
    expected = [*told.whole.ids[:16], other]
    for _step in range(3):
        expected.append(int(said(theirs, expected).argmax()))
    assert list(forked.whole.ids) == expected
    assert forked.steps[2].words[1].id == other
    assert wr.write(wr.Demo(FIRST, n=6, fork=(99, other))) == told, "a fork beyond the text is none"


def test_the_cuts_of_a_step_are_told(theirs):
    told = wr.write(wr.Demo(FIRST, Sampler(1.5, top_p=0.8), 3, 4))
    ids = list(FIRST.ids)
    for step in told.steps:
        hot = np.exp(np.log(said(theirs, ids).astype(np.float64)) / 1.5)
        ranked = np.sort(hot / hot.sum())[::-1]
        kept = int(np.searchsorted(ranked.cumsum(), 0.8) + 1)
        assert abs(step.kept - kept) <= 1
        assert step.drawn[0] == pytest.approx(ranked[0] / ranked[:kept].sum(), rel=1e-2)
        calm = np.sort(said(theirs, ids))[::-1]
        assert step.cut == pytest.approx(calm[step.kept :].sum(), abs=1e-4), (
            "as the model said it, before it was heated"
        )
        ids.append(step.written.id)


def test_no_more_is_written_than_the_model_reads():
    long = sentence.Text(FIRST.subject, FIRST.ids * 18, FIRST.tokens * 18)
    assert (wr.room(long), wr.room(FIRST)) == (4, 242)
    assert len(wr.write(wr.Demo(long, n=256)).whole.ids) <= 256


def test_the_work_is_what_torch_counts():
    """110 times fewer multiplications at 256 tokens."""
    model, ids = subject.model(), torch.arange(256) % 200
    with torch.no_grad():
        cache = Cache(model)
        cache.read(ids[:255])
        with FlopCounterMode(display=False) as one:
            model.predict(cache.read(ids[255:]))
        with FlopCounterMode(display=False) as every:
            model.predict(model.stream(ids))
    found = wr.work(model.config, (256,))
    softmax = 3 * 36 * 256
    counted = (one.get_total_flops(), every.get_total_flops())
    head = 2 * 288 * 32_000
    # the product with the table of words is a vector's here, which torch does not count
    assert found.cached[0] - softmax in (counted[0], counted[0] + head)
    assert found.whole[0] - 256 * softmax in (counted[1], counted[1] + head)
    assert found.whole[0] / found.cached[0] == pytest.approx(110, abs=0.5)
    assert found.cached[0] == pytest.approx(32.2e6, rel=2e-3)
    assert (wr.token_bytes(model.config), found.bytes[0]) == (13_824, 3_538_944)


def test_the_clock_takes_the_middle_of_paired_runs(monkeypatch):
    """A clock of our own: with the cache a step takes 2 ms, without it 12 ms, and the first pair is slow both ways."""
    spans = [0.5, 0.5, *[0.002, 0.012] * wr.PAIRS]
    readings = []
    for one, other in zip(spans[::2], spans[1::2], strict=True):
        readings += [0.0, one, 1.0, 1.0 + other]  # begin and end of a step, each way
    clock = iter(readings)
    monkeypatch.setattr(wr.time, "perf_counter", lambda: next(clock))
    found = wr.measure(sentence.FIRST, (8,))
    assert (found.cached[0], found.whole[0]) == (pytest.approx(2.0), pytest.approx(12.0))
    assert found.times == pytest.approx(6.0)


# ---- cuts ----


def by_hand(kind, ranked, value):
    """Tokens that are left of chances in falling order."""
    if kind == "top_k":
        return int(value)
    return (
        int(np.searchsorted(ranked.cumsum(), value) + 1)
        if kind == "top_p"
        else int((ranked >= value * ranked[0]).sum())
    )


def test_every_stop_of_every_cut_by_hand(theirs):
    for kind in cuts.KINDS:
        found = cuts.run(cuts.Demo(FIRST, 12, kind))
        p = said(theirs, FIRST.ids[:13]).astype(np.float64)
        order = np.argsort(-p, kind="stable")
        assert len(found.stops) >= 43
        for i in (0, 7, 20, 30):
            value = found.stops[i]
            if kind == "temperature":
                shares = p ** (1 / value) / (p ** (1 / value)).sum()
            else:
                n = by_hand(kind, p[order], value)
                assert found.kept[i] == n, (kind, value)
                shares = np.where(np.isin(np.arange(len(p)), order[:n]), p, 0)
                assert found.lost[i] == pytest.approx(1 - shares.sum(), abs=1e-4)
                shares /= shares.sum()
            np.testing.assert_allclose(found.after[i, :-1], shares[order[: cuts.SHOWN]], rtol=1e-3, atol=1e-5)
            assert found.after[i].sum() == pytest.approx(1, abs=1e-4)


def test_places_of_a_text(theirs):
    found = cuts.places(FIRST)
    for place in (1, 9, 12):
        p = said(theirs, FIRST.ids[: place + 1]).astype(np.float64)
        assert found.bits[place] == pytest.approx(float(-(p * np.log2(p)).sum()), rel=1e-3)
        assert found.nucleus[place] == np.searchsorted(np.sort(p)[::-1].cumsum(), 0.9) + 1
    assert found.widest == int(found.bits[1:].argmax()) + 1
    assert cuts.Places(np.array([9.0, 1.0, 3.0]), np.ones(3)).widest == 2
    assert cuts.Places(np.array([9.0]), np.ones(1)).widest == 0  # nothing but the opening sign


@pytest.mark.parametrize(("words", "greedy"), [("The dog", -22.04), ("One day, a cat", -11.10)])
def test_greedy_is_not_the_likeliest(theirs, words, greedy):
    text = sentence.of(sentence.read(words))
    found = cuts.search(text, 8)
    assert found.greedy.score == pytest.approx(greedy, abs=0.01)
    assert found.beam.score > found.greedy.score + 2
    theirs_say = theirs.generate(
        torch.tensor([text.ids]), max_new_tokens=cuts.WRITTEN, num_beams=8, do_sample=False, length_penalty=0.0,
        eos_token_id=None, pad_token_id=0, return_dict_in_generate=True, output_scores=True)  # fmt: skip
    assert found.beam.score == pytest.approx(float(theirs_say.sequences_scores[0]), rel=1e-3)


@pytest.mark.parametrize("kind", cuts.KINDS)
def test_at_the_neutral_stop_the_chances_are_the_model_s_own(kind):
    logits = torch.randn(200, generator=torch.Generator().manual_seed(3))
    stop = int(cuts.neutral(kind)) if kind == "top_k" else cuts.neutral(kind)
    found = Sampler(**{kind: stop}).shares(logits)
    torch.testing.assert_close(found, logits.softmax(-1))


def test_a_cut_goes_from_one_word_to_all_of_them():
    """Temperatures from a quarter to four; the best one to the whole vocabulary; all of the chance, or none left out."""
    stops = {kind: cuts.stops(kind, 32_000) for kind in cuts.KINDS}
    np.testing.assert_allclose(stops["temperature"], np.geomspace(1 / 4, 4, 49), rtol=2e-3)
    assert (stops["top_k"][:19], stops["top_k"][-1]) == (tuple(range(1, 20)), 32_000)
    assert (stops["top_p"][0], stops["top_p"][-4:]) == (0.02, (0.99, 0.995, 0.999, 1.0))
    assert (stops["min_p"][0], stops["min_p"][-2:]) == (1.0, (0.001, 0.0))
    for kind, found in stops.items():
        assert list(found) == sorted(set(found), reverse=kind == "min_p"), kind
        assert len(found) >= 43, kind
        assert kind == "top_k" or cuts.neutral(kind) in found
