"""Places a link can point to: sections and folds. `at=` names one by its English words, in every language."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

from pages.shared import address
from pages.shared.text import _


def section(english: str) -> None:
    """A heading; the sign beside it gives its link."""
    _drawn().add(slug(english))
    st.subheader(_(english), anchor=f"at-{slug(english)}")


def fold(english: str, draw: Callable[[], object], count: int | None = None, *, name: str = "") -> None:
    """A fold, shut unless the address says it is open. What is in it is drawn once it is open: shut, it computes nothing
    and sends nothing. count: of what is in it; name: where a page has several alike. The others stay as they are:
    nothing moves away from under the hand that opens this one."""
    label = _(english) if count is None else f"{_(english)} ({count})"
    name = slug(name or english)
    key = f"fold_{name}"
    _drawn().add(name)
    _folds().add(name)
    said = address.pointed() == name or name in address.opened()

    @address.whole
    def turned() -> None:
        pointed, is_open = address.pointed(), bool(address.shown(key))
        linked = [pointed] if pointed in _folds() else []
        others = [one for one in dict.fromkeys([*address.opened(), *linked]) if one != name]
        address.open_folds([*others, name] if is_open else others)
        address.point(name if is_open else None if pointed == name else pointed)

    with st.container(key=f"at-{name}"):
        inside = st.expander(label, expanded=said, key=key, on_change=turned)
        if inside.open:
            with inside:
                draw()


def begin() -> None:
    """Nothing stands yet on the page that is about to be drawn."""
    address.noted()["drawn"], address.noted()["folds"] = set(), set()


def seek(arrived: bool) -> None:
    """Once a page is drawn. arrived: with this run, by a link or a reload. A link to what the idea leaves out opens the
    whole page, a step of a lesson as long as it is shown; what stands there neither is said no longer."""
    _gone()
    name, tried = address.pointed(), address.noted().pop("tried", None)
    if name is None or name in _drawn():
        return
    if arrived and tried is None and address.now("depth") == "idea":
        address.noted()["tried"] = name
        address.lend("depth", "all")
        st.rerun()
    address.point(None)
    if tried == name:
        address.forget("depth")
        st.rerun()


def _gone() -> None:
    """A fold that does not stand here is not open."""
    if (said := address.opened()) and (there := [one for one in said if one in _folds()]) != said:
        address.open_folds(there)


def _drawn() -> set[str]:
    """The names of the sections and folds of the page so far."""
    drawn: set[str] = address.noted().setdefault("drawn", set())
    return drawn


def _folds() -> set[str]:
    """Those of them that are folds."""
    folds: set[str] = address.noted().setdefault("folds", set())
    return folds


def slug(english: str) -> str:
    """'Hand it on, or look directly' -> 'hand-it-on-or-look-directly'; no longer than an address may say."""
    return re.sub(r"[^a-z0-9]+", "-", english.lower()).strip("-")[:40]
