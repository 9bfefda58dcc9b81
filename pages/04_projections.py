"""Linear layers make Q, K, V: a real query is turned by hand, and the matrices that make it are taken apart."""

import streamlit as st

from pages.parts.projections import ending as more
from pages.parts.projections import experiments as labs
from pages.parts.projections import turning as parts
from pages.shared import controls, frame, headings, spine
from pages.shared.text import prose

frame.begin()

# What you can change.
left, right = st.columns([5, 7], vertical_alignment="bottom")  # six blocks and six heads in a row
with left:
    spine.opening("04_projections")
with right:
    layer, head = parts.chosen_head()
room = parts.sentence_room(layer, head)

# Guess, then turn the query.
guessed = parts.prediction(room) is not None


@st.fragment
def turning(room: parts.Room, guessed: bool) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        parts.turning(room, guessed)
    with right:
        parts.shares(room, guessed)


turning(room, guessed)
parts.meaning(room)


# One number of Q, K or V, written out.
@st.fragment
def product(room: parts.Room) -> None:
    headings.section("One matrix makes the query")
    source = parts.source()
    parts.product(room, source)
    more.downloads(room)
    more.code(source)


product(room)


# What a linear layer can and cannot do, one experiment open at a time.
@st.fragment
def laboratory(room: parts.Room) -> None:
    headings.section("What a linear layer can do")
    lab = controls.choice("Experiment", labs.NAMES, "arrows", key="proj_lab", hide_label=True)
    labs.LABS[lab](room)


laboratory(room)

# Check yourself, common mistakes, the words.
prose("projections", "closing")
more.check(room)
more.common_mistakes(room)
more.words()
spine.ending("04_projections")
