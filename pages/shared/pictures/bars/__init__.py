"""Bars with names beside them: the next word's candidates, with the untouched model's behind them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypedDict

import numpy as np
import streamlit as st

from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
BARS = live.painter(HERE / "bars.js")


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    names: list[str]
    high: float
    marked: int | None
    percent: bool
    column: str
    grab: bool
    row: int
    hatched: bool
    heads: list[str]
    colours: palette.Colours
    tools: bool


def show(
    picture: live.Picture,
    names: list[str],
    values: np.ndarray,
    *,
    ghost: np.ndarray | None = None,
    high: float | None = None,
    marked: int | None = None,
    percent: bool = False,
    role: str = "a",
    tools: bool = False,
    grab: bool = False,
    row: int = 30,
    hatched: bool = False,
    column: str = "",
    steps: dict[str, np.ndarray] | None = None,
) -> None:
    """values: (name,) or (frame, name), not negative. ghost: (name,), drawn as outlines. high: the longest bar.

    grab: the marked bar follows the hand, to the frame in which it is as long; a touch on another releases "bar".
    row: px of each. hatched: where nothing is left of a bar, what it was is struck out.
    column: what the names are. steps: what a name becomes on its way to its bar, written between the
    two: head -> (frame, name).
    """
    frames = np.atleast_2d(values)
    meta: Meta = {
        "names": names,
        "high": high or float(np.nanmax(frames, initial=1e-9)),
        "marked": marked,
        "percent": percent,
        "column": column or _("name"),
        "colours": palette.roles(bar="quiet" if marked is not None else role, marked=role, head="quiet", cut="warn"),
        "tools": tools,
        "grab": grab,
        "row": row,
        "hatched": hatched,
        "heads": list(steps or ()),
    }
    arrays = {"values": frames.astype(np.float32)}
    if ghost is not None:
        arrays["ghost"] = np.asarray(ghost, np.float32)
    if steps:
        arrays["beside"] = np.stack([*steps.values()], -1)
    picture.mount(BARS, meta, arrays, state={"bar": marked} if grab else None)


class Word(Protocol):
    """A candidate for the next token, as core hands it out."""

    id: int
    token: str
    p: float


def with_answer(words: Sequence[Word], answer: Word) -> list[Word]:
    """The likeliest words, the last one giving way to the answer if it is not among them: its fall must be seen."""
    shown = list(words)
    return shown if answer.id in {word.id for word in shown} else [*shown[:-1], answer]


NEXT = N_("How likely each word is to come next.")


def next_words(
    words: list[Word], says: str = NEXT, *, key: str, before: list[float] | None = None, answer: int | None = None
) -> None:
    """The likeliest next words. before: the same words' probabilities in the untouched model; answer: its choice; says:
    as of `next_picture`."""
    marked = next((i for i, word in enumerate(words) if word.id == answer), None)
    tokens = [word.token for word in words]
    next_tokens(next_picture(key, says), tokens, np.array([word.p for word in words]), before, marked=marked)
    explain_dot(tokens)


def next_picture(key: str, says: str = NEXT, **how: Any) -> live.Picture:
    """What a picture of the next word is told. says: in English, where a page has several; how: its slider, captions,
    receiver."""
    return live.Picture(key=key, quantity="next_probs", says=_(says), **how)


def next_tokens(
    picture: live.Picture,
    tokens: list[str],
    probs: np.ndarray,
    before: Sequence[float] | np.ndarray | None = None,
    *,
    marked: int | None = None,
) -> None:
    """The same at every stop of a slider: probs is (token,) or (frame, token), before is (token,)."""
    ghost = None if before is None else np.asarray(before)
    show(picture, tokens, probs, ghost=ghost, high=1.0, marked=marked, percent=True)


def explain_dot(tokens: Sequence[str]) -> None:
    """What the dot before a piece means, where there is one."""
    if any(token.startswith("·") for token in tokens):
        st.caption(_("A dot before a piece: it goes on without a blank, as the second half of a word does."))
