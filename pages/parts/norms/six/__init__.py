"""A vector's numbers as bars that can be taken by the hand, and beside them what LayerNorm and RMSNorm make of them."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
SIX = live.painter(HERE / "six.js")


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    titles: list[str]
    bounds: list[float]
    marked: int | None
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(picture: live.Picture, panels: dict[str, np.ndarray], *, marked: int | None) -> None:
    """panels: title -> (frame, number); the first is the vector, and its bars follow the hand. marked: the one number
    that moves, None where all move. A touch on another bar releases "bar"."""
    values = np.stack([*panels.values()], 1)  # (frame, panel, number)
    bounds = [float(np.abs(values[:, 0]).max()) or 1.0] + [float(np.abs(values[:, 1:]).max()) or 1.0] * (
        len(panels) - 1
    )
    meta: Meta = {
        "titles": list(panels),
        "bounds": bounds,
        "marked": marked,
        "colours": palette.roles(x="quiet", made="a", marked="q", mean="warn", quiet="quiet"),
        "words": {"mean": _(N_("mean")), "number": _(N_("number"))},
        "tools": True,
    }
    state = {"bar": marked} if marked is not None else None
    picture.mount(SIX, meta, {"values": values.astype(np.float32)}, state=state)
