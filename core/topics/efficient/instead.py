"""What stands in for attention: projected keys, random features, kernels, few singular values; in a model as it is.

Linformer (Wang et al. 2020, arXiv 2006.04768), Performer (Choromanski et al. 2021, arXiv 2009.14794), linear attention
(Katharopoulos et al. 2020, arXiv 2006.16236). Nothing is trained for them, and that is what their losses show; they are
recorded: `python -m core.make instead`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.attention import allowed_pairs
from core.heads import share
from core.lab import subject
from core.topics.efficient import flash as fl
from core.topics.efficient import patterns as pt
from core.trace import to_numpy
from core.whatif import Edit

Mix = Callable[[Tensor, Tensor, Tensor], Tensor]
FEATURES = (16, 64, 256, 1024, 4096)
POOLED = (8, 16, 32, 64, 128, 256)
RANKS = (4, 8, 16, 32, 48, 64, 96, 128, 192, 256)
GALLERY = ("plain", "longformer", "bigbird", "linformer", "performer", "linear", "mamba")
WINDOW, KEPT, DRAWN, STATE = 64, 64, 256, 16  # words a query; projected keys; random features; Mamba's state
TILE_TOKENS = 32  # of a tile of the gallery
LENGTHS = tuple(round(2 ** (6 + i / 4)) for i in range(57))  # 64 to 1,048,576 tokens


# ---- weights without softmax over all keys ----


def scores(q: Tensor, k: Tensor) -> Tensor:
    """(..., query, key), divided by the root of the width."""
    return q @ k.mT / math.sqrt(q.shape[-1])


def exact(q: Tensor, k: Tensor) -> Tensor:
    """Causal softmax weights, (..., query, key)."""
    return scores(q, k).masked_fill(~allowed_pairs("causal", q.shape[-2]), -torch.inf).softmax(-1)


def directions(m: int, d: int, generator: torch.Generator) -> Tensor:
    """(m, d) random directions, orthogonal in blocks of d, as long as normal vectors are.

    QR chooses signs of its own, so that no direction would be random: the signs of R's diagonal undo that.
    """
    blocks = []
    for _ in range(-(-m // d)):
        q, r = torch.linalg.qr(torch.randn(d, d, generator=generator))
        blocks.append((q * r.diagonal().sign()).mT)
    return torch.cat(blocks)[:m] * torch.randn(m, d, generator=generator).norm(dim=-1, keepdim=True)


def positive(q: Tensor, k: Tensor, m: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """FAVOR+: features of queries and keys, (..., token, m), whose products estimate exp(q·k / sqrt(d)).

    Each query's, and all keys' together, are scaled so that nothing overflows; the normaliser takes that out again.
    """
    d = q.shape[-1]
    w = directions(m, d, torch.Generator().manual_seed(seed))

    def powers(x: Tensor) -> Tensor:
        x = x / d**0.25
        return x @ w.mT - x.square().sum(-1, keepdim=True) / 2

    of_q, of_k = powers(q), powers(k)
    return (of_q - of_q.amax(-1, keepdim=True)).exp(), (of_k - of_k.amax((-1, -2), keepdim=True)).exp()


def waves(q: Tensor, k: Tensor, m: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """The older trigonometric features, m / 2 sines and as many cosines: the same on average, but some are negative."""
    d = q.shape[-1]
    w = directions(m // 2, d, torch.Generator().manual_seed(seed))
    q, k = q / d**0.25, k / d**0.25
    long = k.square().sum(-1, keepdim=True) / 2

    def turns(x: Tensor) -> Tensor:
        return torch.cat([(x @ w.mT).cos(), (x @ w.mT).sin()], -1)

    return turns(q), turns(k) * (long - long.amax((-1, -2), keepdim=True)).exp()


def elu(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """The features of linear attention: elu + 1, positive and as many as the width."""
    return F.elu(q) + 1, F.elu(k) + 1


def weights_of(features: tuple[Tensor, Tensor]) -> Tensor:
    """Causal weights from features, each row divided by its sum: the normaliser that makes it a softmax's estimate."""
    of_q, of_k = (x.double() for x in features)
    made = (of_q @ of_k.mT) * allowed_pairs("causal", of_q.shape[-2])
    return made / made.sum(-1, keepdim=True)


