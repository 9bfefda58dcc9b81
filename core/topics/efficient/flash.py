"""Flash Attention, tile by tile, on a real head: exact attention that never stores the square.

Dao et al. 2022 (arXiv 2205.14135); the running softmax is Milakov and Gimelshein's (2018, arXiv 1805.02867). What
torch's own kernel takes in memory and time is measured: live up to `LIVE` tokens, recorded beyond.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Lock

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from core.assets import ASSETS
from core.attention import allowed_pairs
from core.heads import share
from core.lab import subject
from core.lab.text import Text
from core.topics.efficient.patterns import READ, stories
from core.trace import SILENT, Quantity, Trace, to_numpy

RUN_MAX = Quantity(
    "run_max",
    "query",
    r"m \leftarrow \max(m,\ \max_j \hat S_{ij})",
    "The largest score that each query has met so far.",
)
RUN_SUM = Quantity(
    "run_sum",
    "query",
    r"\ell \leftarrow e^{m_{old} - m}\,\ell + \textstyle\sum_j e^{\hat S_{ij} - m}",
    "The sum of all powers so far, measured from the largest score.",
)
RUN_OUT = Quantity(
    "run_out",
    "query d_v",
    r"O \leftarrow e^{m_{old} - m}\,O + \textstyle\sum_j e^{\hat S_{ij} - m}\,V_j",
    "The mixture of the values so far, not yet divided by the sum.",
)
TILE = 4  # keys: 64 tiles of a story's 256 tokens
RECORDED = ASSETS / "data" / "instead.json"
SIZES = (256, 512, 1024, 2048, 4096, 8192)
LIVE = 4096  # tokens: beyond, the square would take too much of the machine that serves all visitors
D_HEAD = 48


# ---- the algorithm ----


def flash(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    allowed: Tensor,
    tile: int,
    *,
    rescale: bool = True,
    order: tuple[int, ...] | None = None,
    trace: Trace = SILENT,
) -> Tensor:
    """softmax(q kᵀ / sqrt(d)) v without ever holding more than `tile` columns of the scores.

    q: (..., query, d_head)    k, v: (..., key, d)    allowed: (query, key).
    rescale: False forgets to measure the old sums from the new maximum: wrong, to see why it is needed.
    order: of the tiles; any will do. Records what is held after each tile, in the scopes tile0, tile1, ...
    A query that may look nowhere takes home zeros.
    """
    n = k.shape[-2]
    high = torch.full((*q.shape[:-1], 1), -torch.inf, dtype=q.dtype)
    total, out = torch.zeros_like(high), torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for step, at in enumerate(order or range(-(-n // tile))):
        keys = slice(at * tile, min(n, (at + 1) * tile))
        scores = (q @ k[..., keys, :].mT / math.sqrt(q.shape[-1])).masked_fill(~allowed[:, keys], -torch.inf)
        new = torch.maximum(high, scores.amax(-1, keepdim=True))
        old = (high - new).exp().nan_to_num(0.0) if rescale else torch.ones_like(high)
        powers = (scores - new).exp().nan_to_num(0.0)  # minus infinity from itself: nothing was allowed yet
        total, out, high = old * total + powers.sum(-1, keepdim=True), old * out + powers @ v[..., keys, :], new
        with trace.inside(f"tile{step}"):
            trace(RUN_MAX, high[..., 0])
            trace(RUN_SUM, total[..., 0])
            trace(RUN_OUT, out)
    return out / total.clamp_min(torch.finfo(q.dtype).tiny)


@dataclass(frozen=True)
class Demo:
    """A head of a model, and how many keys a tile has."""

    text: Text
    layer: int = 5
    head: int = 1
    tile: int = TILE


def story() -> Text:
    """The first long story as the embedded model reads it: as many tokens as it was trained on."""
    from core.lab.text import FIRST, called

    ids = tuple(int(i) for i in stories()[0, :READ])
    return Text(FIRST, ids, tuple(called(i) for i in ids))


def vectors(demo: Demo) -> tuple[Tensor, Tensor, Tensor]:
    """q, k, v of the head, (token, d), as they meet."""
    trace, group = subject.untouched(demo.text), subject.config(demo.text.subject).group
    q = subject.met(trace, demo.layer, "q").tensor[demo.head]
    k, v = subject.met(trace, demo.layer, "k").tensor, trace[f"block{demo.layer}.v"].tensor
    return q, share(k, group)[demo.head], share(v, group)[demo.head]


def run(demo: Demo, rescale: bool = True) -> Trace:
    """Every tile of the head, recorded."""
    trace, (q, k, v) = Trace(None, **demo.text.labels), vectors(demo)
    flash(q, k, v, allowed_pairs("causal", len(q)), demo.tile, rescale=rescale, trace=trace)
    return trace


@dataclass(frozen=True)
class Tiles:
    """The last query's way through the tiles. scores: (key,); high, total, factor: (tile,) what is held after each, and
    what the old sums were multiplied by; away, wrong: (tile,) how far the output so far is from the plain one, relative
    to its length, with and without the rescaling; gap: the largest difference of any number at the end; held: numbers
    of the scores held at once, plain and in tiles; rescaled: how often a query's maximum grew after its first tile, on
    average and at most."""

    scores: np.ndarray
    high: np.ndarray
    total: np.ndarray
    factor: np.ndarray
    away: np.ndarray
    wrong: np.ndarray
    gap: float
    held: tuple[int, int]
    rescaled: tuple[float, int]


@torch.inference_mode()
def tiles(demo: Demo) -> Tiles:
    """Everything the picture of a head shows."""
    q, k, v = vectors(demo)
    n = len(q)
    plain = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
    good, bad = (_held(run(demo, rescale), -(-n // demo.tile)) for rescale in (True, False))
    ways = [[_away(total[-1], out[-1], plain[-1]) for _m, total, out in way] for way in (good, bad)]
    high = np.array([m[-1] for m, _t, _o in good])
    every = np.stack([m for m, _t, _o in good])
    grew = ((every[1:] > every[:-1]) & np.isfinite(every[:-1])).sum(0)
    before = np.concatenate([[-np.inf], high[:-1]])
    return Tiles(
        scores=to_numpy(q[-1] @ k.mT / math.sqrt(q.shape[-1])),
        high=high,
        total=np.array([total[-1] for _m, total, _o in good]),
        factor=np.exp(before - high),
        away=np.array(ways[0]),
        wrong=np.array(ways[1]),
        gap=float(np.abs(good[-1][2] / good[-1][1][:, None] - plain.numpy()).max()),
        held=(n * n, n * demo.tile),
        rescaled=(float(grew.mean()), int(grew.max())),
    )


def _held(trace: Trace, count: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """What was held after each tile: maximum, sum, output."""
    names = ("run_max", "run_sum", "run_out")
    return [tuple(trace[f"tile{i}.{name}"].value for name in names) for i in range(count)]  # type: ignore[misc]


def _away(total: float, out: np.ndarray, plain: Tensor) -> float:
    so_far = out / total if total else out
    return float(np.linalg.norm(so_far - plain.numpy()) / np.linalg.norm(plain.numpy()))


# ---- memory and time of torch's own kernel ----


@dataclass(frozen=True)
class Cost:
    """One head of D_HEAD numbers over n tokens: the most bytes held at once beside q, k, v, and seconds of one thread."""

    n: int
    plain_bytes: int
    flash_bytes: int
    plain_seconds: float
    flash_seconds: float
    gap: float


ONE = Lock()  # one measurement at a time, for all visitors


@torch.inference_mode()
def measured(n: int) -> Cost:
    """Measured here and now, on one thread. Raises ValueError for more than LIVE tokens."""
    if n > LIVE:
        raise ValueError(f"at most {LIVE} tokens are measured live, not {n}")
    with ONE:
        return measure(n)


@torch.inference_mode()
def measure(n: int) -> Cost:
    """The same, however long; for the recording."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 1, n, D_HEAD, generator=generator) for _ in range(3))

    def plain() -> Tensor:
        return (q @ k.mT / math.sqrt(D_HEAD)).softmax(-1) @ v

    def kernel() -> Tensor:
        return F.scaled_dot_product_attention(q, k, v)

    gap = float((plain() - kernel()).abs().max())
    return Cost(n, _peak(plain), _peak(kernel), _seconds(plain), _seconds(kernel), gap)


def _seconds(work: Callable[[], Tensor]) -> float:
    taken = []
    for _ in range(2):
        start = time.thread_time()
        work()
        taken.append(time.thread_time() - start)
    return min(taken)


def _peak(work: Callable[[], Tensor]) -> int:
    """The most bytes that torch held at once, counted at its allocator."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as seen:
        work()
    held, most = 0, 0
    for event in seen.profiler.kineto_results.events():  # type: ignore[union-attr]
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most


@cache
def recorded() -> tuple[Cost, ...]:
    """What was measured once for every size (`python -m core.make instead`)."""
    return tuple(Cost(**one) for one in json.loads(RECORDED.read_text("utf8"))["kernel"])


def traffic(n: int, d: int, rows: int) -> tuple[int, int]:
    """Numbers that travel to and from slow memory, one head: plain, and in tiles of `rows` queries.

    Plain: q, k, v and the output once, the square written and read twice. In tiles: q and the output once, k and v once
    for every block of queries.
    """
    return 4 * n * d + 4 * n * n, 2 * n * d + math.ceil(n / rows) * 2 * n * d
