"""The chase for the links that decide: what becomes of the answer without one link, and what that link hands on."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from core.lab import subject
from core.lab.text import Link, Text, Word, word
from core.whatif import Change

NAMES = 5  # a link names the answer where no more than so many words are pushed harder


@dataclass(frozen=True)
class Without:
    """The model with one link cut, its row sharing what is left. answer: what it said before, with its chance now;
    kept: the part of its chance that is left."""

    answer: Word
    kept: float

    @property
    def decides(self) -> bool:
        """The answer lost more than half of its chance."""
        return self.kept < 0.5


def without(text: Text, link: tuple[int, int, int, int]) -> Without:
    """link: layer, head, query, key."""
    before = subject.outlook(text).asked
    found = subject.outlook(text, Change(cut=link, share=True), before.id)
    return Without(found.asked, found.asked.p / before.p)


@dataclass(frozen=True)
class Handed:
    """What a link does. weight: its share of the row; pushes: the word that what it hands on raises most; place: the
    answer's among all words by that measure, from 1; words: how many there are."""

    link: Link
    weight: float
    pushes: Word
    place: int
    words: int

    @property
    def names_the_answer(self) -> bool:
        return self.place <= NAMES


@torch.inference_mode()
def handed(text: Text, link: Link) -> Handed:
    """The value that one link takes home, through its head's part of W_O, read as the last block's end is read.

    One term of direct logit attribution (Elhage et al. 2021): later blocks may read it and do something else with it.
    """
    model, trace = subject.model(text.subject), subject.untouched(text)
    config, block = model.config, f"block{link.layer}"
    value = trace[f"{block}.v"].tensor[link.head // config.group, link.key]
    out = model.blocks[link.layer].attn.o.weight.unflatten(1, (config.n_heads, config.head_dim))[:, link.head]
    logits = model.read_out((out @ value)[None])[0]
    answer = int(trace["next_probs"].tensor.argmax())
    weight = float(trace[f"{block}.weights"].value[link.head, link.query, link.key])
    pushes = word(int(logits.argmax()), logits.softmax(-1).numpy(), text.subject)
    return Handed(link, weight, pushes, int((logits > logits[answer]).sum()) + 1, len(logits))
