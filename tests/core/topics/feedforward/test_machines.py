"""Experts on four machines, counted one letter at a time; and three ways to the same products."""

from itertools import permutations

import pytest
import torch

from core.topics.feedforward import machines as lab
from core.topics.feedforward import mixture as toy

LETTERS = "He could not find it. He wonder"


def walked(homes):
    """One letter after the other: trips that leave, and what each machine computes."""
    experts, crossing, work = toy.routing("aux", LETTERS).experts, 0, [0] * 4
    for block in experts.tolist():
        for i, expert in enumerate(block):
            here, there = min(3, 4 * i // len(LETTERS)), homes[expert]
            crossing += here != there
            work[there] += 1
    return crossing, work


@pytest.mark.parametrize("homes", [lab.Demo("").homes, (0,) * 8, (3, 2, 1, 0, 3, 2, 1, 0)])
def test_what_travels(homes):
    found, (crossing, work) = lab.traffic(lab.Demo(LETTERS, homes)), walked(homes)
    assert (found.crossing, found.work.tolist(), found.moves) == (crossing, work, 2 * len(LETTERS))
    assert found.bytes == crossing * 64 * 2 * 2
    assert found.wait == pytest.approx(max(work) / (sum(work) / 4))


def test_the_best_homes_are_no_worse_than_any():
    best = lab.best(LETTERS)
    assert sorted(best) == [0, 0, 1, 1, 2, 2, 3, 3]
    least = walked(best)[0]
    some = [tuple(p) for p in list(permutations((0, 0, 1, 1, 2, 2, 3, 3)))[::97]]
    assert least <= min(walked(homes)[0] for homes in some)
    assert len({tuple(h) for h in lab._assignments(tuple(range(8)))}) == 2520


def test_three_ways_to_the_same_products():
    draw = torch.Generator().manual_seed(1)
    x, w = torch.randn(50, 6, generator=draw), torch.randn(7, 6, 5, generator=draw)
    to = torch.randint(6, (50,), generator=draw)  # the last expert gets nobody
    wanted = torch.einsum("td,tdf->tf", x, w[to])
    for way in (lab.by_token, lab.by_expert, lab.grouped):
        torch.testing.assert_close(way(x, w, to), wanted)
    found = lab.timed(8, rounds=1)
    assert min(found.by_token, found.by_expert, found.grouped) > 0
    assert found.gap < 1e-3


def test_no_letters_are_on_no_machine():
    assert lab.homes_of(0).tolist() == []
    assert lab.homes_of(8).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert lab.homes_of(3).tolist() == [0, 1, 2]


def test_where_letters_go_cell_by_cell():
    found = lab.traffic(lab.Demo(LETTERS))
    sent = [[0] * 4 for _machine in range(4)]
    for block in toy.routing("aux", LETTERS).experts.tolist():
        for i, expert in enumerate(block):
            sent[min(3, 4 * i // len(LETTERS))][expert // 2] += 1
    assert found.sent.tolist() == sent
    assert lab.traffic(lab.Demo(LETTERS, kind="none")).sent.tolist() != sent


def test_the_best_of_all_homes_is_found_by_looking_at_all():
    for kind in ("aux", "none"):
        experts = toy.routing(kind, LETTERS).experts

        def crossing(homes, experts=experts):
            return sum(
                homes[e] != min(3, 4 * i // len(LETTERS)) for block in experts.tolist() for i, e in enumerate(block)
            )

        every = set(permutations((0, 0, 1, 1, 2, 2, 3, 3)))
        assert crossing(lab.best(LETTERS, kind)) == min(map(crossing, every))


def test_the_middle_of_the_rounds_is_told(monkeypatch):
    """Three rounds of three ways: 1, 2, 3 seconds, then 5, 4, 30, then 3, 8, 6."""
    taken = [1, 2, 3, 5, 4, 30, 3, 8, 6]
    clock = iter([tick for one in taken for tick in (100.0, 100.0 + one)])
    monkeypatch.setattr(lab.time, "perf_counter", lambda: next(clock))
    found = lab.timed(8, 3)
    assert (found.experts, found.by_token, found.by_expert, found.grouped) == (8, 3.0, 4.0, 6.0)
    assert next(clock, None) is None
