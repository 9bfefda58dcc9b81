"""The cells of a cache, old and renewed, and the next word that comes out of them."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from core.topics.inference.stale import Stale
from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
CELLS = live.painter(HERE / "cells.js")


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    file: str
    tokens: list[str]
    place: int
    was: str
    layers: int
    order: list[list[int]]
    done: list[int]
    names: list[str]
    best: list[int]
    fresh: int
    covered: bool
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    found: Stale,
    place: int,
    was: str,
    *,
    best: np.ndarray,
    cell: tuple[int, int] | None,
    covered: bool,
) -> None:
    """One frame for each stop: which cells are renewed, and what the model says next. A click releases "cell".

    place, was: the swapped token and what the cache still thinks it is. best: (layer, token), the bar that is longest with
    this cell alone renewed. covered: at the first stop the bars wait for a guess.
    """
    ids = [word.id for word in found.words]
    meta: Meta = {
        "file": "stale",
        "tokens": list(found.swapped.tokens),
        "place": place,
        "was": was,
        "layers": len(found.alone),
        "order": [list(cell) for cell in found.cells],
        "done": list(found.stops),
        "names": [word.token for word in found.words],
        "best": [ids.index(id) if id in ids else -1 for id in found.best],
        "fresh": ids.index(found.new.id),
        "covered": covered,
        "colours": palette.roles(key="k", value="v", answer="a", quiet="quiet", point="warn"),
        "words": _words(),
        "tools": True,
    }
    arrays = {
        "values": found.p.astype(np.float32),
        "alone": found.alone.astype(np.float32),
        "lead": best.astype(np.int32),
    }
    picture.mount(CELLS, meta, arrays, state={"cell": list(cell) if cell else None})


def _words() -> dict[str, str]:
    return {
        "block": _(N_("block {i}")),
        "screen": _(N_("on the screen")),
        "cache": _(N_("the cache")),
        "now": _(N_("computed now")),
        "still": _(N_("kept of “{word}”")),
        "says": _("the model says"),
        "rest": _("all others"),
        "renewed": _(N_("{n} of {all} cells renewed")),
        "one": _(N_("one cell renewed: block {i}, “{word}”")),
        "cell": _(N_("block {i}, “{word}”\nthis cell alone renewed:\n{best} {p}")),
        "keys": _(N_("Arrow keys move from cell to cell, Enter renews this one alone.")),
        "stop": _(N_("cells renewed")),
    }
