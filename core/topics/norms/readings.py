"""What the norms of a model do to a text: eps under the finger, what is pooled, one number that matters, the cost."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from core import norms
from core.cache import read_on
from core.lab import subject
from core.lab.memory import kept
from core.lab.text import Text
from core.norms import LayerNorm, RMSNorm
from core.topics.norms.loudness import CANDIDATES, LONG, before
from core.trace import Trace, to_numpy
from core.whatif import Edit, WhatIf

EPSILONS = tuple(float(f"{10 ** (k / 6 - 8):.3g}") for k in range(49))  # 1e-8 to 1
AXES = ("feature", "position", "batch")


def epsilons(n_tokens: int) -> tuple[float, ...]:
    return EPSILONS if n_tokens <= LONG else EPSILONS[::4]


# ---- eps ----


@dataclass(frozen=True)
class Loosened:
    """probs: (stop, candidate), the untouched answer first; top, most: (stop,), the likeliest token and its chance.
    size: the smallest mean square that any norm of the stream reads, which eps is added to."""

    probs: np.ndarray
    ids: tuple[int, ...]
    top: np.ndarray
    most: np.ndarray
    size: float


def renormed(norm: nn.Module, x: Tensor, eps: Tensor) -> Tensor:
    """The norm of a model with other eps, (stop, 1, 1); x: (stop, token, d_model)."""
    if hasattr(norm, "bias"):
        c = norms.centred(x)
        return c * torch.rsqrt(c.square().mean(-1, keepdim=True) + eps) * norm.weight + norm.bias
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * norm.weight


def loosened(text: Text) -> Loosened:
    """Every norm on the stream with another eps, those of queries and keys left as they are."""
    return kept(_loosened, text)


@torch.inference_mode()
def _loosened(text: Text) -> Loosened:
    model, found = subject.model(text.subject), []
    for part in torch.tensor(epsilons(len(text))).split(subject.at_once(len(text))):
        ids = torch.tensor(text.ids).expand(len(part), -1)
        x = model.stream(ids, trace=WhatIf(eps_edits(text.subject, part[:, None, None])))
        found.append(model.predict(x).softmax(-1))
    probs = torch.cat(found)
    answer = int(subject.untouched(text)["next_probs"].value.argmax())
    ranked = probs.max(0).values
    ranked[answer] = torch.inf
    ids = ranked.topk(min(CANDIDATES, len(ranked))).indices
    most, top = probs.max(-1)
    size = float(before(text, 0).square().mean(-1).min())
    return Loosened(to_numpy(probs[:, ids]), tuple(int(i) for i in ids), to_numpy(top), to_numpy(most), size)


def eps_edits(name: str, eps: Tensor) -> list[Edit]:
    """Each norm of each block of a model once more, with other eps, of the stream as it passed just before.

    The last norm is no step of a block: for it the last stream is multiplied by sqrt(its eps / eps), which is the same.
    """
    model = subject.model(name)
    stream: dict[str, Tensor] = {}

    def keep(where: str, x: Tensor) -> Tensor:
        stream[where] = x
        return x

    def again(norm: nn.Module, where: str, _normed: Tensor) -> Tensor:
        return renormed(norm, stream[where], eps)

    made: list[Edit] = []
    for i, block in enumerate(model.blocks):
        for where, which, norm in (("resid_pre", "norm1", block.norm1), ("resid_mid", "norm2", block.norm2)):
            made += [(f"block{i}.{where}", partial(keep, where)), (f"block{i}.{which}", partial(again, norm, where))]
    return [*made, (f"block{i}.resid_post", lambda x: x * (model.norm.eps / eps) ** 0.5)]


# ---- before and after ----

BINS = np.linspace(-4.05, 4.05, 28)  # the middle bin holds zero


@dataclass(frozen=True)
class Spread:
    """Each norm on the stream, in the order computed, over all tokens but the first, whose numbers are of another size
    (over the first alone, where there is no other). shares: (norm, which, bin) of the numbers as they come, at size 1
    and with the gain; spread: (norm, which), their standard deviations; the ends of BINS take what lies beyond."""

    shares: np.ndarray
    spread: np.ndarray


@torch.inference_mode()
def before_and_after(text: Text) -> Spread:
    model, trace = subject.model(text.subject), subject.untouched(text)
    places = [(f"block{i}.{name}", norm) for i, block in enumerate(model.blocks)
              for name, norm in (("resid_pre", block.norm1), ("resid_mid", block.norm2))]  # fmt: skip
    shares, spreads = [], []
    for name, norm in [*places, (f"block{model.config.n_layers - 1}.resid_post", model.norm)]:
        x, steps = trace[name].tensor[1 if len(text) > 1 else 0 :], Trace()
        out = norm(x, trace=steps)
        kinds = [to_numpy(one).ravel() for one in (x, steps["unit" if "unit" in steps else "standard"].tensor, out)]
        shares.append([np.histogram(one.clip(BINS[0], BINS[-1]), BINS)[0] / len(one) for one in kinds])
        spreads.append([one.std() for one in kinds])
    return Spread(np.array(shares), np.array(spreads))


# ---- which numbers are pooled ----


@dataclass(frozen=True)
class Pooled:
    """One number of the stream, normed over one axis. many: how many numbers are pooled; here: what it becomes; later:
    what it becomes once the text has gone on by a word; other: once another text stands in the batch instead."""

    many: int
    here: float
    later: float
    other: float


@torch.inference_mode()
def pooled(text: Text) -> dict[str, Pooled]:
    """The first number of the middle token before block 1, in a batch with the text read backwards.

    Pooling a token's features is a norm of layers; pooling positions or the batch lets a later word or a stranger's
    text change what an earlier word is.
    """
    model, ids = subject.model(text.subject), list(text.ids)
    depth, place = min(1, model.config.n_layers), len(ids) // 2
    back, twice = ids[:1] + ids[:0:-1], ids[:1] + ids[1:2] * (len(ids) - 1)
    rows = [model.stream(torch.tensor(row), until=depth) for row in (ids, back, twice)]
    shorter = [x[:-1] if len(x) > 1 else x for x in rows]
    batches = {"here": torch.stack(shorter[:2]), "later": torch.stack(rows[:2]), "other": torch.stack(shorter[::2])}
    place = min(place, len(shorter[0]) - 1)
    axes = {"feature": -1, "position": 1, "batch": 0}
    found = {}
    for name, axis in axes.items():
        made = {}
        for which, x in batches.items():
            c = norms.centred(x, axis)
            made[which] = float((c / norms.inside(norms.size(c, axis), 1e-5))[0, place, 0])
        found[name] = Pooled(batches["here"].shape[axis], **made)
    return found


# ---- one number ----


@dataclass(frozen=True)
class Struck:
    """The largest number of each token after a block, struck out alone. place, number, value: (token,); p: (token,),
    the answer's probability then; calm: untouched. size: (token,), the root mean square of the token's vector."""

    number: np.ndarray
    value: np.ndarray
    size: np.ndarray
    p: np.ndarray
    answer: int
    calm: float
    of: int

    @property
    def worst(self) -> int:
        return int(np.abs(self.p - self.calm).argmax())

    @property
    def others(self) -> float:
        """The size in the middle of all other tokens; its own where there is no other."""
        rest = np.delete(self.size, self.worst)
        return float(np.median(rest if len(rest) else self.size))


def struck(text: Text, station: int = 2) -> Struck:
    """station: blocks before it."""
    return kept(_struck, text, station)


@torch.inference_mode()
def _struck(text: Text, station: int) -> Struck:
    model, calm = subject.model(text.subject), subject.untouched(text)["next_probs"].value
    station = min(station, model.config.n_layers)
    x, answer = before(text, station), int(calm.argmax())
    number = x.abs().argmax(-1)
    later, pairs = model.blocks[station:], read_on(model, torch.tensor(text.ids), None, 0)[1][station:]
    (turn, allowed), found = model.surroundings(len(text)), []
    for rows in torch.arange(len(text)).split(subject.at_once(len(text))):
        first, y = int(rows[0]), x[rows[0] :].repeat(len(rows), 1, 1)  # nobody before them reads them
        y[torch.arange(len(rows)), rows - first, number[rows]] = 0.0
        for block, (k, v) in zip(later, pairs, strict=True):
            past = k[..., :first, :], v[..., :first, :]
            y = block(y, None if turn is None else turn[first:], allowed[first:], past=past)
        found.append(model.predict(y).softmax(-1)[:, answer])
    value = x.gather(-1, number[:, None])[:, 0]
    size = x.square().mean(-1).sqrt()
    return Struck(
        *(to_numpy(one) for one in (number, value, size, torch.cat(found))), answer, float(calm[answer]), x.numel()
    )


# ---- what it costs ----


@dataclass(frozen=True)
class Cost:
    """Counted: operations a number of one norm (LayerNorm, RMSNorm), parameters of all norms and of the model, share
    of a token's arithmetic. Timed here and now, microseconds for one norm over the text: ours and torch's."""

    operations: tuple[int, int]
    parameters: int
    all: int
    norms: int
    share: float
    ours: tuple[float, float]
    torchs: tuple[float, float]


OPERATIONS = (7, 4)
# LayerNorm: add for the mean; subtract; square, add for the variance; times 1/sqrt; times gain; plus shift. RMSNorm:
# square, add for the mean square; times 1/sqrt; times gain. The root and the division are one a token, not one a number.


@torch.inference_mode()
def cost(text: Text) -> Cost:
    model = subject.model(text.subject)
    width, every = model.config.d_model, [m for m in model.modules() if isinstance(m, LayerNorm | RMSNorm)]
    held = sum(p.numel() for m in every for p in m.parameters())
    whole = sum(p.numel() for p in model.parameters())
    wide = [m for m in every if len(m.weight) == width]
    mine = OPERATIONS[model.config.norm == "rmsnorm"] * width * len(wide)
    matrices = 2 * sum(p.numel() for b in model.blocks for p in b.parameters() if p.ndim == 2)
    matrices += 2 * model.embed.weight.numel()  # the head, tied or not
    x = torch.randn(len(text), width, generator=torch.Generator().manual_seed(0))
    eps = model.config.norm_eps
    pairs = ((LayerNorm(width, eps), RMSNorm(width, eps)), (nn.LayerNorm(width, eps), nn.RMSNorm(width, eps)))
    ours, torchs = ((_timed(layer, x), _timed(rms, x)) for layer, rms in pairs)
    return Cost(OPERATIONS, held, whole, len(every), mine / (mine + matrices), ours, torchs)


def _timed(norm: nn.Module, x: Tensor, rounds: int = 30, calls: int = 10) -> float:
    """Microseconds a call, the best of several rounds: what disturbs can only slow down."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            norm(x)
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6
