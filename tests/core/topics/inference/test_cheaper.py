"""Fewer bits and drafted tokens, by hand and against transformers."""

import math

import numpy as np
import pytest
import torch

from core.lab import subject
from core.lab import text as sentence
from core.topics.inference import bank, cuts, drafts, many, roofline, sink, squeezed
from core.whatif import WhatIf

FIRST = sentence.of(sentence.read(sentence.SENTENCE))


def test_a_vector_in_two_bits_by_hand():
    x = torch.tensor([[0.0, 1.0, 2.4, 3.0, 1.6]])
    assert squeezed.rounded(x, 2).tolist() == [[0.0, 1.0, 2.0, 3.0, 2.0]]
    assert squeezed.rounded(x, 1).tolist() == [[0.0, 0.0, 3.0, 3.0, 3.0]]
    assert torch.equal(squeezed.rounded(x, 16), x)
    assert torch.equal(squeezed.rounded(torch.ones(2, 3), 3), torch.ones(2, 3)), "nothing to tell apart"
    one = torch.randn(7, 48, generator=torch.Generator().manual_seed(0))
    for bits in (8, 3):
        assert all(len(set(row)) <= 2**bits for row in squeezed.rounded(one, bits).tolist())


@pytest.mark.parametrize(("side", "bits"), [("both", 16), ("keys", 2), ("values", 2)])
def test_the_recorded_losses_are_measured_again(side, bits):
    recorded = squeezed.losses()[squeezed.SIDES.index(side), squeezed.BITS.index(bits)]
    assert squeezed.loss(side, bits) == pytest.approx(float(recorded), abs=2e-3)


def test_what_the_page_tells_of_bits():
    """Four bits cost next to nothing; at two, values bear it better than keys; at one it is the other way round."""
    table = {
        side: dict(zip(squeezed.BITS, row, strict=True))
        for side, row in zip(squeezed.SIDES, squeezed.losses(), strict=True)
    }
    assert table["both"][16] == pytest.approx(1.906, abs=2e-3)
    assert table["both"][4] - table["both"][16] < 0.03
    assert table["values"][2] < table["keys"][2] < table["both"][2]
    assert table["keys"][1] < table["values"][1] < table["both"][1]


@torch.no_grad()
def test_a_squeezed_cache_says_what_transformers_says_with_it(theirs):
    """Keys and values of every layer rounded by hand, a layer's before the next one is run: with a hook on both maps."""
    from transformers.models.llama import modeling_llama

    found, kept = squeezed.said(FIRST), modeling_llama.eager_attention_forward

    def rounding(module, query, key, value, *rest, **more):
        def by_hand(x):
            low, high = x.numpy().min(-1, keepdims=True), x.numpy().max(-1, keepdims=True)
            return torch.from_numpy(np.rint((x.numpy() - low) / ((high - low) / 7)) * ((high - low) / 7) + low)

        return kept(module, query, by_hand(key), by_hand(value), *rest, **more)

    modeling_llama.eager_attention_forward = rounding
    try:
        p = theirs(torch.tensor([FIRST.ids])).logits[0, -1].softmax(-1)
    finally:
        modeling_llama.eager_attention_forward = kept
    expected = p[[word.id for word in found.words]]
    np.testing.assert_allclose(found.p[0, squeezed.BITS.index(3)], expected, atol=1e-3)


@pytest.mark.long
def test_a_drafted_text_is_the_models_own(theirs):
    found = drafts.run(drafts.Demo(FIRST, 5))
    whole = theirs.generate(torch.tensor([FIRST.ids]), max_new_tokens=drafts.WRITTEN, do_sample=False)[0, 14:].tolist()
    assert drafts.plain(FIRST) == tuple(whole)
    for one in found:
        assert one.ids == tuple(whole)
        assert sum(one.drafted) == one.taken
        assert one.passes == drafts.WRITTEN - one.taken
        assert one.passes >= math.ceil(drafts.WRITTEN / (one.ahead + 1))
    assert found[0].passes == drafts.WRITTEN > found[2].passes


def test_what_a_draft_reads_of_the_weights(theirs):
    """Counted in the model's own file: five of six blocks and the head, which is the table of tokens."""
    weights = {name: p.numel() for name, p in theirs.state_dict().items()}
    of = lambda *parts: sum(n for name, n in weights.items() if name.startswith(parts))  # noqa: E731
    head = of("lm_head", "model.norm")
    found = drafts.read(drafts.Demo(FIRST, 5))
    assert found.head == pytest.approx(head / (head + of("model.layers")))
    assert found.draft == pytest.approx(1 - of("model.layers.5.") / (head + of("model.layers")))
    assert found.head > 0.6, "the page says that it is most of the work"


