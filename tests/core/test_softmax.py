"""Softmax against torch, autograd and arithmetic by hand: steps, slopes, formats, and rows that may be wrong."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core import softmax as sm
from core.lab import head as onehead
from core.lab import text
from core.topics.softmax import lab

ROWS = {
    "three": (2.0, 1.0, 0.1),
    "tie": (2.0, 2.0, 0.0),
    "negative": (-3.5, -7.25, -0.5, -3.0, -1.0),
    "thousands": (1000.0, 1000.1, 1000.2),
    "far": (10_000.0, -10_000.0),
}
EACH_ROW = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
STOPS = [0, 7, 24, 30, 48]


def shares(row, t=1.0):
    """torch's own."""
    return F.softmax(torch.tensor(row, dtype=torch.float64) / t, -1)


@EACH_ROW
@pytest.mark.parametrize("stop", STOPS)
def test_every_frame_is_torchs_softmax_at_that_temperature(row, stop):
    t, found = lab.TEMPERATURES[stop], lab.heated(row)
    z = np.array(row) / t
    np.testing.assert_allclose(found.shares[stop], shares(row, t).numpy(), atol=1e-14)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(found.steps[stop, :4], [z, np.exp(z), z - z.max(), np.exp(z - z.max())], rtol=1e-12)
        np.testing.assert_allclose(found.naive_total[stop], np.exp(z).sum(), rtol=1e-12)
    p = shares(row, t).numpy()
    bits = -(p * np.log2(np.where(p > 0, p, 1))).sum()
    np.testing.assert_allclose([found.entropy[stop], found.most[stop]], [bits, z.max()], atol=1e-12)
    np.testing.assert_allclose(found.total[stop], np.exp(z - z.max()).sum(), rtol=1e-12)


@EACH_ROW
@pytest.mark.parametrize("stop", STOPS)
def test_the_slopes_are_autograds_jacobian(row, stop):
    t = lab.TEMPERATURES[stop]
    z = torch.tensor(row, dtype=torch.float64)
    wanted = torch.autograd.functional.jacobian(lambda x: F.softmax(x, -1), z / t)
    np.testing.assert_allclose(lab.heated(row).slopes[stop], wanted.numpy(), atol=1e-14)
    from_z = torch.autograd.functional.jacobian(lambda x: F.softmax(x / t, -1), z)
    np.testing.assert_allclose(lab.heated(row).slopes[stop] / t, from_z.numpy(), atol=1e-12)


@EACH_ROW
@pytest.mark.parametrize("t", [0.3, 1.0, 4.0])
def test_a_run_records_the_steps_by_hand(row, t):
    trace = lab.run(lab.Demo(row, t))
    z = np.array(row) / t
    e = np.exp(z - z.max())
    wanted = {"tempered": z, "shifted": z - z.max(), "exps": e, "total": e.sum(), "shares": e / e.sum()}
    for name, value in wanted.items():
        np.testing.assert_allclose(trace[name].value, value, atol=1e-12)
    p = e / e.sum()
    np.testing.assert_allclose(trace["slopes"].value, np.diag(p) - np.outer(p, p), atol=1e-15)
    assert [step.name for step in trace] == [*wanted, "slopes"]


def test_recording_changes_nothing_and_batches_work():
    z = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(sm.softmax(z, 0.7), (z / 0.7).softmax(-1), atol=1e-6)
    assert torch.equal(sm.softmax(z[0, 0], trace=sm.Trace()), sm.softmax(z[0, 0]))


def test_shares_of_a_row_of_the_model_are_the_models_weights():
    reading = text.read(text.SENTENCE)
    head = onehead.head_of(onehead.Demo(text.of(reading)))
    row = tuple(float(x) for x in head.scaled[-1])
    np.testing.assert_allclose(lab.run(lab.Demo(row))["shares"].value, head.weights[-1], atol=1e-6)
    assert row[:4] == pytest.approx((6.47, 8.09, 4.82, 10.06), abs=0.005)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("lift", [0.0, 1000.0])
def test_the_numpy_version_works_along_any_axis_and_far_from_zero(axis, lift):
    x = np.random.default_rng(1).normal(size=(3, 4)) + lift
    np.testing.assert_allclose(lab.by_numpy(x, axis), torch.tensor(x).softmax(axis).numpy(), atol=1e-12)


# ---- laws ----


