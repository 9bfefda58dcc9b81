"""What a head's facts are made of: planes, sinks, cut links and hot heads against NumPy and whole passes of the model."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.lab import cuts, subject
from core.lab import head as onehead
from core.lab import text as sentence
from core.topics.attention import facts, heat, own_vectors
from core.whatif import Change

TEXT = sentence.of(sentence.read(sentence.SENTENCE))
SHORT = sentence.exactly("Tom is a")
ONE = sentence.Text(TEXT.subject, TEXT.ids[:1], TEXT.tokens[:1])


# ---- the plane, the sink, torch's own answer ----


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_the_plane_is_that_of_the_two_largest_singular_values(scale):
    rng = np.random.default_rng(0)
    v = scale * (rng.normal(size=(9, 5)) * [4, 3, 1, 0.5, 0.2] + 7)
    z = scale * rng.normal(size=(3, 2, 5))
    found = facts.plane(v.astype(np.float32), z.astype(np.float32))
    _u, size, axes = np.linalg.svd(v - v.mean(0), full_matrices=False)
    assert found.kept == pytest.approx((size[:2] ** 2).sum() / (size**2).sum(), rel=1e-4)
    assert found.values.shape == (9, 2)
    assert found.z.shape == (3, 2, 2)
    signs = np.sign((found.values * (v @ axes[:2].T)).sum(0))
    np.testing.assert_allclose(found.values * signs, v @ axes[:2].T, rtol=1e-3, atol=1e-4 * scale)
    np.testing.assert_allclose(found.z * signs, z @ axes[:2].T, rtol=1e-3, atol=1e-4 * scale)


def test_one_value_lies_in_a_plane_too():
    """One key, one number, or both: a point, and nothing that differs."""
    for v in (np.ones((1, 4)), np.ones((1, 1)), np.arange(3.0)[:, None]):
        found = facts.plane(v.astype(np.float32), v[None].astype(np.float32))
        assert found.values.shape == (len(v), 2)
        assert found.kept == pytest.approx(1.0 if len(v) > 1 else 0.0)
        np.testing.assert_allclose(found.values, found.z[0])
    spread = facts.plane(np.array([[1.0], [3.0]], np.float32), np.zeros((1, 1, 1), np.float32)).values
    assert np.abs(spread[1] - spread[0]).tolist() == [2, 0]


@pytest.mark.parametrize("setting", [{}, dict(temperature=3.0), dict(scaling=False, temperature=0.5), dict(mask=False)])
def test_torch_agrees_with_every_head_and_with_no_other(setting):
    head = onehead.head_of(onehead.Demo(TEXT, 4, 4, **setting))
    assert facts.against_torch(head) < 1e-5
    wrong = np.array(head.weights)
    wrong[5] = 0
    gap = np.abs(head.weights[5] @ head.v).max()
    assert facts.against_torch(replace(head, weights=wrong)) == pytest.approx(gap, rel=1e-4)


@pytest.mark.parametrize(
    ("weight", "length", "clear"), [(0.31, 0.59, True), (0.3, 0.1, False), (0.9, 0.6, False), (0.29, 0.59, False)]
)
def test_a_sink_gets_much_and_hands_over_little(weight, length, clear):
    assert facts.Sink(weight, length, 1.0).clear is clear


def test_a_sink_is_measured_on_all_rows_but_its_own():
    head = onehead.head_of(onehead.Demo(TEXT, 4, 2))
    found = facts.sink(head)
    assert found.weight == pytest.approx(np.mean([row[0] for row in head.weights[1:]]))
    lengths = [math.sqrt((row**2).sum()) for row in head.v]
    assert (found.length, found.others) == pytest.approx((lengths[0], np.mean(lengths[1:])))
    two = replace(head, v=head.v[:2], weights=head.weights[:2, :2])
    assert facts.sink(two).others == pytest.approx(lengths[1])


def test_without_maps_a_token_looks_at_itself():
    for layer in (0, 3):
        x = subject.untouched(TEXT)[f"block{layer}.norm1"].value.astype(np.float64)
        powers = np.exp(x @ x.T / 288**0.5 - (x @ x.T / 288**0.5).max(1, keepdims=True))
        wanted = (np.diag(powers) / powers.sum(1)).mean()
        assert facts.unprojected(TEXT, layer) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(("layer", "head", "row", "column"), [(0, 0, 5, 5), (2, 3, 13, 0), (4, 5, 2, 9)])
def test_one_matrix_compares_two_tokens(layer, head, row, column):
    recorded, made = facts.bilinear(onehead.Demo(TEXT, layer, head), row, column)
    assert recorded == pytest.approx(subject.untouched(TEXT)[f"block{layer}.scores"].value[head, row, column])
    assert made == pytest.approx(recorded, rel=1e-3, abs=1e-3)


# ---- every link cut ----


@pytest.mark.parametrize("share", [True, False])
def test_links_are_ranked_by_what_the_whole_model_says_without_them(share):
    found = cuts.ranking(SHORT, share)
    n = len(SHORT)
    assert found.cells == 36 * sum(row + 1 for row in range(1, n)), "every row but the first, in every head"
    links = {(one.layer, one.head, one.query, one.key): one.p for one in found.worst}
    assert list(links.values()) == sorted(links.values())
    assert len(links) == max(20, found.deciders)
    for cell in [*list(links)[:6], *list(links)[-3:]]:
        said = subject.chances(SHORT, Change(cut=cell, share=share), (found.answer,))[0]
        assert links[cell] == pytest.approx(said, abs=2e-5)


@pytest.mark.parametrize("share", [True, False])
def test_of_a_long_text_the_last_row_is_cut(share):
    long = sentence.exactly("One day Tom and his big dog ran to the park and then Tom threw the ball to his big old")
    assert len(long) > 20
    found = cuts.ranking(long, share)
    assert found.cells == 36 * len(long)
    assert {one.query for one in found.worst} == {len(long) - 1}
    cell = found.worst[0]
    change = Change(cut=(cell.layer, cell.head, cell.query, cell.key), share=share)
    assert cell.p == pytest.approx(subject.chances(long, change, (found.answer,))[0], abs=2e-5)


def test_a_link_with_all_the_weight_is_shared_among_the_others():
    """Where one key gets nine tenths or more: what is left is divided by what is left, however little."""
    weights = np.stack([subject.untouched(TEXT)[f"block{i}.weights"].value for i in range(6)])
    layer, head, query, key = np.argwhere((weights > 0.9) & (np.arange(14)[:, None] > 0))[-1]
    model, trace = subject.model(), subject.untouched(TEXT)
    answer = int(trace["next_probs"].value.argmax())
    found = cuts.rank(model, trace, answer, share=True, rows=[int(query)])
    mine = next(one.p for one in found if (one.layer, one.head, one.key) == (layer, head, key))
    change = Change(cut=(int(layer), int(head), int(query), int(key)), share=True)
    assert mine == pytest.approx(subject.chances(TEXT, change, (answer,))[0], abs=1e-4)


def test_a_link_cut_in_both_ways():
    cell = (5, 1, 13, 3)
    found = cuts.both(TEXT, cell)
    changes = (Change(), Change(cut=cell, share=True), Change(cut=cell, share=False))
    for way, change in enumerate(changes):
        trace = subject.run(TEXT, change, ("block5.weights", "next_probs"))
        np.testing.assert_allclose(found.rows[way], trace["block5.weights"].value[1, 13], atol=1e-6)
        np.testing.assert_allclose(found.probs[way], trace["next_probs"].value[list(found.ids)], atol=1e-6)
    assert len(found.ids) == 5
    assert found.ids[0] == subject.untouched(TEXT)["next_probs"].value.argmax()
    assert (np.diff(found.probs.max(0)[1:]) <= 0).all()


# ---- hot heads ----


def test_the_next_word_at_every_temperature():
    demo = onehead.Demo(TEXT)
    found, calm = heat.said(demo), subject.untouched(TEXT)["next_probs"].value
    assert found.probs.shape == (49, 8)
    assert len(found.ids) == 8
    assert found.ids[0] == calm.argmax()
    np.testing.assert_allclose(found.before, calm[list(found.ids)])
    assert (np.diff(found.before) <= 0).all()
    for stop in (0, 24, 40):
        change = Change(temperature=found.temperatures[stop], head=(5, 1))
        assert found.probs[stop] == pytest.approx(subject.chances(TEXT, change, found.ids), abs=1e-5)


@pytest.mark.parametrize(
    "setting", [dict(layer=0), dict(layer=2, scaling=False), dict(layer=3, mask=False), dict(everywhere=True)]
)
def test_whatever_else_is_changed_stays_changed(setting):
    demo = onehead.Demo(TEXT, **setting)
    found = heat.said(demo)
    tau = found.temperatures[33]
    hot = replace(demo, temperature=tau).change
    assert found.probs[33] == pytest.approx(subject.chances(TEXT, hot, found.ids), abs=1e-5)


@pytest.mark.parametrize("share", [True, False])
def test_a_cut_link_stays_cut_while_its_head_is_heated(share):
    found = heat.said(onehead.Demo(TEXT), (13, 3), share)
    for stop in (5, 24, 40):
        change = Change(temperature=found.temperatures[stop], head=(5, 1), cut=(5, 1, 13, 3), share=share)
        assert found.probs[stop] == pytest.approx(subject.chances(TEXT, change, found.ids), abs=1e-5)


def test_of_a_long_text_the_chosen_temperature_alone_is_computed():
    long = sentence.exactly("One day the dog ran to the park with a ball. " * 8)
    found = heat.said(onehead.Demo(long, temperature=2.0))
    assert (found.temperatures, found.probs.shape) == ((2.0,), (1, 8))
    short = sentence.Text(long.subject, long.ids[:64], long.tokens[:64])
    assert len(heat.said(onehead.Demo(short, temperature=2.0)).temperatures) == 49


# ---- typed and drawn vectors ----


def test_typed_vectors_are_named_by_their_rows():
    hand = own_vectors.Hand(mask=True, temperature=2.0)
    trace = own_vectors.hand_trace(hand)
    q, k, v = (np.array(rows, float) for rows in (hand.q, hand.k, hand.v))
    allowed = np.tri(4, dtype=bool)
    scaled = np.where(allowed, q @ k.T / (2 * 3**0.5), -np.inf)
    weights = np.exp(scaled) / np.exp(scaled).sum(1, keepdims=True)
    np.testing.assert_allclose(trace["weights"].value[0], weights, atol=1e-6)
    head = own_vectors.single(trace, hand)
    np.testing.assert_allclose(head.weights @ head.v, weights @ v, atol=1e-6)
    np.testing.assert_allclose(head.scores, q @ k.T, atol=1e-6)
    np.testing.assert_array_equal(head.allowed, allowed)
    assert (head.tokens, head.temperature, head.scaling) == (("0", "1", "2", "3"), 2.0, True)
    assert trace.labels == {"query": ["0", "1", "2", "3"], "key": ["0", "1", "2", "3"]}
    open_ = own_vectors.hand_trace(own_vectors.Hand(q=((1, 2, 3),)))
    assert open_["allowed"].value.tolist() == [[True] * 4]


def test_drawn_vectors_are_as_wide_as_they_are_told_and_each_its_own():
    free = own_vectors.Free(seed=3, d_k=7)
    trace = own_vectors.free_trace(free)
    assert trace["q"].value.shape == (1, 12, 7)
    assert trace["v"].value.shape == (1, 12, 16)
    q, k, v = (trace[name].value[0] for name in "qkv")
    assert not np.allclose(q, k)
    wide = own_vectors.free_trace(replace(free, d_k=20))
    np.testing.assert_array_equal(wide["q"].value[0, :, :7], q)
    np.testing.assert_array_equal(wide["v"].value[0], v)
    assert not np.allclose(own_vectors.free_trace(replace(free, seed=5))["v"].value[0], v)
    assert own_vectors.widened(free, "weights").values.shape == (len(own_vectors.WIDTHS), 12, 12)


def test_signs_are_signs_and_even_numbers_stay_within_root_three():
    assert set(own_vectors.drawn((500,), "signs", 1).tolist()) == {-1.0, 1.0}
    even = own_vectors.drawn((5000,), "uniform", 1)
    assert 1.7 < float(even.abs().max()) <= math.sqrt(3)
    with pytest.raises(KeyError):
        own_vectors.drawn((2,), "other", 0)


def test_a_spread_is_of_its_own_vectors():
    """4000 products of vectors of the seed two on."""
    free = own_vectors.Free(seed=9, d_k=16)
    generator = torch.Generator().manual_seed(11)
    q, k = torch.randn(2, 4000, 16, generator=generator)
    products = (q * k).sum(-1).numpy() / 4
    found = own_vectors.spread(free)
    assert found.std == pytest.approx(products.std(ddof=1), rel=1e-5)
    assert found.largest == pytest.approx(np.abs(products).max(), rel=1e-5)
    assert found.inside == pytest.approx([(np.abs(products) <= m).mean() for m in (1, 2)])
    assert own_vectors.spread(free, 50).counts.sum() <= 50


def test_a_kernel_of_torch_says_the_same_of_typed_vectors():
    hand = own_vectors.Hand(scaling=False)
    q, k, v = (torch.tensor(rows, dtype=torch.float32)[None] for rows in (hand.q, hand.k, hand.v))
    wanted = F.scaled_dot_product_attention(q, k, v, scale=1.0)[0]
    np.testing.assert_allclose(own_vectors.hand_trace(hand)["z"].value[0], wanted, atol=1e-6)
