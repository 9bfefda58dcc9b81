"""Many heads, fewer keys: why there is more than one, what one head's silence costs, how few keys all can share."""

import streamlit as st

from core.topics.heads import volume as manyheads
from pages.parts.heads import contributions, pair_of_heads, questions, silence, why_more, workings
from pages.parts.heads import fewer_keys as sharing
from pages.parts.heads import volume as parts
from pages.shared import frame, headings, spine
from pages.shared.pictures import code
from pages.shared.text import N_, prose

frame.begin()

# What it asks, the digits, and a guess: one head against two.
left, right = st.columns([3, 1.4], vertical_alignment="bottom")
with left:
    spine.opening("08_heads")
with right:
    digits = pair_of_heads.digits()
pair_of_heads.prediction()
st.fragment(pair_of_heads.two_heads)(digits)

# Nets trained with one head, two, many.
headings.section("Trained with one head, with two, with many")
st.fragment(why_more.trained)(digits)
if spine.deep():
    why_more.published()

# The real model: one head, louder and quieter. A release runs this part alone; another head changes pictures below.
headings.section("In a real model: turn one head down")
reading = parts.text()
parts.prediction(reading)


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
        if spine.deep():
            parts.habit(demo)
    if spine.deep():
        contributions.contributions(demo)


volume(reading, parts.chosen(reading))


# Any number of heads, silent at once.
@st.fragment
def silent(reading: parts.Reading) -> None:
    headings.section("Silence some, keep some")
    silence.silence(reading)


if spine.deep():
    silent(reading)


# MHA, GQA, MQA, MLA.
@st.fragment
def fewer(reading: parts.Reading) -> None:
    headings.section("One slider: from a key and a value for every head to one of each for all")
    sharing.slider(reading)


fewer(reading)
sharing.cache()
if spine.deep():
    headings.section("What the number of heads does not change")
    st.fragment(workings.closer)(reading)

# Check yourself, common mistakes, the code.
prose("heads", "closing")
questions.check(reading)
if spine.deep():
    prose("heads", "more")
    questions.common_mistakes(reading)
    code.show(manyheads.CONTRIBUTION)
spine.offer(
    N_("What each head adds"),
    N_("Silence some, keep some"),
    N_("A head's own map with fewer keys"),
    N_("What a paper measured"),
    N_("Cutting one matrix into heads"),
    N_("Common mistakes"),
)
spine.ending("08_heads")
