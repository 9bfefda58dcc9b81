"""Record the mean loss along the long stories with a cache in few bits."""

from __future__ import annotations

import numpy as np

from core.topics.inference.squeezed import BITS, LOSSES, SIDES, loss


def make() -> None:
    table = np.array([[loss(side, bits) for bits in BITS] for side in SIDES], np.float32)
    np.save(LOSSES, table, allow_pickle=False)
    for side, row in zip(SIDES, table, strict=True):
        print(side, *(f"{bits}: {x:.3f}" for bits, x in zip(BITS, row, strict=True)))
