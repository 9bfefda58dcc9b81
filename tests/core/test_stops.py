"""Where the sliders stop: each row of stops beside NumPy's even or geometric one, from what to what and how many.

A slider says what it covers; who reads "0 is silent, 2 twice as loud" must find both ends and the untouched model between.
"""

import numpy as np
import pytest

from core import costs
from core.nets import mixture, neighbours, packed
from core.topics.attention import own_vectors
from core.topics.efficient import hops, instead
from core.topics.exam import manifold, offsets, waves
from core.topics.feedforward import alone, bends, needed, neuron, recorded
from core.topics.heads import volume
from core.topics.model import assemble, details, repair
from core.topics.norms import depth, loudness, readings, switches, vectors, warmup
from core.topics.position import schemes
from core.topics.projections import linear, query
from core.topics.rope import clocks, long_losses, stretching
from core.topics.softmax import lab
from core.topics.theory import collapse, line, lookup, machines, scaling
from core.topics.why import recurrence

EVEN = {  # from, to, how many
    "volume of a head": (volume.VOLUMES, 0, 2, 51),
    "volume of a neuron's FFN": (recorded.VOLUMES, 0, 2, 51),
    "volume of the second head": (neighbours.VOLUMES, 0, 1.1, 56),
    "how much of a wire is put back": (repair.STOPS, 0, 1, 49),
    "one word's vector on the way to another's": (alone.MIXES, 0, 1, 49),
    "share of the neurons that are kept": (needed.PARTS, 0, 1, 49),
    "what goes into a bend": (bends.XS, -4, 3, 141),
    "bias of a fresh FFN": (bends.BIASES, -0.4, 0.4, 49),
    "width of an FFN over the model's": (bends.WIDTHS, 1, 8, 57),
    "degrees of a small FFN's vector": (bends.TURNS, 0, 360, 61),
    "bent units": (bends.UNITS, 1, 64, 64),
    "factor of a neuron": (neuron.FACTORS, -1, 3, 61),
    "strength of the skips": (collapse.SKIPS, 0, 1, 49),
    "capacity of an expert": (mixture.CAPACITIES, 0.5, 3, 51),
    "slope of a block": (depth.SLOPES, -2, 2, 81),
    "size of a block's weights": (depth.SIZES, 0, 2.2, 45),
    "depth of a stack": (depth.DEPTHS, 1, 64, 64),
    "where one number may be put": (vectors.PLACES, -6, 6, 61),
    "added to all numbers": (vectors.ADDED, -3, 3, 61),
    "times all numbers": (vectors.SCALES, 0, 2.4, 61),
    "blend of two norms": (vectors.BLENDS, 0, 1, 61),
    "way through a norm": (vectors.PATH, 0, 1, 61),
    "part of a rotation": (clocks.PARTS, 0, 1, 49),
    "direction of a query": (clocks.DIRECTIONS, 0, 357, 52),
    "shift of both positions": (clocks.SHIFTS, 0, 63, 64),
    "position of a clock": (clocks.POSITIONS, 0, 48, 49),
    "factor of the context": (long_losses.FACTORS, 1, 4, 13),
    "dropout": (details.RATES, 0, 0.5, 11),
    "label smoothing": (details.EPSILONS, 0, 0.5, 51),
    "blocks that are assembled": (assemble.DEPTHS, 0, 24, 25),
    "degrees of a matrix": (linear.DEGREES, 0, 360, 73),
    "entry of a matrix": (linear.ENTRIES, -2, 2, 41),
    "strength of a wish": (linear.WISHES, 0, 4, 49),
    "degrees of the query": (query.ANGLES, 0, 360, 121),
    "constant added to all scores": (lab.ADDED, -100, 100, 51),
    "radius of the recurrent matrix": (recurrence.RADII, 0.4, 2.4, 51),
    "width of the state": (recurrence.WIDTHS, 1, 48, 48),
    "words back": (offsets.BACKS, 0, 4.8, 49),
    "place in a table": (schemes.PLACES, 0, 100, 101),
    "offset": (schemes.OFFSETS, 0, 48, 49),
    "start of a text": (schemes.STARTS, 0, 48, 49),
    "dimensions of the data": (manifold.DIMENSIONS, 1, 50, 50),
    "pieces of a line": (machines.PIECES, 1, 49, 49),
    "window of a graph": (hops.WINDOWS, 2, 45, 44),
    "a straight line's places": (line.XS, -line.EDGE, line.EDGE, 81),
}


@pytest.mark.parametrize("name", EVEN)
def test_even_steps_from_end_to_end(name):
    stops, low, high, many = EVEN[name]
    assert len(stops) == many
    np.testing.assert_allclose(stops, np.linspace(low, high, many), atol=6e-5 if high <= 10 else 0)
    assert (stops[0], stops[-1]) == pytest.approx((low, high), abs=1e-12)


