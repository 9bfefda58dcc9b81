"""Small multiples: many matrices in one canvas, one click chooses."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
TILES = live.component("tiles", HERE / "tiles.js")


def show(
    picture: live.Picture,
    values: np.ndarray,
    *,
    columns: int,
    names: list[str],
    chosen: int | None = None,
    most: int = 92,
) -> None:
    """values: (tile, row, column), weights between 0 and 1; `columns` tiles side by side, each at most `most` pixels. Releases
    "tile", an index."""
    meta = {
        "columns": columns,
        "names": names,
        "most": most,
        "scale": palette.scale(palette.WEIGHTS, 0.0, 1.0),
        "colours": palette.roles(quiet="quiet"),
        "words": {"keys": _("Arrow keys move from one to the next, Enter chooses.")},
        "tools": False,
    }
    picture.mount(TILES, meta, {"values": values.astype(np.float16)}, state={"tile": chosen})
