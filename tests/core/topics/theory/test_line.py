"""Points and lines: a layer is a step, and what was trained is what is said of it."""

import numpy as np
import pytest
import torch

from core.make import line as making
from core.nets import line as nets
from core.topics.theory import line as ln

SOME = ((0.5, 1.0), (-1.0, 0.3), (1.7, -2.0))


def test_one_point_by_hand():
    """From 0 the gradient of half the squared distance is -y (x, 1)."""
    after = ln.by_steps(((0.5, 1.0),), 1, 0.2)[1]
    assert after == pytest.approx([0.2 * 0.5, 0.2])
    assert ln.through_layers(((0.5, 1.0),), 1, 0.2)[1] == pytest.approx(0.1 * ln.XS + 0.2)


@pytest.mark.parametrize("points", [ln.FIRST, SOME, ((0.0, 0.0),), ()])
def test_so_many_layers_are_so_many_steps(points):
    """Steps written out in NumPy, without autograd."""
    x, y = np.array([[a, 1.0] for a, _ in points]).reshape(-1, 2), np.array([b for _, b in points])
    w, made = np.zeros(2), ln.through_layers(points)
    for layer in made:
        assert layer == pytest.approx(w[0] * ln.XS + w[1], abs=1e-12)
        w = w - ln.RATE * (x.T @ (x @ w - y)) / max(1, len(points))
    found = ln.run(points)
    assert found.gap < 1e-12
    assert found.gap_one <= found.gap


def test_the_step_converges_wherever_points_may_stand():
    corner = tuple((x, y) for x in (-ln.EDGE, ln.EDGE) for y in (-ln.EDGE, ln.EDGE))
    assert 2 / (ln.EDGE**2 + 1) > ln.RATE
    assert np.abs(ln.by_steps(((ln.EDGE, ln.EDGE),), 400)[-1] @ [ln.EDGE, 1] - ln.EDGE) < 1e-6
    assert np.abs(ln.by_steps(corner, 400)[-1]).max() < 1e-6


def test_ridge_and_least_squares_are_numpys():
    x, y = np.array([[a, 1.0] for a, _ in SOME]), np.array([b for _, b in SOME])
    assert ln.least_squares(SOME) == pytest.approx(np.linalg.lstsq(x, y)[0])
    stacked = np.vstack([x, np.sqrt(0.3) * np.eye(2)]), np.concatenate([y, [0, 0]])
    assert ln.ridge(SOME, 0.3) == pytest.approx(np.linalg.lstsq(*stacked)[0])
    found = ln.run(SOME)
    assert found.ridge[0] == pytest.approx(found.best, abs=0.01)
    assert np.abs(found.ridge[-1]).max() < np.abs(found.ridge[0]).max()
    assert len(ln.LAMBDAS) >= 43


def test_training_found_the_best_rates_there_are():
    """The best rates by drawing tasks and solving for them, against the formula; both against what was found."""
    one = nets.tasks(200_000, nets.GIVEN, torch.Generator().manual_seed(5))
    x = torch.stack([one.x, torch.ones_like(one.x)], -1).double()
    noisy = (x * one.y[..., None]).mean(1)  # what one step sees, (task, 2)
    truth = torch.linalg.solve(x.mT @ x, (x * one.f[..., None]).sum(1)[..., None])[..., 0]  # slope and height
    best = [(noisy[:, i] @ truth[:, i] / (noisy[:, i] @ noisy[:, i])).item() for i in range(2)]
    found = ln.found()
    assert found.ideal == pytest.approx(best, rel=0.01)
    assert np.diag(found.rates) == pytest.approx(found.ideal, rel=0.01)
    assert found.rest < 0.01


def test_the_trained_layer_is_one_step_with_two_rates():
    rates = np.diag(ln.found().rates)
    x, y = np.array([[a, 1.0] for a, _ in ln.FIRST]), np.array([b for _, b in ln.FIRST])
    step = rates * (x.T @ y) / len(y)
    assert ln.by_trained_layer(ln.FIRST) == pytest.approx(step[0] * ln.XS + step[1], abs=0.02)


def test_a_query_sees_points_and_points_see_no_query():
    """One pass over all queries equals a pass for each; growing: as if the later points were not there."""
    both, x, y = nets.reader(), torch.tensor([[0.3, -0.5, 0.9]]), torch.tensor([[1.0, 0.2, -0.4]])
    asked = torch.tensor([[0.1, 0.7]])
    one = both(x, y, asked, nets.allowed(3, 2))
    for i in range(2):
        alone = both(x, y, asked[:, i : i + 1], nets.allowed(3, 1))
        assert one[0, i].item() == pytest.approx(alone.item(), abs=1e-5)
    grown = both(x, y, x, nets.allowed(3, 3, growing=True))
    for k in range(3):
        alone = both(x[:, :k], y[:, :k], x[:, k : k + 1], nets.allowed(k, 1))
        assert grown[0, k].item() == pytest.approx(alone.item(), abs=1e-5)


