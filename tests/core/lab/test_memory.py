"""Results kept for all visitors: each computed once, the oldest forgotten when they weigh too much."""

import threading

import numpy as np
import pytest

from core.lab import subject, text
from core.lab.memory import Memory, weight


def counted():
    asked = []

    def run(n):
        asked.append(n)
        return np.zeros(n, np.uint8)

    return run, asked


def test_what_was_computed_is_kept():
    memory, (run, asked) = Memory(10_000), counted()
    assert memory(run, (5,)) is memory(run, (5,))
    assert memory(run, (6,)).size == 6
    assert asked == [5, 6]
    assert (memory.held(run), memory.held(print)) == (2, 0)


def test_the_least_recently_used_go_first():
    memory, (run, asked) = Memory(3500), counted()
    for n in (1000, 1001, 1002, 1000, 1003, 1000, 1001):
        memory(run, (n,))
    assert asked == [1000, 1001, 1002, 1003, 1001]
    assert memory.bytes <= 3500
    assert len(memory) == 3


def test_one_result_larger_than_the_room_is_still_handed_out():
    memory, (run, asked) = Memory(100), counted()
    assert memory(run, (5000,)).size == 5000
    assert memory(run, (6000,)).size == 6000
    assert len(memory) == 1
    assert asked == [5000, 6000]


def test_an_error_is_everybodys_own_and_is_not_kept():
    memory, asked = Memory(), []

    def run(n):
        asked.append(n)
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            memory(run, (1,))
    assert asked == [1, 1]
    assert len(memory) == 0


def test_thirty_who_ask_at_once_wait_for_one():
    memory, asked, gate = Memory(), [], threading.Event()

    def run(n):
        asked.append(n)
        gate.wait(10)
        return np.full(n, 7)

    found = []
    threads = [threading.Thread(target=lambda: found.append(memory(run, (3,)))) for _ in range(30)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(10)
    assert asked == [3]
    assert len(found) == 30
    assert all(one is found[0] for one in found)


def test_weight_finds_arrays_and_texts_wherever_they_are():
    assert 8000 <= weight({"a": [np.zeros(1000)]}) < 9000
    assert 5000 <= weight(("x" * 2000, {"b": b"y" * 3000})) < 6000
    reading = text.read(text.SENTENCE)
    trace = subject.run(text.of(reading), subject.UNTOUCHED, ("block0.weights", "next_probs"))
    assert 4 * (6 * 14 * 14 + 32000) <= weight(trace) < 4 * (6 * 14 * 14 + 32000) + 20_000
    loop = []
    loop.append(loop)
    assert weight(loop) < 1000
