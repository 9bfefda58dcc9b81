"""Is it one cell in every sentence? The swap of one name for the other, in many sentences of the same make: recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from random import Random

from core.assets import ASSETS
from core.lab import subject
from core.lab.text import Cannot, Text, exactly
from core.topics.inference import stale

FILE = ASSETS / "data" / "swaps.json"
NAMES = ("Tom", "Sam", "Ben", "Tim", "Max", "Lily", "Amy", "Anna", "Mia", "Sue", "Jack", "Jane", "Lucy", "Bob", "Sara")
SENTENCES = (
    "{a} and {b} played in the park. {g} threw the ball to",
    "{a} and {b} were in the kitchen. {g} gave the cake to",
    "{a} and {b} went to the shop. {g} gave a toy to",
    "{a} met {b} at the lake. {g} showed the fish to",
)
PAIRS = 60  # of names, for each sentence


def texts(sentence: str, seed: int = 0, pairs: int = PAIRS) -> Iterator[tuple[Text, Text]]:
    """The text before the swap, and after it: who gives and who is given to change places. Names of one token alone."""
    known = [name for name in NAMES if len(exactly(name).ids) == 2]
    drawn = list(permutations(known, 2))
    Random(seed).shuffle(drawn)
    for a, b in drawn[:pairs]:
        yield tuple(exactly(sentence.format(a=a, b=b, g=giver)) for giver in (a, b))


def turning(old: Text, new: Text) -> tuple[tuple[int, int], ...] | None:
    """The cells that alone bring the new text's answer. None where the model does not name the other one in both.

    Raises Cannot where the two texts differ in more than one token."""
    places = [i for i, (a, b) in enumerate(zip(old.ids, new.ids, strict=True)) if a != b]
    if len(places) != 1:
        raise Cannot("Both texts must differ in one token.")
    [place] = places
    answers = [int(subject.untouched(text)["next_probs"].value.argmax()) for text in (old, new)]
    if answers != [new.ids[place], old.ids[place]]:
        return None
    return stale.run(stale.Demo(old, place, new.ids[place])).turning


@dataclass(frozen=True)
class Many:
    """texts: that were tried and answered; alone: in how many exactly one cell turns the answer; block: the one where it
    lies in `there` of them, always at the swapped name."""

    texts: int
    alone: int
    block: int
    there: int


@cache
def recorded() -> Many:
    """As recorded by `python -m core.make swaps`."""
    return Many(**json.loads(FILE.read_text("utf8")))
