"""The line with blanks: its code, the pieces, five lamps, and a real head's weights, while the fill value is dragged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from core.topics.exam import blanks as bl
from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
BLANKS = live.painter(HERE / "blanks.js")


class Blank(TypedDict):
    """A blank: its name, what is asked, and its pieces, [word, what is written]. stops: of the fill, where each stands."""

    name: str
    asks: str
    pieces: list[list[str]]
    stops: list[int]


@dataclass(frozen=True)
class Shown:
    """What the lamps say. lit: (frame, lamp); said: of each frame what each lamp says. Before the guess there are none."""

    names: list[str]
    lit: np.ndarray
    said: list[list[str]]


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    code: list[list[list[str]]]
    blanks: list[Blank]
    lamps: list[str]
    said: list[list[str]]
    waits: str
    tokens: list[str]
    scale: palette.Scale
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    code: list[list[list[str]]],
    blanks: list[Blank],
    chosen: dict[str, str],
    lamps: Shown | None,
    maps: np.ndarray,
    tokens: list[str],
) -> None:
    """code: its lines, each of parts [text, blank or ""]. chosen: blank -> piece, the slider's apart. maps: (frame, query,
    key). Releases each blank under its name, and the fill as the slider does."""
    meta: Meta = {
        "code": code,
        "blanks": blanks,
        "lamps": lamps.names if lamps else [],
        "said": lamps.said if lamps else [],
        "waits": _("Five lamps watch it. Guess, then they come on."),
        "tokens": tokens,
        "scale": palette.scale(palette.WEIGHTS, 0.0, 1.0),
        "colours": palette.roles(blank="a", lit="warn", quiet="quiet", row="q", column="k"),
        "words": {
            "keys": _("Arrow keys move among the choices, Enter takes one."),
            "weights": _("weights of head {head}").format(head="{}.{}".format(*bl.HEAD)),
            "chosen": _("chosen"),
            "lit": _("lit"),
            "dark": _("dark"),
        },
        "tools": True,
    }
    arrays = {"maps": maps.astype(np.float32)}
    if lamps:
        arrays["lit"] = lamps.lit.astype(np.uint8)
    picture.mount(BLANKS, meta, arrays, state=dict(chosen))
