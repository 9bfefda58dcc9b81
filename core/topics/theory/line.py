"""Points in the prompt, a line as the answer: one layer of linear attention is one step of gradient descent.

A layer built by hand, the same layer many times over, the layer that training found from random maps, a small decoder
with softmax, and ridge regression: each is shown the same points and says how high the line stands everywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.nets import line as nets
from core.nets.line import GIVEN, NOISE, REACH, Layer
from core.trace import SILENT, Trace, to_numpy

Points = tuple[tuple[float, float], ...]
FIRST: Points = ((-0.8, -0.7), (-0.4, -0.2), (0.1, 0.2), (0.5, 0.9), (0.9, 1.1))
EDGE, GRID = 2.0, 10  # points stand on a grid of tenths, at most this far from 0 in x and y
MOST = nets.MOST - 1  # points: as many as the decoder has seen before it was asked
XS = np.linspace(-EDGE, EDGE, 81)  # where the lines are drawn
DEPTH = 48  # layers
RATE = 0.35  # of a step: it converges wherever points may stand, for x^2 + 1 is at most 5 and 2/5 > 0.35
LAMBDAS = tuple(float(10 ** (p / 10)) for p in range(-30, 19))  # strengths of the ridge

# ---- points in an address ----


def spell(points: Points) -> str:
    """ "-8,-7;5,9": tenths; "none" of no points."""
    return "none" if not points else ";".join(f"{round(x * GRID)},{round(y * GRID)}" for x, y in points)


def unspell(text: str) -> Points | None:
    """The points of an address, none twice; None for anything else, or for more than the nets may be shown."""
    if text in ("", "none"):
        return ()
    if not re.fullmatch(r"-?[0-9]{1,2},-?[0-9]{1,2}(;-?[0-9]{1,2},-?[0-9]{1,2})*", text):
        return None
    pairs = [tuple(int(n) for n in pair.split(",")) for pair in text.split(";")]
    most = round(EDGE * GRID)
    if len(set(pairs)) < len(pairs) or len(pairs) > MOST or any(abs(n) > most for pair in pairs for n in pair):
        return None
    return tuple((x / GRID, y / GRID) for x, y in pairs)


# ---- by hand: one layer, one step ----


def by_hand(rate: float = RATE) -> Layer:
    """Q and K compare x and 1; V takes y alone; P takes `rate` times it off again.

    What stays in a point's y is what the line does not explain yet; in a query's y stands the answer, with a minus.
    von Oswald et al. 2023 (arXiv 2212.07677), proposition 1.
    """
    match, y = torch.zeros(3, 3, dtype=torch.float64), torch.zeros(3, 3, dtype=torch.float64)
    match[0, 0] = match[1, 1] = y[2, 2] = 1.0
    return Layer(match, match, y, -rate * y)


def through_layers(points: Points, depth: int = DEPTH, rate: float = RATE, *, trace: Trace = SILENT) -> np.ndarray:
    """(depth + 1, x): how high the line stands over XS after 0, 1, ... of these layers."""
    tokens, layer = _tokens(points), by_hand(rate)
    said = [-tokens[len(points) :, 2]]
    for i in range(depth):
        with trace.inside(f"block{i}"):
            tokens = nets.linear_attention(layer, tokens, len(points), trace=trace) if points else tokens
        said.append(-tokens[len(points) :, 2])
    return to_numpy(torch.stack(said))


def by_steps(points: Points, steps: int = DEPTH, rate: float = RATE) -> np.ndarray:
    """(steps + 1, 2): slope and height after 0, 1, ... steps of gradient descent from 0, 0.

    Down the gradient, by autograd, of half the mean squared distance to the points.
    """
    x, y = _design(points)
    weights, found = torch.zeros(2, dtype=torch.float64), []
    for _step in range(steps + 1):
        found.append(weights.clone())
        if points:
            with torch.enable_grad():
                moving = weights.clone().requires_grad_()
                (gradient,) = torch.autograd.grad((x @ moving - y).square().mean() / 2, moving)
            weights = weights - rate * gradient
    return to_numpy(torch.stack(found))


def _design(points: Points) -> tuple[Tensor, Tensor]:
    """(point, 2) x and 1; (point,) y."""
    both = torch.tensor(points, dtype=torch.float64).reshape(-1, 2)
    return torch.stack([both[:, 0], torch.ones(len(points), dtype=torch.float64)], -1), both[:, 1]


def _tokens(points: Points) -> Tensor:
    """(point + x, 3): the points, then a query at each of XS."""
    x, y = _design(points)
    return torch.cat([torch.cat([x, y[:, None]], -1), nets.rows(torch.from_numpy(XS))])


# ---- by training ----


@torch.inference_mode()
def by_trained_layer(points: Points) -> np.ndarray:
    """(x,): what the trained linear layer says."""
    if not points:
        return np.zeros(len(XS))
    said = nets.linear_attention(nets.trained_layer(), _tokens(points), len(points))
    return to_numpy(said[len(points) :, 2])


@torch.inference_mode()
def by_reader(points: Points) -> np.ndarray:
    """(x,): what the small decoder says, asked everywhere in one pass."""
    x, y = _design(points)
    asked = torch.from_numpy(XS).float()
    return to_numpy(nets.reader()(x[:, 0].float(), y.float(), asked, nets.allowed(len(points), len(XS))))


@dataclass(frozen=True)
class Found:
    """What training made of a linear layer. rates: (2, 2), what stands between query and point, W_Q W_K^T times what
    V and P make of y; ideal: (2,), the best rates for slope and height, computed; rest: the largest number beside
    the diagonal."""

    rates: np.ndarray
    ideal: np.ndarray
    rest: float


def found() -> Found:
    """One step of gradient descent has one rate; this layer has found one for the slope and one for the height."""
    layer = nets.trained_layer()
    both = (layer.q @ layer.k.T)[:2, :2] * (layer.v @ layer.p)[2, 2]
    rates = to_numpy(both)
    return Found(rates, ideal(GIVEN), float(np.abs(rates - np.diag(np.diag(rates))).max()))


def ideal(n: int) -> np.ndarray:
    """(2,): the rates for slope and height with which one step from n points comes nearest, on average over the tasks.

    Rates A that minimise E|A S w - w|^2 with S the points' second moments: E[S] (E[S^2] + noise^2 E[S] / n)^-1, which
    is diagonal here. x is even on (-REACH, REACH), w normal. (Ahn et al. 2023, arXiv 2306.00297, for normal x.)
    """
    second, fourth = REACH**2 / 3, REACH**4 / 5
    moments = np.array([second, 1.0])
    own = np.array([fourth + second, second + 1.0])  # E[x_i^2 |x|^2]
    return moments / ((1 - 1 / n) * moments**2 + own / n + NOISE**2 * moments / n)


# ---- by formula ----


def ridge(points: Points, strength: float) -> np.ndarray:
    """(2,): slope and height by ridge regression, (X^T X + strength I)^-1 X^T y (Hoerl and Kennard 1970)."""
    x, y = _design(points)
    return to_numpy(torch.linalg.solve(x.T @ x + strength * torch.eye(2, dtype=torch.float64), x.T @ y))


def least_squares(points: Points) -> np.ndarray:
    """(2,): slope and height with the least squared distance to the points, the smallest of them where there are many."""
    x, y = _design(points)
    return to_numpy(torch.linalg.pinv(x) @ y)


def straight(weights: np.ndarray) -> np.ndarray:
    """(..., 2) slope and height -> (..., x) over XS."""
    return np.asarray(weights[..., :1] * XS + weights[..., 1:])


# ---- all of them ----


@dataclass(frozen=True)
class Lines:
    """How high each line stands over XS. hand: (layer, x); ridge: (strength, x); layer, reader, best: (x,); best is least
    squares, the flattest where points leave a choice. gap: the largest difference between layers and steps, all layers."""

    hand: np.ndarray
    ridge: np.ndarray
    layer: np.ndarray
    reader: np.ndarray
    best: np.ndarray
    gap_one: float
    gap: float


def run(points: Points) -> Lines:
    """Every way to draw a line through the points."""
    hand, steps = through_layers(points), straight(by_steps(points))
    gaps = np.abs(hand - steps).max(-1)
    return Lines(
        hand,
        np.stack([straight(ridge(points, strength)) for strength in LAMBDAS]),
        by_trained_layer(points),
        by_reader(points),
        straight(least_squares(points)),
        float(gaps[1]),
        float(gaps.max()),
    )
