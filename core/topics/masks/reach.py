"""How far a token may look, on one slider: from itself alone over everything before it to everything at all.

What each reach costs on the stories is recorded: `python -m core.make reach_losses`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor

from core.assets import ASSETS
from core.attention import allowed_pairs

TABLE = ASSETS / "data" / "reach_losses.npy"
STEPS = (*range(1, 17), 20, 24, 32, 48, 64, 96, 128, 192)  # tokens back, itself included, or ahead
CAUSAL, NONE = 0, 999  # everything before; everything
SIZES = (*(step - 1000 for step in STEPS), CAUSAL, *STEPS, NONE)


def window(size: int) -> int | None:
    """How many tokens back are seen, itself included; None for all of them."""
    return size + 1000 if size < CAUSAL else None


def pattern(n: int, size: int) -> Tensor:
    """(query, key), True where a query may look. size: one of SIZES; above CAUSAL, so many tokens ahead as well."""
    back = window(size)
    if back is not None:
        return allowed_pairs("window", n, back)
    return torch.ones(n, n, dtype=torch.bool).tril(size)


def sizes(n: int, most: int) -> tuple[int, ...]:
    """The sizes that differ on n tokens, least first, at most about `most` of them."""
    back = [step - 1000 for step in STEPS if step < n]
    ahead = [step for step in STEPS if step < n - 1]
    return (*_thin(back, most // 2), CAUSAL, *_thin(ahead, most // 2), *([NONE] if n > 1 else []))


def _thin(some: list[int], most: int) -> list[int]:
    every = max(1, -(-len(some) // max(1, most)))
    return some[::every]


def loss(size: int) -> float:
    """The mean loss on the stories, nats a token, if every token reaches so far. Raises KeyError for another size."""
    if size not in SIZES:
        raise KeyError(f"reach {size} is not recorded")
    return float(_table()[SIZES.index(size)])


@cache
def _table() -> np.ndarray:
    table: np.ndarray = np.load(TABLE, allow_pickle=False)
    return table
