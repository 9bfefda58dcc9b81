"""The bank of continuations against transformers and against counts by hand; pairs of names; a cache of fixed size."""

import re

import numpy as np
import pytest
import torch

from core.lab import subject
from core.lab import text as sentence
from core.lab.text import Cannot
from core.topics.inference import bank, drafts, many, roofline, sink
from core.whatif import WhatIf

FIRST = sentence.of(sentence.read(sentence.SENTENCE))
START = list(sentence.exactly(bank.PROMPT).ids)


def shares(logits, way):
    """What a way to draw leaves of one token's chances, by NumPy."""
    how = bank.WAYS[way]
    p = np.exp((logits - logits.max()).astype(np.float64) / how.temperature)
    p /= p.sum()
    order = np.argsort(-p, kind="stable")
    keep = np.ones(len(p), bool)
    if how.top_k:
        keep[order[how.top_k :]] = False
    if how.top_p < 1:
        keep[order[np.searchsorted(p[order].cumsum(), how.top_p) + 1 :]] = False
    if how.min_p:
        keep &= p >= how.min_p * p.max()
    return np.where(keep, p, 0) / p[keep].sum()


@torch.no_grad()
@pytest.mark.parametrize("way", ["t03", "t10", "t20", "p09", "k40", "m01", "t15p09"])
def test_what_is_recorded_is_as_likely_as_transformers_say_and_could_be_drawn(theirs, way):
    found = bank.bank(way)
    assert found.ids.shape == (bank.TEXTS, bank.LENGTH)
    assert (np.diff(found.nats) <= 0).all(), "the likeliest first"
    for row in (0, 99, 199):
        logits = theirs(torch.tensor([[*START, *found.ids[row]]])).logits[0, len(START) - 1 : -1]
        nats = logits.log_softmax(-1).numpy()[np.arange(bank.LENGTH), found.ids[row]]
        assert nats.mean() == pytest.approx(float(found.nats[row]), abs=5e-3)
        for at in (0, 7, 31):
            assert shares(logits[at].numpy(), way)[found.ids[row, at]] > 0


@torch.no_grad()
def test_the_first_tokens_come_as_often_as_their_chances(theirs):
    """200 draws of the first token at temperature 1, against what transformers say: a chi-square by hand."""
    p = theirs(torch.tensor([START])).logits[0, -1].softmax(-1).numpy()
    drawn = np.bincount(bank.bank("t10").ids[:, 0], minlength=len(p))
    likely = np.argsort(-p)[:8]
    expected = np.append(p[likely], 1 - p[likely].sum()) * bank.TEXTS
    seen = np.append(drawn[likely], bank.TEXTS - drawn[likely].sum())
    assert ((seen - expected) ** 2 / expected).sum() < 27, "8 degrees of freedom: one in a thousand is above 26"


def test_greedy_is_one_text_and_transformers_own(theirs):
    found = bank.bank("greedy")
    whole = theirs.generate(torch.tensor([START]), max_new_tokens=bank.LENGTH, do_sample=False)[0].tolist()
    assert found.ids.tolist() == [whole[len(START) :]]
    assert found.openings == 1


def test_what_a_bank_tells_counted_by_hand():
    found = bank.bank("t15")
    texts = found.texts
    assert len({tuple(row[:8]) for row in found.ids.tolist()}) == found.openings
    words = [w for text in texts for w in re.findall("[a-z]+", text.lower())[:-1]]
    assert found.different == len(set(words))
    known = set(bytes(np.load(bank.FILE)["known"]).decode().split("\n"))
    assert {"once", "little", "girl", "the"} <= known
    assert found.strange == pytest.approx(sum(w not in known for w in words) / len(words))
    assert not any(bank.PROMPT in text for text in texts)
    assert bank.monkey() == pytest.approx(-np.log(32_000))


def test_what_the_page_tells_of_the_ways():
    """Heat makes unlikely texts, and at 2 less likely ones than a monkey's; a cut brings the words back."""
    mean = {way: bank.bank(way).mean for way in bank.WAYS}
    assert mean["t03"] > mean["greedy"], "the greedy text is not the likeliest"
    assert mean["t03"] > mean["t07"] > mean["t10"] > mean["t13"] > mean["t15"] > mean["t20"]
    assert mean["t20"] < bank.monkey()
    strange = {way: bank.bank(way).strange for way in ("t10", "t15", "t20", "t15p09")}
    assert strange["t10"] < 0.01 < strange["t15p09"] < strange["t15"] < strange["t20"]
    with pytest.raises(KeyError):
        bank.bank("t99")


def test_the_table_of_pairs_knows_what_follows():
    table = bank.following()
    ids = sentence.exactly("Once upon a time").ids
    assert [int(table[a]) for a in ids[:-1]] == list(ids[1:])
    never = sentence.exactly("Größe").ids[2]
    assert int(table[never]) == never


@pytest.mark.long
@pytest.mark.parametrize("way", sink.WAYS)
def test_the_recorded_sink_losses_are_measured_again(way):
    held = 32
    recorded = sink.losses()[sink.WAYS.index(way), sink.HELD.index(held)]
    assert sink.loss(way, held) == pytest.approx(float(recorded), abs=2e-3)


