"""Sinusoids to be matched: the first eight dimensions under a base and a width that must be found."""

from __future__ import annotations

import math

import numpy as np

from core.positions import sinusoids
from core.trace import to_numpy

SHOWN, PLACES = 8, 64  # dimensions and positions of the picture
BASES = tuple(float(f"{10 ** (k / 10):.3g}") for k in range(3, 52))  # 2 to 126,000
WIDTHS = (8, 16, 32, 64)
TARGETS = ((10_000.0, 32), (1000.0, 16), (100.0, 8))


def first(base: float, d: int) -> np.ndarray:
    """(SHOWN, PLACES): dimension by position, sines and cosines by turns."""
    return to_numpy(sinusoids(PLACES, d, base)[:, :SHOWN].T.contiguous())


def frames(d: int) -> np.ndarray:
    """(base, SHOWN, PLACES) at each of BASES."""
    return np.stack([first(base, d) for base in BASES])


def away(base: float, d: int, target: tuple[float, int]) -> float:
    """The mean difference of the two pictures, cell by cell."""
    return float(np.abs(first(base, d) - first(*target)).mean())


def step(base: float, d: int) -> float:
    """By how much each pair is slower than the one before: base^(2/d). Nothing else of the two is in the picture."""
    return float(base ** (2 / d))


def matches(base: float, d: int, target: tuple[float, int]) -> bool:
    """Is it the same picture, to half a hundredth a cell?"""
    return away(base, d, target) < 0.005


def solutions(target: tuple[float, int]) -> tuple[tuple[float, int], ...]:
    """All stops and widths that draw the target."""
    return tuple((base, d) for d in WIDTHS for base in BASES if matches(base, d, target))


def round_trip(base: float, d: int, pair: int) -> float:
    """After how many positions a pair has gone round once: 2π / ω. pair: 0 is the fastest."""
    return 2 * math.pi * step(base, d) ** pair
