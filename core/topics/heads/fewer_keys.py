"""From every head its own keys to one latent for all: MHA, GQA, MQA and MLA on one slider, on the real weights.

Each stop is shown twice. Converted: key and value heads are pooled to their mean (Ainslie et al. 2023, arXiv
2305.13245), or [W_K; W_V] is cut to a rank by its singular values. Healed: the layer was fitted to its old output
(core.healing), or the rank is cut where it matters for what the layer really reads: W C^(1/2) with C = E[x x^T], as
whitening before a truncated SVD does (Yuan et al. 2023, ASVD, arXiv 2312.05821). A latent c = U^T W x is what
multi-head latent attention caches (DeepSeek-V2, arXiv 2405.04434); its separate rotary key is left out here: keys are
rebuilt from the latent, then rotated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from core.assets import ASSETS
from core.heads import merge, split
from core.lab import subject
from core.nets import healed
from core.trace import to_numpy
from core.watch import overhear
from core.whatif import Edit, WhatIf

LOSSES = ASSETS / "data" / "sharing_losses.npy"
SIDES = ("converted", "healed")
AT_ONCE = 2048  # tokens in one batched pass
CANDIDATES = 10
FIRST = 4  # of them: the untouched model's own likeliest words, always shown
LONG = 64  # tokens: beyond, every fourth rank is computed, and beyond twice as many every eighth


@dataclass(frozen=True)
class Stop:
    """One way to keep keys and values. rank: of the latent of MLA; None: n_kv_heads heads are kept."""

    n_kv_heads: int
    rank: int | None = None

    @property
    def name(self) -> str:
        if self.rank is not None:
            return "MLA"
        return {subject.model().config.n_heads: "MHA", 1: "MQA"}.get(self.n_kv_heads, "GQA")

    @property
    def numbers(self) -> int:
        """Cached for one token in one layer."""
        return self.rank if self.rank is not None else 2 * self.n_kv_heads * subject.model().config.head_dim

    @property
    def value(self) -> float:
        """Its word in the URL: the number of KV heads, or minus the rank."""
        return float(self.n_kv_heads if self.rank is None else -self.rank)

    @property
    def bytes_a_token(self) -> int:
        """In the caches of all layers together, at two bytes a number."""
        return 2 * self.numbers * subject.model().config.n_layers


@cache
def stops() -> tuple[Stop, ...]:
    """MHA, GQA, MQA, then MLA from full rank to one, each rank about an eighth smaller."""
    config = subject.model().config
    ranks = sorted({round(config.d_model * 2 ** (-k / 5)) for k in range(42)}, reverse=True)
    return (*(Stop(n) for n in (config.n_heads, *healed.KV_HEADS)), *(Stop(config.n_heads, r) for r in ranks if r))


def offered(n_tokens: int) -> tuple[int, ...]:
    """The places in stops() that are computed for a text: all of them, and of a long one fewer ranks."""
    heads, every = 1 + len(healed.KV_HEADS), range(len(stops()))
    step = 1 if n_tokens <= LONG else 4 if n_tokens <= 2 * LONG else 8
    return tuple(i for i in every if i < heads or (i - heads) % step == 0 or i == every[-1])


@cache
def basis(layer: int, side: str) -> Tensor:
    """(2 * head * d_head, d_model): orthonormal columns, the directions of [K; V] that a latent keeps first."""
    attn = subject.model().blocks[layer].attn
    both = torch.cat([attn.k.weight, attn.v.weight]).detach().double()
    if side == "converted":
        return torch.linalg.svd(both, full_matrices=False).U.float()
    _sizes, directions = torch.linalg.eigh(both @ healed.moments()[layer].double() @ both.T)
    return directions.flip(-1)[:, : both.shape[1]].float()


def edits(some: tuple[Stop, ...], side: str) -> list[Edit]:
    """What turns the model's passes over (stop, token) into passes of the models that the stops describe."""
    return [edit for layer in range(subject.model().config.n_layers) for edit in _of_layer(layer, some, side)]


def _of_layer(layer: int, some: tuple[Stop, ...], side: str) -> list[Edit]:
    """Keys and values are made when what the layer reads passes by: whichever of q, k and v comes first, they are there."""
    attn, n_heads = subject.model().blocks[layer].attn, subject.model().config.n_heads
    made: dict[str, Tensor] = {}

    def read(x: Tensor) -> Tensor:
        k, v = (split(x @ part.weight.T, n_heads) for part in (attn.k, attn.v))
        pairs = [_kept(layer, stop, side, *one) for stop, *one in zip(some, x, k, v, strict=True)]
        made["k"], made["v"] = (torch.stack(part) for part in zip(*pairs, strict=True))
        made["q"] = x
        return x

    def queries(q: Tensor) -> Tensor:
        fitted = _fitted(layer, some, side)
        return _swapped(q, {i: split(made["q"][i] @ w["q"].T, n_heads) for i, w in fitted.items()})

    def mixed(z: Tensor) -> Tensor:
        made["o"] = z
        return z

    def out(a: Tensor) -> Tensor:
        fitted = _fitted(layer, some, side)
        return _swapped(a, {i: merge(made["o"][i]) @ w["o"].T for i, w in fitted.items()})

    reading = {"norm1": read, "q": queries, "k": lambda _: made["k"], "v": lambda _: made["v"]}
    return [(f"block{layer}.{name}", change) for name, change in (reading | {"z": mixed, "attn_out": out}).items()]


