"""The embedded model, stories15M, and what the pages ask of it. What needs no torch is in core.sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor

from core import tokenizer
from core.assets import ASSETS
from core.checkpoint import load
from core.lab.text import FOLDER, Word, top, word
from core.model import Decoder
from core.trace import Trace
from core.whatif import Change

STORIES = ASSETS / "data" / "stories.txt"
UNTOUCHED = Change()


@cache
def model() -> Decoder:
    """The one model all sessions share. It is only read: what-ifs edit values as they pass, never weights."""
    torch.set_num_threads(1)  # a pass is bound by memory: a second thread gains little, and visitors share the cores
    with torch.inference_mode(False):  # ordinary tensors whoever asks first: gradients may run through them
        return load(FOLDER)


@torch.inference_mode()
def run(ids: tuple[int, ...], tokens: tuple[str, ...], change: Change, only: tuple[str, ...]) -> Trace:
    """One pass over a sentence, recording what `only` names, `next_probs` and `next_logits` among it."""
    trace = change.trace(model().config.head_dim, only, query=list(tokens), key=list(tokens))
    model().predict(model().stream(torch.tensor(ids), trace=trace), trace=trace)
    return trace


@torch.inference_mode()
def surprise(ids: tuple[int, ...]) -> float:
    """Mean loss of the text itself in nats a token: above STRANGE the model has never seen its like."""
    if len(ids) < 2:
        return 0.0
    row = torch.tensor(ids)
    return float(F.cross_entropy(model()(row[:-1]), row[1:]))


def story_loss(change: Change = UNTOUCHED) -> float:
    """Mean loss in nats a token over the shipped stories."""
    return mean_loss(lambda: change.trace(model().config.head_dim))


@torch.inference_mode()
def mean_loss(trace_for: Callable[[], Trace]) -> float:
    """The same under any edits. trace_for: makes a trace that records nothing, for a batch of one story.

    Story by story: in one batch, stories shorter than the longest would be filled up, and without the mask read it.
    """
    losses = []
    for row in _stories():
        logits = model().read_out(model().stream(row[None], trace=trace_for()))[0, :-1]
        losses.append(F.cross_entropy(logits, row[1:], reduction="none"))
    return float(torch.cat(losses).mean())


@dataclass(frozen=True)
class Outlook:
    """What follows a text: the likeliest words, and the probability of one that is asked about."""

    words: tuple[Word, ...]
    asked: Word


def outlook(ids: tuple[int, ...], tokens: tuple[str, ...], change: Change, asked: int | None = None) -> Outlook:
    """The next word under a change. asked: an id; None asks about the likeliest."""
    probs = run(ids, tokens, change, ("next_probs",))["next_probs"].value
    words = tuple(top(probs))
    return Outlook(words, words[0] if asked is None else word(asked, probs))


def chances(ids: tuple[int, ...], tokens: tuple[str, ...], change: Change, of: tuple[int, ...]) -> tuple[float, ...]:
    """The probabilities of some tokens to follow, by their ids."""
    probs = run(ids, tokens, change, ("next_probs",))["next_probs"].value
    return tuple(float(probs[i]) for i in of)


def story_count() -> int:
    """How many stories the loss is the mean over."""
    return len(_stories())


@cache
def _stories() -> tuple[Tensor, ...]:
    """The ids of each story, (token,)."""
    texts = STORIES.read_text("utf8").strip().split("\n\n")
    return tuple(torch.tensor(tokenizer.of_model(FOLDER).encode(text).ids) for text in texts)
