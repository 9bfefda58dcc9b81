"""A norm by hand: six numbers that can be moved, two dimensions, tiny vectors, and a gain that should undo it all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from core import norms
from core.norms import LayerNorm, RMSNorm
from core.trace import Trace, to_numpy

Vector = tuple[float, ...]
SIX: Vector = (2.0, -1.0, 0.5, 3.0, 1.0, 4.5)
FOUR: Vector = (1.0, 2.0, 3.0, 4.0)
OTHER: Vector = (10.0, 0.0, -10.0, 5.0)
MOVES = ("one", "shift", "scale")
EPS = 1e-5
TINY_EPS = 1e-6  # where its place is compared
PLACES = tuple(k / 5 for k in range(-30, 31))  # where one number may be put
ADDED = tuple(k / 10 for k in range(-30, 31))  # to all
SCALES = tuple(k / 25 for k in range(61))  # 0 to 2.4, times all
TINY = tuple(float(f"{10 ** (k / 8 - 8):.3g}") for k in range(65))  # 1e-8 to 1
BLENDS = tuple(round(k / 60, 4) for k in range(61))
PATH = tuple(round(k / 60, 4) for k in range(61))


def stops(move: str, x: Vector, place: int) -> tuple[float, ...]:
    """Where the slider goes; the number as it is stands among them."""
    if move == "one":
        return tuple(sorted({*PLACES, x[place]}))
    return ADDED if move == "shift" else SCALES


def rest(move: str, x: Vector, place: int) -> float:
    """The stop at which nothing is moved."""
    return x[place] if move == "one" else 0.0 if move == "shift" else 1.0


@dataclass(frozen=True)
class Moved:
    """x, centred, layer, rms: (stop, number), the vector, less its mean, and what both norms make of it. mean, spread,
    size: (stop,) of x; the size is its root mean square."""

    x: np.ndarray
    layer: np.ndarray
    rms: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    size: np.ndarray
    centred: np.ndarray


@torch.inference_mode()
def moved(x: Vector, move: str, place: int) -> Moved:
    """One number put to every stop, or a number added to all, or all multiplied; no gain, no shift, eps inside."""
    every = _moved(torch.tensor(x), move, place, torch.tensor(stops(move, x, place)))
    trace = Trace()
    layer = LayerNorm(len(x), EPS)(every, trace=trace)
    rms = RMSNorm(len(x), EPS)(every)
    return Moved(
        x=to_numpy(every),
        layer=to_numpy(layer),
        rms=to_numpy(rms),
        mean=trace["mean"].value[:, 0],
        spread=np.sqrt(trace["variance"].value[:, 0]),
        size=to_numpy(norms.size(every)[:, 0]),
        centred=trace["centred"].value,
    )


def _moved(x: Tensor, move: str, place: int, at: Tensor) -> Tensor:
    if move == "shift":
        return x + at[:, None]
    if move == "scale":
        return x * at[:, None]
    every = x.repeat(len(at), 1)
    every[:, place] = at
    return every


@torch.inference_mode()
def notices(x: Vector, added: float = 3.0, times: float = 2.0) -> dict[str, tuple[float, float]]:
    """How far the largest number of (LayerNorm, RMSNorm) moves if a number is added to all, and if all are multiplied."""
    plain, found = torch.tensor(x), {}
    for name, other in (("shift", plain + added), ("scale", plain * times)):
        pair = [
            float((norm(other) - norm(plain)).abs().max()) for norm in (LayerNorm(len(x), EPS), RMSNorm(len(x), EPS))
        ]
        found[name] = (pair[0], pair[1])
    return found


@dataclass(frozen=True)
class Beside:
    """The largest difference from torch's own: our LayerNorm, our RMSNorm, and a LayerNorm that divides by d - 1."""

    layer: float
    rms: float
    unbiased: float


