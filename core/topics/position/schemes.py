"""Where a token stands, told in four ways: sinusoids, a learned table, a bias on the scores, a rotation.

The functions of this topic, and what its page asks of them. The embedded model's own way is rotation, core.rope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from core import attention as at
from core.heads import SelfAttention
from core.lab import subject
from core.lab.text import Cannot, Text
from core.positions import alibi_bias, alibi_slopes, sinusoids, wave_speeds
from core.rope import frequencies, rotate
from core.trace import Trace, to_numpy


def table_by_numpy(max_len: int, d: int) -> np.ndarray:
    """The table of sinusoids in NumPy: sines in the even columns, cosines in the odd ones."""
    position = np.arange(max_len)[:, None]
    div_term = np.exp(np.arange(0, d, 2) * -(np.log(10000.0) / d))
    table = np.zeros((max_len, d))
    table[:, 0::2] = np.sin(position * div_term)
    table[:, 1::2] = np.cos(position * div_term)
    return table


class PositionalEncoding(nn.Module):
    """Adds sinusoids to what passes. The table is a buffer: it travels with the weights, and nobody trains it."""

    def __init__(self, d: int, max_len: int = 5000) -> None:
        super().__init__()
        self.register_buffer("table", sinusoids(max_len, d).float()[None])  # (1, max_len, d)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table[:, : x.shape[1]]


@torch.inference_mode()
def odd_width() -> str:
    """What torch says when the cosines of a table of odd width are written: one column more than there is room for."""
    table, cosines = torch.zeros(5, 7), torch.ones(5, 4)
    try:
        table[:, 1::2] = cosines
    except RuntimeError as error:
        return str(error)
    return ""


# ---- sinusoids, looked at ----

WIDTHS = (4, 8, 16, 32, 64)
LENGTHS = (16, 32, 64, 128)
BASES = tuple(round(10 ** (k / 8), 2) for k in range(4, 53))  # 3 to 3 million, 10,000 among them
PLACES = tuple(range(101))
OFFSETS = tuple(range(49))
FITTED = 4096  # positions the map of an offset is fitted to
FEW = 8  # dimensions where each is looked at on its own


@torch.inference_mode()
def tables(n: int, d: int) -> np.ndarray:
    """(frame, position, d): the table at every one of BASES, in one broadcast call."""
    return to_numpy(sinusoids(n, d, torch.tensor(BASES, dtype=torch.float64)))


def wavelengths(d: int, base: float = 10_000.0) -> tuple[float, ...]:
    """How many positions each pair takes to come round: 2 pi to almost 2 pi times the base."""
    return tuple((2 * math.pi / wave_speeds(d, base)).tolist())


@torch.inference_mode()
def longest_and_shortest(d: int) -> np.ndarray:
    """(frame, 2): how many positions the first and the last pair take to come round, at every one of BASES."""
    return to_numpy(2 * math.pi / wave_speeds(d, torch.tensor(BASES, dtype=torch.float64))[:, [0, -1]])


@torch.inference_mode()
def dots(n: int, d: int) -> np.ndarray:
    """(frame, position, position): the dot product of any two rows of the table, at every one of BASES."""
    rows = sinusoids(n, d, torch.tensor(BASES, dtype=torch.float64))
    return to_numpy(rows @ rows.mT)


def uneven(square: np.ndarray) -> float:
    """The largest difference between two neighbours on one diagonal: 0 where only the distance counts."""
    return float(np.abs(square[..., 1:, 1:] - square[..., :-1, :-1]).max(initial=0.0))


def offset_map(k: int, d: int = FEW, base: float = 10_000.0) -> Tensor:
    """(d, d): A_k with P[m + k] = A_k P[m] for every m. One 2 x 2 rotation a pair, nothing else."""
    cos, sin = (k * wave_speeds(d, base)).cos(), (k * wave_speeds(d, base)).sin()
    return torch.block_diag(*(torch.tensor([[c, s], [-s, c]]) for c, s in zip(cos, sin, strict=True)))


@dataclass(frozen=True)
class Offsets:
    """fitted: (frame, d, d + 1), the affine map from P[m] to P[m + k] that fits best, its constant B_k in the last
    column; exact: (frame, d, d), the rotation A_k. misses: (frame,), by how much A_k P[m] misses P[m + k] at most;
    apart: (frame,), by how much the fitted map differs from A_k and a constant of zero at most."""

    fitted: np.ndarray
    exact: np.ndarray
    misses: np.ndarray
    apart: np.ndarray


@torch.inference_mode()
def offsets(d: int = FEW) -> Offsets:
    """Every one of OFFSETS in one least-squares call over FITTED positions. The fit knows nothing of rotations."""
    rows = sinusoids(FITTED + OFFSETS[-1], d)
    here = rows[:FITTED]
    later = torch.stack([rows[k : k + FITTED] for k in OFFSETS])  # (frame, position, d)
    exact = torch.stack([offset_map(k, d) for k in OFFSETS])
    fitted = torch.linalg.lstsq(torch.cat([here, torch.ones(FITTED, 1).double()], 1), torch.cat([*later], 1)).solution
    fitted = fitted.T.unflatten(0, (len(OFFSETS), d))
    misses = (here @ exact.mT - later).abs().amax((1, 2))
    apart = (fitted - torch.cat([exact, torch.zeros(len(OFFSETS), d, 1)], -1)).abs().amax((1, 2))
    return Offsets(*map(to_numpy, (fitted, exact, misses, apart)))


# ---- four schemes on the same input, the same W_Q and W_K ----

SCHEMES = ("none", "sinusoidal", "learned", "alibi", "rope")
STARTS = tuple(range(49))  # where the text begins
MOST = 16  # tokens of it
ROWS = STARTS[-1] + MOST  # of the learned table


@dataclass(frozen=True)
class Demo:
    """A head of the embedded model reads a text that begins at place `start`. same: every word is the last one."""

    text: Text
    layer: int = 5
    head: int = 1
    start: int = 0
    same: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        some = self.text.tokens[:MOST]
        return (some[-1],) * len(some) if self.same else some


def untrained_table(d: int, seed: int = 0) -> Tensor:
    """(ROWS, d), float64: rows for places as a model has them before it is trained. They are random, and as large as
    those of the sinusoids."""
    return math.sqrt(0.5) * torch.randn(ROWS, d, generator=torch.Generator().manual_seed(seed)).double()


PLACED = "This model has added a row for every position before the first block: no scheme can stand in its place."


def _read(demo: Demo) -> Tensor:
    """(query, d_model), float64: what the projections of a block read. All schemes start from the same one."""
    if subject.config(demo.text.subject).position != "rope":
        raise Cannot(PLACED)
    x = subject.untouched(demo.text)[f"block{demo.layer}.norm1"].tensor[:MOST].double()
    return x[-1:].expand(len(x), -1) if demo.same else x


def projected(attn: SelfAttention, which: str, head: int, x: Tensor) -> Tensor:
    """A head's queries ("q"), keys ("k") or values ("v") of x, (..., d_head), as this attention makes them before any
    rotation, biases and norms included; float64. A key or a value comes from the head it is shared by."""
    linear, norm = getattr(attn, which), getattr(attn, f"{which}_norm", None)
    width, place = attn.q.out_features // attn.n_heads, head if which == "q" else head // attn.group
    rows = slice(place * width, (place + 1) * width)
    made = x @ linear.weight[rows].double().T
    made = made if linear.bias is None else made + linear.bias[rows].double()
    return made if norm is None else norm(made)


@torch.inference_mode()
def scores(demo: Demo, scheme: str, starts: tuple[int, ...]) -> Tensor:
    """(start, query, key): the scaled scores of one scheme with the text begun at each of the starts, in one call.

    Raises Cannot for a model whose stream holds positions already.
    """
    x, model = _read(demo), subject.model(demo.text.subject)
    places = torch.tensor(starts)[:, None] + torch.arange(len(x))  # (start, query)
    if scheme in ("sinusoidal", "learned"):
        x = x + (sinusoids(ROWS, x.shape[1]) if scheme == "sinusoidal" else untrained_table(x.shape[1]))[places]
    q, k = (projected(model.blocks[demo.layer].attn, which, demo.head, x) for which in "qk")
    if scheme == "rope":
        turn = places[..., None] * frequencies(q.shape[-1], model.config.rope_theta).double()
        q, k = rotate(q, turn), rotate(k, turn)
    found = (q @ k.mT / q.shape[-1] ** 0.5).expand(len(starts), -1, -1)
    if scheme == "alibi":
        found = found - slope_of(demo.head, model.config.n_heads) * (places[:, :, None] - places[:, None])
    return found


def slope_of(head: int, n_heads: int) -> float:
    """ALiBi's slope for one of so many heads."""
    return float(alibi_slopes(n_heads)[head])


