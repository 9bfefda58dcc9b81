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
