"""A live treemap of two levels: a column for each part, as wide as its share, and in it its tensors, as tall as theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
TREEMAP = live.component("treemap", HERE / "treemap.js")


def show(
    picture: live.Picture,
    values: np.ndarray,
    names: list[str],
    part_of: list[int],
    parts: list[str],
    *,
    roles: tuple[str, ...],
    tall: int = 300,
) -> None:
    """values: (frame, leaf), not negative, shipped as float64 so that whole numbers stay exact. part_of: the part each
    leaf belongs to; leaves of one part stand next to each other."""
    frames = np.atleast_2d(np.asarray(values, np.float64))
    sums = [sum(v for v, p in zip(frames[0], part_of, strict=True) if p == i) for i in range(len(parts))]
    spoken = ", ".join(f"{part} {x / max(1e-12, sum(sums)):.1%}" for part, x in zip(parts, sums, strict=True))
    meta = {
        "alt": f"{picture.says} {spoken}",
        "names": names,
        "partOf": part_of,
        "parts": parts,
        "tall": tall,
        "colours": palette.roles(**{f"part{i}": roles[i % len(roles)] for i in range(len(parts))}),
        "words": {"keys": _("Arrow keys move from part to part."), "column": _("name")},
        "tools": True,
    }
    picture.mount(TREEMAP, meta, {"values": frames})
