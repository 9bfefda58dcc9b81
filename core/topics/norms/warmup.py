"""How fast to learn, step by step: two schedules, what Adam does with its first steps, and four nets that were trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.nets import stacks
from core.trace import SILENT, Quantity, Trace

RATE = Quantity(
    "rate",
    "frame part",
    r"d^{-0.5}\,\min\!\left(t^{-0.5},\; t\,w^{-1.5}\right)",
    "How far a step may go: it climbs for w steps, then falls with the root of the step.",
)
WIDTHS = (64, 128, 256, 512, 1024, 2048)
WARMS = (*range(1000, 4000, 100), *range(4000, 10_001, 250))
END = 20_000  # steps that are drawn
BETAS = tuple(round(1 - 10 ** (-1 - k / 16), 5) for k in range(49))  # 0.9 to 0.9999


def noam(t: Tensor, width: int, warm: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """Vaswani et al. 2017 (arXiv 1706.03762, eq. 3). t: (step,), from 1 on; warm: (warm, 1). Returns (warm, step)."""
    return trace(RATE, width**-0.5 * torch.minimum(t**-0.5, t * warm**-1.5))


def cosine(t: Tensor, peak: Tensor, warm: Tensor, end: int) -> Tensor:
    """The same climb to a peak (warm, 1), then half a cosine down to zero at `end` (Loshchilov and Hutter 2017, arXiv
    1608.03983, eq. 5)."""
    way = ((t - warm) / (end - warm).clamp(min=1)).clamp(0, 1)
    return peak * torch.where(t < warm, t / warm, (1 + (torch.pi * way).cos()) / 2)


@dataclass(frozen=True)
class Schedules:
    """steps: (step,); rates: (warm, 2, step), Noam's and the cosine with the same climb; peaks: (warm,)."""

    steps: np.ndarray
    rates: np.ndarray
    peaks: np.ndarray


def schedules(width: int, *, trace: Trace = SILENT) -> Schedules:
    """For every warm-up of WARMS."""
    steps = np.unique(np.concatenate([np.geomspace(1, END, 120), np.linspace(1, END, 120)]).round())
    t, warm = torch.from_numpy(steps), torch.tensor(WARMS, dtype=torch.float64)[:, None]
    peaks = (width * warm) ** -0.5
    rates = torch.stack([noam(t, width, warm, trace=trace), cosine(t, peaks, warm, END)], 1)
    return Schedules(steps, rates.numpy(), peaks[:, 0].numpy())


# ---- Adam's first steps ----


@dataclass(frozen=True)
class Estimates:
    """How right Adam's estimate is: over what it estimates, at each step; a tenth of the weights lie below low, a
    tenth above high. (beta, step) each; moved: (step,) the mean step in rates, at beta 0.999."""

    steps: np.ndarray
    low: np.ndarray
    middle: np.ndarray
    high: np.ndarray
    moved: np.ndarray


def estimates() -> Estimates:
    """On recorded gradients of weights that stand still, for every beta of BETAS."""
    drawn = stacks.recorded()["moments"].astype(np.float64)
    squares = drawn**2
    steps = np.arange(1, len(drawn) + 1)
    found = np.stack([np.quantile(_running(squares, beta), (0.1, 0.5, 0.9), 1) for beta in BETAS])
    moved = np.abs(_running(drawn, 0.9)) / np.sqrt(_running(squares, 0.999))
    return Estimates(steps, *found.swapaxes(0, 1), moved.mean(1))


def _running(rows: np.ndarray, beta: float) -> np.ndarray:
    """Exponential mean along the first axis, started at zero and corrected for it, as Adam does."""
    kept, made = np.zeros(rows.shape[1]), []
    for t, row in enumerate(rows, 1):
        kept = beta * kept + (1 - beta) * row
        made.append(kept / (1 - beta**t))
    return np.stack(made)


# ---- the nets that were trained ----


@dataclass(frozen=True)
class Learned:
    """loss: (step of `at`, seed) mean nats a letter. probes, each (step of `probed`,), middle of three seeds: below,
    the gradient under the first block over that above the last; alike, the mean cosine of two letters of a text."""

    at: np.ndarray
    loss: np.ndarray
    probed: np.ndarray
    below: np.ndarray
    alike: np.ndarray

    @property
    def end(self) -> np.ndarray:
        """(seed,): over the last twenty steps."""
        return self.loss[-2:].mean(0)


def warmed(place: str, warm_up: int) -> Learned:
    """One of the four: norms `place` the skip ("pre", "post"), with a warm-up of so many steps, one of stacks.WARM_UPS."""
    held, row = stacks.recorded(), stacks.WARM_UPS.index(warm_up)
    return _learned(held[f"warmed_{place}_loss"][row], held[f"warmed_{place}_probe"][:, row])


def learner(name: str) -> Learned:
    """One of stacks.LEARNERS, trained without a warm-up at a gentle rate."""
    held = stacks.recorded()
    return _learned(held[f"learner_{name}_loss"], held[f"learner_{name}_probe"])


def _learned(loss: np.ndarray, probe: np.ndarray) -> Learned:
    at = (np.arange(loss.shape[-1]) + 0.5) * stacks.BIN
    probed = np.array(stacks.PROBED[: probe.shape[-1]])
    below = np.median(probe[0] / probe[1], 0)
    return Learned(at, loss.T, probed, below, np.median(probe[2], 0))


def first_step(place: str) -> float:
    """Of the weights that have a gradient, the share that Adam's first step moves by 99 % of the rate or more."""
    return float(stacks.recorded()[f"warmed_{place}_first"].mean())


def knowing() -> tuple[float, float, float]:
    """Nats a letter: guessing evenly, knowing how often each letter comes, knowing what follows each letter."""
    alone, pairs = stacks.recorded()["knowing"].tolist()
    return float(np.log(len(stacks.LETTERS))), alone, pairs
