"""Masks: who may look at whom, and what follows in a trained model.

A mask here acts in every head of every block. Everything about it is computed by the model itself: the weights and the
next word under it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from core.attention import allowed_pairs
from core.lab import subject
from core.lab import text as sentence
from core.lab.text import Text
from core.softmax import entropy
from core.topics.masks import reach
from core.trace import Trace, to_numpy
from core.watch import overhear
from core.whatif import Change, WhatIf

PAINTABLE = 48  # tokens: beyond, a painting would not fit into a link
MOST_STOPS = 44
AT_ONCE = 2048  # tokens of all frames together: a long text gets fewer stops

# ---- patterns and paint ----


def pattern(kind: str, n: int, size: int) -> Tensor:
    """(query, key), True where a query may look. Beside what is named, j <= i everywhere.

    window: at most `size` tokens back, itself included; n is the causal mask. global: the same, and token 0 always.
    reach: as `core.topics.masks.reach` counts it, from itself alone to everything. prefix: the first `size` tokens are
    seen by all, also by those before them; 1 is the causal mask, n no mask at all.
    padding: the first `size` tokens stand for padding, nobody may look at them. Raises KeyError for another kind.
    """
    j = torch.arange(n)
    causal = allowed_pairs("causal", n)
    return {
        "window": lambda: allowed_pairs("window", n, size),
        "global": lambda: allowed_pairs("window", n, size) | (j == 0),
        "reach": lambda: reach.pattern(n, size),
        "prefix": lambda: causal | (j < size),
        "padding": lambda: causal & (j >= size),
    }[kind]()


def stops(kind: str, n: int) -> tuple[int, ...]:
    """The sizes a slider offers; to the right more is in reach: 1 to n for windows and for a prefix, n - 1 to 0 for
    padding. A long text gets the small sizes and ever wider steps, for that is where most happens."""
    most, sizes = max(2, min(MOST_STOPS, AT_ONCE // n)), [1]
    if kind == "reach":
        return reach.sizes(n, most)
    while sizes[-1] < n:
        ratio = (n / sizes[-1]) ** (1 / (most - len(sizes)))
        sizes.append(max(sizes[-1] + 1, round(sizes[-1] * ratio)))
    return tuple(size - 1 for size in reversed(sizes)) if kind == "padding" else tuple(sizes)


def usual(kind: str, n: int) -> int:
    """Where the slider starts: the causal mask."""
    return {"reach": reach.CAUSAL, "window": n, "global": n, "prefix": 1, "padding": 0}[kind]


def forbidden(kind: str, n: int, size: int) -> Tensor:
    """(query, key), True where no output may depend on an input: the future, and padding for tokens that are none."""
    i, j = torch.arange(n)[:, None], torch.arange(n)
    return (j > i) | ((j < size) & (i >= size)) if kind == "padding" else j > i


@dataclass(frozen=True)
class Paint:
    """Cells opened or closed by hand, over any pattern."""

    open: frozenset[tuple[int, int]] = field(default=frozenset())
    shut: frozenset[tuple[int, int]] = field(default=frozenset())

    def stroke(self, cells: frozenset[tuple[int, int]], opening: bool) -> Paint:
        """The painting after one more stroke of the brush."""
        return Paint(
            self.open | cells if opening else self.open - cells, self.shut - cells if opening else self.shut | cells
        )

    def needed(self, mask: Tensor) -> Paint:
        """The same painting without what `mask`, (query, key), is anyway, so that a link stays short."""
        return Paint(
            frozenset(cell for cell in self.open if not mask[cell]), frozenset(cell for cell in self.shut if mask[cell])
        )

    def over(self, mask: Tensor) -> Tensor:
        """mask: (..., query, key). A copy with the painted cells set."""
        mask = mask.clone()
        for cells, value in ((self.open, True), (self.shut, False)):
            for cell in cells:
                mask[(..., *cell)] = value
        return mask


ROW = re.compile(r"([0-9]{1,2})-([0-9a-f]{0,12})-([0-9a-f]{0,12})")


def spell(paint: Paint) -> str:
    """`3-10-6_5--1`: the row, its opened cells and its closed ones, each a hexadecimal number with bit j for key j."""
    bits: dict[int, list[int]] = {}
    for side, cells in enumerate((paint.open, paint.shut)):
        for row, column in cells:
            bits.setdefault(row, [0, 0])[side] |= 1 << column
    return "_".join(f"{row}-" + "-".join(f"{b:x}" if b else "" for b in both) for row, both in sorted(bits.items()))


def unspell(text: str, n: int) -> Paint | None:
    """The painting of n tokens that `spell` wrote; None for anything else."""
    rows = [ROW.fullmatch(part) for part in text.split("_")]
    if n > PAINTABLE or not all(rows):
        return None
    found: list[set[tuple[int, int]]] = [set(), set()]
    for match in rows:
        row = int(match[1])
        for side, digits in enumerate(match.groups()[1:]):
            number = int(digits or "0", 16)
            if row >= n or number >> n:
                return None
            found[side] |= {(row, column) for column in range(n) if number >> column & 1}
    return None if found[0] & found[1] else Paint(frozenset(found[0]), frozenset(found[1]))


# ---- the live model under a mask ----


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses. size: how wide the pattern is."""

    text: Text
    layer: int = 5
    head: int = 1
    kind: str = "window"
    size: int = 0
    paint: Paint = Paint()

    @property
    def mask(self) -> Tensor:
        """(query, key)."""
        return self.paint.over(pattern(self.kind, len(self.text), self.size) & _reached(self.text))

    @property
    def sweep(self) -> Demo:
        """What `frames` depends on: all sizes have the same frames."""
        return replace(self, size=0)

    @property
    def wiring(self) -> Demo:
        """What `gradients.influence` depends on: the mask is that of all heads, whichever is shown."""
        return replace(self, layer=0, head=0)


