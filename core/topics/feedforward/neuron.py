"""One neuron of one FFN: what it asks of every token, what it lets through, what it writes, and what happens to the next
word when its write is turned from -1 to 3 times as loud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.text import Cannot, Text, Word, called, top, word
from core.model import Decoder
from core.norms import LayerNorm
from core.trace import to_numpy

FACTORS = tuple(round(-1 + k / 15, 4) for k in range(61))  # of what the neuron writes: 0 mutes it, 1 leaves it
COARSE = FACTORS[::5]
LONG = 64  # tokens: beyond, every fifth stop is computed, but for the last block
CANDIDATES = 6
SPREAD = 5  # random neurons that are muted beside the chosen one
NO_NEURONS = "Here every expert has neurons of its own; this picture shows models with one FFN a block."


@dataclass(frozen=True)
class Demo:
    """A sentence and one neuron: the block it is in, and its place among the d_ff of that block."""

    text: Text
    layer: int = 5
    neuron: int = 559


def network(model: Decoder, layer: int) -> Any:
    """The FFN of a block. Raises Cannot where it is not one pair of maps."""
    ffn = model.blocks[layer].ffn
    if not hasattr(ffn, "down"):
        raise Cannot(NO_NEURONS)
    return ffn


def gated(text: Text) -> bool:
    """Has this text's model a gate (SwiGLU), or one map and a bend?"""
    return hasattr(network(subject.model(text.subject), 0), "gate")


@dataclass(frozen=True)
class Inside:
    """What one neuron does at every token, (token,) each. gate: x W_g; up: x W_u; without a gate, gate is None and up
    is x W_1 + b_1. value: what enters the last map. column: (d_model,), what it writes for a value of one."""

    gate: np.ndarray | None
    up: np.ndarray
    value: np.ndarray
    column: np.ndarray


def inside(demo: Demo) -> Inside:
    """Read from the untouched pass. Raises Cannot for a model of experts."""
    ffn, trace = network(subject.model(demo.text.subject), demo.layer), subject.untouched(demo.text)

    def of(name: str) -> np.ndarray:
        values: np.ndarray = trace[f"block{demo.layer}.{name}"].value[:, demo.neuron]
        return values

    column = to_numpy(ffn.down.weight[:, demo.neuron])
    if gated(demo.text):
        return Inside(of("ffn_gate"), of("ffn_up"), of("ffn_act"), column)
    return Inside(None, of("ffn_pre"), of("ffn_act"), column)


def factors(demo: Demo) -> tuple[float, ...]:
    last = subject.config(demo.text.subject).n_layers - 1
    return FACTORS if demo.layer == last or len(demo.text) <= LONG else COARSE


@torch.inference_mode()
def streams(demo: Demo, by: Tensor) -> Tensor:
    """(factor, d_model): the stream of the last token after the last block, if the neuron's writes are so many times as
    loud. Nothing comes after the last block but the head, so there one product is enough."""
    model, trace, own = subject.model(demo.text.subject), subject.untouched(demo.text), inside(demo)
    x = trace[f"block{demo.layer}.resid_post"].tensor
    written = torch.tensor(own.value)[:, None] * torch.tensor(own.column)  # (token, d_model)
    after = model.blocks[demo.layer + 1 :]
    if not len(after):
        return x[-1] + (by - 1)[:, None] * written[-1]
    found, around = [], model.surroundings(len(x))
    for part in by.split(subject.at_once(len(x))):
        y = x + (part - 1)[:, None, None] * written
        for block in after:
            y = block(y, *around)
        found.append(y[:, -1])
    return torch.cat(found)


@torch.inference_mode()
def chances(demo: Demo, by: tuple[float, ...]) -> np.ndarray:
    """(factor, vocab): the next word's probabilities."""
    x = streams(demo, torch.tensor(by))
    return to_numpy(subject.model(demo.text.subject).predict(x[:, None]).softmax(-1))


