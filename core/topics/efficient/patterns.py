"""Which pairs matter? Every word may read only some of the words before it; seven ways to choose them.

A pattern acts in every head of every block of the model as it is: nothing is trained for it. What each costs on four
stories is recorded (`python -m core.make patterns`); what it does to a visitor's sentence is computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core import tokenizer
from core.assets import ASSETS
from core.attention import allowed_pairs
from core.lab import subject
from core.lab.text import FIRST, FOLDER, Cannot, Text, Word, word
from core.trace import to_numpy
from core.watch import overhear
from core.whatif import Edit, WhatIf

STORIES = ASSETS / "data" / "long_stories.txt"
TABLE = ASSETS / "data" / "pattern_losses.npy"
KINDS = ("best", "window", "first", "bigbird", "strided", "random", "second")
LEAST = {"first": 2, "bigbird": 3}  # words a query, where one is not enough
K = (*range(1, 17), *range(18, 33, 2), *range(36, 65, 4), *range(72, 129, 8), *range(144, 241, 16), 248, 256)
READ = 256  # tokens of each story
SHOWN = 64  # tokens of the picture of a mask
CANDIDATES = 8
AT_ONCE = 2048  # tokens in one batched pass

# ---- the patterns ----


def mask(kind: str, k: int, n: int, luck: Tensor | None = None) -> Tensor:
    """(query, key), or (..., query, key) where luck has further axes. True where a query may look, among j <= i.

    window: the k nearest, itself included. first: token 0 and the k - 1 nearest. second: itself and every second word
    back, k of them. strided: the k // 2 nearest and evenly spaced posts, about k in all (Sparse Transformer, Child et
    al. 2019, arXiv 1904.10509). random: itself and the k - 1 of least luck. bigbird: token 0, k // 2 nearest, the rest
    random (Zaheer et al. 2020, arXiv 2007.14062). luck: (..., query, key), numbers from 0 to 1.
    Raises KeyError for another kind: "best" depends on the scores, see `best`.
    """
    i, j = torch.arange(n)[:, None], torch.arange(n)
    causal, back = allowed_pairs("causal", n), i - j
    near = max(1, k // 2)
    if kind == "random":
        return _lucky(back == 0, k - 1, luck) & causal
    if kind == "bigbird":
        return _lucky(causal & ((back < near) | (j == 0)), k - 1 - near, luck) & causal
    posts = max(1, math.ceil(n / max(1, k - near)))
    return (
        causal
        & {
            "window": back < k,
            "first": (back < k - 1) | (j == 0),
            "second": (back % 2 == 0) & (back < 2 * k),
            "strided": (back < near) | (j % posts == posts - 1),
        }[kind]
    )


def _lucky(base: Tensor, more: int, luck: Tensor | None) -> Tensor:
    """`base`, (query, key), and for each query `more` of the other keys before it: those with most luck."""
    assert luck is not None, "a random pattern needs luck"
    n = base.shape[-1]
    if more < 1:
        return base.expand_as(luck)
    rank = luck.masked_fill(base | ~allowed_pairs("causal", n), -1.0)
    chosen = rank.topk(min(more, n), -1).indices
    return base | torch.zeros_like(rank, dtype=torch.bool).scatter(-1, chosen, True)


def luck(layers: int, heads: int, n: int) -> Tensor:
    """(layer, head, query, key): what a random pattern is drawn from; every head of every block has its own."""
    return torch.rand(layers, heads, n, n, generator=torch.Generator().manual_seed(0))


def best(scores: Tensor, k: int) -> Tensor:
    """(..., query, key), True for the k largest of each row. scores: minus infinity where a query may not look."""
    chosen = scores.topk(min(k, scores.shape[-1]), -1).indices
    return torch.zeros_like(scores, dtype=torch.bool).scatter(-1, chosen, True) & scores.isfinite()


def edits(kind: str, ks: tuple[int, ...], layers: int, heads: int, n: int) -> list[Edit]:
    """What becomes of a running model with k words a query. More than one k: one frame each, before the head's axis."""
    if kind == "best":
        return [("block*.masked", partial(_keep_best, ks=ks))]
    if kind not in ("random", "bigbird"):
        masks = torch.stack([mask(kind, k, n) for k in ks])[:, None]
        return [("block*.allowed", lambda allowed: allowed & masks)]
    drawn = luck(layers, heads, n)
    every = [torch.stack([mask(kind, k, n, drawn[layer]) for k in ks]) for layer in range(layers)]
    return [(f"block{layer}.allowed", partial(_both, other=one)) for layer, one in enumerate(every)]


