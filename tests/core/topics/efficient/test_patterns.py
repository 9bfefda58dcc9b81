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


@pytest.mark.parametrize("n", [1, 2, 12, 17, 34, 107, 256, 300, 1000])
def test_every_number_that_makes_a_difference_is_computed(n):
    """All below the text's length, and the first that is at least as long; of a long text some, from first to last."""
    differ = [k for k in pt.K if k < n]
    last = next((k for k in pt.K if k >= n), 256)
    found = pt.computed(n)
    assert (found[0], found[-1]) == (1, last)
    assert set(found) <= {*differ, last}
    most = max(6, 4096 // n)
    assert len(found) <= most
    if len(differ) < most:
        assert list(found) == [*differ, last]
    steps = np.diff([pt.K.index(k) for k in found])
    assert (np.diff(steps) >= -1).all(), "small ones first, then ever wider"


def test_a_pattern_that_few_words_cannot_make_is_the_nearest():
    """One word near at least, and a post at least: of eight words one is near and seven are posts."""
    assert seen("strided", 1)[N - 1] == [11]
    assert seen("strided", 8, n=8)[7] == [1, 3, 4, 5, 6, 7]
    drawn = pt.luck(1, 1, N)[0, 0]
    assert seen("bigbird", 1, drawn)[9] == [0, 9]
    assert seen("random", 1, drawn) == [[i] for i in range(N)]


def test_luck_chooses_the_luckiest():
    drawn = torch.tensor([0.9, 0.1, 0.5, 0.7, 0.2]).expand(5, 5)
    assert seen("random", 3, drawn, 5)[4] == [0, 3, 4]
    assert seen("random", 2, drawn, 5)[2] == [0, 2]
    assert seen("bigbird", 4, drawn, 5)[4] == [0, 2, 3, 4]
    assert pt.luck(2, 3, 4).shape == (2, 3, 4, 4)
    assert torch.equal(pt.luck(1, 1, 5), pt.luck(1, 1, 5))


def test_the_best_keep_no_more_than_there_are():
    scores = torch.tensor([[1.0, -torch.inf, -torch.inf], [3.0, 2.0, -torch.inf], [0.0, 5.0, 4.0]])
    assert pt.best(scores, 2).int().tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    assert pt.best(scores, 9).int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


def test_pictures_are_the_masks_of_the_first_words():
    for kind in ("window", "random"):
        found = pt.pictures(kind)
        assert found.shape == (len(pt.K), 64, 64)
        drawn = pt.luck(6, 6, 256)[5, 1] if kind == "random" else None
        np.testing.assert_array_equal(found[7], pt.mask(kind, 8, 256, drawn)[:64, :64])
    other = pt.pictures("random", 2, 3)
    np.testing.assert_array_equal(other[4], pt.mask("random", 5, 256, pt.luck(6, 6, 256)[2, 3])[:64, :64])


@torch.no_grad()
def test_the_picture_of_the_best_is_that_of_the_models_own_scores(theirs):
    ids = pt.stories()[0, :64]
    weights = theirs(ids[None], output_attentions=True).attentions[5][0, 1].numpy()
    found = pt.pictures("best")
    for k in (1, 5):
        for query in (3, 20, 63):
            kept = np.argsort(-weights[query, : query + 1])[:k]
            assert set(np.flatnonzero(found[pt.K.index(k), query])) == set(kept)


def test_a_loss_is_recorded_for_a_kind_and_a_number_of_words():
    for kind, k in (("window", 17), ("other", 8)):
        with pytest.raises(KeyError, match="not recorded"):
            pt.loss(kind, k)
    with pytest.raises(KeyError):
        pt.mask("best", 3, 4)
    assert pt.losses(text.exactly("Tom")).shape == (7, len(pt.K))
    assert pt.losses(text.exactly("Tom"))[2, 7] == pytest.approx(pt.loss("first", 8))
    assert pt.share("best", 8) == pt.share("window", 8)
    n = 256
    assert pt.share("first", 8) == pytest.approx(sum(min(8, i + 1) for i in range(n)) / (n * (n + 1) / 2))


def test_the_answer_is_the_first_word_of_the_frames_and_eight_are_shown():
    sentence = text.exactly(text.SENTENCE)
    found = pt.frames(pt.Demo(sentence, "second"))
    calm = subject.untouched(sentence)["next_probs"].value
    assert len(found.words) == 8 == found.probs.shape[1]
    assert found.words[0].id == calm.argmax()
    np.testing.assert_allclose(found.before, [calm[word.id] for word in found.words])
    rest = found.probs.max(0)[1:]
    assert (np.diff(rest) <= 0).all(), "then whatever is likeliest anywhere"
    assert found.ks[:14] == tuple(range(1, 15))
    assert set(found.ks[14:]) == {14}, "more than all words are all words"
    np.testing.assert_array_equal(found.probs[20], found.probs[13])


def test_cells_are_spelled_as_bits():
    assert pt.spell(frozenset((0, 4, 17))) == f"{1 + 16 + 2**17:x}"
    assert pt.unspell("3ffff") == frozenset(range(18))
    assert pt.unspell("40000") is None, "there is no cell 18"
    assert pt.unspell("0") == frozenset()
    assert pt.CELLS == 18
