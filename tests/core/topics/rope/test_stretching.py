"""Scaled rotations against transformers' ROPE_INIT_FUNCTIONS, with every parameter moved, and the counts by hand."""

import math

import numpy as np
import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from core.topics.rope import stretching as lr

CASES = [  # head_dim, base, s, trained
    (128, 10_000.0, 4.0, 4096),
    (48, 10_000.0, 2.0, 256),
    (64, 500_000.0, 8.0, 8192),
    (128, 1_000_000.0, 1.5, 32_768),
]


def theirs(kind, head_dim, base, s, trained, length=None):
    """(inverse frequencies, attention factor)."""
    parameters = {"rope_type": kind, "rope_theta": base, "factor": s}
    if kind == "yarn":
        parameters["original_max_position_embeddings"] = trained
    reach = round(trained * s) if kind == "yarn" else trained
    config = LlamaConfig(
        hidden_size=head_dim, num_attention_heads=1, max_position_embeddings=reach, rope_parameters=parameters
    )
    return ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=length)


@pytest.mark.parametrize("case", CASES)
def test_position_interpolation(case):
    torch.testing.assert_close(lr.scaled("pi", *case, 0), theirs("linear", *case)[0])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("grown", [0.5, 1.0, 1.7, 6.0])
def test_dynamic_ntk(case, grown):
    length = round(grown * case[3])
    torch.testing.assert_close(
        lr.scaled("dynamic", *case, length), theirs("dynamic", *case, length)[0], rtol=2e-6, atol=0
    )


@pytest.mark.parametrize("case", CASES)
def test_yarn(case):
    frequencies, factor = theirs("yarn", *case)
    torch.testing.assert_close(lr.scaled("yarn", *case, 0), frequencies, rtol=1e-5, atol=0)
    assert lr.yarn_factor(case[2]) == pytest.approx(factor)


def test_yarn_leaves_everything_alone_at_one():
    assert lr.yarn_factor(1.0) == 1.0
    torch.testing.assert_close(lr.yarn(48, 1e4, 1.0, 256), lr.scaled("plain", 48, 1e4, 1.0, 256, 0))


@pytest.mark.parametrize("case", CASES)
def test_ntk_aware_keeps_the_fastest_pair_and_slows_the_slowest_by_s(case):
    plain, ntk = (lr.scaled(m, *case, 0).double() for m in ("plain", "ntk"))
    assert float(plain[0] / ntk[0]) == 1
    assert float(plain[-1] / ntk[-1]) == pytest.approx(case[2], rel=1e-5)


def test_the_published_numbers():
    assert round(lr.ntk_base(128, 10_000.0, 4.0)) == 40_890
    abf, qwen3 = lr.scaled("abf", 128, 10_000.0, 7.0, 4096, 0), 1e6 ** -(np.arange(64) / 64)
    np.testing.assert_allclose(abf, qwen3, rtol=1e-5)
    with pytest.raises(KeyError):
        lr.scaled("magic", 128, 1e4, 2.0, 4096, 0)


def test_the_spectrum_counts_what_pencil_and_paper_count():
    found = lr.spectrum()
    assert (found.unfinished[0], found.unfinished[-1]) == (4, 24)
    for frame in (0, 20, 48):
        slow = [2 * math.pi * lr.BASES[frame] ** (i / 64) for i in range(64)]
        assert found.unfinished[frame] == sum(wave > 32_768 for wave in slow)
        np.testing.assert_allclose(found.waves[frame], slow, rtol=1e-9)
        trained = [4096 * 10_000 ** (-i / 64) for i in range(64)]
        reached = [32_768 * lr.BASES[frame] ** (-i / 64) for i in range(64)]
        new = sum(r > t * (1 + 1e-5) and t < 2 * math.pi for r, t in zip(reached, trained, strict=True))
        assert found.unseen[frame] == new
    assert found.unseen[-1] == 0
    small = lr.spectrum(lr.Model(48, 10_000.0, 256))
    assert small.unseen[0] == sum(256 * 10_000 ** (-i / 24) < 2 * math.pi for i in range(24))


