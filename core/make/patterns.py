"""Record the loss on four stories when every word may read k words, for each pattern and each k: some minutes."""

from __future__ import annotations

import math

import numpy as np

from core.lab import subject
from core.topics.efficient.patterns import KINDS, LEAST, READ, TABLE, K, edits, story_loss


def computed(kind: str, k: int) -> float:
    """Nats a token; NaN where a pattern needs more words than k."""
    config = subject.config()
    if k < LEAST.get(kind, 1):
        return math.nan
    return story_loss(edits(kind, (k,), config.n_layers, config.n_heads, READ))


def make() -> None:
    """Compute everything and write the table that `losses` reads."""
    table = []
    for kind in KINDS:
        table.append([computed(kind, k) for k in K])
        print(kind, *(f"{k}:{loss:.3f}" for k, loss in zip(K, table[-1], strict=True)), flush=True)
    np.save(TABLE, np.array(table, np.float32), allow_pickle=False)
