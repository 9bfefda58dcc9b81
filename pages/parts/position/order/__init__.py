"""Words as cards on their places: with what the model makes of each under it, or moved along a ruler as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
ORDER = live.painter(HERE / "order.js")
RULER = live.painter(HERE / "ruler.js")


class OrderMeta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    tokens: list[str]
    scale: palette.Scale
    most: float
    cards: dict[str, tuple[str, str, str, str, str, str]]
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    tokens: list[str],
    places: np.ndarray,
    outputs: np.ndarray,
    changed: np.ndarray,
) -> None:
    """places: (frame, place), which token stands there; outputs: (frame, place, number); changed: (frame, place).

    A card that is dragged, or moved by keys, releases "order": the token at every place.
    """
    bound = float(np.quantile(np.abs(outputs[0]), 0.98)) or 1.0
    meta: OrderMeta = {
        "tokens": tokens,
        "scale": palette.scale(palette.DIVERGING, -bound, bound),
        "most": max(1.0, float(changed.max(initial=0.0))),
        "cards": palette.PIECES,
        "colours": palette.roles(bar="a", quiet="quiet"),
        "words": {
            "place": _("place"),
            "changed": _("changed by"),
            "output": _("output"),
            "name": _("name"),
            "keys": _(N_("Drag a card. Or choose one with the arrow keys, carry it with Shift and lay it with Enter.")),
        },
        "tools": True,
    }
    arrays = {
        "places": places.astype(np.int32),
        "outputs": outputs.astype(np.float32),
        "changed": changed.astype(np.float32),
    }
    picture.mount(ORDER, meta, arrays, triggers=("order",))


class RulerMeta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    tokens: list[str]
    places: int
    cards: dict[str, tuple[str, str, str, str, str, str]]
    colours: palette.Colours
    tools: bool


def ruler(
    picture: live.Picture,
    tokens: list[str],
    places: int,
) -> None:
    """A text among `places` places; every stop of the slider moves it one place on. A finger on the words does too."""
    meta: RulerMeta = {
        "tokens": tokens,
        "places": places,
        "cards": palette.PIECES,
        "colours": palette.roles(quiet="quiet"),
        "tools": False,
    }
    picture.mount(RULER, meta, {})
