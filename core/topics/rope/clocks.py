"""Two clock faces: a query at position m and a key at position n, every pair of their numbers a hand that turns.

The vectors are a real head's, before the rotation; all positions of the slider are computed in one broadcast call.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.text import Cannot, Text, top, word
from core.model import Decoder
from core.rope import adjacent_order, angles, frequencies, rotate, rotate_adjacent, rotate_half, tables
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


NO_ROTATION = "This model has no rotation: it learned a row of its table for every position."


def turning_model(text: Text) -> Decoder:
    """The model that reads this text. Raises Cannot where nothing in it turns."""
    model = subject.model(text.subject)
    if model.config.position != "rope":
        raise Cannot(NO_ROTATION)
    return model


def _before(demo: Demo, layer: int, which: str) -> Tensor:
    """The queries (which = "q") or keys ("k") of a layer as they enter the rotation: normed, where the model norms them."""
    trace = subject.untouched(demo.text)
    name = f"block{layer}.{which}"
    return trace[f"{name}_norm" if f"{name}_norm" in trace else name].tensor


def _angles(text: Text, n: int) -> Tensor:
    """(position, pair) radians, as the text's model turns its first n positions. Raises Cannot where nothing turns."""
    config = turning_model(text).config
    return angles(n, config.head_dim, config.rope_theta)


def _speeds(model: Decoder) -> Tensor:
    """(pair,) radians per position, float64."""
    return frequencies(model.config.head_dim, model.config.rope_theta).double()


@dataclass(frozen=True)
class Meeting:
    """The two vectors before rotation, float64, and the score that the model recorded for them (float32)."""

    q: Tensor
    k: Tensor
    theta: Tensor  # (pair,) radians per position
    recorded: float


def meeting(demo: Demo) -> Meeting:
    """The clock faces, the law and the stripes all start from it."""
    model = turning_model(demo.text)
    q = _before(demo, demo.layer, "q")[demo.head, demo.query]
    k = _before(demo, demo.layer, "k")[demo.head // model.config.group, demo.key]
    score = subject.untouched(demo.text)[f"block{demo.layer}.scores"].tensor[demo.head, demo.query, demo.key]
    return Meeting(q.double(), k.double(), _speeds(model), float(score))


def recorded(demo: Demo) -> Trace:
    """The chosen block's vectors before and after the rotation, and its scores."""
    names = ("q", "k", "v", "q_norm", "k_norm", "q_rot", "k_rot", "scores")
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
    model = turning_model(demo.text)
    blocks, theta = range(model.config.n_layers), _speeds(model)
    q = torch.stack([_before(demo, i, "q")[:, demo.query] for i in blocks]).double()
    k = torch.stack([_before(demo, i, "k")[:, demo.key] for i in blocks]).double()
    k = k.repeat_interleave(model.config.group, 1)
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
def turning(theta: float) -> Turning:
    """The rotation matrix of a pair that turns by theta radians a position, on a vector of length one, float64."""
    m = torch.tensor(POSITIONS).double() * theta
    matrices = torch.stack([torch.stack([m.cos(), -m.sin()], -1), torch.stack([m.sin(), m.cos()], -1)], -2)
    way = torch.deg2rad(torch.tensor(DIRECTIONS).double())
    x = torch.stack([way.cos(), way.sin()], -1)  # (direction, 2)
    turned = torch.einsum("mij,dj->mdi", matrices, x)
    moving = torch.stack([turned, x.expand_as(turned)], 2).flatten(0, 1)
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
    model = turning_model(demo.text)
    x = _before(demo, demo.layer, which)[demo.head if which == "q" else demo.head // model.config.group]
    turn = _angles(demo.text, len(x))
    values = rotate(x, torch.tensor(PARTS)[:, None, None] * turn)
    stretch = (values.norm(dim=-1) - x.norm(dim=-1)).abs().max()
    return Morph(to_numpy(values), float(stretch))


@torch.inference_mode()
def cos_sin(text: Text, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The two tables of this text's model for n positions, (position, d_head) each."""
    cos, sin = tables(_angles(text, n))
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
    uneven = max(float(np.ptp(scores.diagonal(o).numpy())) for o in range(1 - n, n))
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


def adjacent_edits(text: Text, permuted: bool) -> list[Edit]:
    """The text's model with neighbouring pairs.

    permuted: rows of W_Q and W_K, so numbers of q and k, reordered; and with them the gains of their norms, if any.
    """
    model = turning_model(text)
    turn, order = _angles(text, len(text)), adjacent_order(model.config.head_dim)
    edits: list[Edit] = []
    if permuted:
        last = "_norm" if model.config.qk_norm else ""
        edits += [(f"block*.{name}{last}", lambda x: x[..., order]) for name in ("q", "k")]
    swap = [(f"block*.{name}", lambda x: rotate_adjacent(rotate(x, -turn), turn)) for name in ("q_rot", "k_rot")]
    return edits + swap


@torch.inference_mode()
def conventions(text: Text) -> Conventions:
    plain = subject.untouched(text)["next_logits"].tensor
    same, permuted = (_next(text, adjacent_edits(text, flag)) for flag in (False, True))
    answer = int(plain.argmax())
    p = [float(logits.softmax(-1)[answer]) for logits in (plain, same, permuted)]
    return Conventions(*p, *(float((logits - plain).abs().max()) for logits in (same, permuted)))


def _next(text: Text, edits: list[Edit]) -> Tensor:
    """(vocab,) logits of the next token."""
    model = subject.model(text.subject)
    return model.predict(model.stream(torch.tensor(text.ids), trace=WhatIf(edits)))


# ---- where the rotation belongs, and what it costs ----


@torch.inference_mode()
def values_turned(text: Text, asked: int | None = None) -> subject.Outlook:
    """The next word if V were rotated like Q and K in every block."""
    turn = _angles(text, len(text))
    probs = to_numpy(_next(text, [("block*.v", lambda v: rotate(v, turn))]).softmax(-1))
    words = tuple(top(probs, subject=text.subject))
    return subject.Outlook(words, words[0] if asked is None else word(asked, probs, text.subject))


@torch.inference_mode()
def value_drift(demo: Demo) -> np.ndarray:
    """(shift,) cosine between the key word's value and the same value turned that many positions further."""
    model = turning_model(demo.text)
    values = subject.untouched(demo.text)[f"block{demo.layer}.v"].tensor
    v = values[demo.head // model.config.group, demo.key].double()
    turned = rotate(v, torch.tensor(SHIFTS).double()[:, None] * _speeds(model))
    return to_numpy(turned @ v / (v @ v))


@dataclass(frozen=True)
class Cost:
    """Multiplications a token in one block's attention, before any score: maps in the order W_Q, W_K, W_V, W_O.

    learned: RoPE's parameters, of all.
    """

    maps: tuple[int, int, int, int]
    rope: int
    learned: int
    all: int


def cost(text: Text) -> Cost:
    """Four maps, against x cos + rotate_half(x) sin on q and k. Parameters counted on the model itself."""
    model = turning_model(text)
    c, attn = model.config, model.blocks[0].attn
    rope = 2 * c.head_dim * (c.n_heads + c.n_kv_heads)
    q, k, v, o = (part.weight.numel() for part in (attn.q, attn.k, attn.v, attn.o))
    named = dict(model.named_parameters())
    learned = sum(p.numel() for name, p in named.items() if "rope" in name or "rotary" in name or "pos" in name)
    return Cost((q, k, v, o), rope, learned, sum(p.numel() for p in named.values()))
