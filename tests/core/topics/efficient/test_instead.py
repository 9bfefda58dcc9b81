"""What stands in for attention, against exact sums, loops and networkx-free walks."""

from collections import deque

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.lab import subject
from core.make import instead as made
from core.topics.efficient import flash as fl
from core.topics.efficient import hops as hp
from core.topics.efficient import instead as ins
from core.topics.efficient import patterns as pt


def small(n=9, d=5, size=0.7):
    generator = torch.Generator().manual_seed(1)
    return (size * torch.randn(n, d, generator=generator, dtype=torch.float64) for _ in range(2))


def test_random_features_estimate_the_power_of_the_product():
    q, k = small(size=0.4)  # of long vectors the estimate has heavy tails
    plain = torch.exp(q @ k.T / 5**0.5)
    for features in (ins.positive, ins.waves):
        both = [features(q.float(), k.float(), 4000, seed) for seed in range(30)]
        estimate = torch.stack([(of_q @ of_k.T) for of_q, of_k in both]).double()
        rows = estimate / estimate.sum(-1, keepdim=True)
        assert (rows.mean(0) - plain / plain.sum(-1, keepdim=True)).abs().max() < 5e-3


def test_the_estimate_of_one_product_needs_no_softmax():
    """exp(q·k) itself: 0.738 for this pair, as the fact check has it."""
    q, k = torch.tensor([0.3, -0.5]), torch.tensor([0.4, 0.85])
    w = ins.directions(200_000, 2, torch.Generator().manual_seed(0))
    estimate = ((w @ q - q @ q / 2).exp() * (w @ k - k @ k / 2).exp()).mean()
    assert float((q @ k).exp()) == pytest.approx(0.737, abs=1e-3)
    assert float(estimate) == pytest.approx(0.737, abs=0.01)


def test_the_sines_are_negative_at_times():
    q, k, _v = fl.vectors(fl.Demo(fl.story()))
    assert (ins.weights_of(ins.waves(q, k, 256)) < 0).double().mean() > 0.1
    assert (ins.weights_of(ins.positive(q, k, 256)) >= 0).all()


def test_features_give_weights_that_sum_to_one_and_never_look_ahead():
    q, k = small(size=3)
    for features in (ins.positive(q.float(), k.float(), 64), ins.elu(q, k)):
        weights = ins.weights_of(features)
        assert weights.sum(-1).numpy() == pytest.approx(1)
        assert not weights.triu(1).any()


def test_linformer_averages_neighbours_and_sees_ahead():
    q, k = small()
    v = torch.arange(9 * 2.0, dtype=torch.float64).view(9, 2)
    groups = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
    means = [torch.stack([x[list(group)].mean(0) for group in groups]) for x in (k, v)]
    plain = F.softmax(q @ means[0].T / 5**0.5, -1) @ means[1]
    torch.testing.assert_close(ins.pooled(q, k, 3) @ v, plain)
    assert ins.pooled(q, k, 3).triu(1).any()
    torch.testing.assert_close(ins.pooled(q, k, 9), F.softmax(q @ k.T / 5**0.5, -1))


def test_what_stands_in_runs_in_the_model_and_exact_weights_change_nothing(monkeypatch):
    ids = pt.stories()[:2, :65]
    monkeypatch.setattr(pt, "stories", lambda: ids)
    model = subject.model()
    plain = np.mean([F.cross_entropy(model(row[:-1]), row[1:]).item() for row in ids])
    assert pt.story_loss(ins.edits(ins.by_weights(ins.exact))) == pytest.approx(plain, abs=1e-4)
    assert pt.story_loss(ins.edits(ins.MIXES["rank"](64))) == pytest.approx(plain, abs=1e-3)
    with_tiles = ins.edits(lambda q, k, v: fl.flash(q, k, v, torch.ones(64, 64).tril().bool(), 16))
    assert pt.story_loss(with_tiles) == pytest.approx(plain, abs=1e-4)
    assert pt.story_loss(ins.edits(ins.by_weights(ins.even))) > plain + 1


def test_the_best_rank_is_numpys():
    q, k = small(n=12)
    full = ins.exact(q, k).numpy()
    u, s, v = np.linalg.svd(full)
    assert ins.low_rank(q, k, 4).numpy() == pytest.approx((u[:, :4] * s[:4]) @ v[:4], abs=1e-10)


def test_softmax_raises_the_rank_of_the_scores():
    found = ins.rank(fl.Demo(fl.story()))
    assert found.counted["scores"] == 48
    assert found.counted["open"] > 240
    on, off = ins.heads_rank()
    assert on == pytest.approx(62, abs=2)
    assert off == pytest.approx(20, abs=2)


def test_the_recorded_losses_are_what_comes_out():
    found = ins.recorded()
    assert found.nats["linear"][0] == pytest.approx(made.loss("linear", 0), abs=2e-3)
    assert found.nats["linear"][0] == pytest.approx(4.74, abs=0.01)
    assert [found.nats["rank"][r] for r in (16, 32, 64)] == pytest.approx([3.42, 2.65, 2.00], abs=0.01)
    assert found.nats["rank"][256] == pytest.approx(pt.whole(), abs=2e-3)
    assert found.off[4096] == pytest.approx(0.53, abs=0.02)
    assert found.off[0] == pytest.approx(0.76, abs=0.01)
    assert min(found.nats["features"].values()) > 4 < found.nats["pooled"][ins.KEPT]


