"""The softmax lab: how scores become shares, what moves them, and where the arithmetic breaks."""

import streamlit as st

from core import softmax
from core.topics.softmax import lab as bench
from pages.parts.softmax import bench as parts
from pages.parts.softmax import experiments as more
from pages.shared import frame, spine
from pages.shared.pictures import code
from pages.shared.text import prose

frame.begin()

# What you can change.
left, right = st.columns([3, 2], vertical_alignment="bottom")
with left:
    spine.opening("05_softmax")
with right:
    source = parts.source()
row = parts.typed_row() if source == "typed" else parts.model_row()
parts.prediction(row)


# One slider moves every picture of this part.
@st.fragment
def lab(row: parts.Row) -> None:
    found, slider = frame.cached(bench.heated, row.scores), parts.heat()
    left, right = st.columns([4, 5], gap="medium")
    with left:
        parts.shares(row, found, slider)
    with right:
        cell = parts.slopes(row, found, slider)
    left, right = st.columns([4, 5], gap="medium")
    with left:
        prose("softmax", "idea")
    with right:
        if cell:
            parts.written_slope(row, slider.value, cell)
        prose("softmax", "slopes")
    parts.closer(row, found, slider)
    more.downloads(row, slider.value)


lab(row)
code.show(softmax.SHARES)


# The other handle, and where the naive version breaks.
@st.fragment
def handles(row: parts.Row) -> None:
    more.drag_one(row)
    more.add_constant(row)
    more.number_formats(row)
    more.numpy_cell(row)


handles(row)


# Rows of shares: which of them are right?
@st.fragment
def printed() -> None:
    more.claims()


printed()

# Check yourself, common mistakes, the words.
prose("softmax", "closing")
more.check(row)
more.common_mistakes()
more.words()
spine.ending("05_softmax")
