"""Three questions of interviews, and what happened when they were tried: no scaling, one head, no mask."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.nets import cheat, lookups

STEPS = (50, 100)  # at which the accuracies are told
LEARNED = 0.99


@dataclass(frozen=True)
class Scaling:
    """Means over the seeds; (with, without) scaling. accuracy: (2, STEPS); last: at the end; gradient: before the first
    step; loss: then; dead: the share of rows without slope, then."""

    accuracy: np.ndarray
    last: np.ndarray
    gradient: np.ndarray
    loss: np.ndarray
    dead: np.ndarray


def scaling() -> Scaling:
    """d_k = 512, as recorded."""
    mean = lookups.curves().scaled.mean(1)
    at = [lookups.SEEN.index(step) for step in STEPS]
    accuracy, loss, gradient, dead = (mean[..., i] for i in range(len(lookups.MEASURES)))
    return Scaling(accuracy[:, at], accuracy[:, -1], gradient[:, 0], loss[:, 0], dead[:, 0])


def left_over(gap: float) -> float:
    """What softmax of two scores leaves the smaller one, `gap` below; nearly its slope p (1 - p) too."""
    return 1 / (1 + math.exp(gap))


@dataclass(frozen=True)
class Heads:
    """Means over the seeds. right: (HEADS,) texts with both letters right at the end; steps: (HEADS,) until LEARNED;
    marked: the mean weight of the one head on either marked letter."""

    right: np.ndarray
    steps: np.ndarray
    marked: float


def heads() -> Heads:
    """Equal parameters, 1 to 8 heads, as recorded."""
    found = lookups.curves()
    mean = found.two.mean(1)
    steps = [lookups.TWO_SEEN[int(np.argmax(row >= LEARNED))] for row in mean]
    return Heads(mean[:, -1], np.array(steps), float(found.marked.mean()))


@dataclass(frozen=True)
class Mask:
    """losses: (trained, tested) with the mask and without it, as `cheat.measured`; entropy: the least that is fair;
    masked, opened: what either writes on its own."""

    losses: np.ndarray
    entropy: float
    masked: cheat.Written
    opened: cheat.Written


def mask() -> Mask:
    """The two nets that ship: measured on new texts, and let write."""
    return Mask(cheat.measured(), cheat.ENTROPY, cheat.write("masked"), cheat.write("open"))
