"""LayerNorm and RMSNorm, step by step: each token's vector is brought to a common size."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from core.trace import SILENT, Quantity, Trace

MEAN = Quantity("mean", "query one", r"\mu = \tfrac1d\textstyle\sum_i x_i", "Where the numbers of a vector lie.")
CENTRED = Quantity("centred", "query d_model", r"x - \mu", "What is left once the mean is taken off.")
VARIANCE = Quantity(
    "variance", "query one", r"\sigma^2 = \tfrac1d\textstyle\sum_i (x_i - \mu)^2", "How far they lie from it, squared."
)
MEAN_SQUARE = Quantity(
    "mean_square", "query one", r"\mathrm{ms} = \tfrac1d\textstyle\sum_i x_i^2", "How large the numbers are, squared."
)
STANDARD = Quantity("standard", "query d_model", r"\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}}", "Mean 0, spread 1.")
UNIT = Quantity("unit", "query d_model", r"\frac{x}{\sqrt{\mathrm{ms} + \epsilon}}", "Root mean square 1.")
GAINED = Quantity("gained", "query d_model", r"\gamma \odot \hat x", "Every number with the gain of its place.")
SHIFTED = Quantity(
    "shifted_by", "query d_model", r"\gamma \odot \hat x + \beta", "And moved by the shift of its place."
)


class LayerNorm(nn.Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axis (Ba et al. 2016, arXiv 1607.06450, eq. 4)."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """x: (..., width), half precision computed in float32. Returns the same shape and type.

        Raises ValueError for another width.
        """
        _fits(x, self.weight)
        wide = x.float() if x.itemsize < 4 else x
        centred = trace(CENTRED, wide - trace(MEAN, wide.mean(-1, keepdim=True)))
        variance = trace(VARIANCE, centred.square().mean(-1, keepdim=True))
        standard = trace(STANDARD, centred * torch.rsqrt(variance + self.eps))
        shifted = trace(SHIFTED, trace(GAINED, standard * self.weight) + self.bias)
        return shifted if wide is x else shifted.to(x.dtype)


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight over the last axis (Zhang and Sennrich 2019, arXiv 1910.07467, eq. 4)."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """x: (..., width), half precision computed in float32. Returns the same shape and type.

        Raises ValueError for another width.
        """
        _fits(x, self.weight)
        wide = x.float() if x.itemsize < 4 else x
        mean_square = trace(MEAN_SQUARE, wide.square().mean(-1, keepdim=True))
        gained = trace(GAINED, trace(UNIT, wide * torch.rsqrt(mean_square + self.eps)) * self.weight)
        return gained if wide is x else gained.to(x.dtype)


def centred(x: Tensor, axis: int | tuple[int, ...] = -1) -> Tensor:
    """x less its mean over an axis; layers pool the features of one token, the last axis."""
    return x - x.mean(axis, keepdim=True)


def size(x: Tensor, axis: int | tuple[int, ...] = -1, *, unbiased: bool = False) -> Tensor:
    """The root mean square over an axis, which stays. unbiased: divided by n - 1 instead of n, which no norm does."""
    squares = x.square()
    many = squares.numel() // max(1, squares.mean(axis).numel())
    return (squares.mean(axis, keepdim=True) * (many / (many - 1) if unbiased else 1.0)).sqrt()


def inside(size: Tensor, eps: float) -> Tensor:
    """What is divided by: sqrt(size^2 + eps), as in nn.LayerNorm and nn.RMSNorm."""
    return (size.square() + eps).sqrt()


def outside(size: Tensor, eps: float) -> Tensor:
    """The same with eps after the root, size + eps, as in the Annotated Transformer; it differs for tiny vectors."""
    return size + eps


def _fits(x: Tensor, weight: Tensor) -> None:
    if x.shape[-1:] != weight.shape:
        raise ValueError(f"a norm of width {len(weight)} was given vectors of width {x.shape[-1] if x.ndim else 0}")


NORMS = {"layernorm": LayerNorm, "rmsnorm": RMSNorm}
