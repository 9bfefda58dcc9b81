"""One head, step by step: of the embedded model, of vectors typed by hand, or of vectors drawn at random.

Whatever the source, a page gets the same two things: the Head at the chosen setting, and the frames of one step over
the whole range of the slider, computed in one broadcast call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core import attention as at
from core import embedded
from core.cuts import rank
from core.flow import Link
from core.provenance import Head
from core.rope import rotate
from core.softmax import entropy, temperatures
from core.trace import Trace, to_numpy
from core.whatif import Change, WhatIf

STEPS = ("scores", "scaled", "masked", "weights", "z")
TEMPERATURES = tuple(temperatures())
WIDTHS = tuple(sorted({round(2 ** (k / 6)) for k in range(55)}))  # 1 to 512, the stops of the free head's d_k
FREE_TOKENS, FREE_WIDTH_V = 12, 16
AT_ONCE = 2048  # tokens in one batched pass
NAMES = ("q", "k", "v", "q_rot", "k_rot", "allowed", *STEPS)


@dataclass(frozen=True)
class Frames:
    """One step at every stop of the slider. values: (frame, query, key) or (frame, query, d_v)."""

    values: np.ndarray
    entropy: np.ndarray | None = None  # (frame, query), bits; only where each row is a distribution


# ---- a head of the embedded model ----


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses for a sentence. everywhere: the temperature acts in all heads, not in this one alone."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    layer: int = 5
    head: int = 1
    scaling: bool = True
    mask: bool = True
    temperature: float = 1.0
    everywhere: bool = False

    @property
    def change(self) -> Change:
        """The what-ifs as the model takes them."""
        here = None if self.everywhere or self.temperature == 1.0 else (self.layer, self.head)
        return Change(self.scaling, self.mask, temperature=self.temperature, head=here)


def run(demo: Demo) -> Trace:
    """One pass: every tensor of the chosen layer's attention, and the next token."""
    only = (*tuple(f"block{demo.layer}.{name}" for name in NAMES), "next_probs")
    return embedded.run(demo.ids, demo.tokens, demo.change, only)


