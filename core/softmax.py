"""Softmax, its temperature, and what tells how spread out a distribution is."""

from __future__ import annotations

import torch
from torch import Tensor


def entropy(p: Tensor) -> Tensor:
    """Shannon entropy in bits along the last axis: 0 for one-hot, log2(n) for n equal shares."""
    return -(p * torch.where(p > 0, p, 1).log2()).sum(-1)


def temperatures(per_decade: int = 24) -> list[float]:
    """The stops of every temperature slider: 0.1 to 10, evenly spaced in the logarithm, 1 among them."""
    return [round(10 ** (k / per_decade), 4) for k in range(-per_decade, per_decade + 1)]
