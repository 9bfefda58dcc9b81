"""Linear layers make Q, K, V: a library that is asked softly, a matrix that makes the query, a real query turned by hand."""

import streamlit as st

from pages.parts.projections import ending as more
from pages.parts.projections import experiments as labs
from pages.parts.projections import library
from pages.parts.projections import turning as parts
from pages.shared import controls, frame, headings, spine
from pages.shared.text import N_, prose

frame.begin()
spine.opening("04_projections")

# A library: a query, three keys, and a little of everything.
library.guess()


@st.fragment
def first() -> None:
    library.first()


first()


# One matrix makes the query: on a napkin, then in the real head.
@st.fragment
def small() -> None:
    headings.section("A matrix makes the query")
    parts.small()


small()
headings.section("The real head")
room = parts.sentence_room()


@st.fragment
def product(room: parts.Room) -> None:
    source = parts.source()
    parts.product(room, source)
    if spine.deep():
        more.downloads(room)
        more.code(source)


product(room)

# The query, turned by hand.
headings.section("Turn the query")
parts.guess_turned(room)
guessed = not spine.deep() or parts.prediction(room) is not None


@st.fragment
def turning(room: parts.Room, guessed: bool) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        parts.turning(room, guessed)
    with right:
        parts.shares(room, guessed)
        parts.why(room)


turning(room, guessed)


# What a linear layer can and cannot do, one experiment open at a time.
@st.fragment
def laboratory(room: parts.Room) -> None:
    headings.section("What a linear layer can do")
    lab = controls.choice("Experiment", labs.NAMES, "arrows", key="proj_lab", hide_label=True)
    labs.LABS[lab](room)


if spine.deep():
    parts.meaning(room)
    laboratory(room)

# Check yourself, common mistakes, the words.
prose("projections", "closing")
more.check(room)
if spine.deep():
    more.common_mistakes(room)
    more.words()
spine.offer(
    N_("Every number written out"),
    N_("One word, two keys"),
    N_("What a linear layer can do"),
    N_("Shapes"),
    N_("Common mistakes"),
)
spine.ending("04_projections")