GEOMETRIC = {  # from, to, how many, and to how many parts of its size a stop is rounded
    "chance of a feature": (packed.CHANCES, 1, 0.01, 49, 1e-12),
    "times the stream": (loudness.FACTORS, 0.01, 100, 61, 5.1e-4),
    "epsilon of a norm": (readings.EPSILONS, 1e-8, 1, 49, 5.1e-3),
    "size of a tiny vector": (vectors.TINY, 1e-8, 1, 65, 5.1e-3),
    "base of sinusoids": (schemes.BASES, 10**0.5, 10**6.5, 49, 2e-3),
    "slope of a head": (schemes.SLOPES, 2**-9, 1, 55, 1e-12),
    "base of RoPE": (stretching.BASES, 1e4, 1e6, 49, 1e-4),
    "times the context": (stretching.STRETCHES, 1, 8, 49, 1e-12),
    "largest score": (lab.LARGEST, 1, 1000, 49, 5.1e-4),
    "temperature": (lab.TEMPERATURES, 2 ** (-24 / 7), 2 ** (24 / 7), 49, 1e-12),
    "ridge": (line.LAMBDAS, 1e-3, 10**1.8, 49, 1e-12),
    "sharpness of a lookup": (lookup.SHARP, 1 / 8, 8, 49, 1e-12),
    "tokens of a text": (costs.TEXTS, 64, 2**20, 57, 1e-2),
    "tokens at once": (costs.AT_ONCE, 128, 2**18, 45, 1e-2),
    "tokens of a map": (instead.LENGTHS, 64, 2**20, 57, 1e-2),
    "base of a picture of waves": (waves.BASES, 10**0.3, 10**5.1, 49, 5.1e-3),
    "parameters": (scaling.SIZES, 1e6, 1e13, 113, 1e-12),
}


@pytest.mark.parametrize("name", GEOMETRIC)
def test_equal_factors_from_end_to_end(name):
    stops, low, high, many, rounded = GEOMETRIC[name]
    assert len(stops) == many
    np.testing.assert_allclose(stops, np.geomspace(low, high, many), rtol=rounded)


def whole(low, high, many):
    """Whole numbers nearest to equal factors; small ones come once."""
    return sorted({round(float(x)) for x in np.geomspace(low, high, many)})


def test_whole_numbers_that_grow_by_factors():
    assert list(own_vectors.WIDTHS) == whole(1, 512, 55)
    assert list(recurrence.LENGTHS) == whole(1, 1e5, 61)
    assert list(details.WIDTHS) == [2 * half for half in whole(8, 1024, 43)]


def test_stops_in_two_parts():
    """Fine where something happens, coarse elsewhere; no stop twice."""
    assert list(warmup.WARMS) == [*np.arange(1000, 4000, 100), *np.arange(4000, 10_001, 250)]
    np.testing.assert_allclose(switches.STRENGTHS, [*np.linspace(0, 0.55, 12), *np.linspace(0.6, 1, 41)], atol=1e-12)
    np.testing.assert_allclose(warmup.BETAS, 1 - np.geomspace(0.1, 1e-4, 49), atol=6e-6)
    rare = 1 - np.geomspace(0.05, 1e-4, 30)
    np.testing.assert_allclose(details.CHANCES, [*np.linspace(0.05, 0.95, 46), *rare[1:]], atol=6e-7)
    assert mixture.STOPS[:5] == (1, 2, 4, 6, 8)
    steps = set(range(10, 100, 3)) | set(range(100, 300, 10)) | set(range(300, mixture.STEPS + 1, 25))
    assert set(mixture.STOPS[5:]) == steps
    assert list(mixture.STOPS) == sorted(set(mixture.STOPS))


def test_of_a_long_text_every_second_or_fifth_stop_is_enough():
    assert pytest.approx(np.linspace(0, 2, 11)) == volume.COARSE
    assert pytest.approx(np.linspace(0, 1, 25)) == repair.FEWER
    np.testing.assert_allclose(loudness.COARSE, np.geomspace(0.01, 100, 13), rtol=5.1e-4)


def test_the_middle_bin_stands_around_zero():
    edges = readings.BINS
    assert len(edges) == 28
    np.testing.assert_allclose(np.diff(edges), 0.3)
    np.testing.assert_allclose(edges, -edges[::-1])


@pytest.mark.parametrize(
    ("stops", "untouched"),
    [
        (volume.VOLUMES, 1.0),
        (recorded.VOLUMES, 1.0),
        (neighbours.VOLUMES, 1.0),
        (neuron.FACTORS, 1.0),
        (loudness.FACTORS, 1.0),
        (vectors.SCALES, 1.0),
        (vectors.ADDED, 0.0),
        (lab.TEMPERATURES, 1.0),
        (lab.TEMPERATURES, 2.0),
        (lab.TEMPERATURES, 0.5),
        (lab.ADDED, 0.0),
        (bends.WIDTHS, 4.0),
        (recurrence.RADII, 1.0),
        (mixture.CAPACITIES, 1.0),
        (stretching.BASES, 10_000),
        (schemes.BASES, 10_000),
        (stretching.STRETCHES, 2.0),
    ],
)
def test_what_is_as_trained_or_as_usual_is_a_stop_of_its_own(stops, untouched):
    assert untouched in stops
