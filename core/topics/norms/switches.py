"""Norms and skips switched off in a trained model: what it says next, and how well it still tells stories.

A skip is the plain copy that every part's output is added to. Each is a factor here: 1 as trained, 0 off.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.assets import ASSETS
from core.lab import subject
from core.lab.text import FIRST, Text
from core.model import Decoder
from core.topics.norms.loudness import LONG

STRENGTHS = (*(k / 20 for k in range(12)), *(k / 100 for k in range(60, 101)))  # finer where something happens
LOSSES = ASSETS / "data" / "switches.npz"
SHOWN = 5


def kept_by(n_tokens: int) -> tuple[float, ...]:
    """The stops of the slider: beyond LONG tokens every fourth of STRENGTHS."""
    return STRENGTHS if n_tokens <= LONG else STRENGTHS[::4]


@dataclass(frozen=True)
class Way:
    """How the model is wired. inner: the norms of the blocks; last: the norm before the read-out; parts: attention and
    FFN. skip: what every skip keeps; off: one skip that keeps nothing, counted from the bottom, two a block."""

    inner: bool = True
    last: bool = True
    parts: bool = True
    skip: float = 1.0
    off: int | None = None


AS_TRAINED = Way()
WAYS = {
    "trained": AS_TRAINED,
    "inner": Way(inner=False),
    "norms": Way(inner=False, last=False),
    "skips": Way(skip=0.0),
    "parts": Way(parts=False),
}


def stream(model: Decoder, ids: Tensor, way: Way, skip: Tensor | None = None) -> Tensor:
    """The stream after the last block, (token, d_model). skip: instead of way.skip, (frame, 1, 1): a pass for each."""
    x = model.embed(ids)
    if model.pos_embed is not None:
        x = x + model.pos_embed.weight[: ids.shape[-1]]
    if not way.parts:
        return x
    turn, allowed = model.surroundings(ids.shape[-1])
    factor = way.skip if skip is None else skip
    for i, block in enumerate(model.blocks):
        keeps = [0.0 if way.off == 2 * i + half else factor for half in (0, 1)]
        x = keeps[0] * x + block.attn(_normed(block.norm1, x, way.inner), turn, allowed)
        x = keeps[1] * x + block.ffn(_normed(block.norm2, x, way.inner))
    return x


def _normed(norm: nn.Module, x: Tensor, on: bool) -> Tensor:
    """Without its norm a part reads the stream as it is, times the gain that was learned (plus the shift, if any)."""
    if on:
        return norm(x)
    shift = getattr(norm, "bias", None)
    return x * norm.weight + (0 if shift is None else shift)


def logits(model: Decoder, x: Tensor, way: Way) -> Tensor:
    """(token, vocab) of the stream after the last block."""
    table = model.embed.weight if model.head is None else model.head.weight
    return _normed(model.norm, x, way.last) @ table.mT


@torch.inference_mode()
def _next(text: Text, way: Way, skip: Tensor | None = None) -> Tensor:
    model = subject.model(text.subject)
    x = stream(model, torch.tensor(text.ids), way, skip)
    return logits(model, x[..., -1, :], way).nan_to_num(0.0).softmax(-1)


@dataclass(frozen=True)
class Wirings:
    """The last word's stream in every wiring of WAYS, and what is said of it. answer: what the model says as trained;
    p: (wiring,) its probability; loud: the id each wiring holds likeliest, and sure: (wiring,) how likely; same:
    (wiring,) the cosine of the stream at the end with the row it began as."""

    answer: int
    p: np.ndarray
    loud: tuple[int, ...]
    sure: np.ndarray
    same: np.ndarray


@torch.inference_mode()
def wirings(text: Text) -> Wirings:
    """As trained is the untouched pass."""
    model, ids, trained = subject.model(text.subject), torch.tensor(text.ids), subject.untouched(text)
    ends = [trained[f"block{model.config.n_layers - 1}.resid_post"].tensor[-1]]
    ends += [stream(model, ids, way)[-1] for way in list(WAYS.values())[1:]]
    x = torch.stack(ends)
    said = [logits(model, one, way).nan_to_num(0.0).softmax(-1) for one, way in zip(x, WAYS.values(), strict=True)]
    probs, answer = torch.stack(said), int(trained["next_probs"].value.argmax())
    sure, loud = probs.max(-1)
    same = torch.cosine_similarity(x, stream(model, ids, WAYS["parts"])[-1], -1)
    return Wirings(answer, probs[:, answer].numpy(), tuple(loud.tolist()), sure.numpy(), same.numpy())


@dataclass(frozen=True)
class Said:
    """The next word by frames. ids: the candidates, the untouched answer first; probs: (frame, candidate)."""

    ids: tuple[int, ...]
    probs: np.ndarray


def strengths(text: Text) -> Said:
    """The next word with every skip of the model at each of `kept_by`, in one broadcast call."""
    probs = _next(text, AS_TRAINED, torch.tensor(kept_by(len(text)))[:, None, None])
    most = probs.max(0).values
    most[int(probs[-1].argmax())] = torch.inf
    ids = most.topk(min(SHOWN, len(most))).indices
    return Said(tuple(ids.tolist()), probs[:, ids].numpy())


def one_off(text: Text) -> np.ndarray:
    """(skip,): what is left of the answer with that one skip off, attention's and FFN's by turns, bottom first."""
    answer = int(subject.untouched(text)["next_probs"].value.argmax())
    layers = subject.config(text.subject).n_layers
    return np.array([float(_next(text, Way(off=i))[answer]) for i in range(2 * layers)])


def guessing(vocabulary: int) -> float:
    """Nats of one who holds every token equally likely."""
    return float(np.log(vocabulary))


# ---- recorded: the mean loss on the stories ----


@dataclass(frozen=True)
class Losses:
    """Nats a token. ways: by the names of WAYS; strengths: (len(STRENGTHS),); one_off: (skip,)."""

    ways: dict[str, float]
    strengths: np.ndarray
    one_off: np.ndarray


@cache
def losses() -> Losses:
    """Recorded by `python -m core.make norms`."""
    with np.load(LOSSES) as held:
        ways = dict(zip(WAYS, held["ways"].tolist(), strict=True))
        return Losses(ways, held["strengths"], held["one_off"])


@torch.inference_mode()
def story_loss(way: Way, stories: tuple[Tensor, ...]) -> float:
    """The same, computed. stories: the ids of each, (token,)."""
    model, found = subject.model(FIRST), []
    for row in stories:
        said = logits(model, stream(model, row, way)[:-1], way)
        found.append(F.cross_entropy(said, row[1:], reduction="none"))
    return float(torch.cat(found).mean())
