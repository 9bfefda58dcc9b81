"""Two toys that look things up, and what became of them in training: attention without scaling, attention with one head.

They answer two questions of interviews by trying. `python -m core.make whatifs` trains them in some minutes on one thread
and writes assets/data/whatifs.npz: curves and no weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from core.assets import ASSETS

FILE = ASSETS / "data" / "whatifs.npz"
SEEDS = (0, 1, 2)

# ---- which of 32 keys is it? One head with d_k = 512, with scaling and without ----

D, D_K, KEYS, NOISE = 64, 512, 32, 0.5
SIZE, RATE, STEPS, EVERY = 128, 1e-3, 400, 5
DEAD = 1e-6  # a row with less than this beside its largest weight has next to no slope
SEEN = tuple(range(0, STEPS + 1, EVERY))
MEASURES = ("accuracy", "loss", "gradient", "dead")


def drawn(seed: int) -> tuple[Tensor, Tensor, Generator]:
    """W_Q and W_K, (D, D_K), that make scores of standard deviation √D_K or so; and the generator that goes on."""
    generator = Generator().manual_seed(seed)
    w_q, w_k = (torch.randn(D, D_K, generator=generator) / math.sqrt(D) for _side in "qk")
    return w_q.requires_grad_(), w_k.requires_grad_(), generator


def task(generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
    """(text, KEYS, D) keys, (text, D) a noisy copy of one of them, (text,) which one."""
    keys = torch.randn(SIZE, KEYS, D, generator=generator)
    asked = torch.randint(0, KEYS, (SIZE,), generator=generator)
    return keys, keys[torch.arange(SIZE), asked] + NOISE * torch.randn(SIZE, D, generator=generator), asked


def looked_up(w_q: Tensor, w_k: Tensor, keys: Tensor, query: Tensor, *, scaling: bool) -> Tensor:
    """(text, KEYS) weights of one query over its keys."""
    scores = torch.einsum("bd,bnd->bn", query @ w_q, keys @ w_k)
    return (scores / math.sqrt(D_K) if scaling else scores).softmax(-1)


def squared_error(weights: Tensor, asked: Tensor) -> Tensor:
    """Values are one-hot labels: what is fetched, against what should be. A scalar."""
    return (weights - F.one_hot(asked, KEYS)).square().sum(-1).mean()


# ---- two marked letters at once: 1, 2, 4 or 8 heads, equally many parameters ----

WIDTH, PLACES, SIGNS = 32, 12, 8
HEADS = (1, 2, 4, 8)
TWO_SIZE, TWO_RATE, TWO_STEPS, TWO_EVERY = 128, 3e-3, 1500, 25
TWO_SEEN = tuple(range(0, TWO_STEPS + 1, TWO_EVERY))
SHAPES = {
    "letter": (SIGNS, WIDTH),
    "mark": (3, WIDTH),
    "query": (WIDTH,),
    **{name: (WIDTH, WIDTH) for name in "qkvo"},
    "out": (WIDTH, 2 * SIGNS),
    "bias": (2 * SIGNS,),
}


def parameters() -> int:
    """How many numbers a net has, whatever its heads."""
    return sum(math.prod(shape) for shape in SHAPES.values())


def two_drawn(seed: int) -> dict[str, Tensor]:
    """The first weights: tables with deviation 1, maps with 1 / √(3 · width), the bias zero."""
    generator, made = Generator().manual_seed(seed), {}
    for name, shape in SHAPES.items():
        scale = {"letter": 1.0, "mark": 1.0, "query": 1.0, "bias": 0.0}.get(name, (3 * WIDTH) ** -0.5)
        made[name] = (torch.randn(shape, generator=generator) * scale).requires_grad_()
    return made


def two_task(generator: Generator, texts: int = TWO_SIZE) -> tuple[Tensor, Tensor, Tensor]:
    """(text, PLACES) letters; marks, 1 on one place and 2 on another; (text, 2) the two marked letters."""
    letters = torch.randint(0, SIGNS, (texts, PLACES), generator=generator)
    places = torch.rand(texts, PLACES, generator=generator).argsort(1)[:, :2]
    marks = torch.zeros_like(letters).scatter(1, places, torch.tensor([1, 2]).expand(texts, 2))
    return letters, marks, letters.gather(1, places)


def two_read(w: dict[str, Tensor], letters: Tensor, marks: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    """(text, 2, SIGNS) logits of both letters, and (text, head, PLACES) weights of the one query."""
    x, n = w["letter"][letters] + w["mark"][marks], len(letters)

    def split(y: Tensor) -> Tensor:
        return y.view(n, -1, heads, WIDTH // heads).transpose(1, 2)

    q = (w["query"] @ w["q"]).view(1, heads, 1, WIDTH // heads)
    k, v = split(x @ w["k"]), split(x @ w["v"])
    weights = (q @ k.mT / math.sqrt(WIDTH // heads)).softmax(-1)
    z = (weights @ v).transpose(1, 2).reshape(n, WIDTH)
    return (z @ w["o"] @ w["out"] + w["bias"]).view(n, 2, SIGNS), weights[:, :, 0]


# ---- what became of them ----


@dataclass(frozen=True)
class Curves:
    """Recorded. scaled: (with or without scaling, seed, SEEN, MEASURES); two: (HEADS, seed, TWO_SEEN), the share of texts
    with both letters right; marked: (seed, 2), of one head: its mean weight on either marked letter."""

    scaled: np.ndarray
    two: np.ndarray
    marked: np.ndarray


@cache
def curves() -> Curves:
    """As `python -m core.make whatifs` wrote them."""
    with np.load(FILE, allow_pickle=False) as stored:
        return Curves(stored["scaled"], stored["two"], stored["marked"])