def test_a_first_token_kept_near_is_met_as_if_it_stood_in_the_cache():
    """One query far away, by hand: the text without what has left the cache gives the same scores in the first block."""
    held, n = 6, 14
    trace = WhatIf(sink.edits("streaming", held), ("block0.masked",))
    subject.model().stream(torch.tensor(FIRST.ids[:n]), trace=trace)
    scores = trace["block0.masked"].value[:, -1]
    short = (FIRST.ids[0], *FIRST.ids[n - held + 1 : n])
    seen = subject.untouched(sentence.Text(FIRST.subject, short, tuple(FIRST.tokens[:held])))
    kept = seen["block0.masked"].value[:, -1]
    open_ = np.isfinite(scores[0])
    assert np.flatnonzero(open_).tolist() == [0, *range(n - held + 1, n)]
    np.testing.assert_allclose(scores[:, open_], kept, atol=1e-4)


def test_in_sentences_of_this_make_one_cell_turns_the_answer():
    told = many.recorded()
    assert told.texts > 150
    assert told.there <= told.alone <= told.texts
    assert told.alone / told.texts > 0.9
    some = list(many.texts(many.SENTENCES[0], pairs=3))
    for old, new in some:
        assert [a != b for a, b in zip(old.ids, new.ids, strict=True)].count(True) == 1
        assert len(many.turning(old, new) or ((0, 0),)) >= 1
    with pytest.raises(Cannot):
        many.turning(some[0][0], some[0][0])


def test_a_pass_is_counted_as_its_matrices_are(theirs):
    """FLOPs of one token read, from the shapes: two a weight that is multiplied, and the pairs."""
    config = theirs.config
    flops, fetched = roofline.spent(subject.config(), "read", 1)
    matrices = sum(p.numel() for name, p in theirs.named_parameters() if "norm" not in name and p.ndim == 2)
    assert flops == pytest.approx(2 * matrices, rel=2e-2)
    assert fetched == pytest.approx(4 * theirs.num_parameters() + 4 * 2 * config.num_hidden_layers * config.hidden_size)
    one, many_ = (roofline.spent(subject.config(), "write", n) for n in (1, 64))
    assert many_[0] == pytest.approx(64 * one[0])
    assert many_[1] < 4 * one[1], "the weights are fetched once"
    # Beside what one token alone takes: 128 held keys and values more, two FLOPs a number each, and softmax's three.
    heads, d = config.num_attention_heads, config.hidden_size
    assert one[0] - flops == 128 * config.num_hidden_layers * (4 * d + 3 * heads)


def test_a_roof_bends_where_both_limits_meet():
    roof = roofline.Roof(peak=100.0, bandwidth=10.0)
    assert (roof.ridge, roof.at(1.0), roof.at(10.0), roof.at(1e3)) == (10.0, 10.0, 100.0, 100.0)


@pytest.mark.long
def test_a_table_drafts_and_the_text_stays():
    runs = drafts.run(drafts.Demo(FIRST, drafts.TABLE))
    assert len({run.ids for run in runs}) == 1
    assert runs[0].ids == drafts.plain(FIRST)
    assert runs[1].taken >= 1
    with pytest.raises(Cannot):
        drafts.drafter(drafts.Demo(sentence.Text("other", (1, 2), ("a", "b")), drafts.TABLE))


def test_measured_passes_are_complete(monkeypatch):
    monkeypatch.setattr(roofline, "RUNS", 1)
    monkeypatch.setattr(roofline, "READ", (1, 4))
    monkeypatch.setattr(roofline, "READERS", (1, 2))
    monkeypatch.setattr(roofline, "SIDE", 16)
    monkeypatch.setattr(roofline, "COPIED", 64)
    found = roofline.measure(sentence.FIRST)
    assert [(p.kind, p.tokens) for p in found.points] == [("read", 1), ("read", 4), ("write", 1), ("write", 2)]
    assert all(p.seconds > 0 and p.rate == p.tokens / p.seconds for p in found.points)


def test_a_way_to_draw_is_what_its_name_says():
    """t07p09: at temperature 0.7 from the likeliest that hold 0.9; k40: from 40; m01: from a tenth of the first on."""
    for name, how in bank.WAYS.items():
        parts = dict(re.findall(r"([tpkm])(\d+)", name))
        if name == "greedy":
            assert how.temperature == 0
            continue
        assert how.temperature == int(parts.get("t", 10)) / 10, name
        assert how.top_p == (int(parts["p"]) / 10 if "p" in parts else 1), name
        assert how.min_p == (int(parts["m"]) / 10 if "m" in parts else 0), name
        assert (how.top_k or 0) == int(parts.get("k", 0)), name


def test_a_pass_is_measured_against_its_bytes_and_its_seconds():
    """Four tokens, 600 operations on 200 bytes in two seconds."""
    point = roofline.Point("write", 4, 600.0, 200.0, 2.0)
    assert (point.intensity, point.speed, point.rate) == (3.0, 300.0, 2.0)
