"""Words as cards on their places: with what the model makes of each under it, or moved along a ruler as a whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
ORDER = live.component("order", HERE / "order.js")
RULER = live.component("ruler", HERE / "ruler.js")


def show(
    tokens: list[str],
    places: np.ndarray,
    outputs: np.ndarray,
    changed: np.ndarray,
    *,
    key: str,
    says: str,
    slider: live.Slider,
    captions: list[str],
    released: Callable[[str, Any], None],
) -> None:
    """places: (frame, place), which token stands there; outputs: (frame, place, number); changed: (frame, place)."""
    bound = float(np.quantile(np.abs(outputs[0]), 0.98)) or 1.0
    meta = {
        "quantity": "shuffled",
        "label": says,
        "alt": f"{says} {' '.join(tokens)}",
        "signature": True,
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
        },
        "tools": True,
    }
    arrays = {
        "places": places.astype(np.int32),
        "outputs": outputs.astype(np.float32),
        "changed": changed.astype(np.float32),
    }
    live.mount(ORDER, key, meta, arrays, slider=slider, captions=captions, released=released)


def ruler(
    tokens: list[str],
    places: int,
    *,
    key: str,
    says: str,
    slider: live.Slider,
    released: Callable[[str, Any], None],
) -> None:
    """A text among `places` places; every stop of the slider moves it one place on. A finger on the words does too."""
    meta = {
        "quantity": "places",
        "label": says,
        "alt": f"{says} {' '.join(tokens)}",
        "signature": False,
        "tokens": tokens,
        "places": places,
        "cards": palette.PIECES,
        "colours": palette.roles(quiet="quiet"),
        "tools": False,
    }
    live.mount(RULER, key, meta, {}, slider=slider, released=released)
