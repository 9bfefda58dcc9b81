"""Points, arrows and lines in a plane, and what moves among them while a slider is dragged."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
PLANE = live.painter(HERE / "plane.js")


@dataclass(frozen=True)
class Shape:
    """Lines behind the points. points: (line, point, 2) or (frame, line, point, 2); name: written in the middle."""

    points: np.ndarray
    role: str = "quiet"
    name: str = ""
    width: float = 1.0
    dash: bool = False
    fill: bool = False


@dataclass(frozen=True)
class Look:
    """What a plane may show beside points and movers.

    pointed: an arrow from the origin to every mover. sizes: (frame, name), 0 to 1, how large a dot is. tips:
    (frame, name), told where one points. readout: (frame,), written in the corner. first: points whose names are
    written even where it gets narrow. bounds: x0, x1, y0, y1. second: a slider of its own for the second mover; frame
    i * len(second.stops) + j then belongs to the stops i and j. stretched: each axis takes what room there is; else both
    have one scale, so that angles are angles.
    """

    pointed: bool = False
    shapes: tuple[Shape, ...] = ()
    sizes: np.ndarray | None = None
    tips: dict[str, np.ndarray] = field(default_factory=dict)
    readout: dict[str, np.ndarray] = field(default_factory=dict)
    first: tuple[int, ...] = ()
    bounds: tuple[float, float, float, float] | None = None
    second: live.Slider | None = None
    stretched: bool = False


class Dressed(TypedDict):
    """The part of it that is the same for all numbers."""

    shapes: list[dict[str, Any]]
    tips: list[str]
    readout: list[str]
    first: list[int]
    bounds: list[float]
    colours: palette.Colours
    second: dict[str, Any] | None
    stretched: bool
    tools: bool


class Meta(Dressed):
    """What the script is told beside what every picture says; the same stands at its head."""

    names: list[str]
    movers: list[str]
    hull: list[int]
    arrows: bool
    pointed: bool
    xTitle: str
    yTitle: str
    most: int
    tall: int
    words: dict[str, str]


def show(
    picture: live.Picture,
    points: np.ndarray,
    names: list[str],
    *,
    moving: np.ndarray | None = None,
    movers: list[str] | None = None,
    pull: np.ndarray | None = None,
    hull: bool = False,
    arrows: bool = False,
    titles: tuple[str, str] = ("", ""),
    roles: tuple[str, ...] = ("v", "a"),
    look: Look | None = None,
    most: int = 560,
    tall: int = 380,
) -> None:
    """points: (name, 2) or (frame, name, 2). moving: (frame, mover, 2), drawn larger. pull: (frame, mover, name), how
    thick the line from a mover to a point is. hull: shade what the points enclose, where every mixture must lie.
    arrows: from the origin to everything. roles: of the points, then of each mover."""
    look = look or Look()
    arrays = _arrays(points, moving, pull, look)
    meta: Meta = {
        **_dressed(look, arrays, roles),
        "names": names,
        "movers": movers or [],
        "hull": [int(i) for i in around(points)] if hull and points.ndim == 2 else [],
        "arrows": arrows,
        "pointed": arrows or look.pointed,
        "xTitle": titles[0],
        "yTitle": titles[1],
        "most": most,
        "tall": tall,
        "words": {"keys": _("Arrow keys move from point to point.")},
    }
    second = look.second
    state = {second.name: second.stops[second.at]} if second else None
    picture.mount(PLANE, meta, arrays, state=state)


def _arrays(
    points: np.ndarray, moving: np.ndarray | None, pull: np.ndarray | None, look: Look
) -> dict[str, np.ndarray]:
    arrays = {"points": points, "moving": moving, "pull": pull, "sizes": look.sizes}
    arrays |= {f"shape{i}": shape.points for i, shape in enumerate(look.shapes)}
    arrays |= {f"tip{i}": told for i, told in enumerate(look.tips.values())}
    arrays |= {f"read{i}": told for i, told in enumerate(look.readout.values())}
    return {name: np.asarray(array, np.float32) for name, array in arrays.items() if array is not None}


def _dressed(look: Look, arrays: dict[str, np.ndarray], roles: tuple[str, ...]) -> Dressed:
    drawn = [a.reshape(-1, 2) for name, a in arrays.items() if name.startswith(("points", "moving", "shape"))]
    return {
        "shapes": [{"name": s.name, "width": s.width, "dash": s.dash, "fill": s.fill} for s in look.shapes],
        "tips": list(look.tips),
        "readout": list(look.readout),
        "first": list(look.first),
        "bounds": list(look.bounds) if look.bounds else _bounds(np.concatenate(drawn)),
        "colours": _colours(roles, look.shapes),
        "second": _second(look.second),
        "stretched": look.stretched,
        "tools": True,
    }


def _second(slider: live.Slider | None) -> dict[str, Any] | None:
    if slider is None:
        return None
    return {"name": slider.name, "label": slider.label, "stops": slider.stops, "shown": slider.shown}


def _colours(roles: tuple[str, ...], shapes: tuple[Shape, ...]) -> dict[str, dict[str, str]]:
    movers = {f"mover{i}": role for i, role in enumerate(roles[1:])}
    lines = {f"shape{i}": shape.role for i, shape in enumerate(shapes)}
    return palette.roles(point=roles[0], mover=roles[1], quiet="quiet", **movers, **lines)


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
