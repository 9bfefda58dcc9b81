"""The spine of a page: what it asks, its settings in one line, how deep it goes, how it ends and where to go on.

Two depths for the whole site: the idea shows one thread; everything adds formulas, provenance, code, mistakes, labs.
The third, for who teaches, is everything and a note on how to teach it.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.shared import address, controls, frame, headings
from pages.shared.asks import predict
from pages.shared.text import N_, _, filled, lang, prose, say, sections

DEPTHS = {"idea": N_("The idea"), "all": N_("Everything"), "teach": N_("To teach")}


def deep() -> bool:
    """Is more shown than the idea?"""
    return bool(address.now("depth") != "idea")


def switch() -> None:
    """The depth of the whole site, for the sidebar."""
    controls.choice("How much of a page", DEPTHS, "idea", key="depth")


def opening(file: str) -> None:
    """The page's title, the question it answers, and where it stands on the path."""
    place, of, entry = frame.place(file)
    with st.container(gap=None, key="title"):
        st.title(_(entry.title), anchor=False)
        said = filled(_("Room «place» of «of» · about «minutes» minutes"), place=place, of=of, minutes=entry.minutes)
        st.markdown(f"{_(entry.asks)} :gray[{said}]")
    if address.now("depth") == "teach" and "teach" in sections(lang(), frame.topic_of(file)):
        headings.fold("For the teacher", lambda: prose(frame.topic_of(file), "teach"))


def settings(said: str, *, key: str = "settings") -> Any:
    """One line that says how things stand ("block 5 · head 1 · mask on") and opens on a click. said: as it is shown."""
    return st.container(key=f"line_{key}").popover(said, key=f"{key}_line", width="content")


def take_home(topic: str, *guesses: str) -> None:
    """One sentence to take along, once what it tells has been guessed."""
    if all(predict.answer(guess) for guess in guesses):
        prose(topic, "closing")
    else:
        say("**In one sentence:** guess first, then it stands here.")


def offer(*english: str) -> None:
    """At the idea: what else this page holds, and the way to it. At the other depths: nothing."""
    if deep():
        return
    with st.container(border=True, key="deeper"):
        say("**There is more on this page.** «what».", what=" · ".join(_(one) for one in english))
        st.button(_("Show everything"), key="show_all", on_click=address.write, args=("depth", "all"))


def ending(file: str) -> None:
    """What to take home, and the rooms before and after. A browser that shows it marks the room as done."""
    before, after = frame.neighbours(file)
    with st.container(key=f"ending_{frame.topic_of(file)}"):
        for column, entry, label in zip(st.columns(2), (before, after), (N_("Before"), N_("Next")), strict=True):
            if entry:
                with column.container(border=True, height="stretch", key=f"way_{label.lower()}"):
                    st.caption(f"{_(label)} · " + filled(_("about «minutes» minutes"), minutes=entry.minutes))
                    st.page_link(
                        frame.path_of(entry), label=f"**{_(entry.title)}** →" if entry is after else _(entry.title)
                    )
                    st.markdown(_(entry.asks))
        if after is None:
            prose("home", "end")
