"""Live stacked bars: wholes and their parts, exact to the last unit, redrawn while a slider moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
STACK = live.component("stack", HERE / "stack.js", HERE / "stack.css")
ROLES = ("q", "warn", "v", "a", "k", "quiet")


def show(
    picture: live.Picture,
    values: np.ndarray,
    rows: list[str],
    parts: list[str],
    *,
    form: str = "integer",
    roles: tuple[str, ...] = ROLES,
    high: float | None = None,
    mark: tuple[float, str] | None = None,
) -> None:
    """values: (row, part) or (frame, row, part), not negative, shipped as float64 so that whole numbers stay exact.

    form: integer, bytes or number. high: the longest bar, None for the longest row of the frame. mark: (value, name)
    of an upright line, which needs `high`.
    """
    frames = np.asarray(values if values.ndim == 3 else values[None], np.float64)
    whole = ", ".join(f"{name}: {row.sum():,.6g}" for name, row in zip(rows, frames[0], strict=True))
    meta = {
        "alt": f"{picture.says} {whole}",
        "rows": rows,
        "parts": parts,
        "format": form,
        "high": high,
        "mark": {"at": mark[0], "name": mark[1]} if mark else None,
        "colours": palette.roles(**{f"part{i}": roles[i % len(roles)] for i in range(len(parts))}),
        "words": {"keys": _("Arrow keys move from part to part.")},
        "tools": True,
    }
    picture.mount(STACK, meta, {"values": frames})
