"""Points and arrows in a plane, and what moves among them while a slider is dragged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pages.shared import live, palette

HERE = Path(__file__).parent
PLANE = live.component("plane", HERE / "plane.js")


def show(
    points: np.ndarray,
    names: list[str],
    *,
    key: str,
    quantity: str,
    says: str,
    moving: np.ndarray | None = None,
    movers: list[str] | None = None,
    pull: np.ndarray | None = None,
    hull: bool = False,
    arrows: bool = False,
    titles: tuple[str, str] = ("", ""),
    roles: tuple[str, str] = ("v", "a"),
    slider: live.Slider | None = None,
    signature: bool = False,
    released: Callable[[str, Any], None] | None = None,
    most: int = 560,
    tall: int = 380,
) -> None:
    """points: (name, 2) or (frame, name, 2). moving: (frame, mover, 2), drawn larger. pull: (frame, mover, name), how
    thick the line from a mover to a point is. hull: shade what the points enclose, where every mixture must lie."""
    arrays = {"points": points, "moving": moving, "pull": pull}
    arrays = {name: array.astype(np.float32) for name, array in arrays.items() if array is not None}
    everything = [a.reshape(-1, 2) for name, a in arrays.items() if name != "pull"]
    meta = {
        "quantity": quantity,
        "label": says,
        "alt": says,
        "signature": signature,
        "names": names,
        "movers": movers or [],
        "hull": [int(i) for i in around(points)] if hull and points.ndim == 2 else [],
        "arrows": arrows,
        "bounds": _bounds(np.concatenate(everything)),
        "xTitle": titles[0],
        "yTitle": titles[1],
        "colours": palette.roles(point=roles[0], mover=roles[1], quiet="quiet"),
        "most": most,
        "tall": tall,
        "tools": True,
    }
    live.mount(PLANE, key, meta, arrays, slider=slider, released=released)


def _bounds(points: np.ndarray) -> list[float]:
    low, high = np.minimum(points.min(0), 0), np.maximum(points.max(0), 0)
    room = 0.08 * np.maximum(high - low, 1e-6)
    (x0, y0), (x1, y1) = low - room, high + room
    return [float(x0), float(x1), float(y0), float(y1)]


def around(points: np.ndarray) -> list[int]:
    """Indices of the convex hull, counter-clockwise (monotone chain, Andrew 1979)."""
    order = np.lexsort((points[:, 1], points[:, 0]))

    def chain(indices: np.ndarray) -> list[int]:
        kept: list[int] = []
        for i in indices:
            while len(kept) > 1 and _turn(points[kept[-2]], points[kept[-1]], points[i]) <= 0:
                kept.pop()
            kept.append(int(i))
        return kept

    return chain(order)[:-1] + chain(order[::-1])[:-1]


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