def test_keys_are_rounded_as_the_cache_keeps_them(any_model):
    """In every family the edited tensors are there, and one bit leaves two levels a row in what is multiplied."""
    text = sentence.exactly("the dog ran to the", str(any_model.folder))
    seen = {}
    watched = [("block0.k_rot", "k_rot"), ("block0.k_norm", "k_norm"), ("block0.k", "k"), ("block0.v", "v")]
    watch = [(place, lambda x, name=name: seen.setdefault(name, x)) for place, name in watched]
    edits = squeezed.edits(text.subject, 1, 1)
    any_model.ours(torch.tensor(text.ids), trace=WhatIf([*edits, *watch]))
    key = next(name for name in ("k_rot", "k_norm", "k") if name in seen)
    for name in (key, "v"):
        assert all(len(set(row)) <= 2 for row in seen[name].flatten(0, -2).tolist()), name


# ---- cuts, roofs, sinks and drafts, by NumPy and by clocks wound by hand ----


def test_the_stops_of_every_cut():
    """From what cuts most to what cuts nothing; 49 of them, short enough for a link."""
    heat, many, nucleus, least = (cuts.stops(kind, 32_000) for kind in ("temperature", "top_k", "top_p", "min_p"))
    np.testing.assert_allclose(heat, np.geomspace(1 / 4, 4, 49), atol=5.1e-4)
    assert many[:20] == tuple(range(1, 21))
    assert many[-1] == 32_000
    np.testing.assert_allclose(many[19:], np.geomspace(20, 32_000, 30), rtol=0.03)
    assert nucleus[-4:] == (0.99, 0.995, 0.999, 1.0)
    assert set(nucleus[:-4]) == {*np.linspace(0.02, 0.98, 44).round(3).tolist(), 0.9}
    assert list(nucleus) == sorted(nucleus)
    np.testing.assert_allclose(least[:-1], np.geomspace(1, 0.001, 48), atol=5.1e-5)
    assert least[-1] == 0
    assert (len(heat), len(many), len(least)) == (49, 49, 49)
    for stops, digits in ((heat, 3), (nucleus, 3), (least, 4)):
        assert all(round(stop, digits) == stop for stop in stops)
        assert any(round(stop, digits - 1) != stop for stop in stops)
    assert {kind: cuts.neutral(kind) for kind in cuts.KINDS} == dict(top_p=1, temperature=1, top_k=0, min_p=0)


@torch.no_grad()
def test_how_open_every_place_is(theirs):
    p = theirs(torch.tensor([FIRST.ids])).logits[0].softmax(-1).double().numpy()
    found = cuts.places(FIRST)
    np.testing.assert_allclose(found.bits, -(p * np.log2(np.where(p > 0, p, 1))).sum(1), atol=1e-3)
    sums = np.sort(p, 1)[:, ::-1].cumsum(1)
    np.testing.assert_array_equal(found.nucleus, (sums < 0.9).sum(1) + 1)
    assert found.widest == 1 + int(found.bits[1:].argmax())
    assert cuts.Places(np.array([9.0, 1.0, 2.0]), np.zeros(3)).widest == 2, "what opens the text aside"
    assert cuts.Places(np.array([9.0]), np.zeros(1)).widest == 0
    for place in (0, 5, 13):
        np.testing.assert_allclose(cuts.chances(FIRST, place), p[place], atol=1e-5)


@pytest.mark.parametrize("kind", cuts.KINDS)
def test_a_cut_at_every_stop_by_numpy(kind):
    place = 4
    p = cuts.chances(FIRST, place).astype(float)
    found = cuts.run(cuts.Demo(FIRST, place, kind))
    order = np.argsort(-p)
    assert [word.id for word in found.words] == order[:10].tolist()
    np.testing.assert_allclose(found.before, [*p[order[:10]], 1 - p[order[:10]].sum()], atol=1e-5)
    assert found.stops == cuts.stops(kind, 32_000)
    for at in (0, 3, 20, 30, 48):
        value, q = found.stops[at], p
        if kind == "temperature":
            q = p ** (1 / value) / (p ** (1 / value)).sum()
            keep = np.ones(len(p), bool)
        elif kind == "top_k":
            keep = np.isin(np.arange(len(p)), order[: int(value)])
        elif kind == "top_p":
            keep = np.isin(np.arange(len(p)), order[: int((p[order].cumsum() < value - 1e-7).sum()) + 1])
        else:
            keep = p >= value * p.max()
        if kind != "temperature" and value != cuts.neutral(kind):
            assert abs(found.kept[at] - keep.sum()) <= 0.002 * keep.sum()
        drawn = np.where(keep, q, 0) / q[keep].sum()
        np.testing.assert_allclose(found.after[at, :10], drawn[order[:10]], atol=2e-5)
        assert found.after[at].sum() == pytest.approx(1, abs=1e-5)
        assert found.lost[at] == pytest.approx(p[~keep].sum(), abs=2e-4)
    few = found.kept <= 10
    assert (found.after[few, -1] == 0).all(), "nobody else is left"