@dataclass(frozen=True)
class Moved:
    """One scheme at every one of STARTS. scores and weights: (frame, query, key), float32; moved: (frame,), the largest
    change of a score since the text began at 0, from float64."""

    scores: np.ndarray
    weights: np.ndarray
    moved: np.ndarray


@torch.inference_mode()
def moved(demo: Demo, scheme: str) -> Moved:
    found = scores(demo, scheme, STARTS)
    allowed = at.allowed_pairs("causal", found.shape[-1])
    masked = found.masked_fill(~allowed, -torch.inf)
    gone = (found - found[:1])[:, allowed].abs().amax(-1)
    return Moved(to_numpy(masked.float()), to_numpy(at.share_out(masked, allowed).float()), to_numpy(gone))


@torch.inference_mode()
def run(demo: Demo) -> Trace:
    """Every scheme's scaled scores and weights with the text at its start, one scope each."""
    names = list(demo.names)
    trace = Trace(query=names, key=names)
    for scheme in SCHEMES:
        with trace.inside(scheme):
            found = trace(at.SCALED, scores(demo, scheme, (demo.start,)))
            allowed = trace(at.ALLOWED, at.allowed_pairs("causal", len(names)))
            trace(at.WEIGHTS, at.share_out(trace(at.MASKED, found.masked_fill(~allowed, -torch.inf)), allowed))
    return trace


