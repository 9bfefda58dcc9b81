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
from core.config import ModelConfig
from core.lab.memory import kept
from core.lab.text import FIRST, FOLDER, Text, Word, folder, top, word
from core.model import Decoder
from core.trace import Step, Trace
from core.whatif import Change

STORIES = ASSETS / "data" / "stories.txt"
UNTOUCHED = Change()
AT_ONCE = 2048  # tokens in one batched pass


def model(subject: str = FIRST) -> Decoder:
    """The one model of this name all sessions share. It is only read: what-ifs edit values as they pass, never weights.

    Raises what core.checkpoint.load raises.
    """
    return _loaded(subject)


@cache  # which would keep model() and model(FIRST) apart
def _loaded(subject: str) -> Decoder:
    torch.set_num_threads(1)  # a pass is bound by memory: a second thread gains little, and visitors share the cores
    with torch.inference_mode(False):  # ordinary tensors whoever asks first: gradients may run through them
        return load(folder(subject))


def config(subject: str = FIRST) -> ModelConfig:
    return model(subject).config


def at_once(n: int) -> int:
    """How many texts of n tokens are run in one batched pass: one at least."""
    return max(1, AT_ONCE // n)


def untouched(text: Text) -> Trace:
    """Every tensor of the one pass that changes nothing, up to the next word; kept, so a text is read once.

    Not among them: the logits of all positions. The head is the widest matrix of a small model, and pages ask for the
    last position's.
    """
    return kept(_pass, text)


@torch.inference_mode()
def _pass(text: Text) -> Trace:
    trace = Trace(None, **text.labels)
    decoder = model(text.subject)
    decoder.predict(decoder.stream(torch.tensor(text.ids), trace=trace), trace=trace)
    return trace


@torch.inference_mode()
def run(text: Text, change: Change = UNTOUCHED, only: tuple[str, ...] | None = None) -> Trace:
    """One pass over a text, recording what `only` names, `next_probs` and `next_logits` among it.

    Where nothing is changed nothing is computed anew.
    """
    if change == UNTOUCHED:
        return untouched(text).part(only)
    decoder = model(text.subject)
    trace = change.trace(decoder.config.head_dim, only, **text.labels)
    decoder.predict(decoder.stream(torch.tensor(text.ids), trace=trace), trace=trace)
    return trace


def met(trace: Trace, layer: int, which: str) -> Step:
    """The queries (which = "q") or keys ("k") of a layer as they meet: turned, normed or plain, as the model has it."""
    names = (f"block{layer}.{which}{ending}" for ending in ("_rot", "_norm", ""))
    return trace[next(name for name in names if name in trace)]


@torch.inference_mode()
def surprise(text: Text) -> float:
    """Mean loss of the text itself in nats a token: above STRANGE the model has never seen its like."""
    if len(text) < 2:
        return 0.0
    decoder = model(text.subject)
    x = untouched(text)[f"block{decoder.config.n_layers - 1}.resid_post"].tensor
    return float(F.cross_entropy(decoder.read_out(x[:-1]), torch.tensor(text.ids[1:])))


@dataclass(frozen=True)
class Outlook:
    """What follows a text: the likeliest words, and the probability of one that is asked about."""

    words: tuple[Word, ...]
    asked: Word


def outlook(text: Text, change: Change = UNTOUCHED, asked: int | None = None) -> Outlook:
    """The next word under a change. asked: an id; None asks about the likeliest."""
    probs = run(text, change, ("next_probs",))["next_probs"].value
    words = tuple(top(probs, subject=text.subject))
    return Outlook(words, words[0] if asked is None else word(asked, probs, text.subject))


def chances(text: Text, change: Change, of: tuple[int, ...]) -> tuple[float, ...]:
    """The probabilities of some tokens to follow, by their ids."""
    probs = run(text, change, ("next_probs",))["next_probs"].value
    return tuple(float(probs[i]) for i in of)


def story_loss(change: Change = UNTOUCHED) -> float:
    """Mean loss in nats a token over the shipped stories."""
    return mean_loss(lambda: change.trace(model().config.head_dim))


@torch.inference_mode()
def mean_loss(trace_for: Callable[[], Trace]) -> float:
    """The same under any edits. trace_for: makes a trace that records nothing, for a batch of one story.

    Story by story: in one batch, stories shorter than the longest would be filled up, and without the mask read it.
    """
    losses = []
    for row in stories():
        logits = model().read_out(model().stream(row[None], trace=trace_for()))[0, :-1]
        losses.append(F.cross_entropy(logits, row[1:], reduction="none"))
    return float(torch.cat(losses).mean())


def story_count() -> int:
    """How many stories the loss is the mean over."""
    return len(stories())


@cache
def stories() -> tuple[Tensor, ...]:
    """The ids of each story, (token,)."""
    texts = STORIES.read_text("utf8").strip().split("\n\n")
    return tuple(torch.tensor(tokenizer.of_model(FOLDER).encode(text).ids) for text in texts)
