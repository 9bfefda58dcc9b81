"""Repair the line: mask and softmax with five blanks, every way to fill them run on a real model; no visitor's code is.

The pieces make 108 lines. What each costs on six stories is recorded for every fill value of the slider
(`python -m core.make blanks`); what it does to a visitor's sentence is computed.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.assets import ASSETS
from core.lab import subject
from core.lab.text import FIRST, SENTENCE, Cannot, Text, id_of, of, read, word
from core.trace import to_numpy
from core.whatif import Edit, WhatIf

TABLE = ASSETS / "data" / "blanks.npz"
NEVER = -1e10  # stands for minus infinity where numbers are written: no address and no slider knows an infinite one
FILLS = (0.0, *(round(-50 * (i / 48) ** 2, 2) for i in range(1, 49)), -1e9, NEVER)  # the stops of the slider
FILL_PIECES = (NEVER, -1e9, 0.0)
PIECES = {  # the other blanks -> their pieces; of each the first is right
    "keep": ("le", "lt", "ge"),  # j <= i, j < i, j >= i
    "when": ("before", "after"),  # softmax
    "scale": ("root", "width", "one"),  # what the scores are divided by
    "axis": ("key", "query"),  # what softmax runs over
}
AT_ONCE = 2048  # tokens in one batched pass
FRAMES = 17  # fill values at once over a story
SHOWN = 14  # tokens in the picture of a map
SMALL = 1e-4  # relative: less than this is rounding
WORSE = 0.05  # nats a token
LAMPS = ("answer", "loss", "sums", "leak", "nan")


@dataclass(frozen=True)
class Line:
    """How four of the blanks are filled; the fifth, the fill value, is the slider's."""

    keep: str = "le"
    when: str = "before"
    scale: str = "root"
    axis: str = "key"


RIGHT = Line()
LINES = tuple(Line(*one) for one in itertools.product(*PIECES.values()))


# ---- the line ----


def weights(line: Line, scores: Tensor, d_k: int, fills: Tensor) -> Tensor:
    """The line itself. scores: (..., head, query, key), products of queries and keys as they are. fills: broadcastable to
    them. Nothing is set right: an empty row becomes NaN, as in torch. Returns (..., head, query, key)."""
    n = scores.shape[-1]
    i, j = torch.arange(n)[:, None], torch.arange(n)
    keep = {"le": j <= i, "lt": j < i, "ge": j >= i}[line.keep]
    scores = scores / {"root": math.sqrt(d_k), "width": float(d_k), "one": 1.0}[line.scale]
    axis = {"key": -1, "query": -2}[line.axis]
    if line.when == "before":
        return torch.where(keep, scores, fills).softmax(axis)
    return torch.where(keep, scores.softmax(axis), fills)


def values(fills: tuple[float, ...]) -> Tensor:
    """(frame, 1, 1, 1): the fill values, minus infinity where one stands for it."""
    return torch.tensor([-math.inf if fill == NEVER else fill for fill in fills])[:, None, None, None]


def edits(line: Line, fills: tuple[float, ...], d_k: int, heard: list[Tensor] | None = None) -> list[Edit]:
    """The line in the place of mask and softmax, in all blocks; one frame a fill value before the head's axis.

    heard: gets the weights of each block.
    """
    last: list[Tensor] = []

    def keep(scores: Tensor) -> Tensor:
        last[:] = [scores]
        return scores

    def put(_weights: Tensor) -> Tensor:
        made = weights(line, last[0], d_k, values(fills))
        if heard is not None:
            heard.append(made)
        return made

    return [("block*.scores", keep), ("block*.weights", put)]


# ---- what it costs on stories ----


@torch.inference_mode()
def story_losses(line: Line, fills: tuple[float, ...] = FILLS) -> list[float]:
    """Nats a token over the six shipped stories, at each fill value; NaN where the line makes one."""
    model, rows, found = subject.model(), subject.stories(), []
    for start in range(0, len(fills), FRAMES):
        part, losses = fills[start : start + FRAMES], []
        for row in rows:
            trace = WhatIf(edits(line, part, model.config.head_dim))
            logits = model.read_out(model.stream(row.expand(len(part), -1), trace=trace))[:, :-1]
            asked = row[1:].expand(len(part), -1)
            losses.append(F.cross_entropy(logits.transpose(1, 2), asked, reduction="none"))
        found += torch.cat(losses, -1).mean(-1).tolist()
    return found


@cache
def _table() -> dict[str, np.ndarray]:
    with np.load(TABLE, allow_pickle=False) as stored:
        return dict(stored)


@dataclass(frozen=True)
class Costs:
    """Nats a token on the stories. nats: (fill,) of a line at each of FILLS; right: of the line as it should be."""

    nats: np.ndarray
    right: float


def costs(line: Line) -> Costs:
    """As recorded."""
    table = _table()["losses"]
    return Costs(table[LINES.index(line)], float(table[LINES.index(RIGHT), FILLS.index(NEVER)]))


