"""Two clock faces, the angle between their hands, and the score as the words move along the text."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from core.topics.rope.clocks import MOVES, Clocks
from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
CLOCKS = live.painter(HERE / "clocks.js")
MOVE_NAMES = {"both": N_("both together"), "m": N_("only the query"), "n": N_("only the key")}


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    file: str
    names: list[str]
    places: list[int]
    theta: list[float]
    moves: list[list[str]]
    range: list[float]
    pairs: bool
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    found: Clocks,
    theta: np.ndarray,
    words: tuple[str, str],
    places: tuple[int, int],
    *,
    move: str,
    pair: int,
    pairs: bool = True,
) -> None:
    """One frame a shift. theta: (pair,). words, places: the query's and the key's. pairs: a small clock for each pair
    stands below, to choose one. Releases "move" and "pair" too."""
    low, high = float(min(found.scores.min(), 0)), float(max(found.scores.max(), 0))
    meta: Meta = {
        "file": "clocks",
        "names": list(words),
        "places": list(places),
        "theta": [float(t) for t in theta],
        "moves": [[token, _(MOVE_NAMES[token])] for token in MOVES],
        "range": [low - 0.06 * (high - low), high + 0.1 * (high - low)],
        "pairs": pairs,
        "colours": palette.roles(q="q", k="k", score="a", quiet="quiet"),
        "words": _words(),
        "tools": True,
    }
    arrays = {"q": found.q, "k": found.k, "parts": found.parts, "scores": found.scores}
    arrays = {name: value.astype(np.float32) for name, value in arrays.items()}
    state = {"move": move, "pair": pair}
    picture.mount(CLOCKS, meta, arrays, state=state)


def _words() -> dict[str, str]:
    return {
        "who": _(N_("Who moves?")),
        "at": _(N_("position {n}")),
        "turned": _(N_("turned by {n} × {theta} = {angle} rad")),
        "product": _(N_("{n} × {theta} = {angle} rad")),
        "rad": _(N_("{angle} rad")),
        "between": _(N_("angle between")),
        "part": _(N_("this pair adds {part}")),
        "pair": _(N_("pair {i}: {theta} rad a position")),
        "all": _(N_("all pairs: click one")),
        "score": _(N_("score q·k")),
        "alone": _(N_("this pair alone")),
        "keys": _(N_("Arrow keys choose a pair.")),
    }
