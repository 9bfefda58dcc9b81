"""A text that grows token by token: two triangles of work, the cache, and what each token was drawn from."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from core.topics.inference.writing import SHOWN, Story, Work
from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
GROWING = live.painter(HERE / "growing.js")


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    file: str
    start: int
    candidates: list[list[str]]
    taken: list[int]
    kept: list[int]
    each: int
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(picture: live.Picture, told: Story, work: Work) -> None:
    """One frame for each token written, and one before the first. A click on a candidate releases "take", (step, place)."""
    steps = told.steps
    meta: Meta = {
        "file": "writing",
        "start": told.start,
        "candidates": [[word.token for word in step.words] for step in steps],
        "taken": [[word.id for word in step.words].index(step.written.id) for step in steps],
        "kept": [step.kept for step in steps],
        "each": int(work.bytes[0] / work.lengths[0]),
        "colours": palette.roles(new="a", key="k", value="v", quiet="quiet", cut="warn"),
        "words": _words(),
        "tools": True,
    }
    chances, shares = np.zeros((2, len(steps), SHOWN), np.float32)
    for i, step in enumerate(steps):
        chances[i, : len(step.words)] = [word.p for word in step.words]
        shares[i, : len(step.words)] = step.drawn
    arrays = {
        "chances": chances,
        "shares": shares,
        "cached": work.cached.astype(np.float64),
        "whole": work.whole.astype(np.float64),
    }
    picture.mount(GROWING, meta, arrays, triggers=("take",))


def _words() -> dict[str, str]:
    return {
        "with": _(N_("with the cache")),
        "without": _(N_("without the cache")),
        "step": _(N_("this token: {n} MFLOP")),
        "sum": _(N_("all so far: {n} MFLOP")),
        "cache": _(N_("cache: {n} tokens · {bytes}")),
        "from": _(N_("token {i}, drawn from {n}")),
        "one": _(N_("token {i}, no choice")),
        "first": _(N_("Nothing is written yet.")),
        "cut": _(N_("cut")),
        "token": _(N_("token")),
        "keys": _(N_("Drag or play. A click on a word takes it instead.")),
    }
