"""Why should loss fall as a power of the parameters? The argument from the dimension of the data, and grids that show it.

N parameters cut data of d dimensions into cells of side N^(-1/d). A function that is straight in each cell is off by the
side squared, a squared loss by its fourth power: L ~ N^(-4/d) (Sharma & Kaplan 2020, arXiv 2004.10802). An argument, not
a theorem: it takes for granted that data, function and training are as smooth as that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DIMENSIONS = tuple(range(1, 51))
MEASURED = {
    1: (4, 8, 16, 32, 64, 128, 256, 512),
    2: (4, 6, 8, 12, 16, 24, 32),
    3: (4, 5, 6, 8, 10, 12),
    4: (4, 5, 6, 7, 8),
}
POINTS = 4000
KAPLAN = 0.076  # the exponent measured for language models (Kaplan et al. 2020, arXiv 2001.08361)


def alpha(d: float) -> float:
    """The exponent that the argument gives."""
    return 4 / d


def needed(d: float, less: float = 2.0) -> float:
    """How many times the parameters bring the loss down to 1 / less."""
    return float(less ** (1 / alpha(d)))


def smooth(x: np.ndarray) -> np.ndarray:
    """(point, d) -> (point,): a smooth function, the same kind in every dimension."""
    shift = np.arange(1, x.shape[-1] + 1) * 0.7
    made: np.ndarray = np.sin(np.pi * x + shift).prod(-1)
    return made


def grid_loss(m: int, d: int) -> float:
    """Mean squared error of the function that is straight between m^d knots, at random points of the unit cube."""
    points = np.random.default_rng(d).random((POINTS, d))
    at = points * (m - 1)
    low = np.minimum(at.astype(int), m - 2)
    part, total = at - low, np.zeros(POINTS)
    for corner in np.ndindex(*(2,) * d):
        weight = np.where(corner, part, 1 - part).prod(-1)
        total += weight * smooth((low + corner) / (m - 1))
    return float(((total - smooth(points)) ** 2).mean())


@dataclass(frozen=True)
class Grids:
    """Measured in a few dimensions. knots, losses: dimension -> (grid,); slopes: dimension -> the exponent that fits."""

    knots: dict[int, np.ndarray]
    losses: dict[int, np.ndarray]
    slopes: dict[int, float]


def grids() -> Grids:
    """Every grid of MEASURED. The exponent is taken against the cells, (m - 1)^d of them."""
    knots, losses, slopes = {}, {}, {}
    for d, sides in MEASURED.items():
        knots[d] = np.array([float((m - 1) ** d) for m in sides])
        losses[d] = np.array([grid_loss(m, d) for m in sides])
        slopes[d] = float(np.polyfit(np.log(knots[d]), np.log(losses[d]), 1)[0])
    return Grids(knots, losses, slopes)


def line(d: float, cells: np.ndarray) -> np.ndarray:
    """(cells,) the argument's law, 1 at one cell."""
    law: np.ndarray = np.asarray(cells, float) ** -alpha(d)
    return law
