"""From every head its own keys to one latent for all: MHA, GQA, MQA and MLA on one slider, on the real weights.

Each stop is shown twice. Converted: key and value heads are pooled to their mean (Ainslie et al. 2023, arXiv
2305.13245), or [W_K; W_V] is cut to a rank by its singular values. Healed: the layer was fitted to its old output
(core.nets.healed), or the rank is cut where it matters for what the layer really reads: W C^(1/2) with C = E[x x^T], as
whitening before a truncated SVD does (Yuan et al. 2023, ASVD, arXiv 2312.05821). A latent c = U^T W x is what
multi-head latent attention caches (DeepSeek-V2, arXiv 2405.04434); its separate rotary key is left out here: keys are
rebuilt from the latent, then rotated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import torch
from torch import Tensor

from core.assets import ASSETS
from core.config import ModelConfig
from core.heads import SelfAttention, merge, share, split
from core.lab import subject
from core.lab.memory import kept
from core.lab.text import FIRST, Cannot, Text
from core.nets import healed
from core.topics.heads.volume import Demo
from core.trace import to_numpy
from core.watch import overhear
from core.whatif import Edit, WhatIf

LOSSES = ASSETS / "data" / "sharing_losses.npy"
SIDES = ("converted", "healed")
CANDIDATES = 10
FIRST_WORDS = 4  # of them: the untouched model's own likeliest words, always shown
LONG = 64  # tokens: beyond, every fourth rank is computed, and beyond twice as many every eighth


@dataclass(frozen=True)
class Stop:
    """One way to keep keys and values. rank: of the latent of MLA; None: n_kv_heads heads are kept.

    config: of the model whose keys and values they are.
    """

    config: ModelConfig
    n_kv_heads: int
    rank: int | None = None

    @property
    def name(self) -> str:
        if self.rank is not None:
            return "MLA"
        return {1: "MQA", self.config.n_heads: "MHA"}.get(self.n_kv_heads, "GQA")

    @property
    def numbers(self) -> int:
        """Cached for one token in one layer."""
        return self.rank if self.rank is not None else 2 * self.n_kv_heads * self.config.head_dim

    @property
    def value(self) -> float:
        """Its word in the URL: the number of KV heads, or minus the rank."""
        return float(self.n_kv_heads if self.rank is None else -self.rank)

    @property
    def bytes_a_token(self) -> int:
        """In the caches of all layers together, at two bytes a number."""
        return 2 * self.numbers * self.config.n_layers


def stops(text: Text) -> tuple[Stop, ...]:
    """The model as it is, fewer KV heads, then MLA from full rank to one, each rank about an eighth smaller."""
    return _stops(subject.config(text.subject))


@cache
def _stops(config: ModelConfig) -> tuple[Stop, ...]:
    full = min(config.d_model, 2 * config.n_kv_heads * config.head_dim)
    ranks = sorted({round(full * 2 ** (-k / 5)) for k in range(42)} - {0}, reverse=True)
    heads = [Stop(config, n) for n in range(config.n_kv_heads, 0, -1) if config.n_kv_heads % n == 0]
    return (*heads, *(Stop(config, config.n_kv_heads, rank) for rank in ranks))


def offered(text: Text) -> tuple[int, ...]:
    """The places in stops() that are computed for a text: all of them, and of a long one fewer ranks."""
    some, n_tokens = stops(text), len(text)
    heads = sum(stop.rank is None for stop in some)
    step = 1 if n_tokens <= LONG else 4 if n_tokens <= 2 * LONG else 8
    return tuple(i for i in range(len(some)) if i < heads or (i - heads) % step == 0 or i == len(some) - 1)


def sides(text: Text) -> tuple[str, ...]:
    """Healed weights ship with the site's own model alone."""
    return SIDES if text.subject == FIRST else SIDES[:1]


