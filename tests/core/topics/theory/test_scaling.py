"""Scaling: our own race and its fits, published formulas and their best split, against searches and NumPy's own fits."""

import math

import numpy as np
import pytest
import torch

from core import counting
from core.make import scaling as made
from core.make.fit import drawn
from core.nets import scaling as own
from core.topics.theory import scaling as sc


def test_the_nets_are_as_large_as_their_modules():
    for i, net in enumerate(own.nets()):
        module = drawn(own.config(i), torch.Generator().manual_seed(0), embed=0.1)
        assert sum(p.numel() for p in module.parameters()) == net.parameters == counting.total(own.config(i))


def test_what_was_recorded_lies_between_the_floor_and_blind_guessing():
    nets = own.nets()
    assert [net.parameters for net in nets] == sorted(net.parameters for net in nets)
    for net in nets:
        assert len(net.losses) == len(net.steps) == len(own.marks())
        assert own.floor() < min(net.losses)
        assert max(net.losses) < math.log(len(own.LETTERS)) + 0.1
        assert net.losses[-1] <= min(net.losses) + 0.01
        assert all(set(text) <= set(own.LETTERS) for text in net.writes)
    ends = [net.losses[-1] for net in nets]
    assert ends == sorted(ends, reverse=True)


def test_marks_are_evenly_apart_and_end_with_the_last_step():
    marks = own.marks(1000, 5, 10)
    assert marks == (10, 32, 100, 316, 1000)
    assert own.marks()[-1] == own.STEPS


def test_six_operations_for_every_parameter_and_letter():
    spent = sc.compute(torch.tensor([460.0, 1304.0]), torch.tensor([40960.0, 4096000.0]))
    np.testing.assert_allclose(spent, [[6 * 460 * 40960, 6 * 460 * 4096000], [6 * 1304 * 40960, 6 * 1304 * 4096000]])


def test_the_race_passes_through_what_was_measured():
    race, nets = sc.race(), own.nets()
    for i, net in enumerate(nets):
        level = [step for step in net.steps if step <= 0.7 * own.STEPS]  # beyond, the learning rate comes down
        spent = [6 * net.parameters * step * own.TEXTS * own.READ for step in level]
        for stop, budget in enumerate(race.budgets):
            if not spent[0] <= budget <= spent[-1]:
                assert math.isnan(race.losses[i, stop])
                continue
            k = max(j for j, c in enumerate(spent) if c <= budget)
            k = min(k, len(spent) - 2)
            part = math.log(budget / spent[k]) / math.log(spent[k + 1] / spent[k])
            wanted = net.losses[k] + part * (net.losses[k + 1] - net.losses[k])
            assert race.losses[i, stop] == pytest.approx(wanted, rel=1e-9)
            assert 6 * net.parameters * race.read[i, stop] == pytest.approx(budget, rel=1e-9)


def test_the_best_is_the_least_of_those_measured_and_takes_turns():
    race = sc.race()
    for stop in range(len(race.budgets)):
        column = [(loss, i) for i, loss in enumerate(race.losses[:, stop]) if not math.isnan(loss)]
        assert race.best[stop] == min(column)[1]
        assert sc.largest(stop) == max(i for _loss, i in column)
        assert len(column) >= 2
    assert len(race.budgets) >= 43
    assert (np.diff(race.best) >= 0).all(), "more to spend never asks for a smaller net"
    assert len(set(race.best.tolist())) >= 4


def test_a_fit_is_numpys_line_with_its_standard_error():
    x = np.geomspace(500, 4e5, 7)
    y = 0.3 + (900 / x) ** 0.21 * np.exp(0.03 * np.sin(np.arange(7)))
    found = sc.fit(x, y, 0.3)
    (slope, start), covariance = np.polyfit(np.log(x), np.log(y - 0.3), 1, cov=True)
    assert found.exponent == pytest.approx(-slope)
    assert found.error == pytest.approx(math.sqrt(covariance[0, 0]))
    np.testing.assert_allclose(found.at(x), 0.3 + np.exp(start + slope * np.log(x)))
    assert found.miss == pytest.approx(np.exp(np.abs(np.log(y - 0.3) - start - slope * np.log(x)).max()) - 1)
    with pytest.raises(ValueError, match="above the floor"):
        sc.fit(x, y, float(y.min()))


def test_a_planted_law_is_found_again_with_its_floor():
    x = np.geomspace(500, 4e5, 9)
    found = sc.fitted_floor(x, 0.5 + (900 / x) ** 0.3)
    assert found.floor == pytest.approx(0.5, abs=1e-3)
    assert found.exponent == pytest.approx(0.3, abs=2e-3)
    wrong = sc.fit(x, 0.5 + (900 / x) ** 0.3, 0.2)
    assert wrong.miss > 0.05
    assert wrong.exponent < 0.25