def _fitted(layer: int, some: tuple[Stop, ...], side: str) -> dict[int, healed.Layer]:
    """The healed weights of the stops that have some."""
    if side != "healed":
        return {}
    return {
        i: healed.healed(stop.n_kv_heads)[layer] for i, stop in enumerate(some) if stop.n_kv_heads in healed.KV_HEADS
    }


def _swapped(x: Tensor, by: dict[int, Tensor]) -> Tensor:
    return torch.stack([by.get(i, one) for i, one in enumerate(x)]) if by else x


def _kept(layer: int, stop: Stop, side: str, x: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """x: (..., token, d_model); k, v: (..., head, token, d_head). What this stop's cache gives back, one key and value
    for every query head."""
    n_heads, n = subject.model().config.n_heads, stop.n_kv_heads
    if stop.rank is not None:
        way = basis(layer, side)[:, : stop.rank]
        both = torch.cat([merge(k), merge(v)], -1) @ way @ way.T
        return tuple(split(half, n_heads) for half in both.chunk(2, -1))
    if n == n_heads:
        return k, v
    if side == "healed":
        w = healed.healed(n)[layer]
        return tuple(split(x @ w[name].T, n).repeat_interleave(n_heads // n, -3) for name in ("k", "v"))
    return tuple(_pooled(y, n) for y in (k, v))


def _pooled(x: Tensor, n: int) -> Tensor:
    """(..., head, token, d_head): each head replaced by the mean of its group. Pooling weights does the same: a
    projection without bias is linear."""
    group = x.shape[-3] // n
    return x.unflatten(-3, (n, group)).mean(-3).repeat_interleave(group, -3)


@dataclass(frozen=True)
class Shared:
    """One head and the next word at every stop. weights: (stop, query, key); probs: (stop, candidate);
    error: (stop,), of this layer's attn_out, relative to the untouched model's."""

    weights: np.ndarray
    probs: np.ndarray
    ids: tuple[int, ...]
    error: np.ndarray


@torch.inference_mode()
def run(ids: tuple[int, ...], layer: int, head: int) -> dict[str, Shared]:
    """Both sides at every stop that is offered. The candidates are the same on both, so that bars can be compared: the
    untouched model's likeliest next tokens first, then the likeliest of any stop."""
    made = {side: _passed(ids, layer, head, side) for side in SIDES}
    every = torch.cat([probs for _weights, probs, _out in made.values()])
    best = every.max(0).values
    best[every[0].topk(FIRST).indices] = 2 + every[0].topk(FIRST).values
    found = best.topk(CANDIDATES).indices
    return {side: _shared(*parts, found) for side, parts in made.items()}


def _shared(weights: Tensor, probs: Tensor, out: Tensor, found: Tensor) -> Shared:
    error = (out - out[0]).norm(dim=(1, 2)) / out[0].norm()
    return Shared(to_numpy(weights), to_numpy(probs[:, found]), tuple(int(i) for i in found), to_numpy(error))


def _passed(ids: tuple[int, ...], layer: int, head: int, side: str) -> tuple[Tensor, Tensor, Tensor]:
    """In batched passes: the head's weights (stop, query, key), the next token (stop, vocab), the layer's attn_out."""
    model, row = subject.model(), torch.tensor(ids)
    every, at_once = [stops()[i] for i in offered(len(ids))], max(1, AT_ONCE // len(ids))
    weights: list[Tensor] = []
    outs: list[Tensor] = []
    nexts: list[Tensor] = []

    for start in range(0, len(every), at_once):
        some = tuple(every[start : start + at_once])
        seen = [
            (f"block{layer}.weights", overhear(weights, lambda w: w[:, head])),
            (f"block{layer}.attn_out", overhear(outs)),
        ]
        x = model.stream(row.expand(len(some), -1), trace=WhatIf([*edits(some, side), *seen]))
        nexts.append(model.predict(x).softmax(-1))
    return torch.cat(weights), torch.cat(nexts), torch.cat(outs)


def wiring(some: tuple[Stop, ...]) -> np.ndarray:
    """(stop, query head, kept): 1 where a query head reads a kept key and value. A latent is one for all."""
    n_heads = subject.model().config.n_heads
    head = np.arange(n_heads)
    kept = [head * 0 if stop.rank is not None else head * stop.n_kv_heads // n_heads for stop in some]
    return (np.array(kept)[:, :, None] == head).astype(np.float32)


# ---- what it costs on stories ----


def losses() -> np.ndarray:
    """(side, stop): the mean loss on the shipped stories, nats a token, as recorded by `python -m core.make sharing_losses`."""
    return np.load(LOSSES, allow_pickle=False)
