"""How a real head makes its queries, keys and values, and what a query asks for once it is turned by hand.

All of it is a linear layer applied to the sentence's own vectors, or something that follows from one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.lab import subject
from core.lab.memory import kept
from core.lab.text import Text, Word, top, word
from core.trace import SILENT, Quantity, Step, Trace, to_numpy
from core.whatif import WhatIf

ANGLES = tuple(range(0, 361, 3))  # degrees, the stops of the turned query
MAPS = ("q", "k", "v")
TURNED = Quantity(
    "turned_q",
    "frame d_head",
    r"q(\phi) = \lVert q\rVert\,(\cos\phi\;e_1 + \sin\phi\;e_2)",
    "The real query, turned in the plane of the picture.",
)


@dataclass(frozen=True)
class Demo:
    """A sentence as the model reads it, and the head that is looked at. Its last token asks."""

    text: Text
    layer: int = 4
    head: int = 4


def part(demo: Demo, name: str) -> Tensor:
    """A tensor of the chosen head, without the head's axis; keys and values from the head that its group shares."""
    group = subject.config(demo.text.subject).group if name[0] in "kv" else 1
    return block(demo, name).tensor[demo.head // group]


def met(demo: Demo, which: str) -> Step:
    """All heads' queries ("q") or keys ("k") as they meet, and by the name under which they are recorded."""
    return subject.met(subject.untouched(demo.text), demo.layer, which)


def block(demo: Demo, name: str) -> Step:
    """A step of the chosen block."""
    return subject.untouched(demo.text)[f"block{demo.layer}.{name}"]


# ---- the turned query ----


@dataclass(frozen=True)
class Turn:
    """The keys in a plane, and the query at every angle. Coordinates times `length` are scores before 1/sqrt(d_k)."""

    keys: np.ndarray  # (key, 2); at angle 0 the first number times `length` is the score
    query: np.ndarray  # (frame, 2)
    feet: np.ndarray  # (frame, key, 2): every key dropped onto the query's direction
    scores: np.ndarray  # (frame, key)
    shares: np.ndarray  # (frame, key), softmax over scores / sqrt(d_k)
    vectors: np.ndarray  # (frame, d_head), the turned query itself
    length: float  # of the query
    kept: float  # the share of what keys differ by, beside the query, that the second axis shows


def axes(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor, float]:
    """The direction of q (d_head,), and across it the one in which the keys k (key, d_head) differ most.

    Both have length 1. Third: the share of the keys' variance across q that the second axis shows.
    """
    one = q / q.norm()
    across = k - (k @ one)[:, None] * one
    _, size, rows = torch.linalg.svd(across - across.mean(0), full_matrices=False)
    two = rows[0] if size[0] > 1e-6 else torch.eye(len(q), dtype=q.dtype)[one.abs().argmin()]
    two = two - (two @ one) * one
    two = two / two.norm()
    sign = torch.sign((k @ two)[(k @ two).abs().argmax()])  # an axis has no sign of its own: the farthest key is above
    kept = float(size[0].square() / size.square().sum().clamp_min(1e-12))
    return one, two * (sign if sign else 1.0), kept


@torch.inference_mode()
def turn(demo: Demo, *, trace: Trace = SILENT) -> Turn:
    """The last token's query at every angle of ANGLES: in the plane of `axes` it is turned, and nothing else changes.

    The query lies in that plane as a whole, so at angle 0 it is the recorded one. Keys stay where they are.
    """
    q, k = (part(demo, met(demo, which).quantity.name).double() for which in "qk")
    q = q[-1]
    one, two, kept = axes(q, k)
    angle = torch.tensor(ANGLES, dtype=torch.float64).deg2rad()[:, None]
    turned = trace(TURNED, q.norm() * (angle.cos() * one + angle.sin() * two))
    scores = turned @ k.T
    flat = torch.stack([one, two], -1)
    keys, query = k @ flat, turned @ flat
    ahead = query / q.norm()
    return Turn(
        keys=to_numpy(keys),
        query=to_numpy(query),
        feet=to_numpy((keys @ ahead.T).T[..., None] * ahead[:, None]),
        scores=to_numpy(scores),
        shares=to_numpy((scores / math.sqrt(len(q))).softmax(-1)),
        vectors=to_numpy(turned.float()),
        length=float(q.norm()),
        kept=kept,
    )


@dataclass(frozen=True)
class Onward:
    """The next word while the query is turned: the candidates that ever come first or near it."""

    words: tuple[Word, ...]  # with their probabilities in the untouched model, likeliest first
    p: np.ndarray  # (frame, word)
    later: np.ndarray  # (block, frame, head, key): what the last token looks at in the blocks above


@torch.inference_mode()
def onward(demo: Demo, most: int = 6) -> Onward:
    """What the model would write if this head asked the turned question: the rest of the pass, for all angles at once.

    Only the last token has to be computed again: earlier ones never look ahead, so their keys and values stay.
    """
    model, recorded = subject.model(demo.text.subject), subject.untouched(demo.text)
    turned = torch.from_numpy(np.array(kept(turn, demo).vectors))

    def ask(q: Tensor) -> Tensor:  # (frame, head, 1, d_head)
        q = q.clone()
        q[:, demo.head, 0] = turned
        return q

    def see(weights: Tensor) -> Tensor:  # (frame, head, 1, key)
        later.append(weights[:, :, 0].clone())
        return weights

    later: list[Tensor] = []
    angles, _allowed = model.surroundings(len(demo.text))
    last = None if angles is None else angles[-1:]
    x = block(demo, "resid_pre").tensor[-1:].expand(len(turned), 1, -1)
    for i in range(demo.layer, model.config.n_layers):
        trace = WhatIf([(met(demo, "q").quantity.name, ask)] if i == demo.layer else [("weights", see)])
        earlier = (subject.met(recorded, i, "k"), recorded[f"block{i}.v"])
        past = (earlier[0].tensor[:, :-1], earlier[1].tensor[:, :-1])
        x = model.blocks[i](x, last, None, past=past, trace=trace)
    probs = model.predict(x).softmax(-1).numpy()
    untouched = recorded["next_probs"].value
    ids = [w.id for w in top(probs.max(0), most, demo.text.subject)]
    words = sorted((word(i, untouched, demo.text.subject) for i in ids), key=lambda w: -w.p)
    empty = np.zeros((0, len(turned), model.config.n_heads, len(demo.text)), np.float32)
    return Onward(tuple(words), probs[:, [w.id for w in words]], torch.stack(later).numpy() if later else empty)


@dataclass(frozen=True)
class Flip:
    """Where the turned query makes the model write something else."""

    angle: int  # degrees, one of ANGLES
    key: int  # the token that is asked for there
    word: str
    p: float


def flip(demo: Demo) -> Flip | None:
    """The smallest turn, either way, after which another word comes first. None where the head decides nothing."""
    shares, after = kept(turn, demo).shares, kept(onward, demo)
    first = after.p.argmax(1)
    others = [i for i in range(len(ANGLES)) if first[i] != first[0]]
    if not others:
        return None
    i = min(others, key=lambda i: min(ANGLES[i], 360 - ANGLES[i]))
    return Flip(ANGLES[i], int(shares[i].argmax()), after.words[first[i]].token, float(after.p[i, first[i]]))


@dataclass(frozen=True)
class Heard:
    """The later head that hears most of a turn: how much it looks at its own first choice before it and after."""

    layer: int
    head: int
    token: int
    before: float
    after: float


def heard(demo: Demo, frame: int) -> Heard | None:
    """Which head above takes its eyes off its word once the query stands at ANGLES[frame]? None where no block is
    above."""
    later = kept(onward, demo).later
    if not len(later):
        return None
    first = later[:, 0].argmax(-1)[..., None]
    before, after = (np.take_along_axis(later[:, i], first, -1)[..., 0] for i in (0, frame))
    i, h = np.unravel_index(int((before - after).argmax()), before.shape)
    return Heard(demo.layer + 1 + int(i), int(h), int(first[i, h, 0]), float(before[i, h]), float(after[i, h]))


# ---- one embedding, two keys ----


@dataclass(frozen=True)
class Pair:
    """The same token at two places. Each number is a cosine between the two, from the embedding to the key."""

    first: int
    second: int
    token: str
    embed: float
    stream: float  # what enters the block, normed: here the context has been mixed in
    key: float  # before the rotation by position
    turned: float | None  # after it; None where this model does not turn its keys
    scores: tuple[float, float]
    weights: tuple[float, float]

    @property
    def met(self) -> float:
        """As the query meets them."""
        return self.key if self.turned is None else self.turned


def pair(demo: Demo) -> Pair | None:
    """The longest word that stands twice; of several, the one that comes first. None where nothing repeats."""
    places: dict[int, list[int]] = {}
    for i, id in enumerate(demo.text.ids):
        places.setdefault(id, []).append(i)
    twice = [p for p in places.values() if len(p) > 1 and any(c.isalnum() for c in demo.text.tokens[p[0]])]
    if not twice:
        return None
    first, second = min(twice, key=lambda p: (-len(demo.text.tokens[p[0]]), p[0]))[:2]
    row, keys = len(demo.text) - 1, met(demo, "k").quantity.name

    def cosine(x: Tensor) -> float:
        return float(F.cosine_similarity(x[first], x[second], dim=0))

    scores, weights = (part(demo, name)[row] for name in ("scores", "weights"))
    return Pair(
        first,
        second,
        demo.text.tokens[first],
        cosine(subject.untouched(demo.text)["embed"].tensor),
        cosine(block(demo, "norm1").tensor),
        cosine(part(demo, "k")),
        cosine(part(demo, keys)) if keys == "k_rot" else None,
        (float(scores[first]), float(scores[second])),
        (float(weights[first]), float(weights[second])),
    )


@dataclass(frozen=True)
class Alike:
    """Which token is most similar to the one that asks, by its embedding, and what the head makes of it."""

    token: int
    cosine: float
    weight: float
    asked: int  # the token that gets the most weight
    asked_cosine: float
    asked_weight: float


def alike(demo: Demo) -> Alike | None:
    """Similarity against matching, for the last token. None where no token differs from it."""
    row, embed = len(demo.text) - 1, subject.untouched(demo.text)["embed"].tensor
    cosine, weights = F.cosine_similarity(embed, embed[row], dim=-1), part(demo, "weights")[row]
    others = [i for i, id in enumerate(demo.text.ids) if id != demo.text.ids[row]]
    if not others:
        return None
    near, best = max(others, key=lambda i: float(cosine[i])), int(weights.argmax())
    return Alike(near, float(cosine[near]), float(weights[near]), best, float(cosine[best]), float(weights[best]))
