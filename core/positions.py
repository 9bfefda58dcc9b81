"""Positions that are added: sinusoids to the vectors, ALiBi's slopes to the scores."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from core.trace import SILENT, Quantity, Trace

SINUSOIDS = Quantity(
    "sinusoids",
    "query d_model",
    r"P_{m,2i} = \sin(m\,\omega_i),\quad P_{m,2i+1} = \cos(m\,\omega_i),\quad \omega_i = b^{-2i/d}",
    "Each position's own vector: sines and cosines, fast on the left, slow on the right.",
)


ALIBI = Quantity(
    "alibi",
    "head query key",
    r"B_{hij} = -m_h\,(i - j)",
    "Every step back takes the same amount off the score; each head has its own slope.",
)


def wave_speeds(d: int, base: float | Tensor = 10_000.0) -> Tensor:
    """(pair,) radians per position, base^(-2i/d), float64 (Vaswani et al. 2017, arXiv 1706.03762, sec. 3.5).

    A tensor of bases puts its axes before. Raises ValueError for an odd width, as sines and cosines come in pairs, and
    for a base that is not positive.
    """
    if d < 2 or d % 2:
        raise ValueError(f"sinusoids come in pairs, so the width must be even, not {d}")
    bases = torch.as_tensor(base, dtype=torch.float64)[..., None]
    if not (bases > 0).all():
        raise ValueError(f"every base must be positive, not {base}")
    return torch.exp(-torch.arange(0, d, 2, dtype=torch.float64) * (bases.log() / d))


def sinusoids(n: int, d: int, base: float | Tensor = 10_000.0, *, first: int = 0, trace: Trace = SILENT) -> Tensor:
    """(query, d_model), float64: sin in the even columns, cos in the odd ones, for positions first to first + n - 1.

    A tensor of bases puts its axes before, and is not traced. Raises ValueError as `wave_speeds` does.
    """
    turn = torch.arange(first, first + n, dtype=torch.float64)[:, None] * wave_speeds(d, base)[..., None, :]
    return trace(SINUSOIDS, torch.stack([turn.sin(), turn.cos()], -1).flatten(-2))


def alibi_slopes(n_heads: int) -> Tensor:
    """(head,) 2^(-8h/H) for h = 1 to H where H is a power of two; otherwise those of the power below, then every second
    one of the power above (Press et al. 2021, arXiv 2108.12409, sec. 3 and its code). Raises ValueError for no head."""
    if n_heads < 1:
        raise ValueError(f"{n_heads} heads have no slopes")
    power = 2 ** math.floor(math.log2(n_heads))
    slopes = torch.pow(2.0, -8.0 * torch.arange(1, power + 1, dtype=torch.float64) / power)
    if power < n_heads:
        slopes = torch.cat([slopes, alibi_slopes(2 * power)[0::2][: n_heads - power]])
    return slopes


def alibi_bias(n: int, slopes: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """(head, query, key): minus slope times distance. Keys after the query get a positive number; a mask takes them."""
    back = torch.arange(n)[:, None] - torch.arange(n)
    return trace(ALIBI, -slopes[:, None, None] * back)
