"""How much is computed for long texts, and where a change begins."""

import pytest

from core.lab.text import FIRST, Text
from core.topics.feedforward import alone, neuron


def long(n):
    return Text(FIRST, (1,) * n, ("a",) * n)


def test_a_long_text_has_every_sixth_stop_and_both_ends():
    short, far = alone.mixes(64), alone.mixes(65)
    assert len(short) == 49
    assert far == tuple(i / 8 for i in range(9))
    assert {far[0], far[-1]} == {short[0], short[-1]} == {0.0, 1.0}


@pytest.mark.parametrize(("token", "at", "other"), [(None, 1, 3), (2, 2, 3), (3, 3, 0), (99, 3, 0)])
def test_the_row_of_another_token_is_mixed_in(token, at, other):
    demo = alone.Demo(long(4), token=token)
    assert (demo.at, demo.other) == (at, other)


def test_a_neurons_factors_hold_silence_and_itself():
    assert {-1.0, 0.0, 1.0, 3.0} <= set(neuron.FACTORS)
    assert set(neuron.COARSE) <= set(neuron.FACTORS)
