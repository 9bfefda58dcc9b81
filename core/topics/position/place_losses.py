"""What position is worth to the embedded model, and how far its rotation carries: losses, recorded once.

`python -m core.make place_losses` measures them (about a minute) and writes assets/data/places.npz; tests measure some again.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from core.assets import ASSETS
from core.whatif import Change

FILE = ASSETS / "data" / "places.npz"
LONG = ASSETS / "data" / "long_stories.txt"
READ = 640  # tokens that are read of every long story
CHANGES = {  # how the model reads a long story
    "plain": Change(),
    "still": Change(rotation=False),
    "window": Change(window=200),
}


@cache
def _stored() -> dict[str, np.ndarray]:
    with np.load(FILE, allow_pickle=False) as stored:
        return dict(stored)


def story_loss(rotation: bool, mask: bool) -> float:
    """Nats a token on the short stories, recorded."""
    return float(_stored()["story_loss"][int(not rotation), int(not mask)])


def by_place() -> np.ndarray:
    """(change, place): mean nats at each of READ - 1 places of the long stories, in the order of CHANGES, recorded."""
    return _stored()["by_place"]


def stories() -> int:
    """How many long stories the recorded mean is over."""
    return int(_stored()["stories"])


def smooth(losses: np.ndarray, width: int, end: int) -> np.ndarray:
    """The mean over `width` places around each one, fewer where there are none: at the ends, where numbers are missing,
    and on either side of place `end`, so that what is before the end of training stays free of what is behind."""
    kernel = np.ones(width)

    def mean(row: np.ndarray) -> np.ndarray:
        there = np.isfinite(row)
        total = np.convolve(np.where(there, row, 0), kernel)[width // 2 :][: len(row)]
        count = np.convolve(there.astype(float), kernel)[width // 2 :][: len(row)]
        return np.where(there, total / np.maximum(count, 1), np.nan)

    return np.array([np.concatenate([mean(row[:end]), mean(row[end:])]) for row in losses])
