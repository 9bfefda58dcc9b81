"""Live lines: one or more series over a common axis, redrawn while a slider moves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
LINES = live.painter(HERE / "lines.js")
ROLES = ("a", "q", "k", "v", "warn", "quiet")


@dataclass(frozen=True)
class Series:
    """One line: its name, the role that colours it, and whether it is dashed or has a dot at every number."""

    name: str
    role: str = ""
    dash: bool = False
    dots: bool = False


@dataclass(frozen=True)
class Axis:
    """low and high default to what the numbers need, over all frames, so that nothing jumps while a slider moves."""

    title: str
    log: bool = False
    low: float | None = None
    high: float | None = None


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    series: list[dict[str, Any]]
    colours: palette.Colours
    x: dict[str, Any]
    y: dict[str, Any]
    marks: list[dict[str, Any]]
    choose: bool
    tall: int
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    values: np.ndarray,
    xs: np.ndarray,
    series: list[Series],
    *,
    x: Axis,
    y: Axis,
    moving: np.ndarray | None = None,
    band: tuple[np.ndarray, np.ndarray] | None = None,
    marks: tuple[tuple[float, str], ...] = (),
    at: int | None = None,
    choose: bool = False,
    tall: int = 280,
) -> None:
    """values: (series, x) or (frame, series, x); a number that is not finite leaves a gap. moving: (frame,), the place
    of an upright line. band: from low to high around every line, each as values. marks: (x, name) of fixed ones.
    choose: a click releases "at", the index of an x."""
    frames = values if values.ndim == 3 else values[None]
    arrays = {"values": frames.astype(np.float32), "xs": np.asarray(xs, np.float32)}
    if moving is not None:
        arrays["moving"] = np.asarray(moving, np.float32)
    if band is not None:
        arrays |= {"low": band[0].astype(np.float32), "high": band[1].astype(np.float32)}
    meta: Meta = {
        "series": [{"name": one.name, "dash": one.dash, "dots": one.dots} for one in series],
        "colours": _colours(series),
        "x": _axis(x, np.asarray(xs)),
        "y": _axis(y, frames, room=0.06),
        "marks": [{"at": float(place), "name": name} for place, name in marks],
        "choose": choose,
        "tall": tall,
        "words": {"keys": _("Arrow keys move along the lines.")},
        "tools": True,
    }
    state = {"at": at} if choose else None
    picture.mount(LINES, meta, arrays, state=state)


def _colours(series: list[Series]) -> dict[str, Any]:
    own = {f"series{i}": one.role or ROLES[i % len(ROLES)] for i, one in enumerate(series)}
    return palette.roles(quiet="quiet", **own)


def _axis(axis: Axis, numbers: np.ndarray, room: float = 0.0) -> dict[str, Any]:
    finite = numbers[np.isfinite(numbers) & ((numbers > 0) | (not axis.log))]
    low = axis.low if axis.low is not None else float(finite.min()) if finite.size else 0.1
    high = axis.high if axis.high is not None else float(finite.max()) if finite.size else 1.0
    if not high > low:
        low, high = (low / 2, low * 2) if axis.log else (low - 0.5, low + 0.5)
    if axis.high is None and not axis.log:
        high += room * (high - low)
    return {
        "title": f"{axis.title} · {_('log scale')}" if axis.log else axis.title,
        "log": axis.log,
        "low": low,
        "high": high,
    }
