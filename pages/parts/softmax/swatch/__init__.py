"""Colours mixed with shares: a bar of parts, each in its own colour and as wide as its share, over what they make."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pages.shared.pictures import live
from pages.shared.text import _

HERE = Path(__file__).parent
SWATCH = live.component("swatch", HERE / "swatch.js")


def show(
    picture: live.Picture,
    shares: np.ndarray,
    colours: np.ndarray,
    mixed: np.ndarray,
    names: list[str],
) -> None:
    """shares: (frame, name). colours: (name, 3) and mixed: (frame, 3), red, green and blue from 0 to 255."""
    meta = {
        "names": names,
        "column": _("name"),
        "tools": True,
    }
    arrays = {"shares": shares, "colours": colours, "mixed": mixed}
    arrays = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
    picture.mount(SWATCH, meta, arrays)
