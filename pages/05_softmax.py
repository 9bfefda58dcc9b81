"""The softmax lab: how scores become shares, what moves them, and where the arithmetic breaks."""

import streamlit as st

from core import softmax
from core.topics.softmax import lab as numbers
from pages.parts.softmax import bench as parts
from pages.parts.softmax import experiments as more
from pages.shared import frame, spine
from pages.shared.asks import predict
from pages.shared.pictures import code
from pages.shared.text import N_, prose

frame.begin()
spine.opening("05_softmax")
row = parts.bench()
parts.guess_halved(row)


# Three scores and one slider.
@st.fragment
def first(row: parts.Row) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        parts.shares(row, frame.cached(numbers.heated, row.scores))
    with right:
        prose("softmax", "idea")
        if predict.answer(parts.HALVED) is not None:
            prose("softmax", "order")


first(row)
if spine.deep():
    code.show(softmax.SHARES)


# The other handles: a constant, one score by the hand.
@st.fragment
def handles(row: parts.Row) -> None:
    more.add_constant(row)
    more.drag_one(row)


handles(row)

# The model's own row.
parts.real_row()


# The slopes, the steps, what shares mix, and where the naive version breaks.
@st.fragment
def deeper(row: parts.Row) -> None:
    found, slider = frame.cached(numbers.heated, row.scores), parts.heat()
    parts.slopes(row, found, slider)
    parts.closer(row, found, slider)
    parts.HEAT.rest(lambda: more.downloads(row, parts.HEAT.now()))
    more.number_formats(row)
    more.numpy_cell(row)


# Rows of shares: which of them are right?
@st.fragment
def printed() -> None:
    more.claims()


if spine.deep():
    deeper(row)
    printed()

# Check yourself, common mistakes, the words.
spine.take_home("softmax", parts.ADDED)
more.check(row)
if spine.deep():
    more.common_mistakes()
    more.words()
spine.offer(
    N_("Can this row still learn?"),
    N_("What shares mix"),
    N_("Large scores: the naive version breaks"),
    N_("Is this row right?"),
    N_("Common mistakes"),
)
spine.ending("05_softmax")
