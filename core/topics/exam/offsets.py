"""Weights set by hand until a head copies the token before, or the one before that: a rotation in W_Q, positions alone.

A position's sinusoids p_i, turned back by k places, are p_(i-k): a matrix does it, the same for every i. With W_Q that
matrix and W_K the identity times a factor, query i meets key i - k best (Vaswani et al. 2017, arXiv 1706.03762, sec. 3.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.attention import allowed_pairs, attention
from core.positions import sinusoids, wave_speeds
from core.trace import to_numpy

D, BASE, N = 16, 100.0, 12
BACKS = tuple(i / 10 for i in range(49))  # places to go back: the slider
SHARPS = (1, 4, 16, 64)  # the factor in W_K
ENOUGH = 0.9  # of a row's weight: then it copies


def w_q(back: float) -> Tensor:
    """(D, D), float64: turns every pair of a position's sinusoids by as much as `back` places are."""
    turn = back * wave_speeds(D, BASE)
    made = torch.zeros(D, D, dtype=turn.dtype)
    for pair, a in enumerate(turn):
        made[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]])
    return made


@dataclass(frozen=True)
class Found:
    """What the head does. weights: (back, query, key); on: (back, 3), the mean weight on the token itself, the one before
    and the one before that, over the rows that have one."""

    weights: np.ndarray
    on: np.ndarray

    def copies(self, at: int, far: int) -> bool:
        return bool(self.on[at, far] >= ENOUGH)


def run(sharp: int) -> Found:
    """The head at each of BACKS, through core's own attention: values are one-hot, so what it brings home are its weights."""
    places = sinusoids(N, D, BASE)
    q = torch.stack([places @ w_q(back) for back in BACKS])
    weights = attention(q, sharp * places, torch.eye(N, dtype=places.dtype), allowed_pairs("causal", N))
    on = torch.stack([weights.diagonal(-far, 1, 2).mean(-1) for far in (0, 1, 2)], -1)
    return Found(to_numpy(weights), to_numpy(on))
