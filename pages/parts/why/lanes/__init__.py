"""Lanes: the same words once for each kind of net, and how far news has come in each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
LANES = live.component("lanes", HERE / "lanes.js")
ROLES = ("warn", "quiet", "a")


def ways(
    picture: live.Picture,
    tokens: list[str],
    names: list[str],
    told: list[list[str]],
    routes: list[np.ndarray],
    lengths: np.ndarray,
) -> None:
    """The way of one word to the last, in every lane. The slider's stops are the distances.

    routes: per lane (frame, point, 2), words travelled and layers climbed; lengths: (frame, lane), hops of each.
    told: (frame, lane).
    """
    meta = _dressed(tokens, names, told, picture.says) | {"levels": [int(r[..., 1].max()) for r in routes]}
    arrays = {f"way{i}": route.astype(np.uint8 if route.max() < 256 else np.int32) for i, route in enumerate(routes)}
    picture.mount(LANES, meta, arrays | {"hops": lengths.astype(np.int32)})


def race(
    picture: live.Picture,
    tokens: list[str],
    names: list[str],
    told: list[list[str]],
    shares: np.ndarray,
) -> None:
    """shares: (frame, lane, token), between 0 and 1. told: (frame, lane)."""
    meta = _dressed(tokens, names, told, picture.says)
    packed = (shares * 255).round().astype(np.uint8)
    picture.mount(LANES, meta, {"shares": packed})


def _dressed(tokens: list[str], names: list[str], told: list[list[str]], says: str) -> dict[str, Any]:
    ends = "; ".join(f"{name}: {caption}" for name, caption in zip(names, told[-1], strict=True))
    return {
        "alt": f"{says} {ends}",
        "tokens": tokens,
        "lanes": names,
        "told": told,
        "column": _("name"),
        "colours": palette.roles(quiet="quiet", mark="a", **{f"lane{i}": role for i, role in enumerate(ROLES)}),
        "tools": True,
    }
