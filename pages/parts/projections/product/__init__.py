"""A matrix product as one picture: X on the left, W above, X W where they meet; the sums grow under a slider."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
PRODUCT = live.painter(HERE / "product.js")


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    rows: list[str]
    name: str
    steps: list[int]
    scales: dict[str, palette.Scale]
    colours: palette.Colours
    tall: int
    tools: bool
    words: dict[str, str]


def show(
    picture: live.Picture,
    x: np.ndarray,
    w: np.ndarray,
    partial: np.ndarray,
    *,
    name: str,
    role: str,
    rows: list[str],
    steps: tuple[int, ...],
    cell: tuple[int, int] | None,
    tall: int = 420,
) -> None:
    """x: (row, inner), w: (inner, column), partial: (frame, row, column): the sums after steps[frame] products.

    name: of the product, Q, K or V. Releases "cell" and the slider's own name. A cell lights its row and column.
    tall: the greatest height of the product.
    """
    meta: Meta = {
        "rows": rows,
        "name": name,
        "steps": list(steps),
        "scales": {k: _scale(v) for k, v in (("x", x), ("w", w), ("y", partial[-1]))},
        "colours": palette.roles(made=role, quiet="quiet"),
        "tall": tall,
        "tools": True,
        "words": {
            "tells": _("{name}[{row}, {column}]: the sum of {done} of {all} products is {value}"),
            "keys": _("Arrow keys move from cell to cell, Enter chooses one."),
        },
    }
    arrays = {"x": x, "w": w, "partial": partial}
    arrays = {k: v.astype(np.float32 if v.size <= 250_000 else np.float16) for k, v in arrays.items()}
    state = {"cell": list(cell) if cell else None}
    picture.mount(PRODUCT, meta, arrays, state=state)


def _scale(values: np.ndarray) -> palette.Scale:
    """Around zero; its ends are where all but the largest hundredth lie, or a few outliers would leave it pale."""
    end = float(np.quantile(np.abs(values), 0.99)) or 1.0
    return palette.scale(palette.DIVERGING, -end, end)
