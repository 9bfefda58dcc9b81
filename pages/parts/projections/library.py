"""A library whose shares are a real softmax: first with one wish under the finger, and as an experiment of its own."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.topics.projections import linear as ln
from pages.parts.projections.turning import Room
from pages.shared import controls, frame
from pages.shared.asks import predict
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


WISH = controls.Dial(
    "wish", N_("How much “for beginners” matters"), ln.WISHES, shown=tuple(f"{w:.2f}" for w in ln.WISHES), quiet=True
)
ASKED = 3.0  # what the guess is about
SECOND = "second_book"  # the guess


def _titles() -> list[str]:
    return [_(title) for title in BOOKS.values()]


def guess() -> None:
    """Which book comes second once one tag matters three times as much? Read off the look-up itself."""
    made, at = frame.cached(ln.wished), ln.WISHES.index(ASKED)
    books = list(BOOKS)
    scores, shares = dict(zip(books, made.scores[at], strict=True)), dict(zip(books, made.shares[at], strict=True))
    numbers = {name: f"{shares[name]:.1%}" for name in books} | {f"{name}_score": f"{scores[name]:g}" for name in books}
    why = N_(
        "That it is a cookbook costs it nothing: q·k is «soup_score» against «inside_score», so «soup» against «inside»."
    )
    because = {
        "first": N_(
            "It comes first, with «first»: both tags fit. Second is Easy soups («soup»), then Inside Python («inside»)."
        ),
        "inside": N_(
            "It is about Python, but not for beginners: q·k is «inside_score», that of Easy soups «soup_score». «inside» against «soup»."
        ),
        "soup": why,
        predict.UNSURE: why,
    }
    second = books[int(np.argsort(-made.shares[at])[1])]
    question = N_("Guess first: drag “for beginners” to 3. Which book comes second?")
    predict.ask(predict.Prediction(SECOND, question, dict(BOOKS), second, because), **numbers)


def first() -> None:
    """The signature: the query and the three keys, and what is taken home of each book, while one wish grows."""
    made, books = frame.cached(ln.wished), _titles()
    keys = np.array([book[0] for book in ln.BOOKS.values()])
    table = np.concatenate([made.query[:, None], np.broadcast_to(keys, (len(ln.WISHES), *keys.shape))], 1)
    left, right = st.columns([6, 5], gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="wish",
                quantity="query",
                says=_("Your query, and the three keys"),
                slider=WISH.slider(together=True),
                signature=True,
                room=332,
                released=WISH.receive,
            ),
            table,
            rows=[_("your query"), *books],
            columns=[_(label) for label in TAGS.values()],
            look=matrix.Look(row_title="", column_title=N_("tag"), digits=1, most=76, row_height=40),
        )
    with right:
        bars.show(
            live.Picture(
                key="wish_shares",
                quantity="shares",
                says=_("How much of each book you take home."),
                slider=WISH.slider(together=True, hidden=True),
                captions=_take_home(made.mixture),
            ),
            books,
            made.shares,
            high=1.0,
            percent=True,
            row=54,
            column=_("book"),
            steps={"q · k": made.scores},
        )
    prose("projections", "look_up")


def library(room: Room) -> None:
    prose("projections", "library")
    with st.container(horizontal=True):
        asked = [controls.switch(label, tag in ("python", "beginner"), key=f"tag_{tag}") for tag, label in TAGS.items()]
    query = tuple(float(wanted) for wanted in asked)
    made = frame.cached(ln.library, query)
    books = _titles()
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{_('Your query, and the three keys')}**")
        matrix.show(
            live.Picture(key="tags", quantity="allowed", says=_("Your query, and the three keys")),
            np.array([query, *(book[0] for book in ln.BOOKS.values())]),
            rows=[_("your query"), *books],
            columns=[_(label) for label in TAGS.values()],
            look=matrix.Look(from_zero=True, row_title="", column_title=N_("tag"), digits=1, tools=False),
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
                captions=_take_home(made.mixture),
                released=HEAT.receive,
            ),
            books,
            made.shares,
            high=1.0,
            percent=True,
        )
    _quoted()


def _take_home(mixture: np.ndarray) -> list[str]:
    """The mixture of the books' contents, at every stop."""
    return [
        _("You take home: {mixture}").format(
            mixture=", ".join(f"{_(name)} {part:.0%}" for name, part in zip(CONTENTS.values(), parts, strict=True))
        )
        for parts in mixture
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