@EACH_ROW
def test_the_cold_end_is_a_look_up_with_ties_shared_and_the_hot_end_is_nearly_even(row):
    cold, hot = shares(row, 1e-6).numpy(), shares(row, 1e9).numpy()
    np.testing.assert_allclose(lab.limit(row), cold, atol=1e-12)
    np.testing.assert_allclose(hot, np.full(len(row), 1 / len(row)), atol=1e-4)


def test_a_unique_maximum_is_needed():
    assert lab.limit((1.0, 3.0, 2.0)) == (0, 1, 0)
    assert lab.limit((3.0, 1.0, 3.0)) == (0.5, 0, 0.5)
    assert lab.heated((2.0, 2.0, 0.0)).shares[0] == pytest.approx([0.5, 0.5, 0], abs=1e-8)


@EACH_ROW
def test_adding_a_constant_moves_scores_and_exponentials_but_no_share(row):
    frames = lab.added(row)
    assert frames.shape == (len(lab.ADDED), 3, len(row))
    for stop in (0, 25, 31, 50):
        z = np.array(row) + lab.ADDED[stop]
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(frames[stop, :2], [z, np.exp(z)], rtol=1e-12)
        np.testing.assert_allclose(frames[stop, 2], shares(row).numpy(), atol=1e-12)
    assert lab.ADDED[25] == 0
    assert lab.moved_by(row, 100.0) < 1e-12
    assert lab.moved_by((2.0, 1.0), 1e17) > 0.2, "what is too far away is rounded: this measure can see a change"


def test_doubling_the_scores_squares_the_ratio():
    one, two = shares((3.0, 1.8)), sm.softmax(torch.tensor([6.0, 3.6], dtype=torch.float64))
    assert float(two[0] / two[1]) == pytest.approx(float(one[0] / one[1]) ** 2)


# ---- number formats ----


@pytest.mark.parametrize("form", lab.FORMATS)
def test_number_formats_compute_what_torch_computes_in_them(form):
    row, dtype = ROWS["three"], lab.FORMATS[form]
    frames = lab.in_format(row, form)
    for stop in (0, 9, 21, 33, 48):
        lifted = torch.tensor(row, dtype=torch.float64) - max(row) + lab.LARGEST[stop]
        z = lifted.to(dtype)
        wanted = [z.double(), z.exp().double(), (z.exp() / z.exp().sum()).double()]
        np.testing.assert_array_equal(frames[stop, :3], torch.stack(wanted).numpy())
        np.testing.assert_allclose(frames[stop, 3], z.softmax(-1).double(), atol=3 * torch.finfo(dtype).eps)


@pytest.mark.parametrize(("form", "limit"), [("fp16", 11.09), ("bf16", 88.72), ("fp32", 88.72), ("fp64", 709.78)])
def test_the_naive_version_breaks_at_the_logarithm_of_the_largest_number(form, limit):
    end = lab.breaks(ROWS["three"], form)
    assert end.limit == pytest.approx(limit, abs=0.01)
    before = [x for x in lab.LARGEST if x < end.at]
    assert before[-1] < limit + 0.01
    assert end.at > limit - math.log(3)
    frames = lab.in_format(ROWS["three"], form)
    at = lab.LARGEST.index(end.at)
    assert np.isfinite(frames[: at - 1, 2]).all()
    assert np.isnan(frames[at, 2]).any() or np.isinf(frames[at, 1]).any()
    assert np.isfinite(frames[:, 3]).all(), "the stable version never breaks"


@pytest.mark.parametrize("n", [8, 16])
def test_a_sum_may_overflow_before_any_exponential(n):
    end, largest = lab.breaks((0.0,) * n, "fp16"), np.array(lab.LARGEST)
    assert end.at == largest[largest + math.log(n) > math.log(65504)][0]
    assert end.at < end.limit
    assert not lab.in_format((0.0,) * n, "fp16")[lab.LARGEST.index(end.at), 2].any(), "divided by infinity"


def test_the_stable_row_stands_still_where_the_scores_are_stored_well():
    exact = shares(ROWS["three"]).numpy()
    off = {form: np.abs(lab.in_format(ROWS["three"], form)[:, 3] - exact).max() for form in lab.FORMATS}
    assert off["fp64"] < 1e-12
    assert off["fp32"] < 1e-4
    assert off["bf16"] > 0.05, "at 1000, bf16 knows only every fourth number"


