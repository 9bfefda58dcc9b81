"""A block as its wiring: one line of code a row, arcs for what skips ahead, the shape at every arrow, a bar for a number."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
WIRING = live.painter(HERE / "wiring.js")


@dataclass(frozen=True)
class Row:
    """One line. name: of what it makes; text: the formula; shape: as it leaves; group: a title above it; plus: a sum,
    drawn as a joint; wire: it can be chosen; off: not there just now, as its text says."""

    name: str
    text: str
    shape: str = ""
    group: str = ""
    plus: bool = False
    wire: bool = False
    off: bool = False


class Dressed(TypedDict):
    """The part of it that is the same for all numbers."""

    rows: list[list[Any]]
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


class Meta(Dressed):
    """What the script is told beside what every picture says; the same stands at its head."""

    file: str
    arcs: list[list[int]]
    ends: list[float]
    measured: str
    whole: bool
    lit: list[int] | None
    cut: int | None
    tall: int | None


def show(
    picture: live.Picture,
    rows: list[Row],
    arcs: list[tuple[int, int]],
    *,
    values: np.ndarray | None = None,
    ghost: np.ndarray | None = None,
    ends: tuple[float, float] = (0.01, 100.0),
    measured: str = "",
    whole: bool = False,
    lit: list[int] | None = None,
    chosen: int | None = None,
    cut: int | None = None,
    tall: int | None = None,
) -> None:
    """values: (row,) or (frame, row), drawn on a log scale between `ends`; NaN draws nothing. ghost: (row,), outlines.

    arcs: (from, to) rows. whole: the values are whole numbers. lit: the row to light in each frame.
    cut: the row whose arc is drawn as torn. tall: the height of all lines together, where a screen is wide: many of them
    move together. A click on a row that is a wire releases "row", its index.
    """
    numbers = np.full((1, len(rows)), np.nan) if values is None else np.atleast_2d(values)
    arrays = {"values": numbers.astype(np.float64 if whole else np.float32)}
    if ghost is not None:
        arrays["ghost"] = np.asarray(ghost, np.float32)
    meta: Meta = {
        **_dressed(rows),
        "file": picture.key,
        "arcs": [list(arc) for arc in arcs],
        "ends": list(ends),
        "measured": measured,
        "whole": whole,
        "lit": lit,
        "cut": cut,
        "tall": tall,
    }
    state = {"row": chosen} if any(row.wire for row in rows) else None
    picture.mount(WIRING, meta, arrays, state=state)


def _dressed(rows: list[Row]) -> Dressed:
    return {
        "rows": [[row.name, row.text, row.shape, row.group, row.plus, row.wire, row.off] for row in rows],
        "colours": palette.roles(wire="q", bar="a", quiet="quiet", chosen="k"),
        "words": {
            "keys": _("Arrow keys move from line to line, Enter chooses one."),
            "line": _("line"),
            "shape": _("shape"),
        },
        "tools": True,
    }


def chosen_row(value: Any, rows: int) -> int | None:
    """A released "row", if it is one."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < rows else None