def test_costs_are_counted_as_matrix_products_count():
    work, n, d = ins.multiplications(), 4096, 48
    at = ins.LENGTHS.index(n)
    shapes = {
        "plain": [(n, d, n), (n, n, d)],
        "longformer": [(n, d, 64), (n, 64, d)],
        "linformer": [(64, n, d), (64, n, d), (n, d, 64), (n, 64, d)],
        "performer": [(n, d, 256), (n, d, 256), (256, n, d), (n, 256, d)],
        "linear": [(d, n, d), (n, d, d)],
    }
    for name, products in shapes.items():
        assert work[ins.GALLERY.index(name), at] == sum(a * b * c for a, b, c in products), name
    assert ins.remembered()[ins.GALLERY.index("plain"), at] == 2 * n * d


def walk(open_, start):
    """Breadth first, one word after the other."""
    far, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for there in np.flatnonzero(open_[here]):
            if int(there) not in far:
                far[int(there)] = far[here] + 1
                queue.append(int(there))
    return far


@pytest.mark.parametrize("graph", hp.GRAPHS)
def test_hops_are_those_of_a_walk(graph):
    open_ = hp.links(graph, 5, 30)
    found = hp.hops(open_)
    for start in range(30):
        assert {j: found[start, j] for j in range(30) if found[start, j] >= 0} == walk(open_, start)


def test_a_global_token_is_no_short_cut_if_nobody_reads_ahead():
    most = {graph: int(hp.frames(graph).most[hp.WINDOWS.index(4)]) for graph in hp.GRAPHS}
    assert most["causal"] == most["causal_global"] == 21
    assert most["both"] == 21
    assert most["both_global"] == 2
    assert most["causal_random"] <= 7


def test_chance_and_the_first_word_add_to_what_is_near():
    n, window = hp.N, 4
    near, first, luck = (hp.links(name, window) for name in ("causal", "causal_global", "causal_random"))
    for i in range(n):
        assert set(np.flatnonzero(near[i])) == set(range(max(0, i - window + 1), i + 1))
        assert set(np.flatnonzero(first[i])) == {0, *range(max(0, i - window + 1), i + 1)}
    assert (luck | first == luck).all(), "nothing is taken away"
    more = (luck & ~first).sum()
    assert 0 < more < 2 * hp.LINKS * n
    assert not np.triu(luck, 1).any()


@pytest.mark.parametrize("d", [48, 7])
def test_work_and_memory_at_every_length(d):
    """A window and BigBird's three kinds of words are as many words a query; a short text has no more than it has."""
    work, kept = ins.multiplications(d), ins.remembered(d)
    assert work.shape == kept.shape == (7, 57)
    for at, n in enumerate(ins.LENGTHS):
        near = min(64, n)
        wanted = [
            2 * n * n * d,
            2 * n * near * d,
            2 * n * near * d,
            4 * n * 64 * d,
            4 * n * 256 * d,
            2 * n * d * d,
            3 * n * d * 16,
        ]
        np.testing.assert_allclose(work[:, at], wanted)
        held = [2 * n * d, 2 * near * d, 2 * n * d, 2 * 64 * d, 256 * (d + 1), d * (d + 1), d * 16]
        np.testing.assert_allclose(kept[:, at], held)


def test_the_gallery_is_of_one_head_and_its_rows_are_shares():
    tiles = ins.gallery()
    assert tiles.shape == (6, 32, 32)
    np.testing.assert_allclose(tiles.sum(-1), 1, atol=1e-4)
    q, k, _v = (x[:32] for x in fl.vectors(fl.Demo(fl.story())))
    full = (q @ k.T / 48**0.5).masked_fill(~torch.ones(32, 32).tril().bool(), -torch.inf).softmax(-1)
    np.testing.assert_allclose(tiles[0], full, atol=1e-5)
    near = torch.ones(32, 32).tril().bool() & (
        (torch.arange(32)[:, None] - torch.arange(32) < 7) | (torch.arange(32) == 0)
    )
    np.testing.assert_allclose(tiles[1], full * near / (full * near).sum(-1, keepdim=True), atol=1e-5)
    drawn = pt.mask("bigbird", 8, 32, pt.luck(6, 6, 32)[5, 1])
    np.testing.assert_array_equal(tiles[2] > 0, drawn)
    np.testing.assert_allclose(tiles[3], ins.pooled(q, k, 8), atol=1e-5)
    np.testing.assert_allclose(tiles[4], ins.weights_of(ins.positive(q, k, 256)), atol=1e-5)
    np.testing.assert_allclose(tiles[5], ins.weights_of(ins.elu(q, k)), atol=1e-5)


