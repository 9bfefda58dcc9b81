"""Widgets that speak both languages and live in the address. A key is the address's own word for a setting.

Streamlit's bound widgets write the label they show, forget what was chosen when the page is left, and keep
their own account of the address. So no widget is bound: before it is drawn it is told what `pages.shared.address` says,
and what the hand chooses is written there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from pages.shared import address, readers
from pages.shared.pictures import live
from pages.shared.text import N_, _, say

Value = TypeVar("Value")


@dataclass(frozen=True)
class Setting:
    """A value of the page: what the address says of it here and now, and how it is changed.

    word: declared in `pages.shared.words`. default: where it depends on what is shown. read: what it may say beyond
    its declaration ("a place in this text"). heard: what a picture calls it, where that is another word ("cell").
    """

    word: str
    default: Any = readers.DEPENDS
    read: readers.Reader | None = None
    heard: str = ""

    def now(self) -> Any:
        return address.now(self.word, self.default, self.read)

    def keep(self, value: Any) -> None:
        """Write another value; for callbacks. What may not be said here is not written."""
        if value is None or self.read is None or self.read(readers.written(value)) is not None:
            address.write(self.word, value, self.default)

    def forget(self) -> None:
        address.forget(self.word)

    def receive(self, name: str, value: Any) -> None:
        """For live pictures: takes what they let go of, if it is this setting's and may be said."""
        if name == (self.heard or self.word) and isinstance(value, bool | int | float | str | list):
            self.keep(_checked(self, value))


def _checked(setting: Setting, value: Any) -> Any:
    """A value out of a browser is a visitor's text like any other: read as the address is."""
    text = readers.written(value)
    read = setting.read or address.known(setting.word).read
    return read(text) if len(text) <= readers.LONGEST else None


@dataclass(frozen=True)
class Dial:
    """The setting of a live slider: its word, its stops, and what is written at each.

    shown: what stands at each stop; without it the number itself and the unit. quiet: what it moves follows in the
    browser, and where it rests is said by `rest` alone.
    """

    word: str
    label: str
    stops: Sequence[float]
    default: Any = readers.DEPENDS
    unit: str = ""
    shown: tuple[str, ...] | None = None
    quiet: bool = False

    @property
    def setting(self) -> Setting:
        return Setting(self.word, self.default, readers.near(self.stops))

    def now(self) -> Any:
        return self.setting.now()

    def keep(self, value: Any) -> None:
        self.setting.keep(value)

    def forget(self) -> None:
        self.setting.forget()

    def receive(self, name: str, value: Any) -> None:
        self.setting.receive(name, value)

    def slider(self, **more: bool) -> live.Slider:
        """For a picture. more: stream, together, hidden."""
        shown = self.shown or tuple(f"{stop:g}{self.unit}" for stop in self.stops)
        return live.Slider(self.word, _(self.label), tuple(self.stops), self.now(), shown, quiet=self.quiet, **more)

    def rest(self, draw: Callable[[], object]) -> None:
        """Draw what says where it rests: with the page, and by itself when it is let go of."""
        live.rest(self.word, draw) if self.quiet else draw()


def receivers(*settings: Setting | Dial) -> Callable[[str, Any], None]:
    """One receiver of several settings: each takes what is its own."""

    def all_of(name: str, value: Any) -> None:
        for setting in settings:
            setting.receive(name, value)

    return all_of


@dataclass(frozen=True)
class Held:
    """What a page remembers of a visit and no address can carry; another visit knows nothing of it."""

    name: str

    def now(self) -> Any:
        return self._all().get(self.name)

    def keep(self, value: Any) -> None:
        if self.now() != value:
            address.change()
        self._all()[self.name] = value

    def forget(self) -> None:
        if self._all().pop(self.name, None) is not None:
            address.change()

    @staticmethod
    def _all() -> dict[str, Any]:
        held: dict[str, Any] = st.session_state.setdefault("_held", {}).setdefault(address.here(), {})
        return held


forget = address.forget


# ---- widgets ----


def _told(widget: str, value: Any) -> str:
    """The name of a widget that will show this value."""
    st.session_state[widget] = value
    return widget


def _writes(setting: Setting, widget: str) -> Callable[[], None]:
    return address.whole(lambda: setting.keep(st.session_state[widget]))


def choice(
    label: str,
    options: dict[str, str],
    default: str,
    *,
    key: str,
    hide_label: bool = False,
    help: str | None = None,
) -> str:
    """One of a few named things. options: the address's word -> the English label."""
    setting = Setting(key, default, readers.one_of(*options))
    now = setting.now()
    widget = _told(f"{key}_choice", now)
    st.segmented_control(
        _(label),
        list(options),
        required=True,
        key=widget,
        format_func=lambda token: _(str(options.get(token, token))),
        on_change=_writes(setting, widget),
        label_visibility="collapsed" if hide_label else "visible",
        help=_(help) if help else None,
    )
    return str(now)