def head_of(demo: Demo) -> Head:
    """The chosen head's own tensors, without the head's axis; q and k as they meet, after RoPE."""
    trace, group = run(demo), embedded.model().config.group

    def part(name: str, head: int = demo.head) -> np.ndarray:
        return trace[f"block{demo.layer}.{name}"].value[head]

    return Head(
        q=part("q_rot"),
        k=part("k_rot", demo.head // group),
        v=part("v", demo.head // group),
        scores=part("scores"),
        scaled=part("scaled"),
        allowed=trace[f"block{demo.layer}.allowed"].value,
        weights=part("weights"),
        temperature=demo.temperature,
        scaling=demo.scaling,
        tokens=demo.tokens,
    )


@torch.inference_mode()
def heated(head: Head, temperature: float) -> Head:
    """A head at another temperature. What stands before softmax is divided by it, what stands before that stays."""
    scaled, allowed = (torch.from_numpy(np.array(x)) for x in (head.scaled, head.allowed))
    scaled = scaled * (head.temperature / temperature)
    weights = at.share_out(scaled.masked_fill(~allowed, -torch.inf), allowed)
    return replace(head, scaled=to_numpy(scaled), weights=to_numpy(weights), temperature=temperature)


@torch.inference_mode()
def frames(demo: Demo, step: str) -> Frames:
    """One step of the chosen head at each of TEMPERATURES, in one broadcast call; everywhere: in one batched pass."""
    if demo.everywhere:
        return _finished(*_everywhere(demo), step)
    return tempered(head_of(replace(demo, temperature=1.0)), step)


@torch.inference_mode()
def tempered(head: Head, step: str) -> Frames:
    """One step of a head at each of TEMPERATURES. head: as it is at temperature 1."""
    scores, scaled, allowed, v = (
        torch.from_numpy(np.array(x)) for x in (head.scores, head.scaled, head.allowed, head.v)
    )
    if step == "scores":
        return Frames(to_numpy(scores[None]))
    return _finished(scaled / torch.tensor(TEMPERATURES)[:, None, None], scores, allowed, v, step)


def _finished(scaled: Tensor, scores: Tensor, allowed: Tensor, v: Tensor, step: str) -> Frames:
    """From the scaled scores (frame, query, key) on: the mask, softmax, the mixture."""
    if step in ("scores", "scaled"):
        return Frames(to_numpy(scores if step == "scores" else scaled))
    masked = scaled.masked_fill(~allowed, -torch.inf)
    if step == "masked":
        return Frames(to_numpy(masked))
    weights = at.share_out(masked, allowed)
    if step == "weights":
        return Frames(to_numpy(weights), to_numpy(entropy(weights)))
    return Frames(to_numpy(weights @ v))


def after_cut(weights: Frames, masked: Frames, cell: tuple[int, int], share: bool) -> Frames:
    """The row (frame, key) of one query when its weight on one key is cut, as `core.whatif.Change.cut` does it.

    weights, masked: these two steps at every stop. share: the other keys take the weight over; entropy, (frame,), is
    then known, for the row is a distribution again.
    """
    query, key = cell
    row = torch.from_numpy(np.array((masked if share else weights).values[:, query]))
    row[:, key] = -torch.inf if share else 0.0
    if not share:
        return Frames(to_numpy(row))
    row = at.share_out(row, row > -torch.inf)
    return Frames(to_numpy(row), to_numpy(entropy(row)))


def _everywhere(demo: Demo) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Scaled scores, scores, mask and values of the chosen head when all heads run at each temperature."""
    kept: dict[str, list[Tensor]] = {"scaled": [], "scores": [], "v": []}

    def keep(name: str, head: int) -> tuple[str, object]:
        return f"block{demo.layer}.{name}", lambda x: kept[name].append(x[..., head, :, :]) or x

    model, at_once = embedded.model(), max(1, AT_ONCE // len(demo.ids))
    plain = Change(demo.scaling, demo.mask).edits(model.config.head_dim)
    for part in torch.tensor(TEMPERATURES).split(at_once):
        heat = ("block*.scaled", lambda s, part=part: s / part[:, None, None, None])
        watch = [keep("scores", demo.head), keep("scaled", demo.head), keep("v", demo.head // model.config.group)]
        ids = torch.tensor(demo.ids).expand(len(part), -1)
        model.stream(ids, until=demo.layer + 1, trace=WhatIf([*plain, heat, *watch]))
    allowed = at.allowed_pairs("causal" if demo.mask else "none", len(demo.ids))
    return torch.cat(kept["scaled"]), torch.cat(kept["scores"]), allowed, torch.cat(kept["v"])


def overview(demo: Demo, most: int = 48) -> tuple[np.ndarray, int]:
    """Every head's weights, (layer * head, query, key), and by how much each side was reduced.

    A reduced cell shows the largest of the weights it stands for, so that a bright cell never disappears.
    """
    trace = embedded.run(demo.ids, demo.tokens, demo.change, ("block*.weights",))
    weights = np.concatenate([step.value for step in trace])
    step = -(-weights.shape[-1] // most)
    if step > 1:
        size = -(-weights.shape[-1] // step) * step
        weights = np.pad(weights, ((0, 0), *((0, size - n) for n in weights.shape[1:])))
        weights = weights.reshape(len(weights), size // step, step, size // step, step).max((2, 4))
    return weights, step


# ---- which links decide ----


@dataclass(frozen=True)
class Ranking:
    """Every link cut in turn, most decisive first. deciders: those without which the answer loses
    more than half of its probability."""

    answer: int
    p: float
    cells: int
    worst: tuple[Link, ...]
    deciders: int


LONG = 20  # tokens: beyond, only the links of the last token are cut, and the page says so


def ranking(ids: tuple[int, ...], tokens: tuple[str, ...], share: bool) -> Ranking:
    """Which links decide the next word. share: the rest of the row takes the freed weight over."""
    probs = embedded.run(ids, tokens, embedded.UNTOUCHED, ("next_probs",))["next_probs"].value
    answer = int(probs.argmax())
    rows = None if len(ids) <= LONG else [len(ids) - 1]
    cuts = rank(embedded.model(), torch.tensor(ids), answer, share=share, rows=rows)
    deciders = sum(cut.p < probs[answer] / 2 for cut in cuts)
    return Ranking(answer, float(probs[answer]), len(cuts), tuple(cuts[: max(20, deciders)][:200]), deciders)


# ---- vectors typed by hand ----

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


# ---- vectors drawn at random ----

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
    return _finished(scores / (free.temperature * root[:, None, None]), scores, allowed, v, step)


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


# ---- what else the page tells ----


@dataclass(frozen=True)
class Plane:
    """Values and mixtures in the plane in which the values differ most. values: (key, 2); z: (frame, query, 2)."""

    values: np.ndarray
    z: np.ndarray
    kept: float  # the share of the values' variance that the plane shows


def plane(v: np.ndarray, z: np.ndarray) -> Plane:
    """v: (key, d_v), z: (frame, query, d_v). A mixture of points stays among them under any linear map."""
    values = torch.from_numpy(np.array(v))
    middle = values.mean(0)
    _, size, axes = torch.linalg.svd(values - middle, full_matrices=False)
    axes = axes[:2] if len(axes) > 1 else torch.cat([axes, torch.zeros_like(axes)])
    flat = F.pad(axes.T, (0, 2 - len(axes)))
    kept = float(size[:2].square().sum() / size.square().sum().clamp_min(1e-12))
    return Plane(to_numpy(values @ flat), to_numpy(torch.from_numpy(np.array(z)) @ flat), kept)


def against_torch(head: Head) -> float:
    """The largest difference between z and what torch's own scaled_dot_product_attention makes of q, k and v."""
    q, k, v = (torch.from_numpy(np.array(x)).double()[None] for x in (head.q, head.k, head.v))
    scale = 1.0 / (head.temperature * (head.q.shape[-1] ** 0.5 if head.scaling else 1.0))
    theirs = F.scaled_dot_product_attention(q, k, v, torch.from_numpy(np.array(head.allowed)), scale=scale)[0]
    ours = torch.from_numpy(np.array(head.weights)).double() @ v[0]
    return float((ours - theirs).abs().max())


@dataclass(frozen=True)
class Sink:
    """The first token as a parking place: what it gets, and how little it hands over."""

    weight: float  # the mean weight of the first token, over the rows after it
    length: float  # of its value vector
    others: float  # the mean length of all other value vectors

    @property
    def clear(self) -> bool:
        """Much weight, little value: what the word means."""
        return self.weight > 0.3 and self.length < 0.6 * self.others


def sink(head: Head) -> Sink | None:
    """None for a text of one token."""
    if len(head.v) < 2:
        return None
    lengths = np.linalg.norm(head.v, axis=-1)
    return Sink(float(head.weights[1:, 0].mean()), float(lengths[0]), float(lengths[1:].mean()))


def unprojected(ids: tuple[int, ...], tokens: tuple[str, ...], layer: int) -> float:
    """Mean weight of a token on itself if its normed vector served as query and key at once, without W_Q and W_K."""
    x = embedded.run(ids, tokens, embedded.UNTOUCHED, (f"block{layer}.norm1",))[f"block{layer}.norm1"].value
    x = torch.from_numpy(np.array(x))
    return float((x @ x.T / x.shape[-1] ** 0.5).softmax(-1).diagonal().mean())


def bilinear(demo: Demo, row: int, column: int) -> tuple[float, float]:
    """One score in two ways: as recorded, and as x_i W_Q R W_K^T x_j from the normed stream, without any q or k."""
    model, i = embedded.model(), demo.layer
    norm1 = embedded.run(demo.ids, demo.tokens, demo.change, (f"block{i}.norm1",))[f"block{i}.norm1"].value
    x, width = torch.from_numpy(np.array(norm1)), model.config.head_dim
    attn = model.blocks[i].attn
    of_q = attn.q.weight[demo.head * width : (demo.head + 1) * width]  # (d_head, d_model)
    of_k = attn.k.weight[demo.head // model.config.group * width :][:width]
    turn = model.surroundings(len(x))[0]
    both = _turned(of_q.T, turn[row]) @ _turned(of_k.T, turn[column]).T  # (d_model, d_model)
    return float(run(demo)[f"block{i}.scores"].value[demo.head, row, column]), float(x[row] @ both @ x[column])


def _turned(columns: Tensor, angle: Tensor) -> Tensor:
    return rotate(columns, angle.expand(len(columns), -1))