def basis(text: Text, layer: int, side: str) -> Tensor:
    """(2 * kv_head * d_head, d_model): orthonormal columns, the directions of [K; V] that a latent keeps first.

    Raises Cannot for the healed side of a model that was never healed.
    """
    if side not in sides(text):
        raise Cannot("Only the model that ships with this site was fitted again to fewer keys.")
    return kept(_basis, text.subject, layer, side)


@torch.inference_mode()
def _basis(name: str, layer: int, side: str) -> Tensor:
    attn = subject.model(name).blocks[layer].attn
    both = torch.cat([attn.k.weight, attn.v.weight]).detach().double()
    if side == "converted":
        return torch.linalg.svd(both, full_matrices=False).U.float()
    _sizes, directions = torch.linalg.eigh(both @ healed.moments()[layer].double() @ both.T)
    return directions.flip(-1)[:, : both.shape[1]].float()


def edits(text: Text, some: tuple[Stop, ...], side: str) -> list[Edit]:
    """What turns the model's passes over (stop, token) into passes of the models that the stops describe."""
    layers = range(subject.config(text.subject).n_layers)
    return [edit for layer in layers for edit in Layer(text, layer, some, side).edits()]


@dataclass
class Layer:
    """One attention layer while it runs at several stops at once.

    Keys and values are made when what the layer reads passes by: whichever of q, k and v comes first, they are there.
    made: they, what was read ("x") and the mixtures ("z"), (stop, ...) each.
    """

    text: Text
    layer: int
    some: tuple[Stop, ...]
    side: str
    made: dict[str, Tensor] = field(default_factory=dict)

    @property
    def attn(self) -> SelfAttention:
        return subject.model(self.text.subject).blocks[self.layer].attn

    def edits(self) -> list[Edit]:
        changes = {
            "norm1": self.read,
            "q": self.queries,
            "k": lambda _k: self.made["k"],
            "v": lambda _v: self.made["v"],
            "z": self.mixed,
            "attn_out": self.out,
        }
        return [(f"block{self.layer}.{name}", change) for name, change in changes.items()]

    def read(self, x: Tensor) -> Tensor:
        k, v = (split(part(x), self.attn.n_kv_heads) for part in (self.attn.k, self.attn.v))
        pairs = [self.rebuilt(*one) for one in zip(self.some, x, k, v, strict=True)]
        self.made["k"], self.made["v"] = (torch.stack(part) for part in zip(*pairs, strict=True))
        self.made["x"] = x
        return x

    def mixed(self, z: Tensor) -> Tensor:
        self.made["z"] = z
        return z

    def rebuilt(self, stop: Stop, x: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """x: (token, d_model); k, v: (kv_head, token, d_head). What this stop's cache gives back, as many heads."""
        n, whole = stop.n_kv_heads, self.attn.n_kv_heads
        if stop.rank is not None:
            return self.latent(stop.rank, k, v)
        if n == whole:
            return k, v
        if w := self.fitted(stop):
            key, value = (share(split(x @ w[name].T, n), whole // n) for name in ("k", "v"))
            return key, value
        return _pooled(k, n), _pooled(v, n)

    def latent(self, rank: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values rebuilt from `rank` numbers a token; biases are weights and need no cache."""
        way = basis(self.text, self.layer, self.side)[:, :rank]
        biases = [w.bias if w.bias is not None else torch.zeros(w.out_features) for w in (self.attn.k, self.attn.v)]
        bias = torch.cat(biases).detach()
        both = (torch.cat([merge(k), merge(v)], -1) - bias) @ way @ way.T + bias
        key, value = (split(half, self.attn.n_kv_heads) for half in both.chunk(2, -1))
        return key, value

    def queries(self, q: Tensor) -> Tensor:
        return self.swapped(q, lambda i, w: split(self.made["x"][i] @ w["q"].T, self.attn.n_heads))

    def out(self, a: Tensor) -> Tensor:
        return self.swapped(a, lambda i, w: merge(self.made["z"][i]) @ w["o"].T)

    def swapped(self, x: Tensor, made: Callable[[int, healed.Layer], Tensor]) -> Tensor:
        """x: (stop, ...), with what healed weights make where a stop has some."""
        fitted = [self.fitted(stop) for stop in self.some]
        if not any(fitted):
            return x
        return torch.stack([made(i, w) if w else x[i] for i, w in enumerate(fitted)])

    def fitted(self, stop: Stop) -> healed.Layer | None:
        """The healed weights of a stop that has some."""
        if self.side != "healed" or stop.rank is not None or stop.n_kv_heads not in healed.KV_HEADS:
            return None
        return healed.healed(stop.n_kv_heads)[self.layer]


def _pooled(x: Tensor, n: int) -> Tensor:
    """(kv_head, token, d_head): each head replaced by the mean of its group. Pooling weights and biases does the same:
    a mean of linear maps is linear."""
    group = x.shape[-3] // n
    return share(x.unflatten(-3, (n, group)).mean(-3), group)


@dataclass(frozen=True)
class Shared:
    """One head and the next word at every stop. weights: (stop, query, key); probs: (stop, candidate);
    error: (stop,), of this layer's attn_out, relative to the untouched model's."""

    weights: np.ndarray
    probs: np.ndarray
    ids: tuple[int, ...]
    error: np.ndarray


@torch.inference_mode()
def run(demo: Demo) -> dict[str, Shared]:
    """Each side at every stop that is offered. The candidates are the same on both, so that bars can be compared: the
    untouched model's likeliest next tokens first, then the likeliest of any stop."""
    made = {side: _passed(demo, side) for side in sides(demo.text)}
    every = torch.cat([probs for _weights, probs, _out in made.values()])
    best = every.max(0).values
    best[every[0].topk(FIRST_WORDS).indices] = 2 + every[0].topk(FIRST_WORDS).values
    found = best.topk(CANDIDATES).indices
    return {side: _shared(*parts, found) for side, parts in made.items()}


def _shared(weights: Tensor, probs: Tensor, out: Tensor, found: Tensor) -> Shared:
    error = (out - out[0]).norm(dim=(1, 2)) / out[0].norm()
    return Shared(to_numpy(weights), to_numpy(probs[:, found]), tuple(int(i) for i in found), to_numpy(error))


def _passed(demo: Demo, side: str) -> tuple[Tensor, Tensor, Tensor]:
    """In batched passes: the head's weights (stop, query, key), the next token (stop, vocab), the layer's attn_out."""
    text, model, row = demo.text, subject.model(demo.text.subject), torch.tensor(demo.text.ids)
    every, at_once = [stops(text)[i] for i in offered(text)], subject.at_once(len(text))
    weights: list[Tensor] = []
    outs: list[Tensor] = []
    nexts: list[Tensor] = []
    watched = [
        (f"block{demo.layer}.weights", overhear(weights, lambda w: w[:, demo.head])),
        (f"block{demo.layer}.attn_out", overhear(outs)),
    ]
    for start in range(0, len(every), at_once):
        some = tuple(every[start : start + at_once])
        x = model.stream(row.expand(len(some), -1), trace=WhatIf([*edits(text, some, side), *watched]))
        nexts.append(model.predict(x).softmax(-1))
    return torch.cat(weights), torch.cat(nexts), torch.cat(outs)


def wiring(some: tuple[Stop, ...]) -> np.ndarray:
    """(stop, query head, kept): 1 where a query head reads a kept key and value. A latent is one for all."""
    n_heads = some[0].config.n_heads
    head = np.arange(n_heads)
    read = [head * 0 if stop.rank is not None else head * stop.n_kv_heads // n_heads for stop in some]
    return (np.array(read)[:, :, None] == head).astype(np.float32)


# ---- what it costs on stories ----


def losses(text: Text) -> np.ndarray:
    """(side, stop): the mean loss on the shipped stories, nats a token, as recorded by `python -m core.make sharing_losses`.

    Raises Cannot for another model than the one it was recorded for.
    """
    if text.subject != FIRST:
        raise Cannot("What fewer keys cost on stories is recorded for the model that ships with this site alone.")
    return np.load(LOSSES, allow_pickle=False)