def listed(
    label: str, options: Sequence[Value], default: Value, *, key: str, shown: Callable[[Value], str], **more: Any
) -> Value:
    """One of many things as a list; shown: what each is called in the visitor's language."""
    setting = Setting(key, default, readers.of(options))
    now: Value = setting.now()
    widget = _told(f"{key}_choice", now)
    st.selectbox(label, list(options), key=widget, format_func=shown, on_change=_writes(setting, widget), **more)
    return now


def some(
    label: str, options: dict[str, str], default: tuple[str, ...], least: tuple[str, ...], *, key: str
) -> tuple[str, ...]:
    """A few of several named things, in their own order; least: what stands where the hand leaves none."""
    setting = Setting(key, default, readers.some_of(*options))
    now: tuple[str, ...] = setting.now()
    widget = f"{key}_choice"

    @address.whole
    def chosen() -> None:
        setting.keep(tuple(o for o in options if o in st.session_state[widget]) or least)

    st.session_state[widget] = list(now)
    st.pills(
        _(label),
        list(options),
        selection_mode="multi",
        key=widget,
        format_func=lambda token: _(options[token]),
        on_change=chosen,
        label_visibility="collapsed",
    )
    return now


def switch(label: str, default: bool, *, key: str, help: str | None = None) -> bool:
    setting = Setting(key, default)
    now = setting.now()
    widget = _told(key, now)
    st.toggle(_(label), key=widget, on_change=_writes(setting, widget), help=_(help) if help else None)
    return bool(now)


def spelled(value: object) -> str:
    """A number as texts write it: 4,096."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def pick(
    label: str, options: Sequence[Value], default: Value, *, key: str, shown: Callable[[Value], str] = spelled
) -> Value:
    """One of a few numbers or words that need no translation, or are `shown` in another way."""
    setting = Setting(key, default, readers.of(options))
    now: Value = setting.now()
    widget = _told(key, now)
    st.segmented_control(
        _(label), list(options), required=True, key=widget, on_change=_writes(setting, widget), format_func=shown
    )
    return now


def stops(label: str, options: Sequence[Value], default: Value, *, key: str, help: str | None = None) -> Value:
    """A slider over curated stops; for what needs the server and not the finger."""
    setting = Setting(key, default, readers.of(options))
    now: Value = setting.now()
    widget = _told(key, now)
    st.select_slider(
        _(label),
        list(options),
        key=widget,
        on_change=_writes(setting, widget),
        help=_(help) if help else None,
        format_func=spelled,
    )
    return now


def typed(
    label: str, default: str, *, key: str, longest: int, height: int | None = None, hide_label: bool = False
) -> str:
    """A few typed words or numbers that belong to one page; height: of a box of several lines."""
    setting = Setting(key, default, readers.line(longest))
    now = setting.now()
    widget = _told(key, now)
    common: dict[str, Any] = dict(
        key=widget,
        max_chars=longest,
        on_change=_writes(setting, widget),
        label_visibility="collapsed" if hide_label else "visible",
    )
    if height:
        st.text_area(_(label), height=height, **common)
    else:
        st.text_input(_(label), **common)
    return str(now)


def pasted(label: str, taken: Callable[[str], None], *, key: str, **more: Any) -> None:
    """A box of several lines that is only a way in: what is pasted goes to `taken`, and nothing here keeps it."""
    st.text_area(_(label), key=key, on_change=lambda: taken(st.session_state[key]), **more)


def live_slider(
    label: str,
    values: Sequence[float],
    shown: Sequence[str],
    default: float,
    *,
    key: str,
    redraws: tuple[str, ...] = (),
) -> float:
    """A slider whose value arrives while it is dragged; where it rests goes into the address.

    redraws: the parts of the page that follow once it rests; while it moves, what holds it does.
    """
    now = live_value(values, default, key=key)
    setting = Setting(key, default, readers.near(values))
    slider = live.Slider(key, _(label), tuple(values), now, tuple(shown))
    live.dial(slider, key=f"{key}_dial", released=setting.receive, redraws=redraws)
    return now


def live_value(values: Sequence[float], default: float, *, key: str) -> float:
    """Where a live slider is just now, dragged or at rest."""
    moving = live.moving(f"{key}_dial")
    read = readers.near(values)
    now: float = Setting(key, default, read).now() if moving is None else read(str(moving))
    return now


# ---- the visitor's text ----

TEXT = "words"  # the address's word for the visitor's text, and the key of the box it is typed into


def text(default: str) -> str:
    """The visitor's text, shared by all pages: from the address, else as this session left it, else the default."""
    return str(address.now(TEXT, default))


def write(text: str, default: str) -> None:
    """Another text for all pages; for callbacks."""
    address.write(TEXT, text[: readers.LONGEST], default)


def text_box(default: str, clean: Callable[[str], Any], box: Callable[..., Any]) -> tuple[Any, dict[str, None]]:
    """The visitor's text as `clean` reads it (an object with .text and .notes), and the notes on what it did.

    box: draws Streamlit's box with this key and callback. After typing, it holds what was read.
    """

    @address.whole
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


def within(rows: int, columns: int) -> readers.Reader:
    """Reads a cell of a picture so large."""

    def read(text: str) -> tuple[int, int] | None:
        found = readers.cell(text)
        return found if found and found[0] < rows and found[1] < columns else None

    return read
