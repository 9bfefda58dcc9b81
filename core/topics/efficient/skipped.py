"""What a mask saves: a kernel skips the tiles in which no pair is open, and computes the others whole.

Dao et al. 2022 (arXiv 2205.14135, sec. 3.3, block-sparse FlashAttention). A mask that closes single pairs saves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from core.topics.efficient import patterns as pt

N = 64  # tokens
SIZES = (1, 2, 4, 8, 16, 32, 64)  # of a tile, queries and keys
KINDS = ("causal", "window", "strided", "random")
READ = 8  # words a query reads where not all


@dataclass(frozen=True)
class Skipped:
    """cells: (size, query, key): how much of the pair's tile is open, 0 where it is skipped.
    computed, tiles: (size,) tiles with an open pair, and all; open: open pairs; pairs: (size,) pairs computed."""

    cells: np.ndarray
    computed: tuple[int, ...]
    tiles: tuple[int, ...]
    pairs: tuple[int, ...]
    open: int


def run(kind: str) -> Skipped:
    """At every size of a tile. Raises KeyError for another kind than KINDS."""
    if kind not in KINDS:
        raise KeyError(kind)
    allowed = pt.mask("window", N, N) if kind == "causal" else pt.mask(kind, READ, N, pt.luck(1, 1, N)[0, 0])
    cells, computed, tiles = [], [], []
    for size in SIZES:
        open_ = F.avg_pool2d(allowed.float()[None, None], size)[0, 0]
        cells.append(open_.repeat_interleave(size, 0).repeat_interleave(size, 1))
        computed.append(int((open_ > 0).sum()))
        tiles.append(open_.numel())
    pairs = tuple(n * size * size for n, size in zip(computed, SIZES, strict=True))
    return Skipped(torch.stack(cells).numpy(), tuple(computed), tuple(tiles), pairs, int(allowed.sum()))
