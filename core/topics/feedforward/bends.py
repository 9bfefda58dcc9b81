"""The bends between two maps: their curves and slopes, the real numbers that go through them, curves that bent units can
follow, units that are dead, and how wide an FFN is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core import counting
from core.lab import subject
from core.lab.text import Text
from core.presets import presets
from core.topics.feedforward.neuron import gated
from core.trace import to_numpy

CURVES: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
}
XS = tuple(k / 20 for k in range(-80, 61))  # what goes into a bend
UNITS = tuple(range(1, 65))
BIASES = tuple(round(-0.4 + k / 60, 4) for k in range(49))  # of every unit of a fresh FFN
WIDTHS = tuple(1 + k / 8 for k in range(57))  # d_ff / d_model
TURNS = tuple(range(0, 361, 6))  # degrees
WIDE, FRESH = 4, 0.01  # of a fresh FFN: d_ff / d_model, and the spread of its weights


# ---- the curves ----


@dataclass(frozen=True)
class Bend:
    """values: (x,) at XS; slopes: (x,) as torch's autograd has them; low, at: the smallest value, and where."""

    values: np.ndarray
    slopes: np.ndarray
    low: float
    at: float


@cache
def curve(name: str) -> Bend:
    """float64; the minimum on a grid of thousandths."""
    x = torch.tensor(XS, dtype=torch.float64, requires_grad=True)
    y = CURVES[name](x)
    (slopes,) = torch.autograd.grad(y.sum(), x)
    fine = torch.linspace(-6, 6, 12_001, dtype=torch.float64)
    bent = CURVES[name](fine)
    at = int(bent.argmin())
    return Bend(to_numpy(y.detach()), to_numpy(slopes), float(bent[at]), float(fine[at]))


@cache
def gelu_gap() -> tuple[float, float]:
    """The largest difference between GELU and its tanh formula, and the positive x where it is."""
    x = torch.linspace(0, 8, 80_001, dtype=torch.float64)
    gap = (F.gelu(x) - F.gelu(x, approximate="tanh")).abs()
    return float(gap.max()), float(x[gap.argmax()])


@dataclass(frozen=True)
class Through:
    """What goes through the bend of one token's neurons, (neuron,) each. before: gates, or what stands before the bend;
    after: what enters the last map. negative: share of `before` below 0; dead: neurons below 0 at every token, which
    ReLU would shut for this whole text; zeros: of `after`, exactly 0; small: share of |after| below 0.01."""

    before: np.ndarray
    after: np.ndarray
    negative: float
    dead: int
    zeros: int
    small: float


def through(text: Text, layer: int, token: int = -1) -> Through:
    """As the untouched pass has them."""
    trace = subject.untouched(text)
    every = trace[f"block{layer}.{'ffn_gate' if gated(text) else 'ffn_pre'}"].value
    after = trace[f"block{layer}.ffn_act"].value[token]
    before = every[token]
    dead = int((every < 0).all(0).sum())
    small = float((np.abs(after) < 0.01).mean())
    return Through(before, after, float((before < 0).mean()), dead, int((after == 0).sum()), small)


# ---- a curve out of bent units ----


def target(x: Tensor) -> Tensor:
    """Something wiggly on -3 to 3."""
    return torch.sin(2 * x) + 0.4 * x + 0.3 * torch.cos(5 * x)


@dataclass(frozen=True)
class Fit:
    """fits: (stop, x) for each of UNITS; wanted: (x,); error: (stop,) root mean square."""

    xs: np.ndarray
    wanted: np.ndarray
    fits: np.ndarray
    error: np.ndarray


@cache
def fitted(bend: str, scattered: bool = False, seed: int = 0) -> Fit:
    """n units bend(±(x - kink)) plus a constant, their weights by least squares. bend: a name of CURVES, or "none".

    The kinks of n units are among those of n + 1, so more units are never worse. scattered: kinks drawn at random.
    """
    xs = torch.linspace(-3, 3, 181, dtype=torch.float64)
    wanted, draw = target(xs), torch.Generator().manual_seed(seed)
    count = UNITS[-1]
    kinks = (
        torch.rand(count, generator=draw, dtype=torch.float64) if scattered else torch.tensor(spread(count)).double()
    )
    signs = torch.where(torch.arange(count) % 2 == 0, 1.0, -1.0).double()
    steep = 4.0  # a smooth bend looks like a bend at this scale
    units = (xs[:, None] - (6 * kinks - 3)) * signs * steep
    hidden = units if bend == "none" else CURVES[bend](units)
    basis = torch.cat([torch.ones(len(xs), 1, dtype=torch.float64), hidden], 1)
    fits = []
    for n in UNITS:
        part = basis[:, : n + 1]
        fits.append(part @ torch.linalg.lstsq(part, wanted[:, None], driver="gelsd").solution[:, 0])
    every = torch.stack(fits)
    return Fit(*(to_numpy(v) for v in (xs, wanted, every, (every - wanted).square().mean(-1).sqrt())))


