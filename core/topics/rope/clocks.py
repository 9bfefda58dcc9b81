"""Two clock faces: a query at position m and a key at position n, every pair of their numbers a hand that turns.

The vectors are a real head's, before the rotation; all positions of the slider are computed in one broadcast call.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.text import Text, top, word
from core.rope import adjacent_order, frequencies, rotate, rotate_adjacent, rotate_half, tables
from core.trace import Trace, to_numpy
from core.whatif import Edit, WhatIf

SHIFTS = tuple(range(64))  # how many positions the words are moved
MOVES = ("both", "m", "n")  # who moves: together, the query alone, the key alone
PARTS = tuple(k / 48 for k in range(49))  # how much of the rotation is done
POSITIONS = tuple(range(49))
DIRECTIONS = tuple(range(0, 360, 7))  # degrees


@dataclass(frozen=True)
class Demo:
    """A sentence, a head, and two of its tokens by their positions: one asks, one is asked."""

    text: Text
    layer: int = 5
    head: int = 1
    query: int = 13
    key: int = 3


@dataclass(frozen=True)
class Meeting:
    """The two vectors before rotation, float64, and the score that the model recorded for them (float32)."""

    q: Tensor
    k: Tensor
    theta: Tensor  # (pair,) radians per position
    recorded: float


@lru_cache(maxsize=64)
def meeting(demo: Demo) -> Meeting:
    """Kept for the last words asked for: the clock faces, the law and the stripes all start from it."""
    model = subject.model(demo.text.subject)
    trace = recorded(demo)
    group, config = model.config.group, model.config
    q = trace[f"block{demo.layer}.q"].tensor[demo.head, demo.query]
    k = trace[f"block{demo.layer}.k"].tensor[demo.head // group, demo.key]
    score = trace[f"block{demo.layer}.scores"].tensor[demo.head, demo.query, demo.key]
    theta = frequencies(config.head_dim, config.rope_theta).double()
    return Meeting(q.double(), k.double(), theta, float(score))


def recorded(demo: Demo) -> Trace:
    """The chosen block's vectors before and after the rotation, its scores, and the angles."""
    names = ("q", "k", "v", "q_rot", "k_rot", "scores")
    return subject.run(demo.text, subject.UNTOUCHED, tuple(f"block{demo.layer}.{name}" for name in names))


# ---- the clock faces ----


@dataclass(frozen=True)
class Clocks:
    """q, k: (shift, pair, 2), the hands after the rotation; parts: (move, shift, pair), what each pair adds to the
    score; scores: (move, shift)."""

    q: np.ndarray
    k: np.ndarray
    parts: np.ndarray
    scores: np.ndarray


@torch.inference_mode()
def clocks(demo: Demo) -> Clocks:
    """Every shift of both words at once. A move leaves the other word where it stands in the sentence."""
    met, shifts = meeting(demo), torch.tensor(SHIFTS).double()
    q, k = (
        _hands(rotate(x, (place + shifts)[:, None] * met.theta))
        for x, place in ((met.q, demo.query), (met.k, demo.key))
    )
    parts = torch.stack([(q * k).sum(-1), (q * k[:1]).sum(-1), (q[:1] * k).sum(-1)])
    return Clocks(*(to_numpy(x) for x in (q, k, parts, parts.sum(-1))))


def _hands(x: Tensor) -> Tensor:
    """(..., d_head) -> (..., pair, 2): the two numbers that turn together."""
    return torch.stack(x.chunk(2, dim=-1), dim=-1)


@dataclass(frozen=True)
class Law:
    """One score in four ways, and how far it wanders while both words move. wrong: with the sign of the distance lost."""

    recorded: float
    turned: float  # (R_m q) . (R_n k)
    relative: float  # q . R_{n-m} k
    spun: float  # Re(e^{i(m-n)theta} <q, k>), <q, k> = q k*
    wrong: float  # q . R_{m-n} k
    drift64: float
    drift32: float


@torch.inference_mode()
def law(demo: Demo) -> Law:
    met, m, n = meeting(demo), demo.query, demo.key

    def at(x: Tensor, place: int) -> Tensor:
        return rotate(x, place * met.theta)

    q, k = (torch.complex(*x.chunk(2)) for x in (met.q, met.k))
    spun = (torch.polar(torch.ones_like(met.theta), (m - n) * met.theta) * q * k.conj()).real.sum()
    drift = {}
    for kind in (torch.float64, torch.float32):
        places = torch.tensor(SHIFTS).to(kind)[:, None]
        a, b = (rotate(x.to(kind), (p + places) * met.theta.to(kind)) for x, p in ((met.q, m), (met.k, n)))
        scores = (a * b).sum(-1)
        drift[kind] = float((scores - scores[0]).abs().max())
    return Law(
        met.recorded,
        float(at(met.q, m) @ at(met.k, n)),
        float(met.q @ at(met.k, n - m)),
        float(spun),
        float(met.q @ at(met.k, m - n)),
        drift[torch.float64],
        drift[torch.float32],
    )


