"""Vectors typed by hand and vectors drawn at random, through the same attention: what d_k does without a trained model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core import attention as at
from core.lab.head import Frames, finished
from core.lab.provenance import Head
from core.trace import Trace

WIDTHS = tuple(sorted({round(2 ** (k / 6)) for k in range(55)}))  # 1 to 512, the stops of the free head's d_k


FREE_TOKENS, FREE_WIDTH_V = 12, 16


Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Hand:
    """Queries, keys and values as a visitor typed them, one row a token."""

    q: Rows = ((1, 0, 1), (0, 2, 0), (1, 1, 1), (2, 0, 1))
    k: Rows = ((1, 0, 0), (0, 1, 1), (1, 1, 0), (0, 0, 2))
    v: Rows = ((1, 0), (0, 1), (1, 1), (2, 0))
    scaling: bool = True
    mask: bool = False
    temperature: float = 1.0


def hand_trace(hand: Hand) -> Trace:
    """One pass of attention over typed vectors. Raises ValueError where their sizes do not fit."""
    q, k, v = (torch.tensor(rows, dtype=torch.float32) for rows in (hand.q, hand.k, hand.v))
    if q.shape[1] != k.shape[1]:
        raise ValueError(f"Q has {q.shape[1]} columns and K has {k.shape[1]}: a query and a key must be equally wide")
    if len(k) != len(v):
        raise ValueError(f"K has {len(k)} rows and V has {len(v)}: every key needs its value")
    if hand.mask and len(q) != len(k):
        raise ValueError(f"Q has {len(q)} rows and K has {len(k)}: the causal mask needs as many queries as keys")
    return _traced(q, k, v, hand)


def _traced(q: Tensor, k: Tensor, v: Tensor, setting: Hand | Free) -> Trace:
    """One head over q (query, d_k), k (key, d_k), v (key, d_v)."""
    trace = Trace(query=[str(i) for i in range(len(q))], key=[str(i) for i in range(len(k))])
    allowed = torch.ones(len(q), len(k), dtype=torch.bool)
    allowed = at.allowed_pairs("causal", len(q)) if setting.mask else allowed
    q, k, v = trace(at.Q, q[None]), trace(at.K, k[None]), trace(at.V, v[None])
    at.attention(q, k, v, allowed, temperature=setting.temperature, scaling=setting.scaling, trace=trace)
    return trace


def single(trace: Trace, setting: Hand | Free) -> Head:
    """The one head of a trace made from typed or random vectors."""
    parts = {name: trace[name].value[0] for name in ("q", "k", "v", "scores", "scaled", "weights")}
    tokens = tuple(trace.labels["key"])
    return Head(
        **parts,
        allowed=trace["allowed"].value,
        temperature=setting.temperature,
        scaling=setting.scaling,
        tokens=tokens,
    )


DRAWS = ("normal", "uniform", "signs")


@dataclass(frozen=True)
class Free:
    """Queries, keys and values drawn at random, and labelled so: what d_k does to a head that has learned nothing.

    draw: normal, uniform, or signs (+1 or -1); each with mean 0 and variance 1.
    """

    seed: int = 0
    d_k: int = 64
    scaling: bool = True
    mask: bool = False
    temperature: float = 1.0
    draw: str = "normal"


def drawn(shape: tuple[int, ...], draw: str, seed: int) -> Tensor:
    """Independent numbers with mean 0 and variance 1. Raises KeyError for an unknown draw."""
    generator = torch.Generator().manual_seed(seed)
    make = {
        "normal": lambda: torch.randn(shape, generator=generator),
        "uniform": lambda: (torch.rand(shape, generator=generator) * 2 - 1) * math.sqrt(3),
        "signs": lambda: torch.randint(0, 2, shape, generator=generator).float() * 2 - 1,
    }
    return make[draw]()


def _vectors(free: Free) -> tuple[Tensor, Tensor, Tensor]:
    """q, k: (token, 512) and v: (token, 16)."""
    q, k = drawn((2, FREE_TOKENS, WIDTHS[-1]), free.draw, free.seed)
    return q, k, drawn((FREE_TOKENS, FREE_WIDTH_V), free.draw, free.seed + 1)


def free_trace(free: Free) -> Trace:
    """One pass of attention over the first d_k numbers of every query and key."""
    q, k, v = _vectors(free)
    return _traced(q[:, : free.d_k], k[:, : free.d_k], v, free)


@torch.inference_mode()
def widened(free: Free, step: str) -> Frames:
    """One step at each of WIDTHS, from the running sum of the products: one call for all of them."""
    q, k, v = _vectors(free)
    products = (q[:, None] * k).cumsum(-1).permute(2, 0, 1)  # (d_k, query, key)
    widths = torch.tensor(WIDTHS)
    scores = products[widths - 1]
    root = widths.float().sqrt() if free.scaling else torch.ones(len(widths))
    allowed = at.allowed_pairs("causal" if free.mask else "none", FREE_TOKENS)
    return finished(scores / (free.temperature * root[:, None, None]), scores, allowed, v, step)


@dataclass(frozen=True)
class Spread:
    """Many random dot products at one width. inside: the shares within one and two standard deviations."""

    counts: np.ndarray  # of 41 bins over -4 to 4 standard deviations
    edges: np.ndarray
    std: float
    largest: float
    inside: tuple[float, float]


def spread(free: Free, n: int = 4000) -> Spread:
    """n dot products of fresh vectors of width d_k, divided as the setting says: their variance is d_k without it."""
    q, k = drawn((2, n, free.d_k), free.draw, free.seed + 2)
    products = (q * k).sum(-1) / (free.d_k**0.5 if free.scaling else 1.0)
    sigma = 1.0 if free.scaling else free.d_k**0.5
    counts, edges = np.histogram(products.numpy(), 41, (-4 * sigma, 4 * sigma))
    inside = tuple(float((products.abs() <= m * sigma).float().mean()) for m in (1, 2))
    return Spread(counts, edges, float(products.std()), float(products.abs().max()), inside)
