"""How many steps from one word to another, where each step follows an open pair? One block makes one step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GRAPHS = ("causal", "causal_global", "causal_random", "both", "both_global")
N = 64
WINDOWS = tuple(range(2, 46))  # tokens back, itself included; both ways: as many to either side
LINKS = 3  # random ones a word, as BigBird adds


def links(graph: str, window: int, n: int = N) -> np.ndarray:
    """(from, to) of bool: which words a word reads. Raises KeyError for another graph.

    causal: the nearest before it, itself included; both: to either side. _global: word 0 reads all it may, and all read
    it; _random: token 0 and LINKS more, drawn once.
    """
    i, j = np.arange(n)[:, None], np.arange(n)
    causal = (i >= j) & (i - j < window)
    both = abs(i - j) < window
    drawn = (np.random.default_rng(0).random((n, n)) < LINKS / n) & (i > j)
    return np.asarray(
        {
            "causal": causal,
            "causal_global": causal | (j == 0),
            "causal_random": causal | (j == 0) | drawn,
            "both": both,
            "both_global": both | (i == 0) | (j == 0),
        }[graph]
    )


def hops(open_: np.ndarray) -> np.ndarray:
    """(from, to): the fewest steps, 0 to itself, -1 where no way leads."""
    n = len(open_)
    far = np.full((n, n), -1)
    here = np.eye(n, dtype=bool)
    far[here] = 0
    for step in range(1, n + 1):
        there = here | ((here.astype(int) @ open_.astype(int)) > 0)
        if (there == here).all():
            break
        far[there & ~here] = step
        here = there
    return far


@dataclass(frozen=True)
class Frames:
    """far: (window, from, to) of hops, NaN where no way may lead; most: (window,) the largest of them."""

    far: np.ndarray
    most: np.ndarray


def frames(graph: str) -> Frames:
    """One graph at every window."""
    every = np.stack([hops(links(graph, window)) for window in WINDOWS]).astype(float)
    every[every < 0] = np.nan
    return Frames(every, np.nanmax(every, axis=(1, 2)).astype(int))