def test_the_likeliest_text_is_searched_for(theirs):
    found = cuts.search(FIRST, 3)
    ids = theirs.generate(torch.tensor([FIRST.ids]), max_new_tokens=24, do_sample=False, eos_token_id=None)[0]
    with torch.no_grad():
        logs = theirs(ids[None, :-1]).logits[0, 13:].log_softmax(-1)
    assert found.greedy.score == pytest.approx(float(logs.gather(-1, ids[14:, None]).sum()), abs=1e-3)
    assert found.greedy.text == cuts.written(tuple(ids[14:].tolist()), FIRST.subject)
    assert found.beam.score >= found.greedy.score - 1e-4
    assert found.times == pytest.approx(math.exp(found.beam.score - found.greedy.score))
    assert cuts.Search(cuts.Line("", -2000.0), cuts.Line("", -1.0)).times == pytest.approx(math.exp(700))
    full = sentence.Text(FIRST.subject, FIRST.ids[:1] * 256, FIRST.tokens[:1] * 256)
    assert cuts.search(full, 2).greedy == cuts.Line("", 0.0)


def test_a_model_without_words_has_numbers(tmp_path):
    assert cuts.written((5, 77), str(tmp_path)) == "#5 #77"


@pytest.mark.parametrize(
    ("way", "rows"),
    [
        ("window", ["10000", "11000", "11100", "01110", "00111"]),
        ("first", ["10000", "11000", "11100", "10110", "10011"]),
        ("streaming", ["10000", "11000", "11100", "10110", "10011"]),
    ],
)
def test_what_is_still_in_a_cache_of_three(way, rows):
    assert ["".join(str(int(x)) for x in row) for row in sink.sight(way, 3, 5)] == rows
    assert len(sink.edits(way, 3)) == (4 if way == "streaming" else 1)


def test_sinks_are_measured_past_what_was_read_in_training():
    assert (sink.START, sink.STOP, sink.stories().shape) == (256, 640, (4, 641))
    assert sink.losses().shape == (3, 6)


def test_small_vectors_are_rounded_as_large_ones_are():
    x = torch.randn(3, 8, generator=torch.Generator().manual_seed(0))
    for bits in (1, 4, 8):
        torch.testing.assert_close(
            squeezed.rounded(1e-3 * x, bits), 1e-3 * squeezed.rounded(x, bits), rtol=1e-3, atol=1e-7
        )
    both = squeezed.rounded(x.expand(2, 3, 8), torch.tensor([16, 2])[:, None, None])
    assert torch.equal(both[0], x)
    torch.testing.assert_close(both[1], squeezed.rounded(x, 2))
    assert torch.equal(squeezed.rounded(x, 17), x)


def test_bits_of_each_side():
    assert [squeezed.sides(side, 3) for side in squeezed.SIDES] == [(3, 3), (3, 16), (16, 3)]


def test_words_under_few_bits_are_the_answer_and_what_comes_up():
    found = squeezed.said(FIRST)
    assert found.p.shape == (3, 8, 6)
    assert found.words[0].token == "Amy"
    np.testing.assert_allclose(found.p[:, 0], found.p[[0, 0, 0], 0], atol=1e-5)
    np.testing.assert_allclose(found.p[0, 0], [word.p for word in found.words], atol=1e-5)
    most = found.p.max((0, 1))
    assert (np.diff(most[1:]) <= 1e-6).all()
    assert squeezed.losses().shape == (3, 8)


def test_of_several_runs_the_middle_one_counts_and_the_first_warms_up(monkeypatch):
    """Runs of 100, 1, 5 and 3 seconds: the first does not count."""
    clock = iter((0.0, 100.0, 200.0, 201.0, 300.0, 305.0, 400.0, 403.0))
    monkeypatch.setattr(roofline.time, "perf_counter", lambda: next(clock))
    assert roofline._middle(lambda: None, 3) == 3.0
    assert next(clock, None) is None


def test_a_roof_is_a_product_and_a_copy(monkeypatch):
    """1024³ multiplications and additions in four seconds; 16 million numbers read and written in two."""
    seconds, done = iter((4.0, 2.0)), []
    monkeypatch.setattr(roofline, "_middle", lambda act: done.append(act()) or next(seconds))
    found = roofline.roof()
    assert found == roofline.Roof(2 * 1024**3 / 4, 2 * 4 * 2**24 / 2)
    assert done[0].shape == (1024, 1024)
    assert float(done[0][0, 0]) == 1024
    assert float(done[1][-1]) == 1


