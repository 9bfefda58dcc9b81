"""Patterns written out by hand and in plain loops; the recorded losses computed again without the code under test."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.lab import subject, text
from core.make import patterns as made
from core.topics.efficient import patterns as pt

N = 12


def seen(kind, k, drawn=None, n=N):
    """The rows of a mask, each as the places it reads."""
    return [np.flatnonzero(row).tolist() for row in pt.mask(kind, k, n, drawn).numpy()]


def test_four_patterns_by_hand():
    assert seen("window", 3)[7] == [5, 6, 7]
    assert seen("first", 3)[7] == [0, 6, 7]
    assert seen("second", 3)[7] == [3, 5, 7]
    assert seen("second", N)[6] == [0, 2, 4, 6]
    # 6 words: 3 near, and every fourth place a post
    assert seen("strided", 6)[11] == [3, 7, 9, 10, 11]
    assert seen("window", 1) == [[i] for i in range(N)]


@pytest.mark.parametrize(("kind", "always"), [("random", lambda i: {i}), ("bigbird", lambda i: {0, i, max(0, i - 1)})])
def test_chance_brings_as_many_as_asked_and_never_the_future(kind, always):
    drawn = pt.luck(1, 1, N)[0, 0]
    for k in (4, 7, N):
        for i, row in enumerate(seen(kind, k, drawn)):
            assert always(i) <= set(row)
            assert len(row) == min(k, i + 1)
            assert max(row) == i
    small, large = (set(seen(kind, k, drawn)[11]) for k in (4, 5))
    assert len(large - small) == 1, "a larger number adds to the smaller"


def test_every_head_has_luck_of_its_own():
    drawn = pt.luck(2, 3, N)
    masks = {
        tuple(pt.mask("random", 4, N, drawn[layer, head]).flatten().tolist()) for layer in (0, 1) for head in range(3)
    }
    assert len(masks) == 6


def test_the_best_are_the_largest_scores():
    scores = torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(0))
    scores = scores.masked_fill(~torch.ones(5, 5).tril().bool(), -torch.inf)
    kept = pt.best(scores, 2)
    for head in range(2):
        for i in range(5):
            row = scores[head, i, : i + 1].tolist()
            assert {j for j in range(5) if kept[head, i, j]} == set(np.argsort(row)[::-1][:2].tolist())


def plainly(allowed):
    """Nats a token of the first story's first 96 tokens, the attention of every block replaced by torch's own kernel."""
    model, ids = subject.model(), pt.stories()[0, :97]
    config = model.config
    x = model.embed.weight[ids[:-1]]
    n = len(x)
    turn, _causal = model.surroundings(n)
    cos, sin = turn.cos(), turn.sin()

    def turned(y):
        a, b = y.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    for layer, block in enumerate(model.blocks):
        h = block.norm1(x)
        q, k, v = (m(h).view(n, config.n_heads, -1).transpose(0, 1) for m in (block.attn.q, block.attn.k, block.attn.v))
        z = F.scaled_dot_product_attention(turned(q)[None], turned(k)[None], v[None], attn_mask=allowed(layer)[None])[0]
        x = x + block.attn.o(z.transpose(0, 1).reshape(n, -1))
        x = x + block.ffn(block.norm2(x))
    return F.cross_entropy(model.read_out(x), ids[1:]).item()


def far(n):
    return torch.arange(n)[:, None] - torch.arange(n)


@torch.no_grad()
def test_a_pattern_acts_in_every_head_of_every_block(monkeypatch):
    ids = pt.stories()[:1, :97]
    monkeypatch.setattr(pt, "stories", lambda: ids)
    back = far(96)
    causal = back >= 0
    drawn = pt.luck(6, 6, 96)
    chance = [pt.mask("random", 5, 96, drawn[layer]) for layer in range(6)]
    cases = {
        "window": lambda _layer: (causal & (back < 5)).expand(6, -1, -1),
        "second": lambda _layer: (causal & (back % 2 == 0) & (back < 10)).expand(6, -1, -1),
        "random": lambda layer: chance[layer],
    }
    for kind, allowed in cases.items():
        assert pt.story_loss(pt.edits(kind, (5,), 6, 6, 96)) == pytest.approx(plainly(allowed), abs=2e-4), kind


@pytest.mark.parametrize(("kind", "k"), [("window", 8), ("best", 16), ("bigbird", 32)])
def test_what_is_recorded_is_what_comes_out(kind, k):
    assert pt.loss(kind, k) == pytest.approx(made.computed(kind, k), abs=1e-4)


def test_the_facts_that_the_page_tells():
    near, luck, second = pt.loss("window", 8), pt.loss("random", 64), pt.loss("second", 128)
    assert (near, luck, second) == pytest.approx((2.463, 2.811, 4.129), abs=2e-3)
    assert (pt.whole(), pt.alone()) == pytest.approx((1.906, 3.898), abs=2e-3)
    assert second > pt.alone() > luck > near, "half of all pairs, and worse than nothing"
    assert [round(pt.share(*one), 2) for one in (("window", 8), ("random", 64), ("second", 128))] == [0.06, 0.44, 0.5]
    assert pt.loss("best", 8) < 2.02
    assert pt.loss("best", 1) > pt.alone()
    assert np.isnan(pt.loss("first", 1))


def test_the_previous_word_is_worth_more_than_all_others():
    every = frozenset(range(pt.CELLS))
    found = {cells: pt.own_loss(every - cells) for cells in (frozenset(), frozenset((1,)), frozenset((pt.FIRST_CELL,)))}
    whole, without, first = found.values()
    assert (whole.loss, whole.pairs) == (pytest.approx(pt.whole(), abs=1e-4), 1)
    assert without.loss == pytest.approx(3.54, abs=0.02)
    assert without.pairs > 0.99
    assert first.loss == pytest.approx(1.94, abs=0.02)


def test_a_painted_pattern_is_what_its_cells_say():
    n = 40
    back, j = far(n), torch.arange(n).expand(n, -1)
    wanted = (back >= 0) & (((j > 0) & ((back == 2) | (back >= pt.NEAR))) | (j == 0))
    assert torch.equal(pt.own(frozenset((2, pt.FAR, pt.FIRST_CELL)), n), wanted)
    for cells in (frozenset(range(pt.CELLS)), frozenset((3,)), frozenset((0, 17))):
        assert pt.unspell(pt.spell(cells)) == cells
    assert {pt.unspell(junk) for junk in ("", "xyz", "fffff", "000001", "-1", "0x1", "٣")} == {None}


def test_a_long_text_has_fewer_stops_and_says_which():
    assert pt.computed(14) == (*range(1, 14), 14)
    long = pt.computed(256)
    assert long[0] == 1
    assert long[-1] == 256
    assert len(long) <= 16
    one = pt.frames(pt.Demo(text.exactly("Tom")))
    assert len(one.ks) == len(pt.K) == len(one.probs)


def test_the_frames_are_passes_under_the_masks():
    sentence = text.exactly(text.SENTENCE)
    found = pt.frames(pt.Demo(sentence, "window"))
    for k in (2, 8, 256):
        said = subject.chances(sentence, subject.Change(window=k), tuple(word.id for word in found.words))
        assert found.probs[pt.K.index(k)] == pytest.approx(said, abs=1e-5)
    best = pt.frames(pt.Demo(sentence, "best"))
    assert best.probs[-1] == pytest.approx(best.before, abs=1e-5)
    assert np.abs(best.probs[1] - best.before).max() > 0.05


def test_one_number_of_words_makes_no_frames_and_two_make_two():
    scores = torch.randn(3, 6, 6, generator=torch.Generator().manual_seed(2))
    for ks, shape in (((2,), (3, 6, 6)), ((2, 4), (2, 3, 6, 6))):
        ((name, edit),) = pt.edits("best", ks, 1, 3, 6)
        assert name == "block*.masked"
        made = edit(scores)
        assert made.shape == shape
        for i, k in enumerate(ks):
            assert (made.view(-1, 3, 6, 6)[i].isfinite().sum(-1) == k).all()
