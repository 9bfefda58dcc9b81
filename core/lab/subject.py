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
    """Mean loss in nats a token over the shipped stories, all of them in one pass."""
    return mean_loss(lambda _stories: change.trace(model().config.head_dim))


@torch.inference_mode()
def mean_loss(trace_for: Callable[[int], Trace]) -> float:
    """The same under any edits. trace_for: the number of stories that pass at once -> a trace that records nothing."""
    rows, lengths = _stories()
    logits = model().read_out(model().stream(rows, trace=trace_for(len(rows)))[:, :-1])
    losses = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="none").view(len(rows), -1)
    real = torch.arange(1, rows.shape[1]) < lengths[:, None]
    return float(losses[real].mean())


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
    return len(_stories()[0])


@cache
def _stories() -> tuple[Tensor, Tensor]:
    """(story, token) ids, filled up on the right, where a causal model never looks; and each story's length."""
    texts = STORIES.read_text("utf8").strip().split("\n\n")
    rows = [torch.tensor(tokenizer.of_model(FOLDER).encode(text).ids) for text in texts]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), torch.tensor([len(row) for row in rows])
