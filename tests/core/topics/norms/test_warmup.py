"""Schedules beside torch's own schedulers, Adam's estimate by hand, and the four nets as they are told."""

import math

import numpy as np
import pytest
import torch

from core.nets import stacks
from core.topics.norms import warmup as wu


def test_noam_by_hand():
    """Vaswani et al.: at d = 512 and w = 4000 the peak is 6.99e-4, at step 4000."""
    found = wu.schedules(512)
    at = wu.WARMS.index(4000)
    assert found.peaks[at] == pytest.approx(6.988e-4, rel=1e-4)
    for step, rate in zip(found.steps, found.rates[at, 0], strict=True):
        assert rate == pytest.approx(min(1 / math.sqrt(step), step / 4000**1.5) / math.sqrt(512), rel=1e-9)
    near = np.abs(found.steps - 4000).argmin()
    assert abs(int(found.rates[at, 0].argmax()) - near) <= 1
    assert len(wu.WARMS) >= 43
    assert len(wu.BETAS) >= 43


def test_the_cosine_is_torchs():
    weight = torch.nn.Parameter(torch.zeros(1))
    moving = torch.optim.SGD([weight], lr=1.0)
    climb = torch.optim.lr_scheduler.LambdaLR(moving, lambda t: t / 100)
    told = {}
    for t in range(101):
        told[t] = moving.param_groups[0]["lr"]
        moving.step()
        climb.step()
    falls = torch.optim.SGD([weight], lr=1.0)
    fall = torch.optim.lr_scheduler.CosineAnnealingLR(falls, 900)
    for t in range(900):
        falls.step()
        fall.step()
        told[101 + t] = falls.param_groups[0]["lr"]
    ours = wu.cosine(torch.arange(1001.0), torch.tensor([[1.0]]), torch.tensor([[100.0]]), 1000)[0]
    np.testing.assert_allclose(ours, [told[t] for t in range(1001)], atol=1e-5)


def test_adams_estimate_is_right_once_it_has_seen_enough():
    found = wu.estimates()
    rows = stacks.recorded()["moments"].astype(np.float64)
    np.testing.assert_allclose((rows**2).mean(0), 1, atol=0.01)
    at = wu.BETAS.index(0.999)
    assert found.low[at, 0] < 0.05, "one gradient says little of its own mean square"
    assert found.high[at, 0] > 2
    spread = np.log(found.high[at] / found.low[at])
    assert spread[99] < spread[9] < spread[0]
    np.testing.assert_allclose([found.low[5, 0], found.high[5, 0]], [found.low[40, 0], found.high[40, 0]])
    assert found.moved[0] == pytest.approx(1)
    assert found.moved[99] < 0.7
    beta, t = wu.BETAS[16], 7  # by hand, one weight
    weights = (1 - beta) * beta ** np.arange(t - 1, -1, -1.0)
    one = wu._running(rows[:, :1] ** 2, beta)[t - 1, 0]
    assert one == pytest.approx((weights * rows[:t, 0] ** 2).sum() / (1 - beta**t))


def test_which_of_the_four_learns_nothing():
    ends = {(place, warm): wu.warmed(place, warm).end for place in stacks.WARMED for warm in stacks.WARM_UPS}
    _even, alone, pairs = wu.knowing()
    assert (ends["post", 0] > alone - 0.2).all(), "every seed is stuck near letter frequencies"
    assert (ends["post", 75] < pairs + 0.05).all()
    assert all((ends["pre", warm] < pairs - 0.1).all() for warm in stacks.WARM_UPS)
    stuck, rescued = wu.warmed("post", 0), wu.warmed("post", 75)
    at = {step: i for i, step in enumerate(stuck.probed.tolist())}
    assert stuck.alike[at[5]] > 0.99
    assert stuck.below[at[75]] < 0.01
    assert rescued.alike[at[50]] > 0.95, "it crosses the same valley"
    assert rescued.alike[-1] < 0.7, "and comes out"
    assert wu.first_step("post") > 0.98