@dataclass(frozen=True)
class Swings:
    """What the score of the two words does in every head, (layer, head), while the query alone moves along SHIFTS.

    relative: the width of the swing over |q| |k|, the largest score that two vectors of these lengths can have.
    """

    start: np.ndarray
    low: np.ndarray
    high: np.ndarray
    relative: np.ndarray


@torch.inference_mode()
def swings(demo: Demo) -> Swings:
    """All heads of all blocks in one call, float64."""
    config = subject.model(demo.text.subject).config
    trace = subject.run(demo.text, subject.UNTOUCHED, ("block*.q", "block*.k"))
    blocks = range(config.n_layers)
    q = torch.stack([trace[f"block{i}.q"].tensor[:, demo.query] for i in blocks]).double()
    k = torch.stack([trace[f"block{i}.k"].tensor[:, demo.key] for i in blocks]).double()
    k = k.repeat_interleave(config.group, 1)
    theta = frequencies(config.head_dim, config.rope_theta).double()
    moved = rotate(q[..., None, :], (demo.query + torch.tensor(SHIFTS).double())[:, None] * theta)
    scores = (moved * rotate(k, demo.key * theta)[..., None, :]).sum(-1)  # (layer, head, shift)
    low, high = scores.min(-1).values, scores.max(-1).values
    relative = (high - low) / (q.norm(dim=-1) * k.norm(dim=-1))
    return Swings(*(to_numpy(x) for x in (scores[..., 0], low, high, relative)))


# ---- one pair by itself ----


@dataclass(frozen=True)
class Turning:
    """One pair at every position and in every direction: frame = position * len(DIRECTIONS) + direction.

    moving: (frame, 2, 2), the turned vector and the vector itself; radians, degrees: (frame,).
    """

    moving: np.ndarray
    radians: np.ndarray
    degrees: np.ndarray


@torch.inference_mode()
def turning(pair: int) -> Turning:
    """The rotation matrix of one of the head's pairs applied to a vector of length one, float64."""
    config = subject.model().config
    theta = frequencies(config.head_dim, config.rope_theta)[pair].double()
    m = torch.tensor(POSITIONS).double() * theta
    matrices = torch.stack([torch.stack([m.cos(), -m.sin()], -1), torch.stack([m.sin(), m.cos()], -1)], -2)
    way = torch.deg2rad(torch.tensor(DIRECTIONS).double())
    x = torch.stack([way.cos(), way.sin()], -1)  # (direction, 2)
    turned = torch.einsum("mij,dj->mdi", matrices, x)
    moving = torch.stack([turned, x.expand_as(turned)], -2).flatten(0, 1)
    radians = m.repeat_interleave(len(way))
    return Turning(to_numpy(moving), to_numpy(radians), to_numpy(torch.rad2deg(radians)))


# ---- a whole head, before and after ----


@dataclass(frozen=True)
class Morph:
    """values: (frame, token, d_head) at every part of the rotation; stretch: the largest change of a row's length."""

    values: np.ndarray
    stretch: float


@torch.inference_mode()
def morph(demo: Demo, which: str) -> Morph:
    """The head's queries ("q") or keys ("k") from before the rotation to after it, in one call."""
    model = subject.model(demo.text.subject)
    head = demo.head if which == "q" else demo.head // model.config.group
    trace = recorded(demo)
    x = trace[f"block{demo.layer}.{which}"].tensor[head]
    turn = model.surroundings(len(x))[0]
    values = rotate(x, torch.tensor(PARTS)[:, None, None] * turn)
    stretch = (values.norm(dim=-1) - x.norm(dim=-1)).abs().max()
    return Morph(to_numpy(values), float(stretch))


