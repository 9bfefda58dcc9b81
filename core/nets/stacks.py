"""Small stacks of real blocks that differ in where the norm stands: what comes down through them, and what they learn.

Letter by letter, on stories that the embedded model wrote itself. Several nets that differ only in their first weights
stand side by side along a leading axis `run`, so that a band over seeds costs one pass. `python -m core.make norms`
trains them in some minutes on one thread and writes assets/data/stacks.npz: curves and no weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from core.assets import ASSETS
from core.attention import allowed_pairs, attention
from core.nets.places import LETTERS, spelled

FILE = ASSETS / "data" / "stacks.npz"
PLACES = ("pre", "post", "sandwich", "none")
SEEDS = (0, 1, 2)
READ = 32  # letters a text
EPS = 1e-5
Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Plan:
    """How a stack is built. place: where its norms stand, one of PLACES. small: the maps that write start at zero."""

    place: str = "pre"
    skip: bool = True
    depth: int = 6
    width: int = 48
    heads: int = 4
    small: bool = False


def drawn(
    plan: Plan, letters: int = len(LETTERS), seeds: tuple[int, ...] = SEEDS, kind: torch.dtype = torch.float32
) -> Weights:
    """The first weights of a plan, (run, in, out), one run a seed: Xavier's uniform, tables with deviation 1.

    Drawn from the bottom up: a deeper stack of the same seed begins with the very blocks of a shallower one.
    """
    width, rooms = plan.width, [Generator().manual_seed(1000 + seed) for seed in seeds]

    def table(rows: int) -> Tensor:
        return torch.stack([torch.randn(rows, width, generator=g, dtype=kind) for g in rooms])

    def map_of(rows: int, columns: int, gain: float = 1.0) -> Tensor:
        bound = gain * (6 / (rows + columns)) ** 0.5
        return torch.stack([(torch.rand(rows, columns, generator=g, dtype=kind) * 2 - 1) * bound for g in rooms])

    made = {"embed": table(letters), "places": table(READ), "head": map_of(width, letters)}
    gain = 0.0 if plan.small else 1.0
    for i in range(plan.depth):
        made |= {f"{i}.{name}": map_of(width, width) for name in "qkv"}
        made |= {f"{i}.o": map_of(width, width, gain), f"{i}.up": map_of(width, 4 * width)}
        made[f"{i}.down"] = map_of(4 * width, width, gain)
    for name in [*(f"{i}.{part}" for i in range(plan.depth) for part in ("norm1", "norm2")), "norm"]:
        made[f"{name}.weight"] = torch.ones(len(seeds), 1, width, dtype=kind)
        made[f"{name}.bias"] = torch.zeros(len(seeds), 1, width, dtype=kind)
    return {name: weight.requires_grad_() for name, weight in made.items()}


def stream(plan: Plan, weights: Weights, ids: Tensor) -> list[Tensor]:
    """What runs through a stack: (run, text * letter, width) before the first block and after every block.

    ids: (run, text, letter).
    """
    runs, texts, n = ids.shape
    rows = ids.reshape(runs, -1, 1).expand(-1, -1, plan.width)
    x = weights["embed"].gather(1, rows) + weights["places"][:, :n].repeat(1, texts, 1)
    allowed, passed = allowed_pairs("causal", n), [x]
    for i in range(plan.depth):
        x = _step(plan, weights, f"{i}.norm1", x, lambda y, i=i: _attend(plan, weights, i, y, allowed, texts))
        x = _step(plan, weights, f"{i}.norm2", x, lambda y, i=i: _think(weights, i, y))
        passed.append(x)
    return passed


def read_out(plan: Plan, weights: Weights, x: Tensor) -> Tensor:
    """Logits (run, text * letter, letters). Where norms stand after every part, none is left for the end."""
    return (x if plan.place == "post" else _norm(x, weights, "norm")) @ weights["head"]


def loss(plan: Plan, weights: Weights, x: Tensor, wanted: Tensor) -> Tensor:
    """(run,): mean nats a letter. x: the stream after the last block; wanted: (run, text, letter)."""
    logits = read_out(plan, weights, x)
    each = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none")
    return each.view(len(wanted), -1).mean(1)


def _step(plan: Plan, weights: Weights, norm: str, x: Tensor, part: Callable[[Tensor], Tensor]) -> Tensor:
    kept = x if plan.skip else 0
    if plan.place == "pre":
        return kept + part(_norm(x, weights, norm))
    if plan.place == "post":
        return _norm(kept + part(x), weights, norm)
    if plan.place == "sandwich":
        return kept + _norm(part(F.layer_norm(x, x.shape[-1:], eps=EPS)), weights, norm)
    return kept + part(x)


def _norm(x: Tensor, weights: Weights, name: str) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], eps=EPS) * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _attend(plan: Plan, weights: Weights, i: int, x: Tensor, allowed: Tensor, texts: int) -> Tensor:
    split = len(x), texts, -1, plan.heads, plan.width // plan.heads
    q, k, v = ((x @ weights[f"{i}.{name}"]).view(split).transpose(2, 3) for name in "qkv")
    z = attention(q, k, v, allowed).transpose(2, 3).reshape(x.shape)
    return z @ weights[f"{i}.o"]


def _think(weights: Weights, i: int, x: Tensor) -> Tensor:
    return (x @ weights[f"{i}.up"]).relu() @ weights[f"{i}.down"]


def come_down(plan: Plan, weights: Weights, passed: list[Tensor], wanted: Tensor, depth: int) -> Tensor:
    """(depth + 1, run): how large the loss's gradient is on the stream before the first of `depth` blocks and after each.

    passed: the stream of a stack at least so deep; what stands above `depth` is left out, as if it were not built.
    The whole gradient's length (Frobenius), by autograd.
    """
    found = torch.autograd.grad(
        loss(plan, weights, passed[depth], wanted).sum(), passed[: depth + 1], retain_graph=True
    )
    return torch.stack([one.flatten(1).norm(dim=1) for one in found])


def alike(x: Tensor, texts: int) -> Tensor:
    """(run,): the mean cosine of all pairs of letters of one text. x: (run, text * letter, width). 1: all are one."""
    rows = (x / x.norm(dim=-1, keepdim=True)).unflatten(1, (texts, -1))
    n = rows.shape[2]
    return ((rows @ rows.mT).sum((-1, -2)) - n).mean(1) / (n * (n - 1))


def texts(n: int) -> Tensor:
    """(n, READ + 1): letters of the long stories, for measuring."""
    letters = spelled((ASSETS / "data" / "long_stories.txt").read_text("utf8"))
    starts = torch.linspace(0, len(letters) - READ - 1, n).long()
    return letters[starts[:, None] + torch.arange(READ + 1)]


# ---- what pages read ----

ARRANGED = {  # as they are measured before any training, 1 to DEEPEST blocks
    "pre": Plan("pre", width=64),
    "post": Plan("post", width=64),
    "sandwich": Plan("sandwich", width=64),
    "skips": Plan("none", width=64),
    "norms": Plan("pre", skip=False, width=64),
    "neither": Plan("none", skip=False, width=64),
}
LEARNERS = {  # as they are trained for LEARNED steps at one rate, without a warm-up
    "pre": Plan("pre"),
    "post": Plan("post"),
    "sandwich": Plan("sandwich"),
    "small": Plan("none", small=True),
    "skips": Plan("none"),
    "norms": Plan("pre", skip=False),
}
WARMED = ("pre", "post")  # as they are trained with each of WARM_UPS
WARM_UPS = (0, 75)  # steps
DEEPEST, TEXTS, BATCHES, BATCH_DEPTH = 64, 2, (1, 2, 4, 8, 16, 32), 16
LEARNED, LEARN_RATE, WARMED_STEPS, WARMED_RATE, BIN = 300, 1e-3, 600, 3e-3, 10
PROBED = (1, 2, 3, 5, 8, 12, 20, 35, 50, 75, 100, 150, 200, 300, 450, 600)  # steps before which a training was probed


@cache
def recorded() -> dict[str, np.ndarray]:
    """What `python -m core.make norms` wrote, by name."""
    with np.load(FILE) as held:
        return {name: held[name] for name in held.files}