@pytest.mark.parametrize("frame", [0, 17, 48])
def test_trained_as_far_as_it_is_looked_at_a_model_has_seen_every_angle(frame):
    """At its own base; with a larger one it turns less, so it has seen those too. A smaller one brings new ones."""
    found = lr.spectrum(lr.Model(128, float(lr.BASES[frame]), lr.REACH))
    assert set(found.unseen[frame:]) == {0}
    assert (found.unseen[:frame] > 0).all()


def test_curves_are_the_methods_at_every_stop():
    slow, (places, angles) = lr.slowdowns(grown=3.0), lr.far_angles(54)
    stop = 32
    s = lr.STRETCHES[stop]
    assert s == pytest.approx(4)
    for i, method in enumerate(lr.METHODS):
        plain, now = (lr.scaled(m, 128, 10_000.0, s, 4096, 3 * 4096) for m in ("plain", method))
        np.testing.assert_allclose(slow[stop, i], plain / now, rtol=1e-6)
        n = int(places[40])
        at = lr.scaled(method, 128, 10_000.0, s, 4096, n)[54]
        assert angles[stop, i, 40] == pytest.approx(n * float(at), rel=1e-5)
    assert slow[0].max() == pytest.approx(100, rel=0.1)


def test_a_ramp_of_no_width_is_a_step():
    """Where no pair lies between fast and slow, one side stays and the other is interpolated."""
    found = lr.ramp(8, 10_000.0, 4096, fast=10.0, slow=10.0).numpy()
    assert set(found.tolist()) <= {0.0, 1.0}
    assert found[0] == 1
    assert found[-1] == 0
    assert (np.diff(found) <= 0).all()


def test_the_bases_run_from_llamas_to_a_hundred_times_it():
    assert (lr.BASES[0], lr.BASES[24], lr.BASES[48]) == (10_000, 100_000, 1_000_000)
    assert len(lr.BASES) == 49


def test_angles_are_looked_at_from_nothing_to_eight_times_the_trained_length():
    model = lr.Model(48, 10_000.0, 256)
    places, angles = lr.far_angles(3, model)
    np.testing.assert_allclose(places, np.linspace(0, 2048, 65))
    assert angles.shape == (49, 6, 65)
    s = lr.STRETCHES[10]
    for at in (7, 50):
        theta = lr.scaled("dynamic", 48, 10_000.0, s, 256, int(places[at]))[3]
        assert angles[10, 4, at] == pytest.approx(places[at] * float(theta), rel=1e-5)
    assert lr.slowdowns().shape == (49, 6, 64)
    np.testing.assert_allclose(lr.slowdowns(), lr.slowdowns(lr.Model(), 2.0))
    plain, dynamic = (lr.scaled(m, 48, 10_000.0, s, 256, 512) for m in ("plain", "dynamic"))
    np.testing.assert_allclose(lr.slowdowns(model)[10, 4], plain / dynamic, rtol=1e-6)


def test_turns_at_the_end_of_a_long_text_and_in_training():
    model = lr.Model(48, 10_000.0, 256)
    found = lr.spectrum(model)
    pairs = 10_000.0 ** (-np.arange(24) / 24)
    np.testing.assert_allclose(found.seen, 256 * pairs / (2 * math.pi), rtol=1e-5)
    np.testing.assert_allclose(found.turns[0], 32_768 * pairs / (2 * math.pi), rtol=1e-6)
    assert found.turns.shape == found.waves.shape == (49, 24)


def test_the_ramp_by_hand():
    """Sixteen numbers, base 10,000, 4096 tokens: pairs that turned 32 times or more stay, those below once are stretched."""
    found = lr.ramp(16, 10_000.0, 4096).numpy()
    pair = lambda n: 16 * math.log(4096 / (n * 2 * math.pi)) / (2 * math.log(10_000))  # noqa: E731
    first, last = math.floor(pair(32)), math.ceil(pair(1))
    np.testing.assert_allclose(found, np.clip(1 - (np.arange(8) - first) / (last - first), 0, 1), atol=1e-6)
    step = lr.ramp(8, 10_000.0, 4096, fast=10.0, slow=10.0).numpy()
    assert sorted(set(step.tolist())) == [0, 1]
    assert lr.yarn_factor(0.5) == 1
