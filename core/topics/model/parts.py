"""The embedded model with only some parts of its blocks switched on: what it says, and how large the stream gets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from core.lab import subject
from core.lab.text import Text, Word, top
from core.topics.model import repair
from core.whatif import Edit, WhatIf

PARTS = ("residual", "norms", "attention", "ffn")
MAKES = {"attention": "attn_out", "ffn": "ffn_out"}  # the line each of them adds to the stream
WIRED = {"norms": ("norm1", "norm2"), "residual": ("skip1", "skip2")}  # the wires that stand for the other two
LINES = ("resid_pre", "norm1", "attn_out", "resid_mid", "norm2", "ffn_out", "resid_post")


@dataclass(frozen=True)
class Switched:
    """words: the likeliest next ones; whole: what the whole model says. size: the root mean square of each of LINES in
    the first block, shapes: theirs."""

    words: tuple[Word, ...]
    whole: Word
    size: tuple[float, ...]
    shapes: tuple[tuple[int, ...], ...]


def edits(text: Text, on: tuple[str, ...]) -> list[Edit]:
    """Everything but these parts switched off, in all blocks: a silent sub-layer adds nothing, a norm that is off lets
    the stream through, and without the residual a sub-layer's output stands where the sum should."""
    silent = [(f"block*.{line}", torch.zeros_like) for part, line in MAKES.items() if part not in on]
    wires = [wire for part, both in WIRED.items() if part not in on for wire in both]
    return silent + [edit for wire in wires for edit in repair.edits(subject.model(text.subject), wire, torch.zeros(1))]


@torch.inference_mode()
def run(text: Text, on: tuple[str, ...]) -> Switched:
    """One pass with these of PARTS."""
    trace = WhatIf(edits(text, on), (*(f"block0.{line}" for line in LINES), "next_probs"), **text.labels)
    model = subject.model(text.subject)
    model.predict(model.stream(torch.tensor(text.ids), trace=trace), trace=trace)
    whole = top(subject.untouched(text)["next_probs"].value, 1, text.subject)[0]
    made = [trace[f"block0.{line}"].value for line in LINES]
    size = tuple(float(np.sqrt(np.square(one, dtype=np.float64).mean())) for one in made)
    words = tuple(top(trace["next_probs"].value, subject=text.subject))
    return Switched(words, whole, size, tuple(one.shape for one in made))
