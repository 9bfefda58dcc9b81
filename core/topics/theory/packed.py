"""Superposition: what nets with two numbers do with five features, by how often each feature is on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from core.nets import packed
from core.trace import to_numpy

KEPT = 0.5  # a feature whose arrow is longer than this is kept


@dataclass(frozen=True)
class Frames:
    """One frame for each of packed.CHANCES. w: (frame, number, feature), each feature's arrow; lengths: (frame,
    feature); kept: (frame,) how many are; read: (frame, on, feature) what comes back when one alone is on; loss:
    (frame,) over that of keeping two and dropping three."""

    w: np.ndarray
    lengths: np.ndarray
    kept: tuple[int, ...]
    read: np.ndarray
    loss: np.ndarray


@torch.inference_mode()
def frames() -> Frames:
    """All nets as they were trained."""
    w, b = (torch.stack(part) for part in zip(*(packed.net(k) for k in range(len(packed.CHANCES))), strict=True))
    lengths = w.norm(dim=1)
    read = packed.read_back(w, b, torch.eye(packed.FEATURES))
    kept = tuple(int(n) for n in (lengths > KEPT).sum(-1))
    two = np.array([packed.keeping_two(chance) for chance in packed.CHANCES])
    return Frames(to_numpy(w), to_numpy(lengths), kept, to_numpy(read), packed.error() / two)


def first_with(kept: int) -> float:
    """The largest chance at which so many features are kept. Raises ValueError where no net keeps so many."""
    return packed.CHANCES[frames().kept.index(kept)]


def nearest(chance: float) -> int:
    """The frame whose chance is nearest."""
    return int(np.argmin(np.abs(np.log(np.array(packed.CHANCES) / chance))))