# ---- slopes ----


def slopes(n_heads: int) -> tuple[float, ...]:
    """`alibi_slopes` as plain numbers."""
    return tuple(alibi_slopes(n_heads).tolist())


def t5_buckets(distances: tuple[int, ...], buckets: int = 32, longest: int = 128) -> tuple[int, ...]:
    """Which of a causal T5's learned numbers is added at each distance: one a distance while it is short, then one for
    ever longer stretches, the last for all that is far away (Raffel et al. 2020, arXiv 1910.10683, sec. 2.1). Its
    stretch begins before `longest`, as numbers are rounded down: at 113 of 128 with 32 buckets."""
    exact = buckets // 2
    far = [exact + int(math.log(max(d, 1) / exact) / math.log(longest / exact) * (buckets - exact)) for d in distances]
    return tuple(d if d < exact else min(f, buckets - 1) for d, f in zip(distances, far, strict=True))


SLOPES = tuple(2 ** (-k / 6) for k in range(54, -1, -1))  # 1/512 to 1


@torch.inference_mode()
def ramps(n: int) -> np.ndarray:
    """(frame, query, key): ALiBi's bias at every one of SLOPES, minus infinity where the mask is."""
    bias = alibi_bias(n, torch.tensor(SLOPES, dtype=torch.float64))
    return to_numpy(bias.masked_fill(~at.allowed_pairs("causal", n), -torch.inf))
