"""The shelf: what to read and what for, each with what was found when it was looked up."""

from __future__ import annotations

import streamlit as st

from core.topics.exam import shelf
from core.topics.exam.shelf import Reference
from pages.shared import controls, headings, spine
from pages.shared.text import N_, _, lang, plain, prose, say, sections

BADGES = {
    "all": N_("all"),
    "verified": N_("✓ verified"),
    "corrected": N_("✎ corrected"),
    "unconfirmed": N_("○ unconfirmed"),
    "lost": N_("✕ not found"),
}
COLOURS = {"verified": "green", "corrected": "blue", "unconfirmed": "gray", "lost": "orange"}
ABOUT = {
    "all": N_("everything"),
    "begin": N_("to begin with"),
    "models": N_("models"),
    "theory": N_("what it can do"),
    "icl": N_("learning in context"),
    "scaling": N_("scaling laws"),
    "faster": N_("longer and cheaper"),
    "course": N_("courses"),
}


def draw() -> None:
    """At the idea a fold, shut; deeper a section."""
    if spine.deep():
        headings.section("The shelf")
        st.fragment(_all)()
    else:
        headings.fold("The shelf", lambda: st.fragment(_all)(), len(shelf.shelf()))


def _all() -> None:
    prose("exam", "shelf")
    badge = controls.choice("Badge", BADGES, "all", key="shelf_badge", hide_label=True)
    about = controls.choice("About", ABOUT, "all", key="shelf_about", hide_label=True)
    found = shelf.chosen(badge, about)
    for one in found:
        _row(one)
    if not found:
        say("Nothing on the shelf is both. Choose one of them anew.")


def _row(one: Reference) -> None:
    title = f"[{plain(one.title)}]({one.link})" if one.link else f"*{plain(one.title)}*"
    where = plain(f"{one.venue} {one.year or ''}")
    badge = f":{COLOURS[one.badge]}[**{_(BADGES[one.badge])}**]"
    with st.container(key=f"read_{one.id}", gap=None):
        st.markdown(f"**{title}** · {plain(one.authors)} · {where} · {badge}")
        st.markdown(sections(lang(), "exam")[f"read_{one.id}"])
