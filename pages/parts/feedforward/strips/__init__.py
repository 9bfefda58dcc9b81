"""Strips of words: a few lines of text, each word on a ground that tells its number, or which of a few kinds it
is; with a slider, one number a frame."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from pages.shared.pictures import live, palette

HERE = Path(__file__).parent
STRIPS = live.painter(HERE / "strips.js")


@dataclass(frozen=True)
class Strip:
    """A line of text. values: (token,) or (frame, token)."""

    title: str
    tokens: tuple[str, ...]
    values: np.ndarray
    marked: int | None = None


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    strips: list[dict[str, object]]
    scale: palette.Scale
    choose: bool
    only: bool
    fills: dict[str, tuple[str, ...]] | None
    colours: palette.Colours
    tools: bool


def show(
    picture: live.Picture,
    strips: list[Strip],
    *,
    signed: bool = True,
    choose: int | None = None,
    only: bool = False,
    kinds: bool = False,
) -> None:
    """signed: colours on both sides of zero, else from nothing upwards; all strips share one scale.

    choose: the chosen word of the first strip; a click releases "token". only: numbers under the marked words alone.

    kinds: the values are whole numbers from 0, at most eight; each has a ground of its own and is written from 1 on.
    """
    bound = max([1e-6, *(float(np.abs(strip.values).max(initial=0)) for strip in strips)])
    anchors = palette.DIVERGING if signed else palette.WEIGHTS
    meta: Meta = {
        "strips": [{"title": one.title, "names": list(one.tokens), "marked": one.marked} for one in strips],
        "scale": palette.scale(anchors, -bound if signed else 0.0, bound),
        "choose": choose is not None,
        "only": only,
        "fills": palette.KINDS if kinds else None,
        "colours": palette.roles(quiet="quiet", mark="warn"),
        "tools": True,
    }
    frames = [np.atleast_2d(strip.values) for strip in strips]
    count = max(len(values) for values in frames)
    values = np.concatenate([np.broadcast_to(v, (count, v.shape[-1])) for v in frames], -1)
    state = None if choose is None else {"token": choose}
    picture.mount(STRIPS, meta, {"values": values.astype(np.float32)}, state=state)
