"""The mean loss on the shipped stories under every what-if of the attention page, recorded once.

A page may not wait for six stories at every move of a slider, and a class of thirty moves thirty of them. The settings
are few, so `python -m core.losses` computes them all (a quarter of an hour) and the tests compute some of them again.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from core.softmax import temperatures
from core.tokenizer import ASSETS
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
    return np.load(TABLE, allow_pickle=False)


def changes(n_layers: int, n_heads: int) -> list[Change]:
    """Every recorded setting, in the order of the table."""
    scopes = [(layer, head) for layer in range(n_layers) for head in range(n_heads)] + [None]
    return [
        Change(scaling, mask, temperature=tau, head=None if tau == 1.0 else scope)
        for scaling in (True, False)
        for mask in (True, False)
        for scope in scopes
        for tau in STOPS
    ]


def record() -> None:
    """Compute every setting and write the table that `loss` reads."""
    from core import embedded

    config = embedded.model().config
    known: dict[Change, float] = {}
    for change in changes(config.n_layers, config.n_heads):
        if change not in known:
            known[change] = embedded.story_loss(change)
    values = [known[change] for change in changes(config.n_layers, config.n_heads)]
    shape = (2, 2, config.n_layers * config.n_heads + 1, len(STOPS))
    np.save(TABLE, np.array(values, np.float32).reshape(shape), allow_pickle=False)


if __name__ == "__main__":
    record()
