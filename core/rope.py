"""Rotary position embedding: a query and a key are turned by an angle that grows with their position."""

from __future__ import annotations

import torch
from torch import Tensor

from core.trace import SILENT, Quantity, Trace

ANGLES = Quantity(
    "angles", "query pair", r"\phi_{m,i} = m\,\theta_i", "How far each pair of numbers turns, in radians."
)
COSINES = Quantity(
    "cosines", "query d_head", r"\cos(m\,\theta_i)", "The cosine of every angle, once for each number of its pair."
)
SINES = Quantity(
    "sines", "query d_head", r"\sin(m\,\theta_i)", "The sine of every angle, once for each number of its pair."
)

TURNED = Quantity(
    "turned", "query d_head", r"x\cos + \mathrm{rot}(x)\sin", "Every vector, turned by the angles of its position."
)


def frequencies(head_dim: int, theta: float = 10_000.0) -> Tensor:
    """(pair,) radians per position: theta^(-2i/d), fast pairs first (Su et al. 2021, arXiv 2104.09864, sec. 3.2.2)."""
    # 1 / theta^x and not theta^-x, as everybody's code has it: the last bit, times the position, shows in long texts.
    return 1.0 / theta ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)


def angles(n: int, head_dim: int, theta: float, *, trace: Trace = SILENT) -> Tensor:
    """(query, pair) radians for positions 0 to n - 1."""
    return trace(ANGLES, torch.arange(n, dtype=torch.float32)[:, None] * frequencies(head_dim, theta))


def rotate(x: Tensor, turn: Tensor) -> Tensor:
    """Turn pair i of every position by its angle. Pairs are (i, i + d/2): the halves of Hugging Face and GPT-NeoX.

    x: (..., position, d_head)    turn: (position, d_head / 2) radians; axes of its own may stand before.
    Returns the shape of x, turn's own axes before. Raises ValueError unless turn has half as many angles as x numbers.
    """
    _paired(x, turn)
    cos, sin = turn.cos(), turn.sin()
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def _paired(x: Tensor, turn: Tensor) -> None:
    if x.shape[-1] != 2 * turn.shape[-1]:
        raise ValueError(f"{x.shape[-1]} numbers are no pairs for {turn.shape[-1]} angles: one angle turns two numbers")


def rotate_adjacent(x: Tensor, turn: Tensor) -> Tensor:
    """As `rotate`, but pairs are neighbours, (2i, 2i + 1): the RoPE paper and Meta's own Llama code."""
    _paired(x, turn)
    cos, sin = turn.cos(), turn.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)


def adjacent_order(head_dim: int) -> Tensor:
    """(d_head,) where to take each number from, so that the pairs of halves become neighbours.

    rotate_adjacent(x[..., order], turn) == rotate(x, turn)[..., order]. On rows of W_Q and W_K it is the way back from
    what Hugging Face's convert_llama_weights_to_hf.py calls "permute for sliced rotary".
    """
    return torch.arange(head_dim).view(2, -1).T.flatten()


def rotate_half(x: Tensor) -> Tensor:
    """A quarter turn of every pair of halves: (x0, x1, x2, x3) becomes (-x2, -x3, x0, x1)."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def tables(turn: Tensor, *, trace: Trace = SILENT) -> tuple[Tensor, Tensor]:
    """Cosines and sines (position, d_head), each angle written twice, as libraries keep them for `rotate_half`."""
    both = torch.cat([turn, turn], dim=-1)
    return trace(COSINES, both.cos()), trace(SINES, both.sin())


def rotate_by_tables(x: Tensor, cos: Tensor, sin: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """The same as `rotate`, in the form of transformers' apply_rotary_pos_emb: for q and for k, never for v."""
    return trace(TURNED, x * cos + rotate_half(x) * sin)
