"""A plane on which the visitor sets points, and the lines that are drawn through them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from core.nets.line import REACH
from core.topics.theory import line as ln
from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
BOARD = live.painter(HERE / "board.js")


@dataclass(frozen=True)
class Curve:
    """One line: its name, the role that colours it, whether it is dashed; values: (x,) or (frame, x)."""

    name: str
    role: str
    values: np.ndarray
    dash: bool = False


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    curves: list[dict[str, Any]]
    colours: palette.Colours
    edge: float
    grid: int
    most: int
    reach: float
    tall: int
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture, curves: list[Curve], points: ln.Points, *, reach: bool = False, tall: int = 380
) -> None:
    """A press on the plane sets a point or takes it away, and releases "points", spelled as `ln.spell` does.

    reach: the range that nets were trained on is marked.
    """
    frames = max(len(curve.values) if curve.values.ndim == 2 else 1 for curve in curves)
    values = np.stack([np.broadcast_to(curve.values, (frames, len(ln.XS))) for curve in curves], 1)
    meta: Meta = {
        "curves": [{"name": curve.name, "dash": curve.dash} for curve in curves],
        "colours": palette.roles(
            **{f"curve{i}": curve.role for i, curve in enumerate(curves)}, point="k", quiet="quiet"
        ),
        "edge": ln.EDGE,
        "grid": ln.GRID,
        "most": ln.MOST,
        "reach": REACH if reach else 0.0,
        "tall": tall,
        "words": {
            "keys": _(N_("Arrow keys move over the plane, Enter sets a point or takes it away.")),
            "set": _(N_("set a point")),
            "take": _(N_("take it away")),
            "full": _(N_("no room for more points")),
            "trained": _(N_("trained on this range")),
            "points": _(N_("{n} points")),
        },
        "tools": True,
    }
    arrays = {"values": values.astype(np.float32), "xs": ln.XS.astype(np.float32)}
    picture.mount(BOARD, meta, arrays, state={"points": ln.spell(points) if points else ""})
