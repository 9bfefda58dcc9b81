"""Speculative decoding: a table of pairs or an early exit of the model drafts, the whole model checks all drafts at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core import generation
from core.lab import subject
from core.lab.text import FIRST, Cannot, Text, called
from core.topics.inference import bank
from core.topics.inference.writing import alone_here

TABLE = 0  # as an exit: no block drafts, only the table of what followed each token most often
RUNS = 3  # behind one time; the middle one counts
AHEAD = (0, 1, 2, 3, 4, 6, 8)  # drafted tokens a pass; 0: none, the model alone
WRITTEN = 16


@dataclass(frozen=True)
class Demo:
    """exit: blocks that the drafter runs, of all the model has; TABLE: a table of pairs drafts."""

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


def drafter(demo: Demo) -> generation.Draft:
    """Raises Cannot where a table is asked of a model that it was not counted for."""
    if demo.exit == TABLE and demo.text.subject != FIRST:
        raise Cannot("The table of pairs was counted for the embedded model alone.")
    model = subject.model(demo.text.subject)
    if demo.exit != TABLE:
        return generation.EarlyExit(model, demo.exit)
    next_of, vocab = torch.from_numpy(np.array(bank.following())), model.config.vocab_size
    return lambda ids: torch.zeros(vocab).index_fill(-1, next_of[ids[-1:]], 1.0)


@dataclass(frozen=True)
class Read:
    """Of the weights that the model reads for one token: the share that a draft of these blocks reads, and the head's."""

    draft: float
    head: float


def read(demo: Demo) -> Read:
    """A row of the table of tokens is not counted: one is looked up, not multiplied. (A tied table is the head.)"""
    model = subject.model(demo.text.subject)
    blocks = [sum(p.numel() for p in block.parameters()) for block in model.blocks]
    table = model.embed.weight if model.head is None else model.head.weight
    head = table.numel() + sum(p.numel() for p in model.norm.parameters())
    whole = sum(blocks) + head
    return Read((sum(blocks[: demo.exit]) + head) / whole, head / whole)


def run(demo: Demo) -> tuple[Run, ...]:
    """Greedily, with every draft length."""
    draft, known = drafter(demo), dict[tuple[int, ...], Tensor]()  # a draft hangs on what stands before it alone

    def remembered(ids: Tensor) -> Tensor:
        key = tuple(ids.tolist())
        if key not in known:
            known[key] = draft(ids)
        return known[key]

    n = min(WRITTEN, subject.config(demo.text.subject).context - len(demo.text))
    return tuple(_run(demo.text, n, ahead, remembered) for ahead in AHEAD)


@dataclass(frozen=True)
class Times:
    """Milliseconds for the text at each of AHEAD, on this machine; the first is the model alone."""

    taken: tuple[float, ...]


@torch.inference_mode()
def times(demo: Demo, run: int = 0) -> Times:
    """run: counts the measurements, so that each is made anew. Each text begins with nothing read and nothing drafted."""
    text, model = demo.text, subject.model(demo.text.subject)
    ids, n = torch.tensor(text.ids), min(WRITTEN, model.config.context - len(text))
    ways: list[Callable[[], object]] = [
        lambda ahead=ahead: generation.speculate(model, ids, n, drafter(demo), ahead) for ahead in AHEAD
    ]
    taken = np.zeros((RUNS + 1, len(ways)))
    with alone_here():
        for row in taken:  # in turns, so that a busy moment meets all alike
            for i, write in enumerate(ways):
                begin = time.perf_counter()
                write()
                row[i] = time.perf_counter() - begin
    return Times(tuple((1000 * np.median(taken[1:], 0)).tolist()))  # the first round warms up


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
