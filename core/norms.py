"""LayerNorm and RMSNorm: each token's vector is brought to a common size."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axis (Ba et al. 2016, arXiv 1607.06450, eq. 4)."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., width). Returns the same shape. Raises ValueError for another width."""
        _fits(x, self.weight)
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight over the last axis (Zhang and Sennrich 2019, arXiv 1910.07467, eq. 4)."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., width). Returns the same shape. Raises ValueError for another width."""
        _fits(x, self.weight)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def _fits(x: Tensor, weight: Tensor) -> None:
    if x.shape[-1:] != weight.shape:
        raise ValueError(f"a norm of width {len(weight)} was given vectors of width {x.shape[-1] if x.ndim else 0}")


NORMS = {"layernorm": LayerNorm, "rmsnorm": RMSNorm}
