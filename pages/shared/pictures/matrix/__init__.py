"""The live matrix: this project's own heatmap. Hover, arrow keys, click, frames under a slider, PNG, SVG and CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
MATRIX = live.painter(HERE / "matrix.js")
UNHEARD = (-1, -1)  # the chosen cell of a matrix where nobody listens: none can be chosen
EXACT = 250_000  # cells shipped as float32; beyond, float16 keeps three digits at half the bytes


@dataclass(frozen=True)
class Look:
    """How a matrix is dressed."""

    row_title: str = N_("query")
    column_title: str = N_("key")
    row_role: str = "q"
    column_role: str = "k"
    bound: float | None = None  # the scale's end; None: the largest number in any frame
    from_zero: bool = False  # nothing can be negative, as with shares and marks: from zero to `bound`, or to one
    ends: tuple[float, ...] = ()  # every row's own scale's end, where rows are of different kinds
    digits: int = 2
    most: int = 44  # a cell's widest, in pixels
    flat: int | None = None  # a cell's greatest height, for long thin matrices
    row_height: int | None = None  # in pixels, where cells need not be square
    tall: int = 450  # the greatest height of all cells together
    legible: bool = False  # the numbers matter more than the whole: on a narrow screen the picture scrolls sideways
    strip: str = ""  # the followed row once more as columns below: its title, may hold {row} and {entropy}
    point: tuple[tuple[int, int], ...] = ()  # cells to frame
    closed: str = N_("not allowed")  # what is said of a hatched cell
    tools: bool = True  # PNG, SVG, CSV


@dataclass(frozen=True)
class Cut:
    """A row as it is after one of its cells was cut. row: (frame, column); strip: its title, see Look.strip;
    entropy: (frame,), where the title asks for it."""

    cell: tuple[int, int]
    row: np.ndarray
    strip: str
    entropy: np.ndarray | None = None


class CutMeta(TypedDict):
    """The cell that is cut, and what is written over its row."""

    cell: list[int]
    strip: str


class Dressed(TypedDict):
    """The part of it that is the same for all numbers."""

    paint: bool
    cut: CutMeta | None
    rowTitle: str
    columnTitle: str
    scale: palette.Scale
    scales: list[palette.Scale] | None
    colours: palette.Colours
    digits: int
    cellWidth: int
    cellHeight: int | None
    rowHeight: int | None
    tall: int
    strip: str
    legible: bool
    point: list[list[int]]
    tools: bool
    words: dict[str, str]


class Meta(Dressed):
    """What the script is told beside what every picture says; the same stands at its head."""

    rows: list[str] | None
    columns: list[str] | None
    packed: int
    row: int | list[int] | None


def show(
    picture: live.Picture,
    values: np.ndarray,
    *,
    rows: list[str] | None,
    columns: list[str] | None,
    look: Look | None = None,
    entropy: np.ndarray | None = None,
    row: int | Sequence[int] | None = None,
    cut: Cut | None = None,
    shut: np.ndarray | None = None,
    cell: tuple[int, int] | None = UNHEARD,
    paint: bool = False,
) -> None:
    """Draw `values`, (row, column) or (frame, row, column), with one frame for each stop of the slider.

    cell: the chosen one, None before; a click releases "cell". Left out, nobody listens, and none can be chosen.
    row: the one to follow until a cell is chosen or pointed at, or one for each frame. cut: drawn with its cell crossed out.
    entropy: (frame, row), in bits. shut: (row, column) or (frame, row, column), True where nothing may be; these cells
    are hatched. paint: pressing and dragging opens and closes cells, and "paint" is released once: `stroke` reads it.
    """
    look = look or Look()
    frames = values if values.ndim == 3 else values[None]
    arrays, packed = _arrays(frames, shut, entropy, cut, paint)
    meta: Meta = {
        **_dressed(look, frames, _keys(paint, cell), cut, paint),
        "rows": rows,
        "columns": columns,
        "packed": packed,
        "row": list(row) if isinstance(row, Sequence) else row,
    }
    state = None if cell == UNHEARD else {"cell": list(cell) if cell else None}
    picture.mount(MATRIX, meta, arrays, state=state, triggers=("paint",) if paint else ())


def _keys(paint: bool, cell: tuple[int, int] | None) -> str:
    """What the keyboard can do here."""
    if paint:
        return _("Arrow keys move from cell to cell, Enter opens or closes one.")
    if cell == UNHEARD:
        return _("Arrow keys move from cell to cell.")
    return _("Arrow keys move from cell to cell, Enter chooses one.")


STROKE = re.compile(r"[01]:(\d{1,3}-[0-9a-f]{1,64}_?)+")


def stroke(value: Any, rows: int, columns: int) -> tuple[frozenset[tuple[int, int]], bool] | None:
    """A released "paint": the cells, and whether they are opened. `1:3-a0_4-20` is brush, row and bits of its columns."""
    if not isinstance(value, str) or len(value) > 4000 or not STROKE.fullmatch(value):
        return None
    cells = set()
    for part in value[2:].strip("_").split("_"):
        row, bits = part.split("-")
        cells |= {(int(row), column) for column in range(256) if int(bits, 16) >> column & 1}
    inside = all(row < rows and column < columns for row, column in cells)
    return (frozenset(cells), value[0] == "1") if inside else None


def _dressed(look: Look, frames: np.ndarray, keys: str, cut: Cut | None, paint: bool) -> Dressed:
    return {
        "paint": paint,
        "cut": {"cell": list(cut.cell), "strip": cut.strip} if cut else None,
        "rowTitle": look.row_title and _(look.row_title),
        "columnTitle": look.column_title and _(look.column_title),
        "scale": _scale(frames, look),
        "scales": [_row_scale(row, end) for row, end in zip(frames.swapaxes(0, 1), look.ends, strict=bool(look.ends))]
        or None,
        "colours": palette.roles(row=look.row_role, column=look.column_role, bar="a"),
        "digits": look.digits,
        "cellWidth": look.most,
        "cellHeight": look.flat,
        "rowHeight": look.row_height,
        "tall": look.tall,
        "strip": look.strip,
        "legible": look.legible,
        "point": [list(p) for p in look.point],
        "tools": look.tools,
        "words": {
            "tells": _("{row} → {column}: {value}"),
            "told": _("{rows} by {columns} cells; the largest is {row}, {column}: {value}"),
            "closed": _(look.closed),
            "keys": keys,
        },
    }


def _arrays(
    frames: np.ndarray, shut: np.ndarray | None, entropy: np.ndarray | None, cut: Cut | None, paint: bool
) -> tuple[dict[str, np.ndarray], int]:
    """(arrays, size of the packed triangle or 0). Frames that are all alike are shipped once."""
    if len(frames) > 1 and np.array_equal(frames, np.broadcast_to(frames[:1], frames.shape), equal_nan=True):
        frames = frames[:1]
    packed = 0 if paint else _triangle(frames, shut)
    if packed:
        frames = frames[(slice(None), *np.tril_indices(packed))]
    kind: type[np.floating[Any]] = np.float32 if frames.size <= EXACT else np.float16
    if (np.abs(frames[np.isfinite(frames)]) > np.finfo(np.float32).max).any():
        kind = np.float64  # numbers that would become infinite on the way
    arrays = {"values": frames.astype(kind)}
    if shut is not None and not packed:
        arrays["shut"] = shut.astype(np.uint8)
    if entropy is not None:
        arrays["entropy"] = np.atleast_2d(entropy).astype(np.float32)
    if cut:
        arrays["cut"] = np.atleast_2d(cut.row).astype(kind)
        arrays |= {"cutEntropy": cut.entropy.astype(np.float32)} if cut.entropy is not None else {}
    return arrays, packed


def _triangle(frames: np.ndarray, shut: np.ndarray | None) -> int:
    """The size of a causal stack, of which the lower triangle says all; 0 where it is none."""
    _n, rows, columns = frames.shape
    if rows != columns:
        return 0
    if shut is not None:
        return rows if shut.ndim == 2 and np.array_equal(shut, np.triu(np.ones_like(shut), 1)) else 0
    return rows if rows > 48 and not np.triu(np.nan_to_num(frames, neginf=0), 1).any() else 0


def _row_scale(row: np.ndarray, end: float) -> palette.Scale:
    """From zero where a row is nowhere negative, else around zero."""
    if (row[np.isfinite(row)] < 0).any():
        return palette.scale(palette.DIVERGING, -end, end)
    return palette.scale(palette.WEIGHTS, 0.0, end)


def _scale(frames: np.ndarray, look: Look) -> palette.Scale:
    finite = frames[np.isfinite(frames)]
    bound = look.bound or float(np.abs(finite).max(initial=1e-6))
    if look.from_zero:
        return palette.scale(palette.WEIGHTS, 0.0, look.bound or 1.0)
    return palette.scale(palette.DIVERGING, -bound, bound)
