"""Norms and residuals: how loud the stream is, who writes on it, and what a norm takes away."""

import streamlit as st

from pages.parts.norms import bus, depth, loudness, switches, warmup
from pages.shared import frame, spine
from pages.shared.asks import mistakes
from pages.shared.text import N_

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
st.fragment(loudness.last_block)(demo)

# What every part adds for the last word.
st.fragment(bus.bus)(demo.text)

# Skips and norms off; the stack made deeper; a slow start.
switches.section(demo.text)
depth.section(demo.text)
warmup.section()

# What to take home.
spine.take_home("norms", loudness.LAST)
spine.offer(N_("The same factor, after the last block"))
if spine.deep():
    mistakes.show("norms", [*depth.MISTAKES], **depth.told(demo.text))
spine.ending("11_norms")