@dataclass(frozen=True)
class Turned:
    """probs: (stop, candidate), the candidates that are ever among the likeliest; asked: the untouched answer's place
    among them; push: what the neuron adds to the logit of that word at factor 1, straight through the head."""

    probs: np.ndarray
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    asked: int
    push: float


@torch.inference_mode()
def turned(demo: Demo) -> Turned:
    """The next word at every stop of the slider, in one broadcast product or, before the last block, batched passes."""
    stops = factors(demo)
    probs = chances(demo, stops)
    answer = int(subject.untouched(demo.text)["next_probs"].value.argmax())
    order = np.argsort(-probs.max(0), kind="stable")
    kept = [int(i) for i in order[:CANDIDATES]]
    if answer not in kept:  # it must be seen to fall
        kept[-1] = answer
    kept.sort(key=lambda i: -probs[stops.index(1.0), i])
    names = tuple(called(i, demo.text.subject) for i in kept)
    push = float(pushes(demo)[answer] * inside(demo).value[-1])
    return Turned(probs[:, kept], tuple(kept), names, kept.index(answer), push)


@torch.inference_mode()
def pushes(demo: Demo) -> np.ndarray:
    """(vocab,): what a value of one of this neuron adds to every logit of the last token, straight through the head.

    The final norm divides by one number for all words: it is taken as the untouched pass has it. Blocks in between may
    add to that in ways of their own.
    """
    model = subject.model(demo.text.subject)
    last = subject.untouched(demo.text)[f"block{model.config.n_layers - 1}.resid_post"].tensor[-1]
    column = torch.tensor(inside(demo).column)
    if isinstance(model.norm, LayerNorm):
        column, last = column - column.mean(), last - last.mean()
    scale = torch.rsqrt(last.square().mean() + model.config.norm_eps)
    table = model.embed.weight if model.head is None else model.head.weight
    return to_numpy(table @ (column * scale * model.norm.weight))


def twin(demo: Demo, asked: tuple[int, ...], by: tuple[float, ...]) -> np.ndarray:
    """(factor, word): how likely some words are in another sentence while the same neuron is turned there."""
    probs: np.ndarray = chances(demo, by)[:, list(asked)]
    return probs


@dataclass(frozen=True)
class Writes:
    """The words that a neuron makes likelier and less likely when it fires with its value at the last token, and by how
    much (logits); spread: the standard deviation over the whole vocabulary."""

    up: tuple[Word, ...]
    down: tuple[Word, ...]
    spread: float


def writes(demo: Demo, n: int = 6) -> Writes:
    """Raises Cannot for a model of experts. `p` of each word holds the push."""
    value = float(inside(demo).value[-1])
    pushed = pushes(demo) * (value or 1.0)
    up, down = top(pushed, n, demo.text.subject), top(-pushed, n, demo.text.subject)
    lower = tuple(Word(w.id, w.token, -w.p) for w in down)
    return Writes(tuple(up), lower, float(pushed.std()))


@dataclass(frozen=True)
class Muted:
    """The answer of the untouched model, its probability there, with the neuron muted, and with other neurons of the
    block muted one at a time; then: the word that is likeliest once the neuron is silent."""

    answer: Word
    after: float
    others: tuple[float, ...]
    then: Word


def muted(demo: Demo, seed: int = 0) -> Muted:
    """The neuron itself, and SPREAD others of its block drawn by the seed."""
    probs = subject.untouched(demo.text)["next_probs"].value
    answer = int(probs.argmax())
    silent = chances(demo, (0.0,))[0]
    width = subject.config(demo.text.subject).d_ff
    drawn = np.random.default_rng(seed).permutation([i for i in range(width) if i != demo.neuron])[:SPREAD]
    others = (chances(Demo(demo.text, demo.layer, int(i)), (0.0,))[0, answer] for i in drawn)
    name = demo.text.subject
    return Muted(word(answer, probs, name), float(silent[answer]), tuple(map(float, others)), top(silent, 1, name)[0])