# ---- mixtures ----


def test_colours_are_mixed_with_the_shares():
    row, stop = (2.1, -0.5, 1.3, 0.8), 31
    colours = lab.colours(4)
    assert len({tuple(c) for c in colours}) == 4
    wanted = sum(float(p) * c for p, c in zip(shares(row, lab.TEMPERATURES[stop]), colours, strict=True))
    np.testing.assert_allclose(lab.mixed(row)[stop], wanted)
    assert ((colours >= 0) & (colours <= 255)).all()


def test_the_triangle_holds_the_three_largest():
    seen = lab.triangle((0.0, 5.0, 1.0, 4.0, 6.0))
    assert seen.chosen == (1, 3, 4)
    stop = 12
    p = shares((5.0, 4.0, 6.0), lab.TEMPERATURES[stop]).numpy()
    np.testing.assert_allclose(seen.shares[stop], p)
    np.testing.assert_allclose(seen.points[stop], [p[1] + p[2] / 2, p[2] * math.sqrt(3) / 2])
    assert lab.triangle((1.0, 2.0)) is None
    np.testing.assert_allclose(np.linalg.norm(lab.CORNERS - np.roll(lab.CORNERS, 1, 0), axis=1), 1)


# ---- rows to be checked ----

TRUE = {
    "first": (0.659, 0.242, 0.099),
    "cold": (0.867, 0.117, 0.016),
    "warm": (0.506, 0.307, 0.186),
    "four": (0.557, 0.041, 0.250, 0.152),
    "thousand": (0.3006, 0.3322, 0.3672),
    "lonely": (1.0, 2.79e-10),
    "reversed": (0.090, 0.245, 0.665),
}


@pytest.mark.parametrize("name", lab.CLAIMS)
def test_every_printed_row_is_judged_as_it_deserves(name):
    claim, verdict = lab.CLAIMS[name], lab.judge(lab.CLAIMS[name])
    assert verdict.shares == pytest.approx(TRUE[name], abs=6e-4)
    wanted = shares(claim.scores, claim.temperature).numpy()
    assert verdict.gap == pytest.approx(np.abs(wanted - claim.row).max())
    assert verdict.right == (name in ("first", "warm"))


def test_the_sum_of_the_first_example_and_the_owner_of_the_thousand():
    assert sum(math.exp(z) for z in lab.CLAIMS["first"].scores) == pytest.approx(11.2125, abs=5e-5)
    assert shares(lab.OWNER).numpy() == pytest.approx(lab.CLAIMS["thousand"].row, abs=5e-5)


def test_no_temperature_gives_the_row_of_four():
    claim = lab.CLAIMS["four"]
    found = lab.nearest(claim)
    by_hand = min(np.abs(shares(claim.scores, t).numpy() - claim.row).max() for t in np.geomspace(0.01, 100, 999))
    assert found.gap == pytest.approx(by_hand, abs=1e-3)
    assert found.gap > 0.05
    wanted = np.abs(shares(claim.scores, found.temperature).numpy() - claim.row).max()
    assert found.gap == pytest.approx(wanted, abs=1e-9)
    assert lab.nearest(lab.CLAIMS["thousand"]).temperature == pytest.approx(0.1, rel=0.01)


def test_facts_against_arithmetic():
    known = lab.facts()
    assert known.rest == pytest.approx(math.exp(-22), rel=1e-8)
    assert known.slope == pytest.approx(2.79e-10, rel=1e-3)
    assert known.far == pytest.approx(math.exp(-44), rel=1e-8, abs=0)
    assert 1 / (1 + math.exp(known.gap)) == pytest.approx(1e-6)
    assert known.gap == pytest.approx(13.8, abs=0.05)
    assert known.half == -math.inf
    assert math.isnan(known.empty)
    assert known.even == 0.25


def test_entropy_and_temperature_stops():
    assert float(sm.entropy(torch.tensor([0.5, 0.25, 0.25]))) == pytest.approx(1.5)
    assert float(sm.entropy(torch.tensor([0.0, 1.0]))) == 0
    stops = sm.temperatures()
    assert (len(stops), stops[0], stops[24], stops[-1]) == (49, 0.1, 1.0, 10.0)


