"""Softmax: how scores become shares. Its steps, its temperature, its slopes, and where a naive version breaks.

The lab computes in float64, except where a number format is the subject. Scores are a plain tuple of numbers.
"""

from __future__ import annotations

import torch
from torch import Tensor

from core.trace import SILENT, Quantity, Trace

TEMPERED = Quantity("tempered", "key", r"\hat z = \frac{z}{T}", "Every score is divided by the temperature.")
SHIFTED = Quantity(
    "shifted", "key", r"\hat z_i - \max_j \hat z_j", "The largest score moves to zero; the distances stay."
)
EXPS = Quantity(
    "exps", "key", r"e_i = e^{\hat z_i - \max_j \hat z_j}", "Exponentials are positive, and none is above one."
)
TOTAL = Quantity("total", "", r"\textstyle\sum_j e_j", "What every exponential is divided by.")
SHARES = Quantity("shares", "key", r"p_i = \frac{e_i}{\sum_j e_j}", "Positive numbers that add up to one.")
SLOPES = Quantity(
    "slopes",
    "key key",
    r"\frac{\partial p_i}{\partial \hat z_j} = p_i(\delta_{ij} - p_j)",
    "How much each share moves when one score moves a little.",
)


def softmax(z: Tensor, temperature: float | Tensor = 1.0, *, trace: Trace = SILENT) -> Tensor:
    """Shares from scores, along the last axis. The largest score is taken off first, so no exponential overflows.

    z: (..., key), any real numbers. temperature: a positive number, or a tensor that fits z. Returns (..., key).
    """
    tempered = trace(TEMPERED, z / temperature)
    shifted = trace(SHIFTED, tempered - tempered.amax(-1, keepdim=True))
    exps = trace(EXPS, shifted.exp())
    total = trace(TOTAL, exps.sum(-1))
    return trace(SHARES, exps / total[..., None])


def jacobian(p: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """How shares move with what enters softmax: diag(p) - p p^T. p: (..., key). Returns (..., key, key)."""
    return trace(SLOPES, torch.diag_embed(p) - p[..., :, None] * p[..., None, :])


def entropy(p: Tensor) -> Tensor:
    """Shannon entropy in bits along the last axis: 0 for one-hot, log2(n) for n equal shares."""
    return -(p * torch.where(p > 0, p, 1).log2()).sum(-1)


def temperatures(per_decade: int = 24) -> list[float]:
    """The stops of every temperature slider: 0.1 to 10, evenly spaced in the logarithm, 1 among them."""
    return [round(10 ** (k / per_decade), 4) for k in range(-per_decade, per_decade + 1)]
