"""What size buys: seven nets of our own under one budget, their law with a floor that is known, and published formulas.

C = 6ND multiplications and additions train N parameters on D letters or tokens (Kaplan et al. 2020, arXiv 2001.08361,
sec. 2.1). The nets and how they were trained: core.nets.scaling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from core.nets import scaling as own
from core.trace import SILENT, Quantity, Trace

COMPUTE = Quantity(
    "compute", "part frame", r"C = 6ND", "What training costs: six operations for every parameter and letter."
)
POWER = Quantity(
    "power", "part", r"L(N) = E + \left(N_c / N\right)^{\alpha}", "A floor, and above it a power of the size."
)
PARAMETRIC = Quantity(
    "parametric",
    "part",
    r"L(N, D) = E + \frac{A}{N^{\alpha}} + \frac{B}{D^{\beta}}",
    "A floor, what too small a net adds, and what too little data adds.",
)
BEST_SIZE = Quantity(
    "best_size",
    "frame",
    r"N^* = \left(\frac{\alpha A}{\beta B}\right)^{\frac{1}{\alpha+\beta}} \left(\frac{C}{6}\right)^{\frac{\beta}{\alpha+\beta}}",
    "The size at which a budget gives the least loss.",
)
STOPS = 61  # budgets of a slider
ASKED = 1e11  # operations: one of them
LARGEST = 4  # nets of the fit over the upper half


def _stops(low: float, high: float, count: int, exactly: float) -> np.ndarray:
    """(stop,) evenly apart in the logarithm, three digits each; the one next to `exactly` is moved there."""
    found = np.array([float(f"{c:.2e}") for c in np.geomspace(low, high, count)])
    found[np.abs(np.log(found / exactly)).argmin()] = exactly
    return found


def compute(n: Tensor, d: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """n: (net,) parameters; d: (mark,) letters. Returns (net, mark) operations, multiplications and additions."""
    return trace(COMPUTE, 6 * n[:, None] * d)


# ---- our own nets under a budget ----


@dataclass(frozen=True)
class Race:
    """All nets at every budget. budgets: (stop,) operations; sizes: (net,); losses: (net, stop) nats a letter, NaN
    where a net had read too little or nothing more; read: (net, stop) letters, NaN likewise; best: (stop,) a net."""

    budgets: np.ndarray
    sizes: tuple[int, ...]
    losses: np.ndarray
    read: np.ndarray
    best: np.ndarray


@cache
def race() -> Race:
    """From where two nets were measured to where the last but one ends, as long as the learning rate stays level: a net
    whose rate has come down would be ahead of one whose rate has not. Between two marks the loss is drawn straight over
    the logarithm of the budget."""
    nets, level = own.nets(), own.nets()[0].level
    sizes = tuple(net.parameters for net in nets)
    spent = compute(torch.tensor(sizes, dtype=torch.float64), nets[0].read()[:level]).numpy()
    ends = 1.01 * spent[1, 0], 0.99 * spent[-2, -1]
    budgets = _stops(*ends, STOPS, ASKED)
    losses = np.stack(
        [
            np.interp(np.log(budgets), np.log(ran), net.losses[:level], left=math.nan, right=math.nan)
            for ran, net in zip(spent, nets, strict=True)
        ]
    )
    read = np.where(np.isnan(losses), math.nan, budgets / (6 * np.array(sizes)[:, None]))
    return Race(budgets, sizes, losses, read, np.nanargmin(losses, 0))


def largest(stop: int) -> int:
    """The largest net that was measured with this budget."""
    return int(np.flatnonzero(~np.isnan(race().losses[:, stop]))[-1])


def near(budget: float) -> int:
    """The stop next to a budget."""
    return int(np.abs(np.log(race().budgets / budget)).argmin())


# ---- the law of our own ----


@dataclass(frozen=True)
class Fit:
    """L = floor + (scale / N) ** exponent, a straight line in logarithms. error: one standard error of the exponent;
    miss: the largest distance of a net from it, relative to what it is above the floor."""

    floor: float
    scale: float
    exponent: float
    error: float
    miss: float

    def at(self, n: np.ndarray) -> np.ndarray:
        """n: (size,) parameters. Returns (size,) nats."""
        return np.asarray(self.floor + (self.scale / n) ** self.exponent)


def fit(sizes: np.ndarray, losses: np.ndarray, floor: float) -> Fit:
    """Least squares of log(loss - floor) over log(size). Raises ValueError where a loss lies on the floor or below."""
    if (losses <= floor).any():
        raise ValueError("every loss must lie above the floor")
    x, y = np.log(sizes), np.log(losses - floor)
    apart = x - x.mean()
    slope = float(apart @ (y - y.mean()) / (apart @ apart))
    left = y - y.mean() - slope * apart
    error = math.sqrt(float(left @ left) / max(1, len(x) - 2) / float(apart @ apart))
    scale = math.exp(float(x.mean() - y.mean() / slope))
    return Fit(floor, scale, -slope, error, float(np.expm1(np.abs(left).max())))


def fitted_floor(sizes: np.ndarray, losses: np.ndarray) -> Fit:
    """The same with a floor that is chosen too: the one of 2,000 that leaves the least squares."""
    floors = np.linspace(0.0, float(losses.min()), 2001)[:-1]

    def left(floor: float) -> float:
        made = fit(sizes, losses, floor)
        return float((np.log((losses - floor) / (made.at(sizes) - floor)) ** 2).sum())

    return fit(sizes, losses, float(min(floors, key=left)))


@dataclass(frozen=True)
class Laws:
    """sizes, losses: (net,) at the end of training; known: all nets, the floor known; upper: the LARGEST of them;
    chosen: all, the floor fitted; five, five_chosen: the five smallest, known and fitted, that say what the two
    largest will do."""

    sizes: np.ndarray
    losses: np.ndarray
    known: Fit
    upper: Fit
    chosen: Fit
    five: Fit
    five_chosen: Fit


@cache
def laws() -> Laws:
    nets, floor = own.nets(), own.floor()
    sizes = np.array([net.parameters for net in nets], float)
    losses = np.array([net.losses[-1] for net in nets])
    return Laws(
        sizes,
        losses,
        known=fit(sizes, losses, floor),
        upper=fit(sizes[-LARGEST:], losses[-LARGEST:], floor),
        chosen=fitted_floor(sizes, losses),
        five=fit(sizes[:5], losses[:5], floor),
        five_chosen=fitted_floor(sizes[:5], losses[:5]),
    )


def power(n: Tensor, floor: float, scale: float, exponent: float, *, trace: Trace = SILENT) -> Tensor:
    """n: (size,) parameters. Returns (size,) nats."""
    return trace(POWER, floor + (scale / n) ** exponent)


# ---- published formulas ----

KAPLAN = (0.0, 8.8e13, 0.076)  # floor, N_c, alpha_N (Kaplan et al. 2020, eq. 1.1); N without embeddings


@dataclass(frozen=True)
class Constants:
    """L(N, D) = e + a / N**alpha + b / D**beta, in nats a token."""

    e: float
    a: float
    b: float
    alpha: float
    beta: float


PRINTED = Constants(1.69, 406.4, 410.7, 0.34, 0.28)  # Hoffmann et al. 2022, arXiv 2203.15556, sec. 3.3, approach 3
REFIT = Constants(1.8172, 482.01, 2085.43, 0.3478, 0.3658)  # Besiroglu et al. 2024, arXiv 2404.10102, from its plots
PUBLISHED = {"printed": PRINTED, "refit": REFIT}
GOPHER = 5.76e23  # operations, the budget of Hoffmann et al.'s example
CHINCHILLA = (70e9, 1.4e12)  # what they made of it: parameters, tokens
BUDGETS = _stops(1e18, 1e26, 65, GOPHER)  # operations
SIZES = np.geomspace(1e6, 1e13, 113)  # parameters


def kaplan(n: np.ndarray) -> np.ndarray:
    """n: (size,) parameters without embeddings. Returns (size,) nats a token, data without end."""
    return power(torch.as_tensor(n, dtype=torch.float64), *KAPLAN).numpy()


def kaplan_times(factor: float) -> float:
    """How many times as many parameters it takes to make the loss `factor` times what it is."""
    return float(factor ** (-1 / KAPLAN[2]))


def parametric(k: Constants, n: Tensor, d: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """n, d: parameters and tokens, of shapes that go together. Returns nats a token."""
    return trace(PARAMETRIC, k.e + k.a / n**k.alpha + k.b / d**k.beta)


def best_size(k: Constants, c: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """c: (budget,) operations. Returns (budget,) the parameters with the least loss when D = C / 6N."""
    ratio = (k.alpha * k.a / (k.beta * k.b)) ** (1 / (k.alpha + k.beta))
    return trace(BEST_SIZE, ratio * (c / 6) ** (k.beta / (k.alpha + k.beta)))


@dataclass(frozen=True)
class Split:
    """The best one of a budget: parameters, tokens, tokens a parameter, nats a token."""

    n: float
    d: float
    ratio: float
    loss: float


def split(k: Constants, c: float) -> Split:
    """c: operations."""
    n = float(best_size(k, torch.tensor([c], dtype=torch.float64))[0])
    return of(k, n, c / 6 / n)


def of(k: Constants, n: float, d: float) -> Split:
    """A net of n parameters that has read d tokens."""
    loss = parametric(k, torch.tensor(n, dtype=torch.float64), torch.tensor(d, dtype=torch.float64))
    return Split(n, d, d / n, float(loss))


@cache
def splits() -> list[list[Split]]:
    """The best one of every budget of BUDGETS: one list for each of PUBLISHED."""
    return [[split(k, float(c)) for c in BUDGETS] for k in PUBLISHED.values()]


@cache
def valleys(most: float = 5.2) -> np.ndarray:
    """(budget, constants, size) nats: every budget of BUDGETS spent on every size of SIZES, NaN above `most`."""
    n = torch.as_tensor(SIZES)
    d = torch.as_tensor(BUDGETS)[:, None] / 6 / n
    found = torch.stack([parametric(k, n, d) for k in PUBLISHED.values()], 1).numpy()
    return np.where(found > most, math.nan, found)


@dataclass(frozen=True)
class Surface:
    """n, d: (place,) parameters and tokens; losses: (token place, size place); valley: (3, budget), n, d and loss of
    the best ones of every budget whose best lies on the surface."""

    n: np.ndarray
    d: np.ndarray
    losses: np.ndarray
    valley: np.ndarray


def surface(k: Constants, places: int = 41) -> Surface:
    """From 10 million to a trillion parameters, from 100 million to 100 trillion tokens."""
    n, d = np.geomspace(1e7, 1e12, places), np.geomspace(1e8, 1e14, places)
    losses = parametric(k, torch.as_tensor(n), torch.as_tensor(d)[:, None]).numpy()
    best = [split(k, float(c)) for c in BUDGETS]
    inside = [one for one in best if n[0] <= one.n <= n[-1] and d[0] <= one.d <= d[-1]]
    return Surface(n, d, losses, np.array([[one.n, one.d, one.loss] for one in inside]).T)
