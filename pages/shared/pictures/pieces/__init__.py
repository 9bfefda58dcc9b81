"""Live pieces: a text cut into coloured boxes with their ids, several ways one below the other, or one cut a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
PIECES = live.painter(HERE / "pieces.js")
KINDS = ("plain", "special", "unknown")
MOST = 240  # boxes drawn in one strip; the rest is counted


class Piece(Protocol):
    """One piece, as core hands it out: start and end are places among the bytes of the text."""

    text: str
    id: int
    data: bytes
    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Strip:
    """One cut of a text. marked: pieces to frame; struck: a piece to cross out; joints: a number for each two
    neighbours, -1 for none and -2 for a border; next: the joint to point at; foot: a text to write below; ranked: the
    ids are ranks too."""

    pieces: Sequence[Piece]
    title: str = ""
    foot: str = ""
    marked: tuple[int, ...] = ()
    struck: int | None = None
    joints: tuple[int, ...] = ()
    next: int | None = None
    ranked: bool = False


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    pieces: list[tuple[str, int, str, int]]
    strips: list[dict[str, Any]]
    ids: bool
    choose: bool
    ranks: bool
    fills: dict[str, tuple[str, str, str, str, str, str]]
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    strips: Sequence[Strip],
    *,
    ids: bool = True,
    choose: bool = False,
    chosen: int | None = None,
    tools: bool = True,
) -> None:
    """All strips one below the other or, with a slider, one a frame. A piece under the cursor lights up in every strip.

    ids: write the id under each piece. choose: a click releases "piece", its place in its strip.
    """
    table, arrays = _packed(strips)
    meta: Meta = {
        "pieces": table,
        "strips": [_described(strip) for strip in strips],
        "ids": ids,
        "choose": choose,
        "ranks": any(strip.joints for strip in strips),
        "fills": palette.PIECES,
        "colours": palette.roles(quiet="quiet", special="a", unknown="warn", mark="k"),
        "words": _words(),
        "tools": tools,
    }
    state = {"piece": chosen} if choose else None
    picture.mount(PIECES, meta, arrays, state=state)


def _packed(strips: Sequence[Strip]) -> tuple[list[tuple[str, int, str, int]], dict[str, np.ndarray]]:
    """Every different piece once, and for all boxes of all strips which one it is and where it stands."""
    table: dict[tuple[str, int, bytes, str], int] = {}
    which, spans, joints, first = [], [], [], [0]
    for strip in strips:
        drawn = strip.pieces[:MOST]
        for piece in drawn:
            which.append(table.setdefault((piece.text, piece.id, piece.data, piece.kind), len(table)))
            spans.append((piece.start, piece.end))
        joints += [*strip.joints[: max(0, len(drawn) - 1)], *[-1] * len(drawn)][: len(drawn)]
        first.append(len(which))
    arrays = {
        "which": np.array(which, np.int32),
        "spans": np.array(spans, np.int32).reshape(-1, 2),
        "joints": np.array(joints, np.int32),
        "first": np.array(first, np.int32),
    }
    different = [(text, id, data.hex(" ").upper(), KINDS.index(kind)) for text, id, data, kind in table]
    return different, arrays


def _described(strip: Strip) -> dict[str, Any]:
    return {
        "title": strip.title,
        "foot": strip.foot,
        "marked": list(strip.marked),
        "struck": strip.struck,
        "next": strip.next,
        "ranked": strip.ranked,
        "more": max(0, len(strip.pieces) - MOST),
    }


def _words() -> dict[str, str]:
    return {
        "tip": _("{text}\nid {id}\nbytes {bytes}"),
        "rank": _("{text}\nid = rank {id}\nbytes {bytes}"),
        "bare": _("{text}\nbytes {bytes}"),
        "more": _("… and {n} more"),
        "below": _("↓ {n} more below"),
        "keys": _("Arrow keys move from piece to piece."),
    }
