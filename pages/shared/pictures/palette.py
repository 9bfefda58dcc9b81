"""Every colour of every figure, in one place; the theme in .streamlit/config.toml agrees with it.

Roles never change: queries blue, keys red, values green, what follows from them violet. Scales are safe for the common
kinds of colour blindness: one hue from paper to full, or blue against orange around zero. Tests check the contrast.
"""

from __future__ import annotations

from typing import TypedDict

Rgb = tuple[int, int, int]


class Scale(TypedDict):
    """A colour scale: anchors from low to high, for both themes."""

    light: list[Rgb]
    dark: list[Rgb]
    low: float
    high: float


Colours = dict[str, dict[str, str]]  # theme -> part -> colour

ROLES = {  # role -> (on light, on dark)
    "q": ("#1558b0", "#7db4ff"),
    "k": ("#b3261e", "#ff9d94"),
    "v": ("#176b35", "#74d491"),
    "a": ("#6a3fb5", "#c4a6ff"),  # attention weights and what comes of them
    "quiet": ("#5f6670", "#a3abb8"),
    "warn": ("#8a4b00", "#ffb870"),
    "attn": ("#00696e", "#5fd4da"),  # what attention adds to the stream, and what an FFN adds
    "ffn": ("#8f3a84", "#f0a3e4"),
}
PAPER = ("#ffffff", "#0e1117")
INK = ("#111111", "#f2f4f8")  # words and numbers, as the theme has them

WEIGHTS = (  # from paper to violet
    [(255, 255, 255), (226, 214, 247), (178, 148, 226), (119, 74, 190), (62, 22, 120)],
    [(24, 27, 36), (58, 42, 98), (104, 74, 170), (160, 125, 230), (232, 220, 255)],
)
DIVERGING = (  # blue below zero, orange above
    [(12, 74, 160), (110, 160, 220), (248, 248, 248), (240, 160, 90), (168, 66, 0)],
    [(120, 180, 255), (52, 98, 160), (27, 30, 38), (170, 86, 24), (255, 176, 104)],
)

PIECES = {  # pale grounds for the pieces of a text: neighbours differ, and ink is read on each of them
    "light": ("#dbe8fb", "#fde3c8", "#d8f0dd", "#eaddf7", "#fbdada", "#e6e8b8"),
    "dark": ("#1d3a63", "#5b3a14", "#1c4a2c", "#43306b", "#5e2a2e", "#464a16"),
}
KINDS = {  # grounds for up to eight kinds: told apart, and ink is read on each of them
    "light": ("#a9cdf7", "#ffc58a", "#a3dfb2", "#f7aaa6", "#cdb2f2", "#efe27a", "#cfd3d9", "#8fdcd9"),
    "dark": ("#1d4a85", "#7a4a10", "#1f5f34", "#7a2c2c", "#553a8c", "#5c5a12", "#4a505a", "#0f5f63"),
}


def scale(anchors: tuple[list[Rgb], list[Rgb]], low: float, high: float) -> Scale:
    """A colour scale as the live pictures take it; equal ends are moved apart so that nothing divides by zero."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return {"light": anchors[0], "dark": anchors[1], "low": low, "high": high}


def roles(**named: str) -> Colours:
    """roles(row="q", column="k"): the colours of a picture's parts, for both themes."""
    return {theme: {part: ROLES[role][i] for part, role in named.items()} for i, theme in enumerate(("light", "dark"))}