def pool(n: int, kept: int) -> Tensor:
    """(kept, n), of a shorter text (n, n): a projection along the text that averages neighbours, a stand-in for
    Linformer's learned E and F."""
    kept = min(kept, n)
    chosen = F.one_hot(torch.arange(n) * kept // n, kept).double().mT
    return chosen / chosen.sum(-1, keepdim=True)


def pooled(q: Tensor, k: Tensor, kept: int) -> Tensor:
    """Linformer's weights on the words, (..., query, key): softmax over `kept` averaged keys, each handed on to its words.

    No mask: an averaged key holds words from ahead, so a causal model cannot use it as it is.
    """
    e = pool(k.shape[-2], kept).to(k.dtype)
    return scores(q, e @ k).softmax(-1) @ e


def low_rank(q: Tensor, k: Tensor, rank: int) -> Tensor:
    """The best approximation of the causal weights by a matrix of that rank. It sees the whole matrix to find it."""
    u, s, v = torch.linalg.svd(exact(q, k))
    return (u[..., :rank] * s[..., None, :rank]) @ v[..., :rank, :]


# ---- in a running model ----


def edits(mix: Mix) -> list[Edit]:
    """Put `mix(q, k, v)` in the place of attention in every block; q and k as they meet, one key for every query head."""
    heard: dict[str, Tensor] = {}

    def listen(name: str) -> Callable[[Tensor], Tensor]:
        def keep(value: Tensor) -> Tensor:
            heard[name] = value
            return value

        return keep

    def put(z: Tensor) -> Tensor:
        q, k, v = heard["q"], heard["k"], heard["v"]
        group = q.shape[-3] // k.shape[-3]
        return mix(q, share(k, group), share(v, group)).to(z.dtype)

    names = [(f"block*.{side}{ending}", listen(side)) for side in "qk" for ending in ("", "_norm", "_rot")]
    return [*names, ("block*.v", listen("v")), ("block*.z", put)]


def by_weights(weigh: Callable[[Tensor, Tensor], Tensor]) -> Mix:
    """A mixture by weights that depend on queries and keys alone."""

    def mix(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        made = weigh(q, k)
        return made @ v.to(made.dtype)

    return mix


def forgetful(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Flash in tiles of 16 that forgets to rescale."""
    return fl.flash(q, k, v, allowed_pairs("causal", q.shape[-2]), 16, rescale=False)


def even(q: Tensor, k: Tensor) -> Tensor:
    """Every word before counts alike."""
    allowed = allowed_pairs("causal", q.shape[-2]).to(q.dtype)
    return allowed / allowed.sum(-1, keepdim=True)


def featured(kind: str, m: int) -> Mix:
    """Random features, drawn anew in every block."""
    block = iter(range(10**6))
    make = {"positive": positive, "waves": waves}[kind]
    return by_weights(lambda q, k: weights_of(make(q, k, m, next(block))))


MIXES: dict[str, Callable[[int], Mix]] = {
    "features": partial(featured, "positive"),
    "waves": partial(featured, "waves"),
    "pooled": lambda kept: by_weights(lambda q, k: pooled(q, k, kept)),
    "rank": lambda rank: by_weights(lambda q, k: low_rank(q, k, rank)),
    "linear": lambda _: by_weights(lambda q, k: weights_of(elu(q, k))),
    "even": lambda _: by_weights(even),
    "forgetful": lambda _: forgetful,
}
SIZES = {"features": FEATURES, "waves": (1024, 4096), "pooled": POOLED, "rank": RANKS}


@dataclass(frozen=True)
class Losses:
    """Recorded, nats a token: name -> size -> loss; "linear", "even" and "forgetful" have the one size 0.
    off: features -> how far the rows are from softmax's, total variation, in the middle; "0" stands for even rows."""

    nats: dict[str, dict[int, float]]
    off: dict[int, float]


@cache
def recorded() -> Losses:
    """What stands in for attention, measured on the four stories."""
    about = json.loads(fl.RECORDED.read_text("utf8"))
    nats = {name: {int(size): loss for size, loss in found.items()} for name, found in about["losses"].items()}
    return Losses(nats, {int(m): off for m, off in about["off"].items()})


# ---- the gallery ----


@torch.inference_mode()
def gallery() -> np.ndarray:
    """(method, query, key): which words a real head of the first story reads under each method, weights that sum to one.

    The last one is no attention: how much of each letter is left in the state of the trained net, by hand of `ssm`.
    """
    q, k, _v = (x[:TILE_TOKENS] for x in fl.vectors(fl.Demo(fl.story())))
    full = exact(q, k)
    drawn = pt.luck(6, 6, TILE_TOKENS)[5, 1]
    some = [pt.mask("first", 8, TILE_TOKENS), pt.mask("bigbird", 8, TILE_TOKENS, drawn)]
    kept = [full * one / (full * one).sum(-1, keepdim=True) for one in some]
    others = [pooled(q, k, 8), weights_of(positive(q, k, DRAWN)), weights_of(elu(q, k))]
    return np.stack([to_numpy(one.float()) for one in (full, *kept, *others)])


def multiplications(d: int = fl.D_HEAD) -> np.ndarray:
    """(method, length): of one head, d numbers wide, for scores and mixtures of a text; at each of LENGTHS."""
    n = np.array(LENGTHS, float)
    return np.stack(
        [
            2 * n**2 * d,
            2 * n * np.minimum(WINDOW, n) * d,
            2 * n * np.minimum(WINDOW, n) * d,
            4 * n * KEPT * d,
            4 * n * DRAWN * d,
            2 * n * d**2,
            3 * n * d * STATE,
        ]
    )


def remembered(d: int = fl.D_HEAD) -> np.ndarray:
    """(method, length): numbers that must be kept to write the next word, one head: the cache, or a state."""
    n = np.array(LENGTHS, float)
    cache = 2 * n * d
    window = 2 * np.minimum(WINDOW, n) * d
    state = [np.full_like(n, x) for x in (2 * KEPT * d, DRAWN * (d + 1), d * (d + 1), d * STATE)]
    return np.stack([cache, window, cache, *state])


# ---- rank ----


@dataclass(frozen=True)
class Rank:
    """Singular values, (head's token,), largest first, each relative to the first: scores before softmax, weights without
    and with the mask; counted: how many of each are more than rounding; enough: how many hold 90% of the energy."""

    values: dict[str, np.ndarray]
    counted: dict[str, int]
    enough: dict[str, int]


@torch.inference_mode()
def rank(demo: fl.Demo) -> Rank:
    """Of one head over a text: what softmax does to the rank of the scores."""
    q, k, _v = (x.double() for x in fl.vectors(demo))
    made = {"scores": scores(q, k), "open": scores(q, k).softmax(-1), "causal": exact(q, k)}
    values = {name: torch.linalg.svdvals(one) for name, one in made.items()}
    energy = {name: one.square().cumsum(0) / one.square().sum() for name, one in values.items()}
    return Rank(
        {name: to_numpy(one / one[0]) for name, one in values.items()},
        {name: int((one > 1e-6 * one[0]).sum()) for name, one in values.items()},
        {name: int((one < 0.9).sum()) + 1 for name, one in energy.items()},
    )


def heads_rank() -> tuple[float, float]:
    """How many singular values hold 90% of the energy, on average over all heads on the first story: mask on, mask off."""
    config, story = subject.config(), fl.story()
    found = [
        rank(fl.Demo(story, layer, head)).enough for layer in range(config.n_layers) for head in range(config.n_heads)
    ]
    return float(np.mean([one["causal"] for one in found])), float(np.mean([one["open"] for one in found]))