@torch.inference_mode()
def beside_torch(x: Vector) -> Beside:
    row, width = torch.tensor(x), len(x)
    theirs = nn.LayerNorm(width, EPS)(row)
    c = norms.centred(row)
    wrong = c / norms.inside(norms.size(c, unbiased=True), EPS)
    gaps = (LayerNorm(width, EPS)(row) - theirs, RMSNorm(width, EPS)(row) - nn.RMSNorm(width, EPS)(row), wrong - theirs)
    return Beside(*(float(gap.abs().max()) for gap in gaps))


# ---- two dimensions ----


@dataclass(frozen=True)
class Flat:
    """points: (stop, point, 2), on their way through a norm."""

    points: np.ndarray


def cloud(many: int = 40, seed: int = 3) -> Tensor:
    """Random points in the plane, (point, 2)."""
    return torch.randn(many, 2, generator=torch.Generator().manual_seed(seed)) * 1.1 + torch.tensor([0.7, 0.2])


@torch.inference_mode()
def flat(kind: str) -> Flat:
    """kind: "layer": first the mean goes, then the size. "rms": the size alone. Along PATH, in straight lines."""
    x, way = cloud(), torch.tensor(PATH)[:, None, None]
    if kind == "rms":
        points = x + way * (RMSNorm(2, EPS)(x) - x)
    else:
        first, second = (2 * way).clamp(max=1), (2 * way - 1).clamp(min=0)
        middle = norms.centred(x)
        points = x + first * (middle - x) + second * (LayerNorm(2, EPS)(x) - middle)
    return Flat(to_numpy(points))


# ---- eps inside the root, or after it ----


@dataclass(frozen=True)
class Spreads:
    """(stop,) each: the spread of a vector after a norm, with eps inside the root and after it. x: its largest number
    after each, (stop,)."""

    inside: np.ndarray
    outside: np.ndarray
    largest: tuple[np.ndarray, np.ndarray]


@torch.inference_mode()
def tiny(x: Vector = FOUR, eps: float = TINY_EPS) -> Spreads:
    """A vector times each of TINY, in float64."""
    centred = norms.centred(torch.tensor(x, dtype=torch.float64)) * torch.tensor(TINY, dtype=torch.float64)[:, None]
    spread = norms.size(centred)
    made = [centred / norms.inside(spread, eps), centred / norms.outside(spread, eps)]
    sizes = [norms.size(one)[:, 0].numpy() for one in made]
    return Spreads(sizes[0], sizes[1], (made[0].amax(-1).numpy(), made[1].amax(-1).numpy()))


# ---- one gain, two tokens ----


@dataclass(frozen=True)
class Undone:
    """rows: (stop, 4, number): token A, what comes back of it, token B, what comes back of it. off: (stop, 2), the
    largest error of each."""

    rows: np.ndarray
    off: np.ndarray


@torch.inference_mode()
def undo(a: Vector = FOUR, b: Vector = OTHER) -> Undone:
    """LayerNorm with gain sigma and shift mu: at the first stop those of token A, at the last those of B."""
    x = torch.tensor([a, b], dtype=torch.float64)
    mean, spread = x.mean(-1), norms.size(norms.centred(x))[:, 0]
    way = torch.tensor(BLENDS, dtype=torch.float64)
    gain, shift = spread[0] + way * (spread[1] - spread[0]), mean[0] + way * (mean[1] - mean[0])
    normed = norms.centred(x) / spread[:, None]
    back = gain[:, None, None] * normed + shift[:, None, None]  # (stop, token, number)
    rows = torch.stack([x[0].expand(len(way), -1), back[:, 0], x[1].expand(len(way), -1), back[:, 1]], 1)
    return Undone(rows.numpy(), (back - x).abs().amax(-1).numpy())


# ---- numbers too large for half precision ----


@torch.inference_mode()
def in_half(x: Vector, times: float) -> tuple[np.ndarray, np.ndarray]:
    """RMSNorm of x times a number in float16: computed there, and as core does it, in float32 and back."""
    row = (torch.tensor(x) * times).half()
    naive = row * torch.rsqrt(row.square().mean(-1, keepdim=True) + EPS)
    return to_numpy(naive), to_numpy(RMSNorm(len(x), EPS)(row))
