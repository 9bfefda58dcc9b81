"""The text, what its last word can reach, and the next word that follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from core.topics.why.window import Reach
from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
REACH = live.painter(HERE / "reach.js")
MOST = 60  # tokens drawn; of a longer text the last ones, and a sign for those before


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    file: str
    tokens: list[str]
    earlier: int
    windows: list[int]
    names: list[str]
    best: list[str]
    top: list[int]
    right: list[bool]
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    found: Reach,
    tokens: tuple[str, ...],
) -> None:
    """One frame for each window: which words are in reach, and the probabilities of the words that are followed."""
    drawn = tokens[-MOST:]
    meta: Meta = {
        "file": "reach",
        "tokens": list(drawn),
        "earlier": len(tokens) - len(drawn),
        "windows": list(found.windows),
        "names": [word.token for word in found.words],
        "best": [word.token for word in found.best],
        "top": [_place(found, word.id) for word in found.best],
        "right": [word.id == found.answer.id for word in found.best],
        "colours": palette.roles(reach="a", answer="a", wrong="warn", quiet="quiet"),
        "words": {
            "sees": _(N_("in reach: {n} of {all} tokens")),
            "says": _("the model says"),
            "named": _("the model says: {word}"),
            "rest": _("all others"),
            "dashed": _("dashed: out of reach"),
            "window": _("window"),
        },
        "tools": True,
    }
    best = np.array([word.p for word in found.best])
    arrays = {"values": found.p.astype(np.float32), "best": best.astype(np.float32)}
    picture.mount(REACH, meta, arrays)


def _place(found: Reach, id: int) -> int:
    """Its bar, or -1 where it has none."""
    return next((i for i, word in enumerate(found.words) if word.id == id), -1)
