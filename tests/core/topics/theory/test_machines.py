"""The bound counted in another way; recorded training run again; the hand-set FFN against interpolation."""

import itertools
import math

import numpy as np
import pytest

from core.make import by_heart as making
from core.nets import by_heart
from core.topics.theory import machines as mc


def test_the_bound_counted_by_orbits():
    """Orbit by orbit of the permutations, with arrays: no sorting, no counter."""
    rows, answers = by_heart.sequences().numpy(), by_heart.wanted().numpy()
    assert rows.tolist() == [list(one) for one in itertools.product(range(4), repeat=4)]
    histograms = np.stack([(rows == s).sum(1) for s in range(4)], 1)
    right = 0
    for orbit in np.unique(histograms, axis=0):
        inside = (histograms == orbit).all(1)
        for symbol in range(4):
            asked = answers[inside][rows[inside] == symbol]
            right += np.bincount(asked, minlength=4).max()
    assert mc.bound() == right / 1024
    assert mc.bound() == pytest.approx(0.3945, abs=5e-5)


def test_a_net_without_positions_is_equivariant_and_one_with_them_is_not():
    rows = by_heart.sequences()[[27, 100, 200]]
    swapped = rows[:, [2, 0, 3, 1]]
    for kind, same in (("none", True), ("positions", False)):
        net = by_heart.net(kind).double()
        moved = np.abs((net(rows)[:, [2, 0, 3, 1]] - net(swapped)).numpy()).max()
        assert (moved < 1e-9) == same, kind


def test_recorded_learning():
    bound = mc.bound()
    for kind in by_heart.KINDS:
        recorded = by_heart.right(kind)
        assert recorded.shape == (len(by_heart.WIDTHS), len(by_heart.SEEN))
        net = by_heart.net(kind)
        right = (net(by_heart.sequences()).argmax(-1) == by_heart.wanted()).float().mean()
        assert recorded[by_heart.WIDTHS.index(by_heart.OPENED), -1] == pytest.approx(float(right))
        drawn = by_heart.by_sequence(kind).mean(1) / 4
        np.testing.assert_allclose(drawn, recorded[by_heart.WIDTHS.index(by_heart.DRAWN[kind])], atol=1e-6)
    without = by_heart.right("none")
    assert without.max() <= bound + 1e-6
    assert without[2:, -1] == pytest.approx(bound, abs=1e-6), "wide enough nets reach the bound and stop there"
    assert by_heart.right("positions")[2:, -1] == pytest.approx(1.0)
    assert (mc.parameters("positions", 16), mc.parameters("none", 64)) == (6756, 100_484)


def test_training_begins_as_recorded():
    _net, seen = making.train("positions", 4, steps=20)
    recorded = by_heart.right("positions")[0]
    np.testing.assert_allclose(seen.float().mean(-1).numpy()[:6] / 4, recorded[:6], atol=0.02)


def test_how_many_cases_can_be_told_apart():
    """With positions every symbol of every sequence; without, a symbol and the multiset around it: 4 times C(6, 3)."""
    assert mc.told_apart("positions") == (16, 1024, 1024)
    assert mc.told_apart("none") == (4, 4 * math.comb(6, 3), 4 * math.comb(6, 3))


def test_stairs_and_hinges():
    xs = np.linspace(0, 1, 201)
    for pieces in (1, 3, 8, 49):
        ends = np.linspace(0, 1, pieces + 1)
        np.testing.assert_allclose(mc.hinges(xs, pieces), np.interp(xs, ends, mc.curve(ends)), atol=1e-9)
        steps = mc.stairs(xs, pieces)
        assert len(np.unique(steps.round(12))) <= pieces
        assert steps[0] == pytest.approx(mc.curve(np.array(0.5 / pieces)))
        assert steps[-1] == pytest.approx(mc.curve(np.array(1 - 0.5 / pieces))), "the right end is on the last step"
    found = mc.imitated()
    assert found.off["hinges"][47] < found.off["hinges"][23] / 3, "twice the pieces, about a quarter of the error"
    assert found.off["stairs"][47] == pytest.approx(found.off["stairs"][23] / 2, rel=0.2)


def test_pictures():
    found = mc.learned()
    assert found.grid["none"].shape == (len(by_heart.SEEN), 16, 16)
    assert found.at["positions"][-1] == 1.0
    assert [mc.spelled(i) for i in (0, 1, 16, 255)] == ["aaaa", "aaab", "abaa", "dddd"]
    # row: the first two symbols; column: the last two
    assert found.grid["none"][-1, 1, 2] == by_heart.by_sequence("none")[-1, 18] / 4
