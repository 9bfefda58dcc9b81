"""What a Transformer can be made to compute on sequences of one length: any map, or with no positions far fewer.

Yun et al. 2020 (arXiv 1912.10077): Transformers approximate every continuous map between sequences of one length on a
compact domain; without positions, every one that is permutation-equivariant. Here the map is finite: all sequences of
four symbols to four symbols by luck.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.nets import by_heart
from core.trace import to_numpy

# ---- the random map ----


def bound() -> float:
    """The share of symbols that the best map without positions has right.

    Such a map gives the same answer wherever the same symbol stands among the same others; so the best it can do is to
    give, for each of these cases, the answer that is asked for most often.
    """
    asked: dict[tuple[int, tuple[int, ...]], Counter[int]] = defaultdict(Counter)
    for row, answers in zip(by_heart.sequences().tolist(), by_heart.wanted().tolist(), strict=True):
        for symbol, answer in zip(row, answers, strict=True):
            asked[symbol, tuple(sorted(row))][answer] += 1
    return sum(max(answers.values()) for answers in asked.values()) / by_heart.wanted().numel()


def parameters(kind: str, width: int) -> int:
    """Of the net of this width."""
    return sum(p.numel() for p in by_heart.ByHeart(width, kind == "positions").parameters())


@torch.inference_mode()
def told_apart(kind: str) -> tuple[int, ...]:
    """How many different vectors a trained net holds over all symbols of all sequences: before its blocks and after each."""
    net = by_heart.net(kind).double()
    return tuple(_different(x.flatten(0, 1)) for x in net.streams(by_heart.sequences()))


def _different(rows: Tensor) -> int:
    """rows: (row, number); those that differ by rounding are the same."""
    return len(np.unique((rows * 1e6).round().numpy(), axis=0))


def spelled(row: int) -> str:
    """A sequence as it is written: 'abca'."""
    return "".join(by_heart.SYMBOLS[i] for i in by_heart.sequences()[row].tolist())


# ---- the proof's idea: stairs, and what an FFN makes of them ----

GRID = 400  # places at which the curves are drawn
PIECES = tuple(range(1, 50))


def curve(x: np.ndarray) -> np.ndarray:
    """The continuous map that is to be imitated, on 0 to 1: no one's in particular."""
    return np.asarray(0.5 + 0.35 * np.sin(2 * np.pi * x) + 0.12 * np.sin(6 * np.pi * x))


@dataclass(frozen=True)
class Imitated:
    """xs: (x,); wanted: (x,); stairs, hinges: (pieces, x); off: name -> (pieces,), the largest error of each."""

    xs: np.ndarray
    wanted: np.ndarray
    stairs: np.ndarray
    hinges: np.ndarray
    off: dict[str, np.ndarray]


def imitated() -> Imitated:
    """The curve as stairs, and as an FFN with one layer of ReLUs, for every number of pieces."""
    xs = np.linspace(0, 1, GRID + 1)
    steps, bends = np.stack([stairs(xs, k) for k in PIECES]), np.stack([hinges(xs, k) for k in PIECES])
    off = {"stairs": np.abs(steps - curve(xs)).max(-1), "hinges": np.abs(bends - curve(xs)).max(-1)}
    return Imitated(xs, curve(xs), steps, bends, off)


def stairs(xs: np.ndarray, pieces: int) -> np.ndarray:
    """(x,): on each of the equal pieces the curve's height in its middle."""
    at = np.minimum((xs * pieces).astype(int), pieces - 1)
    return curve((at + 0.5) / pieces)


def hinges(xs: np.ndarray, pieces: int) -> np.ndarray:
    """(x,): an FFN, W_2 relu(W_1 x + b_1) + b_2 with one neuron a piece, set by hand to go through the curve at their ends.

    Neuron i bends at i / pieces; its weight is by how much the slope changes there.
    """
    ends = curve(np.arange(pieces + 1) / pieces)
    slopes = np.diff(ends) * pieces
    weights = np.diff(slopes, prepend=0.0)
    hidden = np.maximum(xs[:, None] - np.arange(pieces) / pieces, 0.0)
    return np.asarray(hidden @ weights + ends[0])


# ---- for the pictures ----


@dataclass(frozen=True)
class Learned:
    """As recorded, for by_heart.KINDS. right: kind -> (width, step seen); grid: kind -> (step seen, first two symbols,
    last two symbols) the share of the four symbols that is right; at: (step seen,) of the nets that are drawn."""

    right: dict[str, np.ndarray]
    grid: dict[str, np.ndarray]
    at: dict[str, np.ndarray]


def learned() -> Learned:
    """How the nets learned the map."""
    side = len(by_heart.SYMBOLS) ** (by_heart.PLACES // 2)
    grid = {kind: by_heart.by_sequence(kind).reshape(-1, side, side) / by_heart.PLACES for kind in by_heart.KINDS}
    return Learned(
        {kind: by_heart.right(kind) for kind in by_heart.KINDS},
        grid,
        {kind: to_numpy(torch.from_numpy(grid[kind]).mean((1, 2))) for kind in by_heart.KINDS},
    )