def _reached(text: Text) -> Tensor:
    """(query, key): what the model's own window lets a query reach; everything where it has none."""
    n = len(text)
    return subject.model(text.subject).surroundings(n)[1] | torch.ones(n, n, dtype=torch.bool).triu(1)


def run(demo: Demo) -> Trace:
    """One pass under the mask: the chosen head's block and the next word."""
    labels = list(demo.text.tokens)
    edits = [("block*.allowed", lambda allowed: demo.mask)]
    trace = WhatIf(edits, (f"block{demo.layer}.*", "next_probs"), query=labels, key=labels)
    model = subject.model(demo.text.subject)
    with torch.inference_mode():
        model.predict(model.stream(torch.tensor(demo.text.ids), trace=trace), trace=trace)
    return trace


@dataclass(frozen=True)
class Frames:
    """One head and the next word at every stop. weights: (frame, query, key); shut: the same, True where closed;
    entropy: (frame, query) in bits; probs: (frame, word), of `words`; answer: the untouched model's choice."""

    weights: np.ndarray
    shut: np.ndarray
    entropy: np.ndarray
    words: tuple[sentence.Word, ...]
    probs: np.ndarray
    answer: sentence.Word
    before: np.ndarray  # (word,), in the untouched model


@torch.inference_mode()
def frames(demo: Demo, shown: int = 8) -> Frames:
    """Every stop of the slider in one batched pass (a long text: a few), the painting over each."""
    n, model = len(demo.text), subject.model(demo.text.subject)
    sizes = stops(demo.kind, n)
    masks = demo.paint.over(torch.stack([pattern(demo.kind, n, size) for size in sizes]) & _reached(demo.text))
    weights: list[Tensor] = []
    probs: list[Tensor] = []
    for part in masks.split(subject.at_once(n)):
        edits = [
            ("block*.allowed", lambda _allowed, part=part: part[:, None]),
            (f"block{demo.layer}.weights", overhear(weights, lambda w: w[:, demo.head])),
        ]
        x = model.stream(torch.tensor(demo.text.ids).expand(len(part), -1), trace=WhatIf(edits))
        probs.append(model.predict(x).softmax(-1))
    kept = torch.cat(weights)
    words, chosen, before, answer = _words(demo, torch.cat(probs), shown)
    return Frames(to_numpy(kept), to_numpy(~masks), to_numpy(entropy(kept)), words, chosen, answer, before)


def _words(
    demo: Demo, probs: Tensor, shown: int
) -> tuple[tuple[sentence.Word, ...], np.ndarray, np.ndarray, sentence.Word]:
    """The answer, then the words that any frame finds likely, likeliest first. probs: (frame, vocab)."""
    untouched = subject.untouched(demo.text)["next_probs"].value
    answer = int(untouched.argmax())
    most = probs.max(0).values
    most[answer] = torch.inf  # first, wherever it stands
    ids = most.topk(shown).indices
    words = tuple(sentence.word(int(i), untouched, demo.text.subject) for i in ids)
    return words, to_numpy(probs[:, ids]), untouched[ids.numpy()], words[0]


def above(text: Text, layer: int, head: int) -> float:
    """The share of a head's weight that lies above the diagonal once the mask is off: what no causal map can show."""
    trace = subject.run(text, Change(mask=False), (f"block{layer}.weights",))
    weights = trace[f"block{layer}.weights"].value[head]
    return float(np.triu(weights, 1).sum() / len(weights))