@pytest.mark.long
def test_recorded_errors_are_the_nets():
    for name, times in nets.RANGES.items():
        again = making.measured(nets.reader(), nets.trained_layer(), times, tests=4000).numpy()
        np.testing.assert_allclose(again, nets.errors()[name], rtol=0.02, atol=1e-5)
    inside, wide = (nets.errors()[name] for name in ("trained", "wide"))
    reader, ridge = (nets.WAYS.index(way) for way in ("reader", "ridge"))
    assert inside[reader, 8] < 2 * inside[ridge, 8], "nearly as good as the formula"
    assert wide[reader, 15] > 10 * wide[ridge, 15], "the range, not the rule"


def test_a_layer_is_trained_from_nothing_in_a_few_steps():
    """Shorter than what ships: it goes the same way."""
    layer = making.train_layer(seed=3, steps=300)
    one = nets.tasks(2000, nets.GIVEN + 1, torch.Generator().manual_seed(1))
    error = (making.by_layer(layer, one, nets.GIVEN) - one.f[:, -1]).square().mean()
    assert error < 0.5 * one.f[:, -1].square().mean()


@pytest.mark.parametrize("points", [(), ((0.1, -2.0),), ln.FIRST])
def test_points_in_an_address_come_back(points):
    assert ln.unspell(ln.spell(points)) == points


@pytest.mark.parametrize("text", ["x", "1", "1,2;1,2", "21,0", "1,2;", "0,0;" * 20 + "1,1", "1,1e3", "١,2"])
def test_other_text_is_no_points(text):
    assert ln.unspell(text) is None
    assert ln.unspell(";".join(f"{i},0" for i in range(ln.MOST + 1))) is None


def test_the_gap_is_the_largest_between_layers_and_steps(monkeypatch):
    """Beside steps that never move, a layer is as far away as it says."""
    hand = ln.through_layers(ln.FIRST)
    monkeypatch.setattr(ln, "by_steps", lambda points: np.zeros((ln.DEPTH + 1, 2)))
    found = ln.run(ln.FIRST)
    assert (found.gap_one, found.gap) == pytest.approx((np.abs(hand[1]).max(), np.abs(hand).max()))
    assert found.hand.shape == found.ridge.shape == (49, 81)
    np.testing.assert_allclose(found.ridge[20], ln.straight(ln.ridge(ln.FIRST, ln.LAMBDAS[20])))


def test_every_way_is_asked_at_every_place():
    assert ln.FIRST == ((-0.8, -0.7), (-0.4, -0.2), (0.1, 0.2), (0.5, 0.9), (0.9, 1.1))
    for points in (ln.FIRST, SOME, ()):
        found = ln.run(points)
        assert found.layer.shape == found.reader.shape == found.best.shape == (81,)
    assert not ln.by_trained_layer(()).any()
    x, y = (torch.tensor([row]) for row in zip(*SOME, strict=True))
    for at in (0, 33, 80):
        alone = nets.reader()(x, y, torch.tensor([[ln.XS[at]]]).float(), nets.allowed(3, 1))
        assert ln.by_reader(SOME)[at] == pytest.approx(float(alone), abs=1e-4)
    assert ln.straight(np.array([[2.0, 1.0], [0.0, 3.0]]))[:, [0, 40, 80]].tolist() == [[-3, 1, 5], [3, 3, 3]]


def test_points_are_spelled_in_tenths():
    assert ln.spell(((-0.8, -0.7), (0.5, 2.0))) == "-8,-7;5,20"
    assert ln.spell(()) == "none"
    assert ln.unspell("none") == ln.unspell("") == ()
    assert ln.unspell("20,-20") == ((2.0, -2.0),)
    assert ln.unspell("0,21") is None
    assert len(ln.unspell(";".join(f"{i},0" for i in range(15)))) == 15


@pytest.mark.parametrize("n", [1, 3])
def test_the_best_rates_from_few_points(n):
    one = nets.tasks(400_000, n, torch.Generator().manual_seed(7))
    x = torch.stack([one.x, torch.ones_like(one.x)], -1).double()
    noisy = (x * one.y[..., None]).mean(1)
    slope = (one.f[:, 0] - one.f[:, -1]) / (one.x[:, 0] - one.x[:, -1]) if n > 1 else None
    height = None if slope is None else one.f[:, 0] - slope * one.x[:, 0]
    if slope is None:
        slope, height = torch.randn(2, 400_000, 1, generator=torch.Generator().manual_seed(7))[..., 0]
    wanted = [float(noisy[:, i] @ true.double() / (noisy[:, i] @ noisy[:, i])) for i, true in ((0, slope), (1, height))]
    assert ln.ideal(n) == pytest.approx(wanted, rel=0.03)
