"""RoPE past the length it was trained for: five ways to slow the rotation, by their right names.

All take the trained base b, the width d of a head, the factor s = wanted length / trained length L, and give the
radians each pair turns per position. Position itself is never touched: m / s times theta is m times theta / s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.rope import frequencies
from core.trace import SILENT, Quantity, Trace, to_numpy

ABF = 100.0  # times the trained base: Qwen3 report (arXiv 2505.09388), sec. 3.2
METHODS = ("plain", "pi", "abf", "ntk", "dynamic", "yarn")
RAMP = Quantity(
    "yarn_ramp", "pair", r"\gamma_i", "How much of its own speed each pair keeps: one is all of it, zero is none."
)


def position_interpolation(head_dim: int, base: float, s: float) -> Tensor:
    """(pair,) every pair s times slower (PI: Chen et al. 2023, arXiv 2306.15595, eq. 2)."""
    return frequencies(head_dim, base) / s


def ntk_base(head_dim: int, base: float, s: float) -> float:
    """The base that leaves the fastest pair alone and slows the slowest s times (bloc97 2023; arXiv 2309.00071, eq. 16)."""
    return base * s ** (head_dim / (head_dim - 2))


def dynamic_base(head_dim: int, base: float, s: float, trained: int, length: int) -> float:
    """The NTK-aware base, recomputed for the text's length so far; nothing changes up to the trained length."""
    return ntk_base(head_dim, base, s * max(length, trained) / trained - (s - 1))


def ramp(
    head_dim: int, base: float, trained: int, fast: float = 32.0, slow: float = 1.0, *, trace: Trace = SILENT
) -> Tensor:
    """(pair,) YaRN's gamma: 1 for pairs that turned more than `fast` times in training and stay as they are, 0 for
    those that turned less than `slow` times and are interpolated, a straight line of pair numbers between (Peng et
    al. 2023, arXiv 2309.00071, sec. 3.2; the ends rounded outwards as the authors' code does)."""

    def pair(turns: float) -> float:
        return head_dim * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))

    first, last = max(math.floor(pair(fast)), 0), min(math.ceil(pair(slow)), head_dim - 1)
    last = last if last > first else first + 0.001
    return trace(RAMP, 1 - ((torch.arange(head_dim // 2) - first) / (last - first)).clamp(0, 1))


def yarn(head_dim: int, base: float, s: float, trained: int) -> Tensor:
    """(pair,) fast pairs as trained, slow pairs interpolated, the ramp between."""
    theta, gamma = frequencies(head_dim, base), ramp(head_dim, base, trained)
    return gamma * theta + (1 - gamma) * theta / s


def yarn_factor(s: float) -> float:
    """What YaRN multiplies cos and sin with, so q and k both, so the scores with its square."""
    return 0.1 * math.log(s) + 1.0 if s > 1 else 1.0


def scaled(method: str, head_dim: int, base: float, s: float, trained: int, length: int) -> Tensor:
    """(pair,) radians per position. ABF does not know s: its base is chosen before the training that it needs, here
    a hundred times larger, as Qwen3 took it from 10,000 to 1,000,000. Raises KeyError for an unknown method.
    """
    return {
        "plain": lambda: frequencies(head_dim, base),
        "pi": lambda: position_interpolation(head_dim, base, s),
        "abf": lambda: frequencies(head_dim, base * ABF),
        "ntk": lambda: frequencies(head_dim, ntk_base(head_dim, base, s)),
        "dynamic": lambda: frequencies(head_dim, dynamic_base(head_dim, base, s, trained, length)),
        "yarn": lambda: yarn(head_dim, base, s, trained),
    }[method]()


# ---- the base slider ----

BASES = tuple(round(10_000 * 100 ** (k / 48)) for k in range(49))
REACH = 32_768  # tokens, the length at which the angles are looked at


@dataclass(frozen=True)
class Model:
    """What the curves are drawn for: the width of a head, the base and length it was trained with."""

    head_dim: int = 128
    base: float = 10_000.0
    trained: int = 4096


@dataclass(frozen=True)
class Spectrum:
    """For each of BASES. waves: (frame, pair) tokens a turn takes; turns: (frame, pair) made at REACH; seen: (pair,)
    turns made in training; unfinished: (frame,) pairs that need more than REACH tokens for a turn; unseen: (frame,)
    pairs that stand at REACH at an angle that training never reached."""

    waves: np.ndarray
    turns: np.ndarray
    seen: np.ndarray
    unfinished: np.ndarray
    unseen: np.ndarray


def spectrum(model: Model = Model()) -> Spectrum:
    """A pair that finished a turn in training has seen every angle; one that did not has seen those up to its last."""
    exponents = torch.arange(0, model.head_dim, 2, dtype=torch.float64) / model.head_dim
    theta = torch.tensor(BASES, dtype=torch.float64)[:, None] ** -exponents
    waves, turns = 2 * math.pi / theta, REACH * theta / (2 * math.pi)
    seen = model.trained * frequencies(model.head_dim, model.base).double() / (2 * math.pi)
    unseen = (turns > seen * (1 + 1e-6)) & (seen < 1)
    parts = (waves, turns, seen, (waves > REACH).sum(-1), unseen.sum(-1))
    return Spectrum(*(to_numpy(x) for x in parts))


# ---- the methods side by side ----

STRETCHES = tuple(8 ** (k / 48) for k in range(49))  # s, 1 to 8
LENGTHS = 65  # points along the text, from nothing to eight times the trained length


def slowdowns(model: Model = Model(), grown: float = 2.0) -> np.ndarray:
    """(frame, method, pair) theta / theta' at each of STRETCHES. grown: the length so far over the trained one, which
    only dynamic NTK asks for."""
    plain = frequencies(model.head_dim, model.base)
    length = round(grown * model.trained)
    frames = [
        torch.stack([plain / scaled(m, model.head_dim, model.base, s, model.trained, length) for m in METHODS])
        for s in STRETCHES
    ]
    return to_numpy(torch.stack(frames))


def far_angles(pair: int, model: Model = Model()) -> tuple[np.ndarray, np.ndarray]:
    """Positions, and (frame, method, position) the angle of one pair there, in radians, at each of STRETCHES.

    Dynamic NTK's is the angle of the newest token: its base is that of the text up to there.
    """
    places = torch.linspace(0, 8 * model.trained, LENGTHS)
    frames = []
    for s in STRETCHES:
        rows = [places * scaled(m, model.head_dim, model.base, s, model.trained, model.trained)[pair] for m in METHODS]
        slow = [scaled("dynamic", model.head_dim, model.base, s, model.trained, int(n))[pair] for n in places]
        rows[METHODS.index("dynamic")] = places * torch.stack(slow)
        frames.append(torch.stack(rows))
    return to_numpy(places), to_numpy(torch.stack(frames))
