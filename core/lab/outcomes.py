"""What happens to the first sentence: its next word, with a link cut, with one word changed. Read from the recording.

Nothing here imports torch. `python -m core.make home` writes the recording anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from core.assets import ASSETS
from core.lab.text import Link, Word

ABOUT = ASSETS / "data" / "home.json"
LINK = (5, 1, 13, 3)  # layer, head, query, key: the link that Home cuts, from "to" to "Amy"


@dataclass(frozen=True)
class Outcomes:
    """What Home and the attention page tell of the first sentence: with LINK forbidden, with one word changed, and
    with every link cut in turn. keep, share: the most decisive links if the rest of the row stays as it was, or
    shares the freed weight."""

    cut: tuple[Word, ...]
    twin: tuple[Word, ...]
    cells: int
    keep: tuple[Link, ...]
    share: tuple[Link, ...]

    @property
    def deciders(self) -> int:
        """Links without which the answer falls below one half."""
        return sum(link.p < 0.5 for link in self.keep)


@cache
def recorded_words() -> tuple[Word, ...]:
    """The next word's candidates after the first sentence, likeliest first."""
    return tuple(Word(**word) for word in json.loads(ABOUT.read_text("utf8"))["words"])


@cache
def outcomes() -> Outcomes:
    """What happens to the first sentence, read from the recording."""
    about = json.loads(ABOUT.read_text("utf8"))["outcomes"]
    cut, twin = (tuple(Word(**word) for word in about[name]) for name in ("cut", "twin"))
    keep, share = (tuple(Link(**link) for link in about[name]) for name in ("keep", "share"))
    return Outcomes(cut, twin, about["cells"], keep, share)
