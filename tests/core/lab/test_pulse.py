"""Long computations breathe: they are heard, can be ended, and take turns."""

import threading

import pytest

from core.lab import memory, pulse


class Left(Exception):
    """The visitor has gone."""


def leave_at(n):
    def beat(done):
        if done == n:
            raise Left

    return beat


def test_every_step_is_heard_and_nothing_is_lost():
    beats = []
    with pulse.heard(beats.append):
        assert list(pulse.breathing("abc")) == ["a", "b", "c"]
    assert beats == [1, 2, 3]
    assert list(pulse.breathing(range(2))) == [0, 1], "nobody has to listen"
    assert beats == [1, 2, 3]


def test_what_the_listener_raises_ends_it_and_leaves_nothing_behind():
    taken, keep = [], memory.Memory()

    def run(n):
        return [taken.append(i) or i for i in pulse.breathing(range(n))]

    with pytest.raises(Left), pulse.heard(leave_at(3)):
        keep(run, (100,))
    assert taken == [0, 1, 2]
    assert len(keep) == 0
    assert keep(run, (5,)) == [0, 1, 2, 3, 4], "the turn was given back"


def test_two_who_compute_take_turns():
    inside, most = [], []

    def steps():
        for i in range(50):
            inside.append(i)
            most.append(len(inside))
            inside.pop()
            yield i

    threads = [threading.Thread(target=lambda: list(pulse.breathing(steps()))) for _one in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 200