def test_directions_are_as_long_as_normal_vectors_and_orthogonal_in_blocks():
    w = ins.directions(7, 3, torch.Generator().manual_seed(5)).double().numpy()
    assert w.shape == (7, 3)
    unit = w / np.linalg.norm(w, axis=1, keepdims=True)
    for block in (slice(0, 3), slice(3, 6)):
        np.testing.assert_allclose(unit[block] @ unit[block].T, np.eye(3), atol=1e-5)
    many = ins.directions(3000, 3, torch.Generator().manual_seed(0)).numpy()
    np.testing.assert_allclose(many.std(0), 1, atol=0.05)
    np.testing.assert_allclose(many.mean(0), 0, atol=0.05)
    assert (np.linalg.norm(many, axis=1) ** 2).mean() == pytest.approx(3, rel=0.05)


def test_features_by_numpy():
    q, k = (x.float() for x in small(n=4, d=6))
    w = ins.directions(10, 6, torch.Generator().manual_seed(2)).numpy()
    scaled = [x.numpy() / 6**0.25 for x in (q, k)]
    powers = [x @ w.T - (x**2).sum(1, keepdims=True) / 2 for x in scaled]
    found = ins.positive(q, k, 10, 2)
    np.testing.assert_allclose(found[0], np.exp(powers[0] - powers[0].max(1, keepdims=True)), rtol=1e-4)
    np.testing.assert_allclose(found[1], np.exp(powers[1] - powers[1].max()), rtol=1e-4)
    w = ins.directions(5, 6, torch.Generator().manual_seed(2)).numpy()
    sines = ins.waves(q, k, 10, 2)
    turns = [np.concatenate([np.cos(x @ w.T), np.sin(x @ w.T)], 1) for x in scaled]
    long = (scaled[1] ** 2).sum(1, keepdims=True) / 2
    np.testing.assert_allclose(sines[0], turns[0], atol=1e-5)
    np.testing.assert_allclose(sines[1], turns[1] * np.exp(long - long.max()), atol=1e-5)
    assert torch.equal(ins.positive(q, k, 10)[0], ins.positive(q, k, 10, 0)[0])


def test_a_pool_averages_stretches_of_a_text():
    assert ins.pool(5, 2).tolist() == pytest.approx(np.array([[1 / 3] * 3 + [0] * 2, [0] * 3 + [1 / 2] * 2]))
    assert ins.pool(2, 5).tolist() == [[1, 0], [0, 1]], "of a short text every word"


def test_every_block_draws_features_of_its_own():
    mix = ins.MIXES["features"](8)
    q, k = (x.float() for x in small(n=4, d=6))
    first, second = (mix(q, k, k) for _block in range(2))
    torch.testing.assert_close(first, (ins.weights_of(ins.positive(q, k, 8, 0)) @ k.double()))
    torch.testing.assert_close(second, (ins.weights_of(ins.positive(q, k, 8, 1)) @ k.double()))


def test_forgetting_is_in_tiles_of_sixteen():
    generator = torch.Generator().manual_seed(1)
    q, k, v = (3 * torch.randn(1, 40, 5, generator=generator) for _ in range(3))
    causal = torch.ones(40, 40).tril().bool()
    torch.testing.assert_close(ins.forgetful(q, k, v), fl.flash(q, k, v, causal, 16, rescale=False))


def test_the_rank_of_a_head_by_numpy():
    found = ins.rank(fl.Demo(fl.story(), 2, 3))
    q, k, _v = (x.double().numpy() for x in fl.vectors(fl.Demo(fl.story(), 2, 3)))
    scores = q @ k.T / 48**0.5
    open_ = np.exp(scores - scores.max(1, keepdims=True))
    open_ /= open_.sum(1, keepdims=True)
    masked = np.where(np.tri(len(q), dtype=bool), scores, -np.inf)
    causal = np.exp(masked - masked.max(1, keepdims=True))
    causal /= causal.sum(1, keepdims=True)
    for name, table in (("scores", scores), ("open", open_), ("causal", causal)):
        sizes = np.linalg.svd(table, compute_uv=False)
        np.testing.assert_allclose(found.values[name][:20], (sizes / sizes[0])[:20], rtol=1e-5)
        energy = np.cumsum(sizes**2) / (sizes**2).sum()
        assert found.enough[name] == np.argmax(energy >= 0.9) + 1
        assert found.counted[name] == (sizes > 1e-6 * sizes[0]).sum()


def test_hops_at_every_window():
    found = hp.frames("causal")
    assert found.far.shape == (44, 64, 64)
    assert np.isnan(found.far[3, 0, 5]), "nobody reads ahead"
    assert found.far[3, 63, 0] == np.ceil(63 / 4) == found.most[3]
    assert hp.links("both", 3, 5).astype(int).tolist() == [
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
        [0, 1, 1, 1, 1],
        [0, 0, 1, 1, 1],
    ]
    assert hp.links("both_global", 1, 3).astype(int).tolist() == [[1, 1, 1], [1, 1, 0], [1, 0, 1]]
    with pytest.raises(KeyError):
        hp.links("other", 2)
