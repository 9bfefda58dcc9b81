"""From text to vectors: a sentence merged byte by byte, a rare word, the rows that ids pick, and one blank too many."""

import streamlit as st

from pages.parts.tokens import cutting as parts
from pages.parts.tokens import vectors as more
from pages.shared import frame, headings, spine
from pages.shared.text import N_, prose

frame.begin()
spine.opening("03_tokens")
typed = parts.your_text()


# The sentence, merge by merge. What is let go here runs this part alone.
@st.fragment
def merging(text: str) -> None:
    cut = parts.of_text(text)
    asked = parts.prediction(cut)
    parts.merges(cut, asked is not None)


merging(typed.text)


# A rare word falls into pieces.
@st.fragment
def rare() -> None:
    cut = parts.word()
    asked = parts.prediction(cut)
    parts.merges(cut, asked is not None)


headings.section("A rare word")
rare()


# Your text, cut in several ways; a table of one's own.
@st.fragment
def views(text: str) -> None:
    parts.views(text)


@st.fragment
def training(text: str) -> None:
    parts.training(text)


if spine.deep():
    headings.section("Your text in pieces")
    views(typed.text)
    headings.section("Train your own")
    training(typed.text)

# From ids to vectors.
headings.section("An id picks a row")


@st.fragment
def rows(text: str) -> None:
    more.rows(text)


rows(typed.text)


@st.fragment
def senses() -> None:
    more.senses()


if spine.deep():
    prose("tokens", "table", **more.table())
    headings.section("One row, several meanings")
    senses()

# And back to text.
headings.section("From text to text")
more.whole_way(typed.text)

# What to notice, check yourself, common mistakes, the words.
prose("tokens", "closing")
more.check(typed.text)
if spine.deep():
    more.common_mistakes(typed.text)
    more.words()
    more.source()
spine.offer(
    N_("Your text in pieces"),
    N_("Train your own"),
    N_("One row, several meanings"),
    N_("Let it write on"),
    N_("Common mistakes"),
)
spine.ending("03_tokens")
