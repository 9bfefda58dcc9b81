"""Attention as a soft look-up: how much of a question goes to the right key, and how near a real head comes to that."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.attention import share_out
from core.lab import subject
from core.lab.text import Cannot, Text
from core.trace import to_numpy

SHARP = tuple(2 ** (k / 8 - 3) for k in range(49))  # 1/8 to 8; 1 is softmax as it is
KEYS = (16, 256, 4096)
WIDTH = 48  # numbers of a key, as in the model that ships
ASKED = 64  # questions that a share is the mean of
SHOWN = 6  # the keys with the largest scores
VALUE = 12  # numbers of a value

# ---- a dictionary of random keys ----


def keys(many: int, width: int = WIDTH) -> Tensor:
    """(key, width): directions drawn by luck (seed 0), all of length √width."""
    drawn = torch.randn(many, width, generator=torch.Generator().manual_seed(0))
    return F.normalize(drawn, dim=-1) * math.sqrt(width)


def share(many: int, width: int = WIDTH) -> np.ndarray:
    """(sharpness,) the weight on the right key, mean of the first ASKED keys, each asked for with a query like itself."""
    held = keys(many, width)
    asked = held[: min(ASKED, many)]
    scores = asked @ held.mT / math.sqrt(width)
    own = torch.arange(len(asked))
    return np.array([float((scores * sharp).softmax(-1)[own, own].mean()) for sharp in SHARP])


def expected(many: int, width: int = WIDTH) -> np.ndarray:
    """(sharpness,) the same without drawing: the right key scores √width, the others like draws with deviation 1.

    e^{s√d} / (e^{s√d} + (n - 1) e^{s²/2}): the mean of e^{s x} over a normal x is e^{s²/2}.
    """
    sharp = np.array(SHARP)
    return np.asarray(1 / (1 + (many - 1) * np.exp(sharp**2 / 2 - sharp * math.sqrt(width))))


@dataclass(frozen=True)
class Asked:
    """One question to a dictionary. keys: the numbers of the SHOWN best keys, the right one first; weights: (sharpness,
    key); value: (VALUE,) of the right key; out: (sharpness, VALUE) what comes out; away: (sharpness,) |out - v| / |v|."""

    keys: tuple[int, ...]
    weights: np.ndarray
    value: np.ndarray
    out: np.ndarray
    away: np.ndarray


def ask(many: int = 256, which: int = 0) -> Asked:
    """Ask a dictionary of random keys and values for one of its keys. which: of the keys."""
    held, values = keys(many), torch.randn(many, VALUE, generator=torch.Generator().manual_seed(1))
    scores = held @ held[which] / math.sqrt(WIDTH)
    best = scores.topk(SHOWN).indices
    weights = torch.stack([(scores * sharp).softmax(-1) for sharp in SHARP])
    out = weights @ values
    away = (out - values[which]).norm(dim=-1) / values[which].norm()
    shown = tuple(int(i) for i in best)
    return Asked(shown, to_numpy(weights[:, best]), to_numpy(values[which]), to_numpy(out), to_numpy(away))


# ---- a real head ----


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses: a text and a head."""

    text: Text
    layer: int = 5
    head: int = 1


@torch.inference_mode()
def heads(text: Text) -> np.ndarray:
    """(sharpness, layer, head) the largest weight of a row, mean of all rows but the first, which has one key alone.

    Raises Cannot where nothing else is.
    """
    _more_than_one(text)
    trace, layers = subject.untouched(text), subject.config(text.subject).n_layers
    scores = torch.stack([trace[f"block{i}.masked"].tensor for i in range(layers)])[:, :, 1:]
    return np.stack([to_numpy((scores * sharp).softmax(-1).amax(-1).mean(-1)) for sharp in SHARP])


@torch.inference_mode()
def resting(text: Text) -> float:
    """The share of all those rows, over all heads, that look most at the first token. Raises Cannot as `heads`."""
    _more_than_one(text)
    trace, layers = subject.untouched(text), subject.config(text.subject).n_layers
    best = torch.stack([trace[f"block{i}.masked"].tensor[:, 1:].argmax(-1) for i in range(layers)])
    return float((best == 0).float().mean())


@dataclass(frozen=True)
class Found:
    """How near a head comes to a look-up. best: (query,) the key with the largest score; share: (sharpness, query) its
    weight; away: (sharpness, query) |z - v| / |v|, how far what comes out is from that key's value."""

    best: tuple[int, ...]
    share: np.ndarray
    away: np.ndarray


@torch.inference_mode()
def found(demo: Demo) -> Found:
    """One head of a text at every sharpness. Raises Cannot for a text of one token."""
    _more_than_one(demo.text)
    trace, group = subject.untouched(demo.text), subject.config(demo.text.subject).group
    scores = trace[f"block{demo.layer}.masked"].tensor[demo.head]
    v = trace[f"block{demo.layer}.v"].tensor[demo.head // group]
    best = scores.argmax(-1)
    shares, away = [], []
    for sharp in SHARP:
        weights = share_out(scores * sharp)
        shares.append(weights.amax(-1))
        away.append((weights @ v - v[best]).norm(dim=-1) / v[best].norm(dim=-1))
    return Found(tuple(best.tolist()), to_numpy(torch.stack(shares)), to_numpy(torch.stack(away)))


def _more_than_one(text: Text) -> None:
    if len(text) < 2:
        raise Cannot("One token alone has nothing to look up.")


def at_one() -> int:
    """Where softmax as it is stands among SHARP."""
    return SHARP.index(1.0)