def _both(allowed: Tensor, other: Tensor) -> Tensor:
    return allowed & other


def _keep_best(masked: Tensor, ks: tuple[int, ...]) -> Tensor:
    if len(ks) == 1:
        return masked.masked_fill(~best(masked, ks[0]), -torch.inf)
    frames = masked.expand(len(ks), *masked.shape[-3:])
    return torch.stack([row.masked_fill(~best(row, k), -torch.inf) for row, k in zip(frames, ks, strict=True)])


# ---- what a pattern costs on stories ----


@cache
def stories() -> Tensor:
    """(story, token) ids of four stories from their beginning, one token more than is read."""
    texts = STORIES.read_text("utf8").strip().split("\n\n")
    rows = [tokenizer.of_model(FOLDER).encode(text).ids for text in texts]
    return torch.tensor([row[: READ + 1] for row in rows])


@torch.inference_mode()
def story_loss(made: list[Edit]) -> float:
    """Nats a token on the four stories with these edits."""
    model, ids = subject.model(), stories()
    losses = []
    for row in ids:
        logits = model.read_out(model.stream(row[None, :-1], trace=WhatIf(made)))[0]
        losses.append(F.cross_entropy(logits, row[1:]))
    return float(torch.stack(losses).mean())


def losses(text: Text) -> np.ndarray:
    """(kind, k) nats a token, as recorded; NaN where a pattern needs more words. Raises Cannot for another model."""
    if text.subject != FIRST:
        raise Cannot("What a pattern costs on stories is recorded for the model that ships with this site alone.")
    return _table()


@cache
def _table() -> np.ndarray:
    table: np.ndarray = np.load(TABLE, allow_pickle=False)
    return table


def loss(kind: str, k: int) -> float:
    """Recorded nats a token. Raises KeyError for a k that is not recorded."""
    if kind not in KINDS or k not in K:
        raise KeyError(f"{kind} with {k} words is not recorded")
    return float(_table()[KINDS.index(kind), K.index(k)])


def whole() -> float:
    """Recorded nats a token where every word reads all before it."""
    return loss("window", READ)


def alone() -> float:
    """Recorded nats a token where every word reads itself alone."""
    return loss("window", 1)


def share(kind: str, k: int) -> float:
    """How many of the pairs that the causal mask allows are kept, over READ tokens; `best` keeps as many as a window."""
    n = READ
    drawn = luck(1, 1, n)[0, 0] if kind in ("random", "bigbird") else None
    kept = mask("window" if kind == "best" else kind, k, n, drawn)
    return float(kept.sum()) / (n * (n + 1) / 2)


@torch.inference_mode()
def pictures(kind: str, layer: int = 5, head: int = 1) -> np.ndarray:
    """(k, query, key) of 0 and 1: the pattern on the first SHOWN tokens of the first story, at every k, in one head."""
    model = subject.model()
    config = model.config
    if kind == "best":
        heard: list[Tensor] = []
        listen = (f"block{layer}.masked", overhear(heard, lambda s: s[head]))
        model.stream(stories()[0, :SHOWN], until=layer + 1, trace=WhatIf([listen]))
        masks = torch.stack([best(heard[0], k) for k in K])
    else:
        drawn = luck(config.n_layers, config.n_heads, READ)[layer, head]
        masks = torch.stack([mask(kind, k, READ, drawn) for k in K])[:, :SHOWN, :SHOWN]
    return masks.numpy().astype(np.float32)