def test_gpus_have_the_roofs_of_their_data_sheets():
    found = roofline.gpus()
    assert set(found) == {"RTX 4090", "A100 80 GB", "H100 80 GB", "H200 141 GB"}
    assert found["H100 80 GB"] == roofline.Roof(989e12, 3.35e12)
    measured = roofline.Measured(
        found["H100 80 GB"], tuple(roofline.Point(k, 1, 1, 1, 1) for k in ("read", "write", "read"))
    )
    assert (len(measured.of("read")), len(measured.of("write"))) == (2, 1)


def test_what_is_written_by_many_reads_every_cache():
    config = subject.config()
    read, write = (roofline.spent(config, kind, 8) for kind in ("read", "write"))
    weights = 4 * (15_191_712 if config.tied else 0)
    cell = 2 * 6 * 288 * 4  # bytes of one token's keys and values in all layers
    assert read[1] == pytest.approx(weights + 8 * cell)
    assert write[1] == pytest.approx(weights + 8 * 129 * cell)
    one = 2 * (15_191_712 - 13 * 288) + 6 * 129 * (4 * 288 + 3 * 6)  # two a weight; scores, mixture and softmax
    assert write[0] == pytest.approx(8 * one, rel=0.01)


def test_a_draft_is_told_token_by_token():
    found = drafts.run(drafts.Demo(FIRST, 5))
    assert [one.ahead for one in found] == [0, 1, 2, 3, 4, 6, 8]
    for one in found:
        assert len(one.tokens) == len(one.ids) == len(one.drafted) == 16
        assert one.tokens == tuple(sentence.called(i) for i in one.ids)
        assert one.proposed <= one.ahead * one.passes
        assert one.taken <= one.proposed
    assert (found[0].proposed, found[0].taken, any(found[0].drafted)) == (0, 0, False)


def test_a_table_drafts_what_followed():
    draft, table = drafts.drafter(drafts.Demo(FIRST, drafts.TABLE)), bank.following()
    for last in (FIRST.ids[-1], FIRST.ids[3]):
        said = draft(torch.tensor([7, last]))
        assert (float(said.sum()), int(said.argmax())) == (1.0, table[last])


def test_drafts_are_timed_in_turns(monkeypatch):
    """Seven ways; the first round of 50 seconds each does not count, then 1, 9 and 4: four seconds."""
    rounds = [50.0, 1.0, 9.0, 4.0]
    ticks = iter([tick for taken in rounds for _way in drafts.AHEAD for tick in (0.0, taken)])
    wrote = []
    monkeypatch.setattr(drafts.time, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(drafts.generation, "speculate", lambda _m, _ids, n, _draft, ahead: wrote.append((n, ahead)))
    assert drafts.times(drafts.Demo(FIRST, 5)).taken == (4000.0,) * 7
    assert wrote == [(16, ahead) for _round in rounds for ahead in drafts.AHEAD]


def test_names_change_places_in_sentences_of_one_make():
    some = list(many.texts(many.SENTENCES[0], seed=0, pairs=200))
    names = [name for name in many.NAMES if len(sentence.exactly(name).ids) == 2]
    assert len(some) == min(200, len(names) * (len(names) - 1))
    for old, new in some[:20]:
        (place,) = [i for i, (a, b) in enumerate(zip(old.ids, new.ids, strict=True)) if a != b]
        assert old.tokens[place] == old.tokens[1], "who comes first gives"
        assert new.tokens[place] == new.tokens[3]
    assert len(list(many.texts(many.SENTENCES[0]))) == 60
    first = [next(many.texts(many.SENTENCES[0], seed=seed))[0].ids for seed in (0, 0, 1)]
    assert first[0] == first[1] != first[2]


def test_the_bank_draws_as_the_model_says():
    """A greedy draw is transformers' own; every draw is as likely as the untouched model holds it."""
    ids, nats = bank.drawn("greedy", 2, 6)
    assert ids.shape == nats.shape == (2, 6)
    np.testing.assert_array_equal(ids[0], bank.bank("greedy").ids[0, :6])
    np.testing.assert_array_equal(ids[0], ids[1])
    ids, nats = bank.drawn("t15", 3, 5, seed=4)
    start = sentence.exactly(bank.PROMPT).ids
    for row, said in zip(ids, nats, strict=True):
        whole = torch.tensor([*start, *row.tolist()])
        with torch.no_grad():
            logs = subject.model()(whole[:-1])[len(start) - 1 :].log_softmax(-1)
        np.testing.assert_allclose(said, logs.gather(-1, row[:, None])[:, 0], atol=1e-3)
    assert torch.equal(ids, bank.drawn("t15", 3, 5, seed=4)[0])
    assert not torch.equal(ids, bank.drawn("t15", 3, 5)[0])
    assert bank.words("Two dogs, 3 cats and a bi") == ["two", "dogs", "cats", "and", "a"]
    assert bank.sample_tokens() > 100_000
    assert bank.bank("t10").mean == pytest.approx(float(bank.bank("t10").nats.mean()))