def test_our_law_is_fitted_to_the_ends_of_the_curves():
    laws = sc.laws()
    assert laws.losses.tolist() == [net.losses[-1] for net in own.nets()]
    slope = np.polyfit(np.log(laws.sizes), np.log(laws.losses - own.floor()), 1)[0]
    assert laws.known.exponent == pytest.approx(-slope)
    upper = np.polyfit(np.log(laws.sizes[3:]), np.log(laws.losses[3:] - own.floor()), 1)[0]
    assert laws.upper.exponent == pytest.approx(-upper)
    assert (laws.five.floor, laws.known.floor) == (own.floor(),) * 2


@pytest.mark.parametrize("k", sc.PUBLISHED.values(), ids=sc.PUBLISHED)
@pytest.mark.parametrize("c", [1e19, sc.GOPHER, 1e25])
def test_the_best_split_is_what_a_search_finds(k, c):
    n = np.geomspace(1e6, 1e14, 400_001)
    losses = k.e + k.a / n**k.alpha + k.b / (c / 6 / n) ** k.beta
    found = sc.split(k, c)
    assert found.n == pytest.approx(n[losses.argmin()], rel=1e-3)
    assert found.loss == pytest.approx(losses.min(), rel=1e-9)
    assert 6 * found.n * found.d == pytest.approx(c)


def test_twenty_tokens_a_parameter_do_not_follow():
    printed, refit = (sc.split(k, sc.GOPHER) for k in (sc.PRINTED, sc.REFIT))
    assert (round(printed.ratio), round(refit.ratio)) == (93, 18)
    assert printed.n == pytest.approx(32e9, rel=0.01)
    assert sc.of(sc.PRINTED, *sc.CHINCHILLA).ratio == 20
    losses = [sc.of(sc.PRINTED, n, sc.GOPHER / 6 / n).loss for n in (20e9, 40e9, 70e9, 140e9)]
    np.testing.assert_allclose(losses, [1.933, 1.931, 1.938, 1.955], atol=6e-4)


def test_kaplan_by_hand():
    assert sc.kaplan(np.array([8.8e13]))[0] == pytest.approx(1.0)
    assert sc.kaplan(np.array([1e10]))[0] / sc.kaplan(np.array([1e9]))[0] == pytest.approx(10**-0.076)
    assert sc.kaplan_times(0.5) == pytest.approx(2 ** (1 / 0.076))
    assert round(sc.kaplan_times(0.5), -1) == 9140


def test_valleys_and_the_surface_are_the_formula():
    shown, stop, at = sc.valleys(), 40, 60
    for i, k in enumerate((sc.PRINTED, sc.REFIT)):
        n = sc.SIZES[at]
        d = sc.BUDGETS[stop] / 6 / n
        assert shown[stop, i, at] == pytest.approx(k.e + k.a * n**-k.alpha + k.b * d**-k.beta)
    found = sc.surface(sc.PRINTED, 5)
    assert found.losses[1, 3] == pytest.approx(1.69 + 406.4 / found.n[3] ** 0.34 + 410.7 / found.d[1] ** 0.28)
    assert found.valley.shape[0] == 3
    assert len(found.valley[0]) > 20


# ---- how they were made ----


