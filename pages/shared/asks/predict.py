"""A prediction: one question before the answer is shown. The same thing on all pages.

The answer is read from a trace, every wrong option has a sentence of its own, and not knowing is an answer. The
choice stays in the session.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.shared import address
from pages.shared.text import N_, _, filled, say, unmarked

UNSURE = "?"
SOLUTIONS = "*"  # those of all exercises of a page, among the guesses whose answer was told


@dataclass(frozen=True)
class Prediction:
    """id: its name on this page. options: a word -> English label. answer: one of these words, from core; also: others
    that are right as well. because: the sentence after each option, and after "?"; it may hold «holes». opens: the
    pictures that are not there before it is answered; a link to one of them asks this first (start/classroom.js)."""

    id: str
    question: str
    options: dict[str, str]
    answer: str
    because: dict[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()


def ask(prediction: Prediction, **values: object) -> str | None:
    """Show the question; once it is answered, say what is true and why. Returns the choice, None before, and as long as
    its answer is kept back."""
    options = prediction.options | {UNSURE: N_("I don't know")}
    chosen = _chosen(prediction.id)
    if chosen not in options:  # kept from another text, whose options were others
        chosen = None
    widget = f"{prediction.id}_choice"
    st.session_state[widget] = chosen
    st.session_state.setdefault("_asked_here", {})[prediction.id] = (prediction, values)
    question = unmarked(_(prediction.question), **values)  # hidden: it is only spoken
    with slide(prediction.id):
        opens = "-".join(("opens", *prediction.opens)) if prediction.opens else None
        row = st.container(horizontal=True, vertical_alignment="center", key=opens)
        row.markdown(f"**{filled(_(prediction.question), **values)}**", width="content")
        row.segmented_control(
            question,
            list(options),
            key=widget,
            format_func=lambda token: _(options[token]),
            on_change=address.whole(lambda: _keep(prediction.id, st.session_state[widget])),
            label_visibility="collapsed",
        )
        with st.container():  # always there, so that a verdict moves nothing below it to another place
            if chosen is not None:
                verdict(prediction, chosen, **values)
    return None if _waits(prediction.id) else chosen


def slide(id: str) -> Any:
    """What belongs to a question: in front of a class it is a slide (start/classroom.js)."""
    return st.container(key=f"question_{id}")


def begin() -> None:
    """Nothing is asked yet on the page that is about to be drawn."""
    st.session_state["_asked_here"] = {}


def asked() -> list[tuple[Prediction, dict[str, object]]]:
    """Every prediction of the page that was drawn, and what fills its holes: for the handout."""
    return list(st.session_state.get("_asked_here", {}).values())


def labels(prediction: Prediction) -> list[str]:
    """What can be chosen, as it is written on the page; no "I don't know" on paper."""
    return [_(label) for label in prediction.options.values()]


def key(prediction: Prediction, values: dict[str, object]) -> str:
    """What is true, and why."""
    right = [prediction.answer, *prediction.also]
    named = " · ".join(_(prediction.options[one]) for one in right if one in prediction.options)
    return f"☑ **{named}** · " * bool(named) + filled(_(prediction.because[prediction.answer]), **values)


def answer(id: str) -> str | None:
    """What the visitor guessed on this page, None before. No address says it: a copied link would tell the answer. What
    a guess opens tells it too, so it waits for the same key."""
    return None if _waits(id) else _chosen(id)


def told(id: str) -> bool:
    """Is the answer said on this page: guessed before, or printed? What it is costs a computation in some rooms."""
    return _chosen(id) is not None or _printed()


def _chosen(id: str) -> str | None:
    """On a handout nobody has guessed: its picture is the one that waits, whoever prints it."""
    return None if _printed() else _guesses().get(id)


def _waits(id: str) -> bool:
    """Is what it opens kept back? (Home's title, figures and map are the answer: they are hidden where they stand.)"""
    return address.here() != "home" and _unheard(id)


def _unheard(id: str) -> bool:
    return hiding() and id not in _heard()


def hiding() -> bool:
    """Do answers wait for a key?"""
    return bool(address.now("hide") == "answers")


def tell() -> None:
    """For callbacks: the class hears the answer to all that was guessed on this page, and every solution; if it has
    heard them all, they wait again."""
    heard, every = _heard(), {SOLUTIONS, *_guesses()}
    if every <= heard:
        heard.clear()
    else:
        heard.update(every)


def solved() -> bool:
    """Were the solutions told while answers wait?"""
    return SOLUTIONS in _heard()


def _printed() -> bool:
    return bool(address.passing("print") == "1")


def forget(*ids: str) -> None:
    """Ask again: another text, another question."""
    for id in ids:
        _heard().discard(id)
        if _guesses().pop(id, None):
            address.change()


def _keep(id: str, chosen: str | None) -> None:
    _heard().discard(id)
    _guesses()[id] = chosen
    address.change()


def _guesses() -> dict[str, str | None]:
    guesses: dict[str, str | None] = st.session_state.setdefault("_guesses", {}).setdefault(address.here(), {})
    return guesses


def _heard() -> set[str]:
    """The guesses of this page whose answer was told while answers wait; another page forgets them."""
    heard: set[str]
    page, heard = st.session_state.get("_heard", ("", set()))
    if page != address.here():
        heard = set()
        st.session_state["_heard"] = address.here(), heard
    return heard


def verdict(prediction: Prediction, chosen: str, **values: object) -> None:
    """What is true of a guess, and why."""
    right = chosen in (prediction.answer, *prediction.also)
    opening = _("Right.") if right else "" if chosen == UNSURE else _("Not quite.")
    unheard = _unheard(prediction.id)
    with st.container(key=f"{'judged' if unheard else 'heard'}_{prediction.id}") if hiding() else nullcontext():
        if hiding():  # empty once it is heard, but there: else two verdicts stand for a moment
            with st.container(key=f"waits_{prediction.id}"):
                if unheard:
                    say("Your guess is kept. Press A for the answer.")
        with st.container(border=True, key=f"verdict_{prediction.id}"):
            st.markdown(f"**{opening}** " * bool(opening) + filled(_(prediction.because[chosen]), **values))