@pytest.mark.parametrize(("scores", "place"), [((2.0, 1.0, 0.1), 1), ((2.0, 2.0, 0.0), 0), ((-4.25, 7.0), 1)])
def test_a_dragged_score_moves_all_shares_and_keeps_the_order(scores, place):
    found = lab.dragged(scores, place)
    assert scores[place] in found.stops
    assert found.stops[0] < min(scores)
    assert found.stops[-1] > max(scores)
    assert len(found.stops) >= 43, "a drag never runs out of pictures"
    for stop, shares in zip(found.stops, found.shares, strict=True):
        row = np.array([*scores[:place], stop, *scores[place + 1 :]])
        np.testing.assert_allclose(shares, np.exp(row) / np.exp(row).sum(), atol=1e-12)
        np.testing.assert_array_equal(np.argsort(row, kind="stable"), np.argsort(shares, kind="stable"))


def test_half_and_twice_the_temperature_are_stops():
    assert {0.5, 1.0, 2.0} <= set(lab.TEMPERATURES)
    assert len(lab.TEMPERATURES) == 49
    assert lab.at((2.0, 1.0, 0.1), 0.5) == pytest.approx(np.exp(4) / (np.exp(4) + np.exp(2) + np.exp(0.2)))


def test_colours_go_round_the_circle_at_one_strength():
    for n in (1, 3, 6):
        made = lab.colours(n)
        assert made.shape == (n, 3)
        np.testing.assert_allclose(made.max(1), 0.92 * 255)
        np.testing.assert_allclose(made.min(1), 0.92 * (1 - 0.78) * 255)
    assert lab.colours(3).argmax(1).tolist() == [0, 1, 2], "red, green, blue"


def test_the_largest_in_their_order_and_of_equal_ones_the_first():
    assert lab.largest((3.0, 1.0, 3.0, 3.0), 2) == [0, 2]
    assert lab.largest((1.0, 5.0, 2.0), 9) == [0, 1, 2]
    assert lab.triangle((1.0, 2.0, 3.0)).chosen == (0, 1, 2)


def test_half_of_the_last_digit_is_rounding_and_more_is_not():
    """Two equal scores: shares of a half; a row that is off by an eighth."""
    row = (0.625, 0.375)
    assert lab.judge(lab.Claim((0.0, 0.0), row, unit=0.25)) == lab.Verdict((0.5, 0.5), 0.125, True)
    assert not lab.judge(lab.Claim((0.0, 0.0), row, unit=0.24)).right
    assert not lab.judge(lab.Claim((0.0, 0.0), row)).right
    assert lab.judge(lab.Claim((1.0, 0.0), (0.7, 0.3), 2.0)).shares == pytest.approx(shares((1.0, 0.0), 2.0).tolist())


def test_temperatures_are_tried_in_thousandths_of_their_logarithm():
    for name in ("four", "cold", "reversed"):
        t = lab.nearest(lab.CLAIMS[name]).temperature
        place = 1000 * (math.log10(t) + 2)
        assert place == pytest.approx(round(place), abs=1e-6)
    assert lab.nearest(lab.Claim((1.0, 0.0), (0.5, 0.5))).temperature == pytest.approx(100)
    assert lab.nearest(lab.Claim((1.0, 0.0), (1.0, 0.0))).temperature == pytest.approx(0.01, rel=2)


def test_a_score_is_dragged_from_three_below_to_three_above():
    found = lab.dragged((2.0, 1.0, 0.1), 1)
    assert found.stops == tuple(sorted({*np.linspace(-2.9, 5, 48).round(2).tolist(), 1.0}))
    assert len(lab.dragged((0.0, 0.0), 0).stops) == 49
    assert lab.Demo((1.0,)).temperature == 1.0


def test_what_breaks_first_is_the_first_stop_without_numbers():
    for form in ("fp16", "fp32"):
        found = lab.breaks((2.0, 1.0, 0.1), form)
        rows = lab.in_format((2.0, 1.0, 0.1), form)[:, 2]
        bad = [not np.isfinite(row).all() or not row.any() for row in rows]
        assert found.at == lab.LARGEST[bad.index(True)]
        assert found.most == torch.finfo(lab.FORMATS[form]).max
    assert lab.breaks((-1.0,), "fp64").at is not None
    assert lab.moved_by((2.0, 1.0), 1e17) == pytest.approx(float(shares((2.0, 1.0))[0]) - 0.5)
