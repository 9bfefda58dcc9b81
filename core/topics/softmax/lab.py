"""The softmax lab: its demo, constants added, number formats that break, claims judged, colours mixed, shares in a triangle."""

from __future__ import annotations

import colorsys
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.softmax import entropy, jacobian, softmax
from core.trace import Trace, to_numpy

Scores = tuple[float, ...]


MOST_SCORES = 16


ADDED = tuple(float(c) for c in range(-100, 101, 4))  # the stops of the slider that adds a constant


LARGEST = tuple(round(10 ** (k / 16), 3) for k in range(49))  # 1 to 1000: where the largest score is put


FORMATS = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp64": torch.float64}


def naive(z: Tensor) -> Tensor:
    """As the definition says, without taking the largest off: inf / inf is NaN once an exponential overflows."""
    exps = z.exp()
    return exps / exps.sum(-1, keepdim=True)


def by_numpy(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Softmax along any axis, in NumPy."""
    exps = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return exps / np.sum(exps, axis=axis, keepdims=True)


TEMPERATURES = tuple(2.0 ** (k / 7) for k in range(-24, 25))  # half and twice are stops of their own


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses: a row of 1 to MOST_SCORES scores, and a temperature."""

    scores: Scores
    temperature: float = 1.0


def run(demo: Demo) -> Trace:
    """One row through all steps, with its Jacobian."""
    trace = Trace()
    jacobian(softmax(_tensor(demo.scores), demo.temperature, trace=trace), trace=trace)
    return trace


def _tensor(scores: Scores) -> Tensor:
    return torch.tensor(scores, dtype=torch.float64)


@dataclass(frozen=True)
class Heated:
    """A row at every one of TEMPERATURES.

    steps: (frame, 5, key): the tempered scores, their exponentials, the shifted scores, theirs, the shares.
    slopes: (frame, key, key). entropy, most (the largest tempered score), naive_total, total: (frame,).
    """

    steps: np.ndarray
    slopes: np.ndarray
    entropy: np.ndarray
    most: np.ndarray
    naive_total: np.ndarray
    total: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        return self.steps[:, 4]


def heated(scores: Scores) -> Heated:
    """All frames of the temperature slider in one broadcast call."""
    z, t = _tensor(scores)[None], torch.tensor(TEMPERATURES, dtype=torch.float64)[:, None]
    tempered = z / t
    shifted = tempered - tempered.amax(-1, keepdim=True)
    shares = softmax(z, t)
    steps = torch.stack([tempered, tempered.exp(), shifted, shifted.exp(), shares], 1)
    numbers = (entropy(shares), tempered.amax(-1), tempered.exp().sum(-1), shifted.exp().sum(-1))
    return Heated(to_numpy(steps), to_numpy(jacobian(shares)), *map(to_numpy, numbers))


def at(scores: Scores, temperature: float) -> float:
    """The largest share."""
    return float(softmax(_tensor(scores), temperature).max())


def limit(scores: Scores) -> Scores:
    """The shares as T goes to 0: all for the largest score; equal largest ones share it."""
    most = max(scores)
    return tuple(float(z == most) / scores.count(most) for z in scores)


def added(scores: Scores) -> np.ndarray:
    """(frame, 3, key) at every one of ADDED: z + c, its exponential, the share."""
    z = _tensor(scores) + torch.tensor(ADDED, dtype=torch.float64)[:, None]
    return to_numpy(torch.stack([z, z.exp(), softmax(z)], 1))


@dataclass(frozen=True)
class Dragged:
    """One score at each of `stops`, its own among them. shares: (frame, key), those of the whole row."""

    stops: Scores
    shares: np.ndarray


def dragged(scores: Scores, place: int) -> Dragged:
    """One score from well below the others to well above them, while these stand still."""
    stops = {*np.linspace(min(scores) - 3, max(scores) + 3, 48).round(2).tolist(), scores[place]}
    z = _tensor(scores).expand(len(stops), -1).clone()
    z[:, place] = torch.tensor(sorted(stops), dtype=torch.float64)
    return Dragged(tuple(sorted(stops)), to_numpy(softmax(z)))


def moved_by(scores: Scores, c: float) -> float:
    """The most that any share moves when c is added to every score."""
    z = _tensor(scores)
    return float((softmax(z + c) - softmax(z)).abs().max())


def in_format(scores: Scores, form: str) -> np.ndarray:
    """(frame, 4, key) at every one of LARGEST, to which the row's largest score is moved: the score as the format
    stores it, its exponential, the naive share, the stable share. All of it is computed in that format."""
    z = _tensor(scores)
    z = z - z.max() + torch.tensor(LARGEST, dtype=torch.float64)[:, None]
    z = z.to(FORMATS[form])
    return to_numpy(torch.stack([z, z.exp(), naive(z), softmax(z)], 1).double())


@dataclass(frozen=True)
class Breaks:
    """Where a number format ends. most: its largest number; limit: the logarithm of that, beyond which an exponential
    is infinite; at: the first of LARGEST whose naive shares are no numbers, or all zero because their sum overflowed;
    None if there is none."""

    most: float
    limit: float
    at: float | None


def breaks(scores: Scores, form: str) -> Breaks:
    most = torch.finfo(FORMATS[form]).max
    shares = in_format(scores, form)[:, 2]
    broken = ~np.isfinite(shares).all(-1) | (shares == 0).all(-1)
    return Breaks(most, math.log(most), LARGEST[int(broken.argmax())] if broken.any() else None)


def colours(n: int) -> np.ndarray:
    """(n, 3): n colours around the circle, chosen by us to be mixed; red, green and blue from 0 to 255."""
    return np.array([colorsys.hsv_to_rgb(i / n, 0.78, 0.92) for i in range(n)]) * 255


def mixed(scores: Scores) -> np.ndarray:
    """(frame, 3): the colours of the row, mixed with its shares, at every temperature."""
    return heated(scores).shares @ colours(len(scores))


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(0.75)]])


