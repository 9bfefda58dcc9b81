"""Small multiples: many matrices in one canvas, one click chooses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
TILES = live.component("tiles", HERE / "tiles.js")


def show(
    values: np.ndarray,
    *,
    columns: int,
    names: list[str],
    key: str,
    quantity: str,
    says: str,
    chosen: int | None = None,
    most: int = 92,
    released: Callable[[str, Any], None] | None = None,
) -> None:
    """values: (tile, row, column), weights between 0 and 1; `columns` tiles side by side, each at most `most` pixels. Releases
    "tile", an index."""
    meta = {
        "quantity": quantity,
        "label": says,
        "alt": says,
        "signature": False,
        "columns": columns,
        "names": names,
        "most": most,
        "scale": palette.scale(palette.WEIGHTS, 0.0, 1.0),
        "colours": palette.roles(quiet="quiet"),
        "words": {"keys": _("Arrow keys move from one to the next, Enter chooses.")},
        "tools": False,
    }
    live.mount(TILES, key, meta, {"values": values.astype(np.float16)}, state={"tile": chosen}, released=released)
