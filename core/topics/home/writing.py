"""Home writes on: the model continues a text, and every tensor of every step is there at once.

A decoder never looks ahead, so a token's tensors do not change when more tokens follow: one pass over the finished
text holds all steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from core import generation
from core.lab import subject
from core.lab.text import Text, Word, called, ends, top, word
from core.topics.home import flow as fl

MOST = 24  # tokens written on


@dataclass(frozen=True)
class Step:
    """What the model said at one place. written: the token it went on with, None at the last; words: the likeliest;
    lens: the likeliest after the embedding and after each block."""

    written: Word | None
    words: tuple[Word, ...]
    lens: tuple[tuple[Word, ...], ...]


@dataclass(frozen=True)
class Story:
    """flow: the whole text, written part included. start: tokens that were there before; steps: from there on."""

    flow: fl.Flow
    start: int
    steps: tuple[Step, ...]


def write(text: Text, temperature: float, seed: int) -> Story:
    """At most MOST tokens more, fewer where the story ends or the model's context does. temperature 0: the likeliest."""
    model, ids = subject.model(text.subject), torch.tensor(text.ids)
    n = min(MOST, model.config.context - len(text))
    known = {"ends": ends(text.subject), "logits": subject.untouched(text)["next_logits"].tensor}
    if temperature:
        made = generation.sample(model, ids, n, temperature=temperature, seed=seed, **known)
    else:
        made = generation.greedy(model, ids, n, **known)
    new = made.ids[: len(made.ids) - made.ended]  # the mark of the end is no word of the story
    whole = Text(text.subject, (*text.ids, *new), (*text.tokens, *(called(i, text.subject) for i in new)))
    flow = fl.compute(whole)
    return Story(flow, len(text), tuple(_steps(whole, flow, len(text), new)))


@torch.inference_mode()
def _steps(whole: Text, flow: fl.Flow, start: int, new: tuple[int, ...]) -> list[Step]:
    """What the model said at the last token of the text, and at every token that it wrote."""
    model = subject.model(whole.subject)
    probs = torch.stack([model.read_out(x).softmax(-1) for x in fl.stages(flow.trace, model, start - 1)]).numpy()
    steps = []
    for i in range(len(new) + 1):
        written = word(new[i], probs[-1, i], whole.subject) if i < len(new) else None
        lens = tuple(tuple(top(stage[i], 1, whole.subject)) for stage in probs)
        steps.append(Step(written, tuple(top(probs[-1, i], 8, whole.subject)), lens))
    return steps