# ---- what it does to a sentence ----


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses: a text and a pattern."""

    text: Text
    kind: str = "window"


@dataclass(frozen=True)
class Frames:
    """The next word under a pattern. ks: (frame,), how many words a query reads there: a long text has fewer that
    differ. words: the untouched model's answer first; probs: (frame, word); before: (word,)."""

    ks: tuple[int, ...]
    words: tuple[Word, ...]
    probs: np.ndarray
    before: np.ndarray


def computed(n: int) -> tuple[int, ...]:
    """Which of K are computed for a text of n tokens: those that differ; of a long text fewer, the small ones first."""
    some = [k for k in K if k < n] + [next((k for k in K if k >= n), K[-1])]
    most = max(6, 2 * AT_ONCE // n)
    if len(some) > most:
        places = np.unique(np.geomspace(1, len(some), most).round().astype(int) - 1)
        some = [some[i] for i in places]
    return tuple(some)


@torch.inference_mode()
def frames(demo: Demo) -> Frames:
    """The next word at every k of K, in batched passes."""
    n, model = len(demo.text), subject.model(demo.text.subject)
    config, ks = model.config, computed(n)
    found, at_once = [], subject.at_once(n)
    for start in range(0, len(ks), at_once):
        part = ks[start : start + at_once]
        ids = torch.tensor(demo.text.ids).expand(len(part), -1)
        made = edits(demo.kind, part, config.n_layers, config.n_heads, n)
        found.append(model.predict(model.stream(ids, trace=WhatIf(made))).softmax(-1))
    probs = torch.cat(found)
    untouched = subject.untouched(demo.text)["next_probs"].value
    most = probs.max(0).values
    most[int(untouched.argmax())] = torch.inf  # first, wherever it stands
    ids = most.topk(min(CANDIDATES, len(most))).indices
    at = [max(i for i, one in enumerate(ks) if one <= max(k, ks[0])) for k in K]
    words = tuple(word(int(i), untouched, demo.text.subject) for i in ids)
    return Frames(tuple(ks[i] for i in at), words, to_numpy(probs[:, ids])[at], untouched[ids.numpy()])


# ---- a pattern of one's own: which distances may be read ----

NEAR = 16  # distances with a cell of their own: itself, one back, ... 15 back
FAR, FIRST_CELL = NEAR, NEAR + 1  # then: everything farther; token 0, wherever it stands
CELLS = NEAR + 2


def own(cells: frozenset[int], n: int) -> Tensor:
    """(query, key), True where the distance's cell is in `cells`. A word without any open cell reads nothing."""
    i, j = torch.arange(n)[:, None], torch.arange(n)
    open_ = torch.zeros(CELLS, dtype=torch.bool)
    open_[list(cells)] = True
    back = (i - j).clamp(0, FAR)
    return (open_[back] & (j > 0) | open_[FIRST_CELL] & (j == 0)) & allowed_pairs("causal", n)


def own_edits(cells: frozenset[int]) -> list[Edit]:
    """For a running model, whatever the length of its text."""
    return [("block*.allowed", lambda allowed: allowed & own(cells, allowed.shape[-1]))]


@dataclass(frozen=True)
class Own:
    """Loss on the stories in nats a token, and how much of all pairs is kept."""

    loss: float
    pairs: float


def own_loss(cells: frozenset[int]) -> Own:
    """What the painted pattern costs: a pass over the four stories."""
    kept = own(cells, READ).sum() / (READ * (READ + 1) / 2)
    return Own(story_loss(own_edits(cells)), float(kept))


def spell(cells: frozenset[int]) -> str:
    """A hexadecimal number with bit c for cell c."""
    return f"{sum(1 << cell for cell in cells):x}"


def unspell(text: str) -> frozenset[int] | None:
    """The cells that `spell` wrote; None for anything else."""
    if not 0 < len(text) <= 5 or any(sign not in "0123456789abcdef" for sign in text) or int(text, 16) >> CELLS:
        return None
    return frozenset(cell for cell in range(CELLS) if int(text, 16) >> cell & 1)
