"""Colours mixed with shares: a bar of parts, each in its own colour and as wide as its share, over what they make."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pages.shared.pictures import live
from pages.shared.text import N_, _

HERE = Path(__file__).parent
SWATCH = live.component("swatch", HERE / "swatch.js")
SAYS = N_("The colours of the row, mixed with its shares.")


def show(
    shares: np.ndarray,
    colours: np.ndarray,
    mixed: np.ndarray,
    names: list[str],
    *,
    key: str,
    slider: live.Slider,
    captions: list[str],
    released: Callable[[str, Any], None],
) -> None:
    """shares: (frame, name). colours: (name, 3) and mixed: (frame, 3), red, green and blue from 0 to 255."""
    meta = {
        "quantity": "mixed",
        "label": _(SAYS),
        "alt": _(SAYS),
        "signature": False,
        "names": names,
        "column": _("name"),
        "tools": True,
    }
    arrays = {"shares": shares, "colours": colours, "mixed": mixed}
    arrays = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
    live.mount(SWATCH, key, meta, arrays, slider=slider, captions=captions, released=released)
