"""Nets that are given points and must say how high a line stands at another x: one linear layer, and a small decoder.

Points are tokens. Every task is another line y = a x + b, so no weight can know it: it has to be read off the points.
`python -m core.make line` trains both on one thread (seconds, and some minutes) and writes assets/models/line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Generator, Tensor, nn

from core.assets import ASSETS
from core.blocks import DecoderBlock
from core.config import ModelConfig
from core.norms import LayerNorm
from core.trace import SILENT, Quantity, Trace

FILE = ASSETS / "models" / "line" / "model.safetensors"
MOST = 16  # points of a task that the decoder is trained on
GIVEN = 12  # points of every task that the linear layer is trained on
NOISE = 0.1  # deviation of y from its line
REACH = 1.0  # x is drawn evenly from -REACH to REACH
CONFIG = ModelConfig(
    d_model=32,
    n_layers=3,
    n_heads=4,
    d_ff=128,
    vocab_size=1,
    context=2 * MOST,
    norm="layernorm",
    norm_eps=1e-5,
    ffn="gelu_tanh",
    ffn_bias=True,
    family="gpt2",
)
WIDTH = 3  # numbers of a point: x, 1, y

LINEAR_ATTN = Quantity(
    "linear_attn",
    "query d_model",
    r"X + \tfrac1n\,(XW_Q)(X_pW_K)^\top(X_pW_V)\,W_P",
    "Attention without softmax: every token meets the n given points and adds what they hand over.",
)

# ---- tasks ----


@dataclass(frozen=True)
class Tasks:
    """x, y: (task, point); f: (task, point), how high the line itself stands there, without noise."""

    x: Tensor
    y: Tensor
    f: Tensor


def tasks(n: int, points: int, generator: Generator, reach: float = REACH, noise: float = NOISE) -> Tasks:
    """n lines, slope and height drawn from a normal distribution, and so many noisy points on each."""
    slope, height = torch.randn(2, n, 1, generator=generator)
    x = (torch.rand(n, points, generator=generator) * 2 - 1) * reach
    f = slope * x + height
    return Tasks(x, f + noise * torch.randn(n, points, generator=generator), f)


# ---- one linear layer ----


@dataclass(frozen=True)
class Layer:
    """The maps of one layer of linear attention, (in, out) each. They act on rows (x, 1, y)."""

    q: Tensor
    k: Tensor
    v: Tensor
    p: Tensor


def linear_attention(layer: Layer, tokens: Tensor, n: int, *, trace: Trace = SILENT) -> Tensor:
    """tokens: (..., token, 3), the n given points first. Every token reads those n, none of the others.

    Returns (..., token, 3). von Oswald et al. 2023 (arXiv 2212.07677), eq. 3, with 1/n inside.
    """
    points = tokens[..., :n, :]
    shares = (tokens @ layer.q) @ (points @ layer.k).mT  # (token, point): no softmax
    return trace(LINEAR_ATTN, tokens + shares @ (points @ layer.v) @ layer.p / n)


def rows(x: Tensor, y: Tensor | None = None) -> Tensor:
    """(..., point) -> (..., point, 3): x, 1, and y; of a query nobody knows y, so it is 0."""
    return torch.stack([x, torch.ones_like(x), torch.zeros_like(x) if y is None else y], -1)


# ---- a small decoder ----


class Reader(nn.Module):
    """Three of this site's own blocks, softmax and all; a point comes in as (x, y, 1), a query as (x, 0, 0)."""

    def __init__(self) -> None:
        super().__init__()
        self.into = nn.Linear(3, CONFIG.d_model)
        self.blocks = nn.ModuleList(DecoderBlock(CONFIG, i) for i in range(CONFIG.n_layers))
        self.norm = LayerNorm(CONFIG.d_model, CONFIG.norm_eps)
        self.out = nn.Linear(CONFIG.d_model, 1)

    def forward(self, x: Tensor, y: Tensor, asked: Tensor, allowed: Tensor) -> Tensor:
        """x, y: (..., point); asked: (..., query); allowed: (point + query, point + query). Returns (..., query).

        No positions: what comes first matters only in that a point sees no later one.
        """
        known, zero = torch.stack([x, y, torch.ones_like(x)], -1), torch.zeros_like(asked)
        stream = self.into(torch.cat([known, torch.stack([asked, zero, zero], -1)], -2))
        for block in self.blocks:
            stream = block(stream, None, allowed)
        said: Tensor = self.out(self.norm(stream[..., x.shape[-1] :, :]))[..., 0]
        return said


def allowed(points: int, queries: int, growing: bool = False) -> Tensor:
    """(point + query, point + query): points see themselves and those before; a query sees itself and all points.

    growing: query k sees the first k points, so that one pass asks after every number of them.
    """
    n = points + queries
    i, j = torch.arange(n)[:, None], torch.arange(n)
    seen = (j < i - points) if growing else (j < points)
    return torch.where(i < points, j <= i, ((j < points) & seen) | (i == j))


# ---- what pages read ----


@cache
def _stored() -> dict[str, Tensor]:
    return load_file(FILE)


@cache
def trained_layer() -> Layer:
    """The linear layer as training left it, in float64."""
    return Layer(*(_stored()[f"layer.{name}"].double() for name in "qkvp"))


@cache
def reader() -> Reader:
    """The decoder as training left it. It is only read."""
    made = Reader().requires_grad_(False)
    made.load_state_dict(
        {k.removeprefix("reader."): v.float() for k, v in _stored().items() if k.startswith("reader.")}
    )
    return made


def size() -> int:
    """Parameters of the decoder."""
    return sum(p.numel() for p in reader().parameters())


WAYS = ("reader", "ridge", "layer", "step")  # whose errors are recorded
RANGES = {"trained": 1.0, "wide": 2.0}  # how many times REACH


def errors() -> dict[str, np.ndarray]:
    """Range -> (way, number of points from 0 to MOST - 1): mean squared distance to the line itself, as recorded."""
    return {name: _stored()[f"errors_{name}"].numpy() for name in RANGES}
