"""Lanes: the same words once for each kind of net, and how far news has come in each of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import _

HERE = Path(__file__).parent
LANES = live.component("lanes", HERE / "lanes.js")
ROLES = ("warn", "quiet", "a")


def ways(
    tokens: list[str],
    names: list[str],
    captions: list[list[str]],
    routes: list[np.ndarray],
    lengths: np.ndarray,
    *,
    key: str,
    says: str,
    slider: live.Slider,
    released: Callable[[str, Any], None],
) -> None:
    """The way of one word to the last, in every lane. The slider's stops are the distances.

    routes: per lane (frame, point, 2), words travelled and layers climbed; lengths: (frame, lane), hops of each.
    captions: (frame, lane).
    """
    meta = _dressed("hops", tokens, names, captions, says) | {"levels": [int(r[..., 1].max()) for r in routes]}
    arrays = {f"way{i}": route.astype(np.uint8 if route.max() < 256 else np.int32) for i, route in enumerate(routes)}
    live.mount(LANES, key, meta, arrays | {"hops": lengths.astype(np.int32)}, slider=slider, released=released)


def race(
    tokens: list[str],
    names: list[str],
    captions: list[list[str]],
    shares: np.ndarray,
    *,
    key: str,
    says: str,
    slider: live.Slider,
    released: Callable[[str, Any], None],
) -> None:
    """shares: (frame, lane, token), between 0 and 1. captions: (frame, lane)."""
    meta = _dressed("race", tokens, names, captions, says)
    packed = (shares * 255).round().astype(np.uint8)
    live.mount(LANES, key, meta, {"shares": packed}, slider=slider, released=released)


def _dressed(mode: str, tokens: list[str], names: list[str], captions: list[list[str]], says: str) -> dict[str, Any]:
    ends = "; ".join(f"{name}: {caption}" for name, caption in zip(names, captions[-1], strict=True))
    return {
        "quantity": mode,
        "label": says,
        "alt": f"{says} {ends}",
        "signature": False,
        "tokens": tokens,
        "lanes": names,
        "told": captions,
        "column": _("name"),
        "colours": palette.roles(quiet="quiet", mark="a", **{f"lane{i}": role for i, role in enumerate(ROLES)}),
        "tools": True,
    }
