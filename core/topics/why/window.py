"""How far back must a model see? The same text through its model, every window at once.

A window limits every token in every block: it sees itself and at most window - 1 tokens before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.text import Text, Word, top, word
from core.trace import to_numpy
from core.whatif import WhatIf

EVERY = 48  # tokens: up to here every window is a stop, of a longer text about as many are
SHOWN = 7  # words whose probability is followed


@dataclass(frozen=True)
class Demo:
    """The text, as its model reads it."""

    text: Text


@dataclass(frozen=True)
class Reach:
    """The next word at every window. answer: what the model says with everything in sight.

    words: the ones to follow, the answer among them; p: (window, word); best: the likeliest at each window; needed: the
    smallest window from which on the answer stays the likeliest.
    """

    windows: tuple[int, ...]
    words: tuple[Word, ...]
    p: np.ndarray
    best: tuple[Word, ...]
    answer: Word
    needed: int

    def at(self, window: int) -> int:
        """The index of a window that is a stop."""
        return self.windows.index(window)

    def chance(self, id: int, window: int) -> float:
        """The probability of one of the followed words."""
        return float(self.p[self.at(window), [w.id for w in self.words].index(id)])


def windows(n: int) -> tuple[int, ...]:
    """The stops of the slider for n tokens: 1 to n, of a long text all small ones and then ever fewer."""
    if n <= EVERY:
        return tuple(range(1, n + 1))
    close = EVERY // 2
    far = np.geomspace(close, n, EVERY - close + 1).round().astype(int)
    return tuple(sorted({*range(1, close + 1), *map(int, far)}))


@torch.inference_mode()
def next_probs(text: Text, stops: tuple[int, ...]) -> Tensor:
    """The next token at each window, (window, vocab): a batch in which only the mask differs."""
    model, n = subject.model(text.subject), len(text)
    age = torch.arange(n)[:, None] - torch.arange(n)  # (query, key)
    found = []
    for part in torch.tensor(stops).split(subject.at_once(n)):
        near = (age < part[:, None, None])[:, None]  # (window, 1, query, key)
        trace = WhatIf([("block*.allowed", lambda allowed, near=near: allowed & near)])
        stream = model.stream(torch.tensor(text.ids).expand(len(part), -1), trace=trace)
        found.append(model.predict(stream).softmax(-1))
    return torch.cat(found)


def run(demo: Demo) -> Reach:
    """Every window of one text."""
    text, stops = demo.text, windows(len(demo.text))
    whole = subject.untouched(text)["next_probs"].value[None]  # the widest window leaves everything in sight
    probs = np.concatenate([to_numpy(next_probs(text, stops[:-1])), whole]) if stops[1:] else whole
    best = [top(row, 1, text.subject)[0] for row in probs]
    answer = best[-1]
    wrong = [i for i, one in enumerate(best) if one.id != answer.id]
    needed = stops[wrong[-1] + 1] if wrong else stops[0]
    ids = _followed(probs, best, answer)
    return Reach(
        stops, tuple(word(i, probs[-1], text.subject) for i in ids), probs[:, ids], tuple(best), answer, needed
    )


def _followed(probs: np.ndarray, best: list[Word], answer: Word) -> list[int]:
    """The answer, whatever else is once the likeliest, and what comes close, by the greatest probability reached."""
    most = probs.max(0)
    leaders = {one.id for one in best}
    rest = [int(i) for i in np.argsort(-most, kind="stable")[: SHOWN + len(leaders)] if i not in leaders]
    ranked = sorted(leaders - {answer.id}, key=lambda i: -most[i]) + rest
    return [answer.id, *ranked[: SHOWN - 1]]
