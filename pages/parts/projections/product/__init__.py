"""A matrix product as one picture: X on the left, W above, X W where they meet; the sums grow under a slider."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
PRODUCT = live.component("product", HERE / "product.js")


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
) -> None:
    """x: (row, inner), w: (inner, column), partial: (frame, row, column): the sums after steps[frame] products.

    name: of the product, Q, K or V. Releases "cell" and the slider's own name. A cell lights its row and column.
    """
    meta = {
        "alt": f"{picture.says} {x.shape[0]} × {x.shape[1]}, {w.shape[0]} × {w.shape[1]}, {x.shape[0]} × {w.shape[1]}",
        "rows": rows,
        "name": name,
        "steps": list(steps),
        "scales": {k: _scale(v) for k, v in (("x", x), ("w", w), ("y", partial[-1]))},
        "colours": palette.roles(made=role, quiet="quiet"),
        "tall": 420,
        "tools": True,
        "words": {
            "cell": _("{name}[{row}, {column}]: the sum of {done} of {all} products is {value}"),
            "keys": _("Arrow keys move from cell to cell, Enter chooses one."),
        },
    }
    arrays = {"x": x, "w": w, "partial": partial}
    arrays = {k: v.astype(np.float32 if v.size <= 250_000 else np.float16) for k, v in arrays.items()}
    state = {"cell": list(cell) if cell else None}
    picture.mount(PRODUCT, meta, arrays, state=state)


def _scale(values: np.ndarray) -> dict[str, object]:
    """Around zero; its ends are where all but the largest hundredth lie, or a few outliers would leave it pale."""
    end = float(np.quantile(np.abs(values), 0.99)) or 1.0
    return palette.scale(palette.DIVERGING, -end, end)
