"""A live treemap of two levels: a column for each part, as wide as its share, and in it its tensors, as tall as theirs."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
TREEMAP = live.painter(HERE / "treemap.js")


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    names: list[str]
    partOf: list[int]
    parts: list[str]
    tall: int
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    values: np.ndarray,
    names: list[str],
    part_of: list[int],
    parts: list[str],
    *,
    roles: tuple[str, ...],
    tall: int = 300,
) -> None:
    """values: (frame, leaf), not negative, shipped as float64 so that whole numbers stay exact. part_of: the part each
    leaf belongs to; leaves of one part stand next to each other."""
    frames = np.atleast_2d(np.asarray(values, np.float64))
    meta: Meta = {
        "names": names,
        "partOf": part_of,
        "parts": parts,
        "tall": tall,
        "colours": palette.roles(**{f"part{i}": roles[i % len(roles)] for i in range(len(parts))}),
        "words": {"keys": _("Arrow keys move from part to part."), "column": _("name")},
        "tools": True,
    }
    picture.mount(TREEMAP, meta, {"values": frames})
