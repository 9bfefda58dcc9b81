"""Norms and residuals: how loud the stream is, who writes on it, and what a norm takes away."""

import streamlit as st

from core import norms
from pages.parts.norms import bus, depth, loudness, questions, readings, switches, vectors, warmup
from pages.shared import frame, spine
from pages.shared.pictures import code
from pages.shared.text import N_, prose

frame.begin()

# The question, the sentence, a guess.
spine.opening("11_norms")
demo = loudness.demo()
loudness.prediction(demo)


# The stream, multiplied at one station. A release runs this part alone; another station changes the page.
@st.fragment
def stream() -> None:
    now = loudness.chosen(demo)
    if now != demo:
        st.rerun()
    loudness.signature(demo)


stream()

# The same factor after the last block, and why.
loudness.last_block(demo)

# What every part adds for the last word.
st.fragment(bus.bus)(demo.text)


# One vector by hand, in six dimensions and in two. A number that is let go of is another vector for the whole page.
@st.fragment
def by_hand(x: vectors.Vector) -> None:
    if vectors.vector() != x:
        st.rerun()
    vectors.bars(x)


by_hand(vectors.vector())
if spine.deep():
    code.show(norms.UNIT)
    st.fragment(vectors.flat)()
    st.fragment(vectors.undo)()
    st.fragment(vectors.tiny)()
    vectors.half()

# What the norms of the model do to the sentence.
if spine.deep():
    st.fragment(readings.deeper)(demo.text)

# The stack made deeper; skips and norms off; a slow start.
depth.section(demo.text)
switches.section(demo.text)
warmup.section()

# What to take home, check yourself, common mistakes.
spine.take_home("norms", loudness.LAST)
st.fragment(questions.check)()
if spine.deep():
    prose("norms", "any_model")
    questions.common_mistakes(*depth.MISTAKES, **depth.told(demo.text))
spine.offer(
    N_("Number by number"),
    N_("In two dimensions: a circle, and two points"),
    N_("Can gain and shift undo a norm?"),
    N_("How small is small? eps in the real model"),
    N_("One number out of thousands"),
    N_("Who learns?"),
    N_("Start slowly?"),
    N_("Common mistakes"),
)
spine.ending("11_norms")
