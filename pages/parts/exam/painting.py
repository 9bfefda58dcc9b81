"""A map for three words, painted first; then what every head of the real model does with the same words."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.topics.exam import painted as pa
from pages.shared import controls, frame
from pages.shared.pictures import live, matrix, tiles
from pages.shared.text import N_, _, prose, say

CELLS = controls.Setting("exam_map", "", lambda text: text if text == "" or pa.unspell(text) else None)
NEAR = 3  # heads that are shown because they are close


def _press(name: str, value: Any) -> None:
    stroke = matrix.stroke(value, 3, 3) if name == "paint" else None
    if stroke:
        CELLS.keep(pa.spell(pa.pressed(_levels(), stroke[0])) or None)


def _levels() -> pa.Levels:
    return pa.unspell(CELLS.now()) or (0,) * 9


def room() -> None:
    """The words, the map to paint, and once every row is painted the heads."""
    prose("exam", "map")
    left, right = st.columns([2, 3], gap="medium")
    with left:
        line = controls.typed("Three words", pa.WORDS, key="exam_words", longest=60)
        read = pa.text_of(line)
        if read is None:
            say("It takes three words with blanks between. Here are three.")
            line, read = pa.WORDS, pa.text_of(pa.WORDS)
        words, levels = line.split(), _levels()
        _paint(words, levels)
    with right:
        if read and pa.normalised(levels).sum(-1).all():
            _compare(*read, levels)
        else:
            say("Give every row something to share out. Then the heads of the real model appear here.")


def _paint(words: list[str], levels: pa.Levels) -> None:
    values = pa.normalised(levels)
    matrix.show(
        live.Picture(
            key="exam_map",
            wordless=True,
            quantity="weights",
            says=_("Your map: which word reads which. Press a cell once, twice, three times for more."),
            released=_press,
        ),
        values,
        rows=words,
        columns=words,
        look=matrix.Look(from_zero=True, most=64, flat=52, tools=False, closed=N_("nothing yet")),
        shut=values == 0,
        paint=True,
    )


def _compare(text: Any, starts: tuple[int, ...], levels: pa.Levels) -> None:
    """The painted map as a decoder may have it, the nearest heads and the farthest."""
    found, mine = frame.cached(pa.heads, text, starts), pa.normalised(levels, causal=True)
    apart = pa.away(mine, found)
    order = np.argsort(apart, kind="stable")
    chosen = [*order[:NEAR], order[-1]]
    tiles.show(
        live.Picture(
            key="exam_heads",
            quantity="weights",
            says=_("Your map without what is ahead, the three heads nearest to it, and the one farthest from it."),
        ),
        np.stack([mine, *found.maps[chosen]]),
        columns=5,
        names=[_("yours"), *(f"{found.names[i]}" for i in chosen)],
    )
    ahead = pa.normalised(levels)
    prose(
        "exam",
        "compared",
        near=found.names[order[0]],
        off=f"{apart[order[0]]:.0%}",
        far=found.names[order[-1]],
        most=f"{apart[order[-1]]:.0%}",
        start=f"{found.start:.0%}",
        ahead=f"{np.triu(ahead, 1).sum() / 3:.0%}",
        heads=len(found.names),
    )