@dataclass(frozen=True)
class Triangle:
    """The three largest scores of a row and their shares among themselves, as points of a triangle.

    chosen: their places in the row, in order. shares: (frame, 3); points: (frame, 2).
    """

    chosen: tuple[int, int, int]
    shares: np.ndarray
    points: np.ndarray


def triangle(scores: Scores) -> Triangle | None:
    """None for fewer than three scores."""
    if len(scores) < 3:
        return None
    chosen = tuple(largest(scores, 3))
    shares = heated(tuple(scores[i] for i in chosen)).shares
    return Triangle(chosen, shares, shares @ CORNERS)


def largest(scores: Scores, n: int) -> list[int]:
    """The places of the n largest scores, in the row's order."""
    return sorted(sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:n])


@dataclass(frozen=True)
class Claim:
    """A row to be checked: the scores, the temperature, and the row that is said to follow."""

    scores: Scores
    row: Scores
    temperature: float = 1.0
    unit: float = 0.01  # of the last digit


CLAIMS = {
    "first": Claim((2.0, 1.0, 0.1), (0.66, 0.24, 0.10)),
    "cold": Claim((2.0, 1.0, 0.0), (0.84, 0.11, 0.04), 0.5),
    "warm": Claim((2.0, 1.0, 0.0), (0.51, 0.31, 0.19), 2.0),
    "four": Claim((2.1, -0.5, 1.3, 0.8), (0.42, 0.03, 0.29, 0.26)),
    "thousand": Claim((1000.0, 1000.1, 1000.2), (0.0900, 0.2447, 0.6652), unit=0.0001),
    "lonely": Claim((22.0, 0.0), (0.999999, 0.000001), unit=0.000001),
    "reversed": Claim((1.0, 2.0, 3.0), (0.665, 0.245, 0.090), unit=0.001),
}


OWNER = (1000.0, 1001.0, 1002.0)  # whose shares stand under "thousand"


@dataclass(frozen=True)
class Verdict:
    """shares: what is true; gap: the most by which the row is off; right: rounding explains it."""

    shares: Scores
    gap: float
    right: bool


def judge(claim: Claim) -> Verdict:
    shares = tuple(softmax(_tensor(claim.scores), claim.temperature).tolist())
    gap = max(abs(p - q) for p, q in zip(shares, claim.row, strict=True))
    return Verdict(shares, gap, gap <= claim.unit / 2)


@dataclass(frozen=True)
class Nearest:
    """The temperature whose row comes nearest to the row, and by how much it still misses."""

    temperature: float
    gap: float


def nearest(claim: Claim) -> Nearest:
    """Among 4001 temperatures from 0.01 to 100."""
    t = torch.logspace(-2, 2, 4001, dtype=torch.float64)
    gaps = (softmax(_tensor(claim.scores), t[:, None]) - _tensor(claim.row)).abs().amax(-1)
    return Nearest(float(t[gaps.argmin()]), float(gaps.min()))


@dataclass(frozen=True)
class Facts:
    """Numbers that correct what is easily believed, computed here.

    rest: 1 - the first share of (22, 0), which is also its slope to three digits; far: the second share of (22, -22);
    gap: the distance of two scores that leaves the smaller a share of one in a million.
    half: -1e9 in fp16; empty: softmax of nothing but minus infinities; even: of nothing but -1e9, each share.
    """

    rest: float
    slope: float
    far: float
    gap: float
    half: float
    empty: float
    even: float


def facts() -> Facts:
    p, far = softmax(_tensor((22.0, 0.0))), softmax(_tensor((22.0, -22.0)))
    return Facts(
        rest=float(p[1]),
        slope=float(jacobian(p)[1, 1]),
        far=float(far[1]),
        gap=math.log(1e6 - 1),
        half=float(torch.tensor(-1e9).half()),
        empty=float(torch.full((4,), -torch.inf).softmax(-1)[0]),
        even=float(torch.full((4,), -1e9).softmax(-1)[0]),
    )
