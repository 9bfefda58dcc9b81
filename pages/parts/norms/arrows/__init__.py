"""Arrows one after the other, each from where the one before it ended: what every part adds to a sum."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
ARROWS = live.painter(HERE / "arrows.js")


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    names: list[str]
    short: list[str]
    kinds: list[str]
    told: list[str]
    marked: str
    below: str
    ends: list[str]
    chooses: str
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    values: np.ndarray,
    *,
    names: list[str],
    short: list[str],
    kinds: list[str],
    told: list[str] | None = None,
    marked: str = "",
    below: str = "",
    ends: tuple[str, str] = ("", ""),
    chooses: str = "",
    chosen: int | None = None,
) -> None:
    """values: (part,), signed. names, short: of the parts; kinds: their colours, embed, attn, ffn or rest. told: a word
    under each, `marked` among them stands out, `below` says what they are. ends: what up and down speak for. chooses:
    what a click releases, with the part's index; chosen: the one that was clicked."""
    meta: Meta = {
        "names": names,
        "short": short,
        "kinds": kinds,
        "told": told or [],
        "marked": marked,
        "below": below,
        "ends": list(ends),
        "chooses": chooses,
        "colours": palette.roles(embed="quiet", rest="quiet", attn="attn", ffn="ffn", quiet="quiet", answer="a"),
        "words": {
            "tells": _(N_("{name}: {value}; all up to here {sum}")),
            "keys": _(N_("Arrow keys move from arrow to arrow.")),
        },
        "tools": True,
    }
    state = {chooses: chosen} if chooses else None
    picture.mount(ARROWS, meta, {"values": values.astype(np.float32)}, state=state)
