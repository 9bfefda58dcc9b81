"""Rotary position embedding: a query and a key are turned by an angle that grows with their position."""

from __future__ import annotations

import torch
from torch import Tensor

from core.trace import SILENT, Quantity, Trace

ANGLES = Quantity(
    "angles", "query pair", r"\phi_{m,i} = m\,\theta_i", "How far each pair of numbers turns, in radians."
)


def frequencies(head_dim: int, theta: float = 10_000.0) -> Tensor:
    """(pair,) radians per position: theta^(-2i/d), fast pairs first (Su et al. 2021, arXiv 2104.09864, sec. 3.2.2)."""
    return theta ** -(torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)


def angles(n: int, head_dim: int, theta: float, *, trace: Trace = SILENT) -> Tensor:
    """(query, pair) radians for positions 0 to n - 1."""
    return trace(ANGLES, torch.arange(n, dtype=torch.float32)[:, None] * frequencies(head_dim, theta))


def rotate(x: Tensor, turn: Tensor) -> Tensor:
    """Turn pair i of every position by its angle. Pairs are (i, i + d/2): the halves of Hugging Face and GPT-NeoX.

    x: (..., position, d_head)    turn: (position, d_head / 2) radians. Returns the shape of x.
    """
    cos, sin = turn.cos(), turn.sin()
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