def test_who_learns():
    ends = {name: wu.learner(name).end for name in stacks.LEARNERS}
    even, alone, _pairs = wu.knowing()
    assert even == pytest.approx(math.log(len(stacks.LETTERS)))
    for name in ("norms", "skips"):
        assert (np.abs(ends[name] - alone) < 0.1).all()
    for name in ("pre", "sandwich", "small"):
        assert (ends[name] < alone - 0.5).all()


@pytest.mark.parametrize("width", [64, 512])
def test_both_schedules_at_every_step(width):
    found = wu.schedules(width)
    assert found.rates.shape == (len(wu.WARMS), 2, len(found.steps))
    assert set(found.steps) == {*np.geomspace(1, 20_000, 120).round(), *np.linspace(1, 20_000, 120).round()}
    for at in (0, 12, len(wu.WARMS) - 1):
        warm = wu.WARMS[at]
        peak = 1 / math.sqrt(width * warm)
        assert found.peaks[at] == pytest.approx(peak)
        for step, noam, cosine in zip(found.steps[::9], *found.rates[at, :, ::9], strict=True):
            assert noam == pytest.approx(min(step**-0.5, step * warm**-1.5) / math.sqrt(width))
            way = min(1, (step - warm) / (20_000 - warm))
            wanted = step / warm if step < warm else (1 + math.cos(math.pi * way)) / 2
            assert cosine == pytest.approx(peak * wanted, abs=1e-12)


def test_estimates_are_quantiles_of_adams_own():
    """Adam's second moment, corrected, by torch's own optimizer on the recorded gradients; and its steps in rates."""
    rows, found = stacks.recorded()["moments"].astype(np.float64), wu.estimates()
    assert found.low.shape == found.middle.shape == found.high.shape == (49, len(rows))
    np.testing.assert_array_equal(found.steps, np.arange(1, len(rows) + 1))
    weight = torch.nn.Parameter(torch.zeros(rows.shape[1], dtype=torch.float64))
    adam = torch.optim.Adam([weight], lr=1.0, betas=(0.9, 0.999), eps=0.0)
    at = wu.BETAS.index(0.999)
    for t in range(1, 31):
        before = weight.detach().clone()
        weight.grad = torch.from_numpy(rows[t - 1])
        adam.step()
        kept = adam.state[weight]["exp_avg_sq"].numpy() / (1 - 0.999**t)
        low, middle, high = np.quantile(kept, (0.1, 0.5, 0.9))
        told = found.low[at, t - 1], found.middle[at, t - 1], found.high[at, t - 1]
        assert told == pytest.approx((low, middle, high), rel=1e-6)
        assert found.moved[t - 1] == pytest.approx(float((weight.detach() - before).abs().mean()), rel=1e-6)


def test_what_was_recorded_of_the_trained_nets():
    held = stacks.recorded()
    found = wu.warmed("post", stacks.WARM_UPS[1])
    losses, probe = held["warmed_post_loss"][1], held["warmed_post_probe"][:, 1]
    np.testing.assert_array_equal(found.loss, losses.T)
    np.testing.assert_allclose(found.at[:2], [stacks.BIN / 2, 1.5 * stacks.BIN])
    np.testing.assert_allclose(found.end, (losses[:, -1] + losses[:, -2]) / 2)
    np.testing.assert_allclose(found.below[3], np.sort(probe[0, :, 3] / probe[1, :, 3])[1])
    np.testing.assert_allclose(found.alike[3], np.sort(probe[2, :, 3])[1])
    assert len(found.at) == len(found.loss)
    assert found.probed.tolist() == list(stacks.PROBED[: probe.shape[-1]])
    assert wu.first_step("pre") == pytest.approx(held["warmed_pre_first"].mean())
    assert wu.knowing()[1:] == pytest.approx(tuple(held["knowing"]))
    np.testing.assert_array_equal(wu.learner("pre").loss, held["learner_pre_loss"].T)
