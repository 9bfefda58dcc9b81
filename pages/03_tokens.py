"""From text to vectors: a word merged byte by byte, a text cut in seven ways, and the rows its ids pick."""

import streamlit as st

from pages.parts.tokens import cutting as parts
from pages.parts.tokens import vectors as more
from pages.shared import frame, headings, spine
from pages.shared.text import prose

frame.begin()
spine.opening("03_tokens")


# One word, merge by merge. What is typed or let go here runs this part alone.
@st.fragment
def merging() -> None:
    demo = parts.word()
    asked = parts.prediction(demo)
    parts.merges(demo, asked is not None)


merging()

# Your text, cut in several ways.
headings.section("Your text in pieces")
typed = parts.your_text()


@st.fragment
def views(text: str) -> None:
    parts.views(text)


views(typed.text)

# A table of one's own.
headings.section("Train your own")


@st.fragment
def training(text: str) -> None:
    parts.training(text)


training(typed.text)

# From ids to vectors.
headings.section("An id picks a row")


@st.fragment
def rows(text: str) -> None:
    more.rows(text)


rows(typed.text)
prose("tokens", "table", **more.table())


@st.fragment
def senses() -> None:
    more.senses()


headings.section("One row, several meanings")
senses()

# And back to text.
headings.section("From text to text")
more.whole_way(typed.text)

# What to notice, check yourself, common mistakes, the words.
prose("tokens", "closing")
more.check(typed.text)
more.common_mistakes(typed.text)
more.words()
more.source()
spine.ending("03_tokens")
