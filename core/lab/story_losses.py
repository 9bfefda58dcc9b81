"""The mean loss on the shipped stories under every what-if of the attention page, recorded once.

A page may not wait for six stories at every move of a slider, and a class of thirty moves thirty of them. The settings
are few, so `python -m core.make story_losses` computes them all (a quarter of an hour) and the tests compute some of them again.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from core.assets import ASSETS
from core.softmax import temperatures
from core.whatif import Change

TABLE = ASSETS / "data" / "story_losses.npy"
STOPS = tuple(temperatures())


def loss(change: Change) -> float:
    """Nats a token. Raises KeyError for a change with cuts or muted heads, or a temperature between the stops."""
    if change.cut or change.muted or change.window or not change.rotation:
        raise KeyError("only scaling, mask and temperature are recorded")
    where = _place(change, _table().shape[2])
    return float(_table()[where])


def _place(change: Change, last: int) -> tuple[int, int, int, int]:
    """(scaling off, mask off, head in reading order or all, temperature)."""
    if change.temperature not in STOPS:
        raise KeyError(f"temperature {change.temperature} is not recorded")
    heads = round((last - 1) ** 0.5)  # as many heads as blocks in the embedded model
    one = last - 1 if change.head is None else change.head[0] * heads + change.head[1]
    return int(not change.scaling), int(not change.mask), one, STOPS.index(change.temperature)


@cache
def _table() -> np.ndarray:
    table: np.ndarray = np.load(TABLE, allow_pickle=False)
    return table
