"""Speculative decoding: an early exit of the model drafts, the whole model checks all drafts in one pass."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from core import generation
from core.lab import subject
from core.lab.text import Text, called

AHEAD = (0, 1, 2, 3, 4, 6, 8)  # drafted tokens a pass; 0: none, the model alone
WRITTEN = 16


@dataclass(frozen=True)
class Demo:
    """exit: blocks that the drafter runs, of all the model has."""

    text: Text
    exit: int


@dataclass(frozen=True)
class Run:
    """ahead: tokens drafted a pass. tokens: what was written; drafted: (token,) True where it came from a draft that
    was taken. passes of the whole model, proposed: drafts in all, taken: those that stood."""

    ahead: int
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    drafted: tuple[bool, ...]
    passes: int
    proposed: int
    taken: int


def run(demo: Demo) -> tuple[Run, ...]:
    """Greedily, with every draft length."""
    text, model = demo.text, subject.model(demo.text.subject)
    n = min(WRITTEN, model.config.context - len(text))
    known: dict[tuple[int, ...], Tensor] = {}  # a draft hangs on what stands before it alone

    def draft(ids: Tensor) -> Tensor:
        key = tuple(ids.tolist())
        if key not in known:
            known[key] = model.predict(model.stream(ids, until=demo.exit)).softmax(-1)
        return known[key]

    return tuple(_run(text, n, ahead, draft) for ahead in AHEAD)


def _run(text: Text, n: int, ahead: int, draft: generation.Draft) -> Run:
    model = subject.model(text.subject)
    found = generation.speculate(model, torch.tensor(text.ids), n, draft, ahead)
    marks: list[bool] = []
    for taken in found.taken:
        marks += [True] * taken + [False]
    tokens = tuple(called(id, text.subject) for id in found.ids)
    return Run(ahead, tokens, found.ids, tuple(marks), found.passes, sum(found.drafted), sum(found.taken))


def plain(text: Text) -> tuple[int, ...]:
    """The same tokens by the model alone, one pass each."""
    model = subject.model(text.subject)
    return generation.greedy(model, torch.tensor(text.ids), min(WRITTEN, model.config.context - len(text))).ids
