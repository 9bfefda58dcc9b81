"""Widgets that speak both languages and live in the URL. A key is the URL's own word for a setting.

Streamlit's `bind="query-params"` writes the label it shows, so a control whose options are translated keeps its own
account: read from the URL, else from the session; written to both. The same account serves what a live picture lets go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from pages.shared.pictures import live
from pages.shared.text import N_, _, say

Value = TypeVar("Value")
LONGEST_LINK = 4000  # characters of a text that is kept: a longer link is refused by servers


# ---- one account for what no widget is bound to ----


def kept(key: str, default: Value, read: Callable[[str], Value | None]) -> Value:
    """The value of `key`: from the URL, else as this session left it, else the default.

    read turns the URL's text into a value, or None if it is none.
    """
    written = st.query_params.get(key)
    value = _read(written, read) if written is not None else st.session_state.get(_own(key))
    if value is None:
        value = default
    keep(key, value, default)
    return value


def keep(key: str, value: Any, default: Any = None) -> None:
    """Write a value into the session and, unless it is the default, into the URL."""
    st.session_state[_own(key)] = value
    if value is None or value == default:
        if key in st.query_params:
            del st.query_params[key]
    elif st.query_params.get(key) != (text := written(value)):
        st.query_params[key] = text


def forget(*keys: str) -> None:
    """Back to the default: nothing in the URL, nothing in the session."""
    for key in keys:
        st.session_state.pop(_own(key), None)
        if key in st.query_params:
            del st.query_params[key]


def _own(key: str) -> str:
    return f"_kept_{key}"


def _read(text: str, read: Callable[[str], Value | None]) -> Value | None:
    return read(text) if len(text) <= LONGEST_LINK else None


def written(value: Any) -> str:
    """How a value is spelled in the URL: numbers bare, pairs with a comma."""
    if isinstance(value, tuple | list):
        return ",".join(written(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def as_cell(text: str) -> tuple[int, int] | None:
    """'13,3' -> (13, 3); anything else is no cell."""
    parts = text.split(",")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts):
        return None
    return int(parts[0]), int(parts[1])


def as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number and abs(number) < 1e12 else None


def one_of(options: Sequence[str]) -> Callable[[str], str | None]:
    return lambda text: text if text in options else None


# ---- widgets ----


def choice(
    label: str, options: dict[str, str], default: str, *, key: str, hide_label: bool = False, help: str | None = None
) -> str:
    """One of a few named things. options: the URL's word -> the English label."""
    widget, tokens = f"{key}_choice", list(options)
    now = kept(key, default, one_of(tokens))
    st.session_state[widget] = now
    st.segmented_control(
        _(label),
        tokens,
        required=True,
        key=widget,
        format_func=lambda token: _(options[token]),
        on_change=lambda: keep(key, st.session_state[widget], default),
        label_visibility="collapsed" if hide_label else "visible",
        help=_(help) if help else None,
    )
    return now


def switch(label: str, default: bool, *, key: str, help: str | None = None) -> bool:
    return st.toggle(_(label), default, key=key, bind="query-params", help=_(help) if help else None)


def pick(label: str, options: Sequence[Value], default: Value, *, key: str) -> Value:
    """One of a few numbers or words that need no translation."""
    value = st.segmented_control(_(label), list(options), default=default, required=True, key=key, bind="query-params")
    return default if value is None else value  # an empty word in the URL chooses nothing


def stops(label: str, options: Sequence[Value], default: Value, *, key: str, help: str | None = None) -> Value:
    """A slider over curated stops; for what needs the server and not the finger."""
    return st.select_slider(
        _(label), list(options), default, key=key, bind="query-params", help=_(help) if help else None
    )


def live_slider(label: str, values: Sequence[float], shown: Sequence[str], default: float, *, key: str) -> float:
    """A slider whose value arrives while it is dragged; where it rests goes into the URL."""
    nearest = near(values)
    moving = st.session_state.get(f"_moving_{key}")
    now = kept(key, default, nearest) if moving is None else moving

    def receive(name: str, value: Any) -> None:
        if not isinstance(value, int | float):
            return
        stop = nearest(str(value))
        rests = live.resting(f"{key}_dial")
        st.session_state[f"_moving_{key}"] = None if rests else stop
        if rests:
            keep(key, stop, default)

    live.dial(live.Slider(key, _(label), tuple(values), now, tuple(shown)), key=f"{key}_dial", released=receive)
    return now


def near(stops: Sequence[float]) -> Callable[[str], float | None]:
    """Reads a number as the nearest of the stops."""

    def read(text: str) -> float | None:
        number = as_number(text)
        return None if number is None else min(stops, key=lambda stop: abs(stop - number))

    return read


TEXT = "words"  # the URL's word for the visitor's text, and the key of the box it is typed into


def text(default: str) -> str:
    """The visitor's text, shared by all pages: from the URL, else as this session left it, else the default."""
    written = st.query_params.get(TEXT)
    now = st.session_state.get(_own(TEXT), default) if written is None else written
    keep(TEXT, now, default)
    return now


def write(text: str, default: str) -> None:
    """Another text for all pages; for callbacks."""
    keep(TEXT, text[:LONGEST_LINK], default)


def text_box(default: str, clean: Callable[[str], Any], box: Callable[..., Any]) -> tuple[Any, dict[str, None]]:
    """The visitor's text as `clean` reads it (an object with .text and .notes), and the notes on what it did.

    box: draws Streamlit's box with this key and callback. After typing, it holds what was read.
    """

    def tidy() -> None:
        reading = clean(st.session_state[TEXT])
        write(reading.text, default)
        st.session_state["_notes"] = (reading.text, reading.notes)

    now = st.session_state[TEXT] = text(default)
    box(key=TEXT, on_change=tidy, label_visibility="collapsed")
    reading = clean(now)
    about, notes = st.session_state.get("_notes", ("", ()))
    return reading, dict.fromkeys([*(notes if about == reading.text else ()), *reading.notes])


def sentence(label: str, default: str, clean: Callable[[str], Any]) -> Any:
    """The visitor's text in one line; what was done to it is said in a sentence each."""
    reading, notes = text_box(default, clean, partial(st.text_input, _(label)))
    for note in notes:
        say(NOTES[note])
    return reading


NOTES = {
    "empty": N_("There was nothing to read, so here is the sentence we start with."),
    "trimmed": N_("Blanks at the ends were taken off: this model would read them as a piece of their own."),
    "controls": N_("Invisible control characters were taken out."),
    "cut": N_("The text was cut: this model reads at most 256 tokens."),
}


def released_cell(rows: int, columns: int, key: str = "cell") -> Callable[[str, Any], None]:
    """For a live picture: the cell it lets go goes into the URL, if it is one."""

    def receive(name: str, value: Any) -> None:
        if name != "cell" or not isinstance(value, list) or len(value) != 2:
            return
        if all(isinstance(x, int) and 0 <= x < n for x, n in zip(value, (rows, columns), strict=True)):
            keep(key, tuple(value))

    return receive