@torch.inference_mode()
def cos_sin(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The two tables of the embedded model for n positions, (position, d_head) each."""
    cos, sin = tables(subject.model().surroundings(n)[0])
    return to_numpy(cos), to_numpy(sin)


@dataclass(frozen=True)
class Stripes:
    """values: (query, key) scores of one query and one key put at all positions; uneven: the largest difference
    along a diagonal."""

    values: np.ndarray
    uneven: float


@torch.inference_mode()
def stripes(demo: Demo, n: int = 24) -> Stripes:
    """What the head would score if every token had the chosen query and the chosen key (float64)."""
    met = meeting(demo)
    turn = torch.arange(n).double()[:, None] * met.theta
    scores = rotate(met.q.expand(n, -1), turn) @ rotate(met.k.expand(n, -1), turn).mT
    uneven = max(float(scores.diagonal(o).max() - scores.diagonal(o).min()) for o in range(1 - n, n))
    return Stripes(to_numpy(scores), uneven)


# ---- pairs of neighbours, pairs of halves ----

ROWS = ("x", "quarter", "cos", "sin", "turned")


@torch.inference_mode()
def four(x: tuple[float, ...], pairing: str) -> np.ndarray:
    """(frame, row, 4): x, its quarter turn, x cos, quarter turn sin, and their sum, at each of POSITIONS."""
    vector = torch.tensor(x, dtype=torch.float64)
    turn = torch.tensor(POSITIONS).double()[:, None] * frequencies(4).double()
    if pairing == "halves":
        cos, sin = tables(turn)
        quarter = rotate_half(vector)
    else:
        cos, sin = (f.repeat_interleave(2, -1) for f in (turn.cos(), turn.sin()))
        quarter = torch.stack([-vector[1], vector[0], -vector[3], vector[2]])
    rows = [vector.expand_as(cos), quarter.expand_as(cos), vector * cos, quarter * sin]
    return to_numpy(torch.stack([*rows, rows[2] + rows[3]], dim=1))


@dataclass(frozen=True)
class Conventions:
    """What the model says when its rotation pairs neighbours: with its own weights, and with W_Q, W_K permuted.

    gaps: the largest difference of the next token's logits from the untouched model's.
    """

    before: float
    same: float
    permuted: float
    gap_same: float
    gap_permuted: float


def adjacent_edits(permuted: bool, n: int) -> list[Edit]:
    """The embedded model with neighbouring pairs. permuted: rows of W_Q and W_K, so numbers of q and k, reordered."""
    model = subject.model()
    turn, order = model.surroundings(n)[0], adjacent_order(model.config.head_dim)
    edits: list[Edit] = []
    if permuted:
        edits += [(f"block*.{name}", lambda x: x[..., order]) for name in ("q", "k")]
    swap = [(f"block*.{name}", lambda x: rotate_adjacent(rotate(x, -turn), turn)) for name in ("q_rot", "k_rot")]
    return edits + swap


@torch.inference_mode()
def conventions(ids: tuple[int, ...]) -> Conventions:
    plain = _next(ids, [])
    same, permuted = (_next(ids, adjacent_edits(flag, len(ids))) for flag in (False, True))
    answer = int(plain.argmax())
    p = [float(logits.softmax(-1)[answer]) for logits in (plain, same, permuted)]
    return Conventions(*p, *(float((logits - plain).abs().max()) for logits in (same, permuted)))


def _next(ids: tuple[int, ...], edits: list[Edit]) -> Tensor:
    """(vocab,) logits of the next token."""
    model = subject.model()
    return model.predict(model.stream(torch.tensor(ids), trace=WhatIf(edits)))


# ---- where the rotation belongs, and what it costs ----


@torch.inference_mode()
def values_turned(text: Text, asked: int | None = None) -> subject.Outlook:
    """The next word if V were rotated like Q and K in every block."""
    model = subject.model(text.subject)
    turn = model.surroundings(len(text))[0]
    probs = to_numpy(_next(text.ids, [("block*.v", lambda v: rotate(v, turn))]).softmax(-1))
    words = tuple(top(probs, subject=text.subject))
    return subject.Outlook(words, words[0] if asked is None else word(asked, probs, text.subject))


@torch.inference_mode()
def value_drift(demo: Demo) -> np.ndarray:
    """(shift,) cosine between the key word's value and the same value turned that many positions further."""
    trace, model = recorded(demo), subject.model(demo.text.subject)
    v = trace[f"block{demo.layer}.v"].tensor[demo.head // model.config.group, demo.key].double()
    theta = frequencies(model.config.head_dim, model.config.rope_theta).double()
    turned = rotate(v, torch.tensor(SHIFTS).double()[:, None] * theta)
    return to_numpy(turned @ v / (v @ v))


@dataclass(frozen=True)
class Cost:
    """Multiplications a token in one block's attention, before any score. learned: RoPE's parameters, of all."""

    projection: int
    rope: int
    learned: int
    all: int


@cache
def cost() -> Cost:
    """Four maps of d x d, against x cos + rotate_half(x) sin on q and k. Parameters counted on the model itself."""
    model = subject.model()
    c = model.config
    rope = 2 * c.head_dim * (c.n_heads + c.n_kv_heads)
    named = dict(model.named_parameters())
    learned = sum(p.numel() for name, p in named.items() if "rope" in name or "rotary" in name or "pos" in name)
    return Cost(c.d_model**2, rope, learned, sum(p.numel() for p in named.values()))
