"""Five features in two numbers: read back in NumPy, errors on samples of our own, shapes that a theory predicts."""

import itertools

import numpy as np
import pytest
import torch

from core.make import superposition as making
from core.nets import packed
from core.topics.theory import packed as pk


def angles(frame):
    w = pk.frames().w[frame].astype(float)
    return np.sort(np.degrees(np.arctan2(w[1], w[0])) % 360)


def test_what_is_read_back_is_relu_of_wtwx_plus_b():
    found = pk.frames()
    for frame in (0, 20, 48):
        w, b = (part.numpy().astype(float) for part in packed.net(frame))
        for on in range(5):
            x = np.eye(5)[on]
            np.testing.assert_allclose(found.read[frame, on], np.maximum(w.T @ (w @ x) + b, 0), atol=1e-5)
        np.testing.assert_allclose(found.lengths[frame], np.sqrt((w**2).sum(0)), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("frame", [0, 12, 24, 36])
def test_recorded_errors_hold_on_other_samples(frame):
    chance, dice = packed.CHANCES[frame], np.random.default_rng(1)
    x = dice.random((200_000, 5)) * (dice.random((200_000, 5)) < chance)
    w, b = (part.numpy().astype(float) for part in packed.net(frame))
    read = np.maximum(x @ w.T @ w + b, 0)
    error = (0.9 ** np.arange(5) * (read - x) ** 2).mean()
    assert packed.error()[frame] == pytest.approx(error, rel=0.05)
    dropped = (0.9 ** np.arange(2, 5) * ((x - x.mean(0)) ** 2)[:, 2:]).mean(0).sum() / 5
    assert packed.keeping_two(chance) == pytest.approx(dropped, rel=0.02)


def test_from_two_to_a_pentagon():
    found = pk.frames()
    assert (found.kept[0], found.kept[pk.nearest(0.05)], found.kept[-1]) == (2, 5, 5)
    assert list(found.kept) == sorted(found.kept)
    assert 0.3 < pk.first_with(4) < 0.7
    assert 0.1 < pk.first_with(5) < 0.2
    assert found.loss[0] == pytest.approx(1.0, abs=0.03), "always on: nothing is gained over keeping two"
    assert found.loss[-1] < 0.15
    np.testing.assert_allclose(np.diff(angles(48)), 72, atol=4)
    with pytest.raises(ValueError, match="not in"):
        pk.first_with(6)


def test_four_lie_in_opposite_pairs():
    frame = pk.nearest(0.4)
    assert pk.frames().kept[frame] == 4
    w = pk.frames().w[frame][:, pk.frames().lengths[frame] > 0.5].astype(float)
    unit = w / np.linalg.norm(w, axis=0)
    np.testing.assert_allclose(np.sort((unit.T @ unit)[np.triu_indices(4, 1)]), [-1, -1, 0, 0, 0, 0], atol=0.03)


def test_views_are_turned_and_nothing_else():
    dice = np.random.default_rng(0)
    w = dice.normal(size=(2, 5))
    turn = np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]])
    np.testing.assert_allclose(making.turned(turn @ w, w), w, atol=1e-12)
    moved = making.turned(dice.normal(size=(2, 5)), w)
    again = making.turned(moved, w)
    np.testing.assert_allclose(moved, again, atol=1e-12)
    steps = np.abs(np.diff(pk.frames().w.astype(float), axis=0)).max((1, 2))
    assert np.median(steps) < 0.1, "from stop to stop the arrows go on"
    assert (steps > 0.5).sum() <= 5


def test_the_smoothest_way_is_the_cheapest_of_all_ways():
    """Three chances, three nets each, all good: tried out one by one."""
    dice = np.random.default_rng(2)
    w, losses = dice.normal(size=(3, 3, 2, 5)), np.ones((3, 3))

    def cost(way):
        return sum(
            np.square(making.turned(w[k, way[k]], w[k - 1, way[k - 1]]) - w[k - 1, way[k - 1]]).sum() for k in (1, 2)
        )

    assert tuple(making.smoothest(w, losses)) == min(itertools.product(range(3), repeat=3), key=cost)
    losses[1, [0, 2]] = 2.0
    assert making.smoothest(w, losses)[1] == 1, "a bad net is not chosen"


def test_samples_are_on_as_often_as_they_should():
    generator, chances = torch.Generator().manual_seed(5), torch.tensor(packed.CHANCES)
    x = making.drawn(chances, 4000, 1, generator)
    assert x.shape == (49, 1, 4000, 5)
    np.testing.assert_allclose((x > 0).float().mean((1, 2, 3)).numpy(), packed.CHANCES, atol=0.02)
    half = x[0].flatten()
    assert (float(half.mean()), float(half.max())) == (pytest.approx(0.5, abs=0.02), pytest.approx(1, abs=0.01))


def test_training_makes_errors_smaller():
    generator = torch.Generator().manual_seed(3)
    start = torch.randn(49, 1, 2, 5, generator=generator) * 0.5
    w, b = making.train(start, torch.zeros(49, 1, 5), 60, generator)
    before, after = (making.tested(*one, torch.Generator().manual_seed(1)) for one in ((start, b * 0), (w, b)))
    assert (after < before).float().mean() > 0.9
