"""Five features in two numbers: small nets that must read them back, one for each chance that a feature is on.

Toy models of superposition (Elhage et al. 2022, arXiv 2209.10652): x' = ReLU(WᵀWx + b). `python -m core.make
superposition` trains all of them in one batch and writes assets/data/superposition.npz.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor

from core.assets import ASSETS
from core.trace import SILENT, Quantity, Trace

FILE = ASSETS / "data" / "superposition.npz"
FEATURES, NUMBERS = 5, 2
CHANCES = tuple(10 ** (-k / 24) for k in range(49))  # that a feature is on: 1 to 0.01
IMPORTANCE = tuple(0.9**i for i in range(FEATURES))  # how much a mistake in each counts


READ_BACK = Quantity(
    "read_back",
    "frame part kept",
    r"x' = \mathrm{ReLU}(W^\top W x + b)",
    "What is read back of every feature out of the few numbers.",
)


def read_back(w: Tensor, b: Tensor, x: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """w: (..., number, feature), b: (..., feature), x: (..., sample, feature). Returns the shape of x."""
    return trace(READ_BACK, torch.relu(x @ w.mT @ w + b[..., None, :]))


@cache
def _stored() -> dict[str, np.ndarray]:
    with np.load(FILE) as held:
        return dict(held)


def net(frame: int) -> tuple[Tensor, Tensor]:
    """(number, feature) and (feature,) of the net trained at CHANCES[frame]."""
    return tuple(torch.from_numpy(_stored()[name][frame].astype(np.float32)) for name in ("w", "b"))  # type: ignore[return-value]


def error() -> np.ndarray:
    """(chance,) each net's mean squared error on fresh samples, each feature by its importance, as recorded."""
    return _stored()["error"]


def keeping_two(chance: float) -> float:
    """The same of a net that reads two features back exactly and says of each other one its mean, whatever it is.

    A feature that is on with chance p, and then anything from 0 to 1 alike, has the variance p/3 - p²/4.
    """
    return sum(IMPORTANCE[NUMBERS:]) * (chance / 3 - chance**2 / 4) / FEATURES