def spread(n: int) -> list[float]:
    """The van der Corput sequence: each number falls into the widest gap of those before it."""
    return [sum(int(bit) / 2 ** (place + 1) for place, bit in enumerate(reversed(f"{i:b}"))) for i in range(1, n + 1)]


# ---- two numbers in, four units, two numbers out ----

W1 = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.5), (0.5, -1.0))
B1 = (0.0, 0.2, -0.1, 0.0)
W2 = ((1.0, -0.5), (0.5, 1.0), (-1.0, 0.5), (0.5, -0.5))


@dataclass(frozen=True)
class Small:
    """At each of TURNS: x: (stop, 2); before, after: (stop, 4), around ReLU; out: (stop, 2)."""

    x: np.ndarray
    before: np.ndarray
    after: np.ndarray
    out: np.ndarray


@torch.inference_mode()
def small() -> Small:
    """max(0, x W_1 + b_1) W_2 for a vector of length one that goes round (Vaswani et al. 2017, eq. 2)."""
    way = torch.deg2rad(torch.tensor(TURNS).double())
    x = torch.stack([way.cos(), way.sin()], -1)
    before = x @ torch.tensor(W1).double().T + torch.tensor(B1).double()
    after = before.relu()
    return Small(*(to_numpy(v) for v in (x, before, after, after @ torch.tensor(W2).double())))


# ---- dead units ----


@dataclass(frozen=True)
class Dead:
    """At each of BIASES: open, the share of units above 0, over all tokens; dead, the share at 0 for every token."""

    open: np.ndarray
    dead: np.ndarray
    units: int


@torch.inference_mode()
def dead(text: Text, seed: int = 0) -> Dead:
    """A fresh FFN with weights N(0, 0.01^2) reads what the first block's FFN reads; every unit gets the same bias."""
    x = subject.untouched(text)["block0.norm2"].tensor
    drawn = torch.randn(WIDE * x.shape[-1], x.shape[-1], generator=torch.Generator().manual_seed(seed))
    before = x @ (FRESH * drawn).T  # (token, unit)
    above = before + torch.tensor(BIASES)[:, None, None] > 0
    return Dead(to_numpy(above.float().mean((1, 2))), to_numpy((~above).all(1).float().mean(-1)), len(drawn))


# ---- how wide ----


@dataclass(frozen=True)
class Point:
    """A row of table 3 (C) in Vaswani et al. 2017, arXiv 1706.03762: base model, English to German, dev set."""

    d_ff: int
    perplexity: float
    bleu: float
    millions: int


BASE = 512  # d_model of the paper's base model
PAPER = (Point(1024, 5.12, 25.4, 53), Point(2048, 4.92, 25.8, 65), Point(4096, 4.75, 26.2, 90))
T5_11B = ("T5-11B", 65_536 / 1024)  # d_ff / d_model of its published config.json
VOCABULARY = 37_000  # pieces, as the paper says


@dataclass(frozen=True)
class Width:
    """The paper's base model at each of WIDTHS, in numbers: everything, and its FFNs alone."""

    all: np.ndarray
    ffn: np.ndarray


@cache
def widths() -> Width:
    rows = [counting.encoder_decoder(BASE, round(BASE * w), 6, VOCABULARY, attention_bias=False) for w in WIDTHS]
    ffn = [sum(row.value for row in made if row.part == "ffn") for made in rows]
    return Width(np.array([sum(row.value for row in made) for made in rows]), np.array(ffn))


@dataclass(frozen=True)
class Share:
    """A published model: d_ff / d_model, one block's FFN, and all FFNs as a share of all parameters."""

    name: str
    ratio: float
    block: int
    share: float
    maps: int


@cache
def shares() -> tuple[Share, ...]:
    """Models with one FFN a block, by the share of their FFNs."""
    made = []
    for preset in presets().values():
        c = preset.config
        if c.moe:
            continue
        rows = [row for row in counting.parameters(c) if row.part == "ffn"]
        ffn = sum(row.value for row in rows)
        maps = 3 if c.ffn == "swiglu" else 2
        made.append(Share(preset.name, c.d_ff / c.d_model, ffn // c.n_layers, ffn / counting.total(c), maps))
    return tuple(sorted(made, key=lambda one: one.share))


def same_size(d_model: int) -> tuple[int, float, int]:
    """(numbers of two maps of factor 4, the width at which three maps have as many, 8/3 d; that, rounded up to 256)."""
    two = 2 * d_model * WIDE * d_model
    exact = two / (3 * d_model)
    return two, exact, int(-(-exact // 256) * 256)
