"""Small multiples: many matrices in one canvas. A click chooses one, where somebody listens."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
TILES = live.painter(HERE / "tiles.js")


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    columns: int
    names: list[str]
    most: int
    scale: palette.Scale
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    values: np.ndarray,
    *,
    columns: int,
    names: list[str],
    chosen: int | None = None,
    most: int = 92,
) -> None:
    """values: (tile, row, column), weights between 0 and 1; `columns` tiles side by side, each at most `most` pixels.

    Releases "tile", an index, where the picture has a receiver; else none can be chosen.
    """
    heard = picture.released is not None
    keys = (
        N_("Arrow keys move from one to the next, Enter chooses.")
        if heard
        else N_("Arrow keys move from one to the next.")
    )
    meta: Meta = {
        "columns": columns,
        "names": names,
        "most": most,
        "scale": palette.scale(palette.WEIGHTS, 0.0, 1.0),
        "colours": palette.roles(quiet="quiet"),
        "words": {
            "keys": _(keys),
            "tells": _("{name}, {i} of {n}; the largest is row {row}, column {column}: {value}"),
        },
        "tools": False,
    }
    picture.mount(TILES, meta, {"values": values.astype(np.float16)}, state={"tile": chosen} if heard else None)
