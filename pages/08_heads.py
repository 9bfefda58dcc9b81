"""Many heads, fewer keys: what each head adds, what its silence costs, and how few keys all of them can share."""

import streamlit as st

from core.topics.heads import volume as manyheads
from pages.parts.heads import contributions, questions, silence, why_more, workings
from pages.parts.heads import fewer_keys as sharing
from pages.parts.heads import volume as parts
from pages.shared import frame, headings, spine
from pages.shared.pictures import code
from pages.shared.text import prose

frame.begin()

# What you can change, and a guess before it is shown.
spine.opening("08_heads")
reading = parts.text()
parts.prediction(reading)


# One head, louder and quieter. A release runs this part alone; another head changes pictures further down, too.
@st.fragment
def volume(reading: parts.Reading, before: parts.Demo) -> None:
    demo = parts.chosen(reading)
    if demo != before:
        st.rerun()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        parts.views(demo)
    with right:
        parts.next_word(demo)
        prose("heads", "volume")
        parts.habit(demo)
    contributions.contributions(demo)


volume(reading, parts.chosen(reading))


# Any number of heads, silent at once.
@st.fragment
def silent(reading: parts.Reading) -> None:
    headings.section("Silence some, keep some")
    silence.silence(reading)


silent(reading)


# MHA, GQA, MQA, MLA.
@st.fragment
def fewer(reading: parts.Reading) -> None:
    headings.section("One slider: from a key and a value for every head to one of each for all")
    sharing.slider(reading)


fewer(reading)
sharing.cache()

# Why more than one, and what the number of heads does not change.
headings.section("Why more than one?")
st.fragment(why_more.neighbours)()
why_more.published()
st.fragment(workings.closer)(reading)

# Check yourself, common mistakes, the code.
prose("heads", "closing")
questions.check(reading)
questions.common_mistakes(reading)
code.show(manyheads.CONTRIBUTION)
spine.ending("08_heads")
