"""The live matrix: this project's own heatmap. Hover, arrow keys, click, frames under a slider, PNG, SVG and CSV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pages.shared import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
MATRIX = live.component("matrix", HERE / "matrix.js", HERE / "matrix.css")
EXACT = 250_000  # cells shipped as float32; beyond, float16 keeps three digits at half the bytes
FROM_ZERO = {"weights", "allowed", "probs"}  # everything else diverges around zero


@dataclass(frozen=True)
class Look:
    """How a matrix is dressed."""

    row_title: str = N_("query")
    column_title: str = N_("key")
    row_role: str = "q"
    column_role: str = "k"
    bound: float | None = None  # the scale's end; None: the largest number in any frame
    digits: int = 2
    most: int = 44  # a cell's widest, in pixels
    flat: int | None = None  # a cell's greatest height, for long thin matrices
    tall: int = 450  # the greatest height of all cells together
    strip: str = ""  # the followed row once more as columns below: its title, may hold {row} and {entropy}
    cut: bool = False  # cross the chosen cell out
    point: tuple[tuple[int, int], ...] = ()  # cells to frame
    tools: bool = True  # PNG, SVG, CSV


def show(
    values: np.ndarray,
    *,
    key: str,
    quantity: str,
    says: str,
    rows: list[str] | None,
    columns: list[str] | None,
    look: Look | None = None,
    slider: live.Slider | None = None,
    entropy: np.ndarray | None = None,
    row: int | None = None,
    shut: np.ndarray | None = None,
    cell: tuple[int, int] | None = None,
    signature: bool = False,
    released: Callable[[str, Any], None] | None = None,
) -> None:
    """Draw `values`, (row, column) or (frame, row, column), with one frame for each stop of the slider.

    row: the one to follow until a cell is chosen. says: what there is to see, for those who cannot see it. entropy:
    (frame, row), in bits. shut: (row, column), True where nothing may be; these cells are hatched.
    """
    look = look or Look()
    frames = values if values.ndim == 3 else values[None]
    arrays, packed = _arrays(frames)
    if shut is not None and not packed:
        arrays["shut"] = shut.astype(np.uint8)
    if entropy is not None:
        arrays["entropy"] = np.atleast_2d(entropy).astype(np.float32)
    meta = _dressed(look, quantity, frames) | {
        "label": says,
        "alt": _alt(says, frames, rows, columns),
        "signature": signature,
        "rows": rows,
        "columns": columns,
        "packed": packed,
        "row": row,
    }
    state = {"cell": list(cell) if cell else None}
    live.mount(MATRIX, key, meta, arrays, slider=slider, state=state, released=released)


def _dressed(look: Look, quantity: str, frames: np.ndarray) -> dict[str, Any]:
    return {
        "quantity": quantity,
        "rowTitle": look.row_title and _(look.row_title),
        "columnTitle": _(look.column_title),
        "scale": _scale(quantity, frames, look),
        "colours": palette.roles(row=look.row_role, column=look.column_role, bar="a"),
        "digits": look.digits,
        "cell": look.most,
        "cellHeight": look.flat,
        "tall": look.tall,
        "strip": look.strip,
        "cut": look.cut,
        "point": [list(p) for p in look.point],
        "tools": look.tools,
        "words": {
            "cell": _("{row} → {column}: {value}"),
            "closed": _("not allowed"),
            "keys": _("Arrow keys move from cell to cell, Enter chooses one."),
        },
    }


def _arrays(frames: np.ndarray) -> tuple[dict[str, np.ndarray], int]:
    """(arrays, size of the packed triangle or 0). Only the lower triangle of a causal stack is shipped."""
    _n, size, columns = frames.shape
    packed = 0
    if size == columns and size > 48 and not np.triu(np.nan_to_num(frames[0], neginf=0), 1).any():
        i, j = np.tril_indices(size)
        frames, packed = frames[:, i, j], size
    exact = frames.size <= EXACT
    return {"values": frames.astype(np.float32 if exact else np.float16)}, packed


def _scale(quantity: str, frames: np.ndarray, look: Look) -> dict[str, object]:
    finite = frames[np.isfinite(frames)]
    bound = look.bound or float(np.abs(finite).max(initial=1e-6))
    if quantity.rsplit(".", 1)[-1] in FROM_ZERO:
        return palette.scale(palette.WEIGHTS, 0.0, look.bound or 1.0)
    return palette.scale(palette.DIVERGING, -bound, bound)


def _alt(says: str, frames: np.ndarray, rows: list[str] | None, columns: list[str] | None) -> str:
    """The sentence, the size, and the largest cell: what a glance would tell."""
    first = np.where(np.isfinite(frames[0]), frames[0], -np.inf)
    if not np.isfinite(first).any():
        return says
    r, c = np.unravel_index(int(first.argmax()), first.shape)
    place = {"row": rows[r] if rows else r, "column": columns[c] if columns else c}
    size = {"rows": first.shape[0], "columns": first.shape[1]}
    end = _("{rows} by {columns} cells; the largest is {row}, {column}: {value}")
    return says + " " + end.format(**size, **place, value=f"{first[r, c]:.3g}")
