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

from core import attention as at
from core import embedded
from core.provenance import Provenance, products
from core.rope import rotate
from core.sentence import Word, top, word
from core.trace import SILENT, Quantity, Trace, to_numpy
from core.whatif import WhatIf

ANGLES = tuple(range(0, 361, 3))  # degrees, the stops of the turned query
MAPS = ("q", "k", "v")
NEEDED = ("resid_pre", "norm1", "q", "k", "v", "q_rot", "k_rot", "scores", "weights")
TURNED = Quantity(
    "turned_q",
    "frame d_head",
    r"q(\phi) = \lVert q\rVert\,(\cos\phi\;e_1 + \sin\phi\;e_2)",
    "The real query, turned in the plane of the picture.",
)


@dataclass(frozen=True)
class Demo:
    """A sentence as the model reads it, and the head that is looked at. Its last token asks."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    layer: int = 4
    head: int = 4


def run(demo: Demo) -> Trace:
    """One pass: the embeddings, and what the chosen block and all after it need for their last token."""
    inside = [f"block{i}.{name}" for i in range(demo.layer, embedded.model().config.n_layers) for name in NEEDED]
    return embedded.run(demo.ids, demo.tokens, embedded.UNTOUCHED, ("embed", "next_probs", *inside))


def _part(demo: Demo, name: str, trace: Trace | None = None) -> Tensor:
    """A tensor of the chosen head, without the head's axis; a key or a value from the head it is shared by."""
    value = (trace or run(demo))[f"block{demo.layer}.{name}"].value
    shared = name in ("k", "v", "k_rot")
    group = embedded.model().config.group if shared else 1
    return torch.from_numpy(np.array(value[demo.head // group]))


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
    recorded = run(demo)
    q, k = _part(demo, "q_rot", recorded)[-1].double(), _part(demo, "k_rot", recorded).double()
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


@torch.inference_mode()
def onward(demo: Demo, most: int = 6) -> Onward:
    """What the model would write if this head asked the turned question: the rest of the pass, for all angles at once.

    Only the last token has to be computed again: earlier ones never look ahead, so their keys and values stay.
    """
    model, recorded, turned = embedded.model(), run(demo), torch.from_numpy(np.array(turn(demo).vectors))

    def ask(q: Tensor) -> Tensor:  # (frame, head, 1, d_head)
        q = q.clone()
        q[:, demo.head, 0] = turned
        return q

    def earlier(i: int, name: str) -> Tensor:
        return torch.from_numpy(np.array(recorded[f"block{i}.{name}"].value))[:, :-1]

    last = model.surroundings(len(demo.ids))[0][-1:]
    x = torch.from_numpy(np.array(recorded[f"block{demo.layer}.resid_pre"].value))[-1:].expand(len(turned), 1, -1)
    for i in range(demo.layer, model.config.n_layers):
        trace = WhatIf([("q_rot", ask)]) if i == demo.layer else SILENT
        x = model.blocks[i](x, last, None, past=(earlier(i, "k_rot"), earlier(i, "v")), trace=trace)
    probs = model.predict(x).softmax(-1).numpy()
    untouched = recorded["next_probs"].value
    ids = [w.id for w in top(probs.max(0), most)]
    words = sorted((word(i, untouched) for i in ids), key=lambda w: -w.p)
    return Onward(tuple(words), probs[:, [w.id for w in words]])


@dataclass(frozen=True)
class Flip:
    """Where the turned query makes the model write something else."""

    angle: int  # degrees, one of ANGLES
    key: int  # the token that is asked for there
    word: str
    p: float


def flip(demo: Demo) -> Flip | None:
    """The smallest turn, either way, after which another word comes first. None where the head decides nothing."""
    shares, after = turn(demo).shares, onward(demo)
    first = after.p.argmax(1)
    others = [i for i in range(len(ANGLES)) if first[i] != first[0]]
    if not others:
        return None
    i = min(others, key=lambda i: min(ANGLES[i], 360 - ANGLES[i]))
    return Flip(ANGLES[i], int(shares[i].argmax()), after.words[first[i]].token, float(after.p[i, first[i]]))


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
    turned: float  # after it: as the query meets them
    scores: tuple[float, float]
    weights: tuple[float, float]


def pair(demo: Demo) -> Pair | None:
    """The longest word that stands twice; of several, the one that comes first. None where nothing repeats."""
    places: dict[int, list[int]] = {}
    for i, id in enumerate(demo.ids):
        places.setdefault(id, []).append(i)
    twice = [p for p in places.values() if len(p) > 1 and any(c.isalnum() for c in demo.tokens[p[0]])]
    if not twice:
        return None
    first, second = min(twice, key=lambda p: (-len(demo.tokens[p[0]]), p[0]))[:2]
    trace, row = run(demo), len(demo.ids) - 1

    def cosine(x: Tensor) -> float:
        return float(F.cosine_similarity(x[first], x[second], dim=0))

    embed, stream = (torch.from_numpy(np.array(trace[n].value)) for n in ("embed", f"block{demo.layer}.norm1"))
    scores, weights = (_part(demo, n, trace)[row] for n in ("scores", "weights"))
    return Pair(
        first,
        second,
        demo.tokens[first],
        cosine(embed),
        cosine(stream),
        cosine(_part(demo, "k", trace)),
        cosine(_part(demo, "k_rot", trace)),
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
    trace, row = run(demo), len(demo.ids) - 1
    embed = torch.from_numpy(np.array(trace["embed"].value))
    cosine, weights = F.cosine_similarity(embed, embed[row], dim=-1), _part(demo, "weights", trace)[row]
    others = [i for i, id in enumerate(demo.ids) if id != demo.ids[row]]
    if not others:
        return None
    near, best = max(others, key=lambda i: float(cosine[i])), int(weights.argmax())
    return Alike(near, float(cosine[near]), float(weights[near]), best, float(cosine[best]), float(weights[best]))


# ---- the product X W ----


@dataclass(frozen=True)
class Product:
    """X W, and how it comes about: after so many of the products of every sum."""

    x: np.ndarray  # (token, n_in)
    w: np.ndarray  # (n_in, n_out)
    y: np.ndarray  # (token, n_out), as recorded
    steps: tuple[int, ...]  # how many products are added
    partial: np.ndarray  # (frame, token, n_out)

    def made(self, row: int, column: int, name: str) -> Provenance:
        """One number of the product: a row of X times a column of W. name: Q, K or V."""
        start = rf"{name}_{{{row},{column}}} = \sum_i X_{{{row},i}}\,W_{{i,{column}}}"
        return products(start, self.x[row], self.w[:, column], ("x", "w", "x · w"))


def weight(demo: Demo, which: str) -> Tensor:
    """W_Q, W_K or W_V of the chosen head, (d_model, d_head): PyTorch keeps it transposed, all heads above each other.

    Raises ValueError for another name.
    """
    if which not in MAPS:
        raise ValueError(f"{which!r} is none of {MAPS}")
    model, width = embedded.model(), embedded.model().config.head_dim
    head = demo.head if which == "q" else demo.head // model.config.group
    return getattr(model.blocks[demo.layer].attn, which).weight[head * width : (head + 1) * width].detach().T


def product(demo: Demo, which: str) -> Product:
    """The normed stream times one matrix of the head: its queries, keys or values before the rotation."""
    trace = run(demo)
    x = torch.from_numpy(np.array(trace[f"block{demo.layer}.norm1"].value))
    return multiplied(x, weight(demo, which), _part(demo, which, trace), 48 if len(x) <= 64 else 12)


def multiplied(x: Tensor, w: Tensor, y: Tensor | None = None, parts: int = 48) -> Product:
    """x (token, n_in) times w (n_in, n_out), with the sums at `parts` stops on the way; one cumulative sum."""
    steps = sorted({round(i * len(w) / min(parts, len(w))) for i in range(min(parts, len(w)) + 1)})
    sums = (x.double()[..., None] * w.double()).cumsum(1)  # (token, n_in, n_out)
    partial = F.pad(sums, (0, 0, 1, 0))[:, steps].transpose(0, 1).float()
    y = partial[-1] if y is None else y
    return Product(to_numpy(x), to_numpy(w), to_numpy(y), tuple(steps), to_numpy(partial))


@dataclass(frozen=True)
class Nudged:
    """Two numbers of every token's vector while one weight of the matrix moves."""

    stops: tuple[float, ...]  # the weight's values
    at: int  # the stop that is the real one
    real: float
    place: tuple[int, int]  # the weight's row and column: what it reads, and what it writes to
    other: int  # the second number that is drawn, which the weight does not touch
    points: np.ndarray  # (frame, token, 2)


def nudged(demo: Demo, which: str) -> Nudged:
    """The weight with most behind it: the input that the sentence's vectors use most, into the most spread output."""
    made = product(demo, which)
    i = int(np.abs(made.x).mean(0).argmax())
    j, other = (int(c) for c in np.argsort(-made.y.std(0), kind="stable")[:2])
    real = float(made.w[i, j])
    stops = sorted({round(x / 64, 4) for x in range(-32, 33)} | {round(real, 4)})
    moved = torch.from_numpy(np.array(made.y[:, [j, other]]))[None].repeat(len(stops), 1, 1)
    change = torch.tensor(stops) - real
    moved[..., 0] += change[:, None] * torch.from_numpy(np.array(made.x[:, i]))
    return Nudged(tuple(stops), stops.index(round(real, 4)), real, (i, j), other, to_numpy(moved))


SMALL_X = ((1.0, 2.0, 0.0, -1.0), (0.0, 1.0, 3.0, 1.0))
SMALL_W = ((1.0, 0.0, 2.0), (0.0, 1.0, 1.0), (2.0, -1.0, 0.0), (1.0, 1.0, -1.0))


def small() -> Product:
    """Two vectors of four numbers through a layer 4 → 3: small enough for a pencil."""
    return multiplied(torch.tensor(SMALL_X), torch.tensor(SMALL_W))


def arrays(demo: Demo) -> dict[str, np.ndarray]:
    """What the product page hands out: X, the three matrices, what comes of them, and query and key as they meet."""
    trace = run(demo)
    kept = {"x": trace[f"block{demo.layer}.norm1"].value}
    kept |= {f"w_{which}": to_numpy(weight(demo, which)) for which in MAPS}
    return kept | {name: _part(demo, name, trace).numpy() for name in (*MAPS, "q_rot", "k_rot", "scores", "weights")}


# ---- what a linear layer does and does not do ----


@dataclass(frozen=True)
class Alone:
    """One token's vector set to zero, each in turn: how far every token's result moves."""

    linear: np.ndarray  # (changed, token), the length of the change of q
    mixed: np.ndarray  # (changed, token), of the head's output z


@torch.inference_mode()
def alone(demo: Demo, most: int = 40) -> Alone:
    """Through W_Q, and through the whole head with its causal mask, at most `most` tokens; one batch for all changes."""
    x = torch.from_numpy(np.array(run(demo)[f"block{demo.layer}.norm1"].value))[:most]
    n, model = len(x), embedded.model()
    tried = torch.cat([x[None], x * (1 - torch.eye(n))[..., None]])  # (1 + changed, token, d_model)
    q, k, v = (tried @ weight(demo, which) for which in MAPS)
    where, allowed = model.surroundings(n)
    z = at.attention(rotate(q, where), rotate(k, where), v, allowed)
    return Alone(*(to_numpy((y[1:] - y[0]).norm(dim=-1)) for y in (q, z)))


@dataclass(frozen=True)
class Spectrum:
    """What one real matrix does to length, from the direction it stretches most to the one it stretches least."""

    values: np.ndarray  # (d_head,), largest first
    lost: int  # directions of the input that come out as zero
    kept: float  # the share of the sentence's vectors, squared, that lies in the other directions


def spectrum(demo: Demo, which: str) -> Spectrum:
    """Singular values of W_Q, W_K or W_V of the chosen head."""
    w = weight(demo, which)
    x = torch.from_numpy(np.array(run(demo)[f"block{demo.layer}.norm1"].value))
    left, values, _ = torch.linalg.svd(w, full_matrices=False)
    kept = float((x @ left).square().sum() / x.square().sum())
    return Spectrum(to_numpy(values), w.shape[0] - int((values > 1e-5).sum()), kept)


def collapsed(demo: Demo) -> float:
    """W_V and then W_O of the head, against their one product: the largest difference on the sentence's vectors."""
    model, width = embedded.model(), embedded.model().config.head_dim
    x = torch.from_numpy(np.array(run(demo)[f"block{demo.layer}.norm1"].value))
    v = weight(demo, "v")
    o = model.blocks[demo.layer].attn.o.weight[:, demo.head * width : (demo.head + 1) * width].detach().T
    return float(((x @ v) @ o - x @ (v @ o)).abs().max())