def test_the_fused_pass_is_the_decoders_own():
    net = drawn(own.config(3), torch.Generator().manual_seed(1), embed=0.3)
    ids = torch.randint(len(own.LETTERS), (3, 40), generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(made.said(net, ids), net.forward(ids), rtol=1e-4, atol=1e-5)


def test_a_text_is_cut_in_the_middle_of_a_token(monkeypatch):
    monkeypatch.setattr(made, "READ", 7)
    pieces = [own.spelled(" Once"), own.spelled(" upon"), own.spelled(" a")]
    letters, nats = made.cut(pieces, [1.0, 4.0, 9.0])
    assert own.written(torch.tensor(letters)) == "Once up"
    assert nats == pytest.approx(1.0 + 4.0 * 3 / 5)


def test_a_net_reads_what_stands_before_each_letter():
    letters = torch.tensor([[5, 6, 7]])
    read, wanted = made.pairs(letters)
    assert read.tolist() == [[own.BEGIN, 5, 6]]
    assert wanted.tolist() == [[5, 6, 7]]


def test_the_rate_warms_up_stays_and_falls():
    rates = [made.rate_at(step, 1000) for step in range(1000)]
    assert rates[0] == pytest.approx(1 / made.WARM)
    assert rates[made.WARM : 699] == [1.0] * (699 - made.WARM)
    assert own.nets()[0].steps[own.nets()[0].level] > 699 > own.nets()[0].steps[own.nets()[0].level - 1]
    assert rates[-1] == pytest.approx(made.LEFT)


def test_a_small_net_learns(monkeypatch):
    monkeypatch.setattr(made, "TEXTS", 8)
    texts = torch.tensor([own.spelled("the cat sat on the mat. " * 6)[: own.READ]] * 40)
    _net, curve = made.train(0, texts, texts[:2], steps=60)
    assert curve[-1] < curve[0] - 0.3


def test_the_race_begins_where_two_were_measured_and_ends_where_two_still_are():
    """One per cent inside: above the start of the second smallest, below the end of the last but one."""
    nets, read = own.nets(), own.TEXTS * own.READ
    level = [step for step in nets[0].steps if step <= 0.7 * own.STEPS]
    low, high = 6 * nets[1].parameters * level[0] * read, 6 * nets[-2].parameters * level[-1] * read
    budgets = sc.race().budgets
    assert (budgets[0], budgets[-1]) == pytest.approx((1.01 * low, 0.99 * high), rel=0.006)


def test_the_stop_next_to_a_budget():
    budgets = sc.race().budgets
    assert budgets[sc.near(sc.ASKED)] == 1e11
    for stop in (0, 17, 60):
        assert sc.near(1.02 * budgets[stop]) == stop
        assert sc.near(budgets[stop] / 1.02) == stop
    assert len(budgets) == 61
    others = [b for b in budgets if b != 1e11]
    assert all(float(f"{b:.2e}") == b for b in others), "three digits each"
    assert sc.GOPHER in sc.BUDGETS
    assert (sc.BUDGETS[0], sc.BUDGETS[-1], len(sc.BUDGETS)) == (1e18, 1e26, 65)


def test_of_three_points_a_line_has_one_degree_of_freedom_left():
    x, y = np.array([10.0, 100.0, 1000.0]), np.array([5.0, 2.0, 1.0])
    found = sc.fit(x, y, 0.0)
    (slope, start), left, *_ = np.polyfit(np.log(x), np.log(y), 1, full=True)
    spread = ((np.log(x) - np.log(x).mean()) ** 2).sum()
    assert (found.exponent, found.error) == pytest.approx((-slope, math.sqrt(left[0] / 1 / spread)))
    assert found.scale**found.exponent == pytest.approx(math.exp(start))
    two = sc.fit(x[:2], y[:2], 0.0)
    assert (two.error, two.miss) == pytest.approx((0, 0), abs=1e-9)


def test_a_floor_is_one_of_two_thousand():
    laws = sc.laws()
    for found, losses in ((laws.chosen, laws.losses), (laws.five_chosen, laws.losses[:5])):
        place = 2000 * found.floor / losses.min()
        assert place == pytest.approx(round(place), abs=1e-6)
        assert 0 <= round(place) < 2000
        sizes = laws.sizes[: len(losses)]

        def left(floor, sizes=sizes, losses=losses):
            x, y = np.log(sizes), np.log(losses - floor)
            return np.polyfit(x, y, 1, full=True)[1][0]

        step = losses.min() / 2000
        assert left(found.floor) <= min(left(found.floor + step), left(max(0.0, found.floor - step))) + 1e-12
    five = np.polyfit(np.log(laws.sizes[:5]), np.log(laws.losses[:5] - own.floor()), 1)[0]
    assert laws.five.exponent == pytest.approx(-five)


def test_a_surface_and_its_valley():
    found = sc.surface(sc.REFIT)
    assert found.losses.shape == (41, 41)
    assert (found.n[0], found.n[-1], found.d[0], found.d[-1]) == pytest.approx((1e7, 1e12, 1e8, 1e14))
    best = [sc.split(sc.REFIT, float(c)) for c in sc.BUDGETS]
    inside = [one for one in best if 1e7 <= one.n <= 1e12 and 1e8 <= one.d <= 1e14]
    np.testing.assert_allclose(found.valley, np.array([(one.n, one.d, one.loss) for one in inside]).T)
    shown = sc.valleys()
    assert np.nanmax(shown) <= 5.2
    assert np.isnan(shown).any()
    assert np.nanmax(sc.valleys(3.0)) <= 3.0
    n, d = torch.tensor(2e9), torch.tensor(5e10)
    trace = sc.Trace()
    loss = sc.parametric(sc.PRINTED, n[None], d[None], trace=trace)
    assert float(trace["parametric"].value[0]) == pytest.approx(float(loss[0]))
