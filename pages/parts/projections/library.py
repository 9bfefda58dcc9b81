"""An experiment: a library whose shares are a real softmax."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.topics.projections import linear as ln
from pages.parts.projections.turning import Room
from pages.shared import controls, frame
from pages.shared.pictures import bars, live, matrix
from pages.shared.text import N_, _, prose, say

TAGS = {
    "python": N_("Python"),
    "beginner": N_("for beginners"),
    "expert": N_("for experts"),
    "data": N_("data"),
    "cooking": N_("cooking"),
}
BOOKS = {"first": N_("First Python"), "inside": N_("Inside Python"), "soup": N_("Easy soups")}
CONTENTS = {"examples": N_("examples"), "theory": N_("theory"), "recipes": N_("recipes")}
HEAT = controls.Dial("library_t", N_("Temperature"), ln.TEMPERATURES)


def library(room: Room) -> None:
    prose("projections", "library")
    with st.container(horizontal=True):
        asked = [controls.switch(label, tag in ("python", "beginner"), key=f"tag_{tag}") for tag, label in TAGS.items()]
    query = tuple(float(wanted) for wanted in asked)
    made = frame.cached(ln.library, query)
    books = [_(title) for title in BOOKS.values()]
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{_('Your query, and the three keys')}**")
        matrix.show(
            live.Picture(key="tags", quantity="allowed", says=_("Your query, and the three keys")),
            np.array([query, *(book[0] for book in ln.BOOKS.values())]),
            rows=[_("your query"), *books],
            columns=[_(label) for label in TAGS.values()],
            look=matrix.Look(row_title="", column_title=N_("tag"), digits=1, tools=False),
        )
        scores = " · ".join(f"{title} {score:g}" for title, score in zip(books, made.scores, strict=True))
        say("Query times key: «scores»", scores=scores)
    with right:
        st.markdown(f"**{_('Shares after softmax')}**")
        bars.show(
            live.Picture(
                key="library",
                quantity="shares",
                says=_("How much of each book you take home."),
                slider=HEAT.slider(),
                captions=_take_home(made),
                released=HEAT.receive,
            ),
            books,
            made.shares,
            high=1.0,
            percent=True,
        )
    _quoted()


def _take_home(made: ln.Library) -> list[str]:
    """The mixture of the books' contents, for every temperature."""
    return [
        _("You take home: {mixture}").format(
            mixture=", ".join(f"{_(name)} {part:.0%}" for name, part in zip(CONTENTS.values(), parts, strict=True))
        )
        for parts in made.mixture
    ]


def _quoted() -> None:
    wrong = frame.cached(ln.quoted)
    scores, shares = (", ".join(f"{x:g}" for x in numbers) for numbers in ln.QUOTED)
    prose(
        "projections",
        "quoted",
        scores=scores,
        shares=shares,
        true=", ".join(f"{x:.2f}" for x in wrong.softmax),
        total=f"{wrong.total:.2f}",
        one=f"{wrong.needed[0]:.2f}",
        two=f"{wrong.needed[1]:.2f}",
    )