# ---- what it does to a sentence ----


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses: a text, and the line."""

    text: Text
    line: Line = RIGHT


@dataclass(frozen=True)
class Found:
    """What the line does at each of FILLS.

    answer: the untouched model's next word; p: (fill,) its probability; said: the likeliest word there, "" where there is
    none; sums: (fill, 2) the smallest and the largest sum of a row in any head; leak: (fill,) how far the vectors before
    the last word move when that word is another one, relative; nan: (fill,); maps: (fill, query, key) of one head, of the
    first tokens; other: the word that is put in the place of the last.
    """

    answer: str
    before: float
    p: np.ndarray
    said: tuple[str, ...]
    sums: np.ndarray
    leak: np.ndarray
    nan: np.ndarray
    costs: Costs
    maps: np.ndarray
    other: str

    def lit(self, at: int) -> dict[str, bool]:
        """Which lamps are lit at one stop."""
        nan = bool(self.nan[at])
        return {
            "answer": nan or self.said[at] != self.answer,
            "loss": nan or not self.costs.nats[at] <= self.costs.right + WORSE,
            "sums": nan or bool((np.abs(self.sums[at] - 1) > SMALL).any()),
            "leak": not nan and bool(self.leak[at] > SMALL),
            "nan": nan,
        }


def computed(n: int) -> tuple[float, ...]:
    """Which of FILLS are computed for a text of n tokens: all, or of a long text fewer, its ends among them."""
    most = max(6, AT_ONCE // n)
    if most >= len(FILLS):
        return FILLS
    places = np.unique(np.linspace(0, len(FILLS) - 3, most - 2).round().astype(int))
    return (*(FILLS[i] for i in places), *FILLS[-2:])


def another(text: Text) -> Text:
    """The same text with another last word: "dog", or "cat" where there was a dog."""
    words = [id_of(one, text.subject) for one in ("dog", "cat")]
    ids = [id for id in (*words, 5, 6) if id is not None and id < subject.config(text.subject).vocab_size]
    id = next(one for one in ids if one != text.ids[-1])
    return Text(text.subject, (*text.ids[:-1], id), (*text.tokens[:-1], called(id, text)))


def called(id: int, text: Text) -> str:
    return word(id, np.zeros(id + 1), text.subject).token


HEAD = (5, 1)  # whose map is shown: layer, head


@torch.inference_mode()
def run(demo: Demo, layer: int = HEAD[0], head: int = HEAD[1]) -> Found:
    """The sentence, and its twin with another last word, at every fill value. Raises Cannot for a model without stories."""
    if demo.text.subject != FIRST:
        raise Cannot("What a line costs on stories is recorded for the model that ships with this site alone.")
    return measured(demo, layer, head, costs(demo.line), computed(len(demo.text)))


@torch.inference_mode()
def measured(demo: Demo, layer: int, head: int, costs: Costs, fills: tuple[float, ...]) -> Found:
    """The same on any model, with costs that are known. fills: which of FILLS are computed; the others show the nearest."""
    text, twin = demo.text, another(demo.text)
    untouched = subject.untouched(text)["next_probs"].value
    answer = int(untouched.argmax())
    size, parts = subject.at_once(2 * len(text)), []
    for start in range(0, len(fills), size):
        parts.append(_pass(text, twin, demo.line, fills[start : start + size], layer, head))
    probs, sums, leak, maps = (torch.cat(one) for one in zip(*parts, strict=True))
    at = [int(np.argmin([_apart(one, fill) for one in fills])) for fill in FILLS]
    nan = to_numpy(probs.isnan().any(-1))
    said = tuple("" if nan[i] else called(int(probs[i].argmax()), text) for i in range(len(fills)))
    return Found(
        called(answer, text),
        float(untouched[answer]),
        to_numpy(probs[:, answer])[at],
        tuple(said[i] for i in at),
        to_numpy(sums)[at],
        to_numpy(leak)[at],
        nan[at],
        costs,
        to_numpy(maps)[at],
        twin.tokens[-1],
    )


def _apart(a: float, b: float) -> float:
    """How far two fill values are from each other as stops of the slider."""
    return abs(FILLS.index(a) - FILLS.index(b))


def _pass(
    text: Text, twin: Text, line: Line, fills: tuple[float, ...], layer: int, head: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(frame, vocab) of the next word; (frame, 2) least and largest sum of a row; (frame,) leak; (frame, query, key)."""
    model, frames, heard = subject.model(text.subject), len(fills), list[Tensor]()
    ids = torch.tensor([text.ids, twin.ids]).repeat_interleave(frames, 0)
    made = edits(line, fills * 2, model.config.head_dim, heard)
    stream = model.stream(ids, trace=WhatIf(made))
    here, there = stream[:frames], stream[frames:]
    probs = model.predict(here).softmax(-1)
    rows = torch.stack([one[:frames].sum(-1).flatten(1) for one in heard], 1).flatten(1)
    sums = torch.stack([rows.amin(-1), rows.amax(-1)], -1)
    moved = (here - there).norm(dim=-1) / here.norm(dim=-1)
    leak = moved[:, :-1].amax(-1) if len(text) > 1 else torch.zeros(frames)
    return probs, sums, leak, heard[layer][:frames, head, :SHOWN, :SHOWN]


# ---- all 108 ----


def first_sentence(line: Line, costs: Costs) -> list[list[bool]]:
    """(fill piece, lamp): which lamps each of the three pieces lights on the first sentence."""
    found = measured(Demo(of(read(SENTENCE)), line), 0, 0, costs, FILL_PIECES)
    return [[found.lit(FILLS.index(fill))[lamp] for lamp in LAMPS] for fill in FILL_PIECES]


def outcomes() -> np.ndarray:
    """(line, fill piece, lamp), True where it is lit: all 108 on the first sentence, as recorded."""
    lit: np.ndarray = _table()["lit"].astype(bool)
    return lit


def caught(lamp: str) -> int:
    """How many of the 108 light this lamp."""
    return int(outcomes()[..., LAMPS.index(lamp)].sum())


def silent() -> int:
    """How many of the 108 light none at all."""
    return int((~outcomes().any(-1)).sum())


def alone(lamp: str) -> int:
    """How many of the 108 light this lamp and no other."""
    lit = outcomes()
    return int((lit[..., LAMPS.index(lamp)] & (lit.sum(-1) == 1)).sum())
