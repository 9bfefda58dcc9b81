"""Masks and cross-attention: who may look at whom, proof that nothing leaks, and one text that reads another."""

import streamlit as st

from pages.parts.masks import cross
from pages.parts.masks import painting as parts
from pages.parts.masks import recipes as code_of_masks
from pages.shared import frame, headings, spine
from pages.shared.pictures import code
from pages.shared.text import prose

frame.begin()

# What you can change, and a guess before it is shown.
spine.opening("07_masks")
reading, layer, head = parts.text()
parts.prediction()


# The mask on the live model. A stroke or a release runs this part alone.
@st.fragment
def live_mask() -> None:
    demo = parts.bench(reading, layer, head)
    parts.travel(demo)
    code_of_masks.check(demo)


live_mask()

# A model that was trained without one.
headings.section("What the mask is for: training")
code_of_masks.cheating()

# A few lines of code, and how they go wrong.
plain = parts.causal(reading, layer, head)
headings.section("The mask as code")


@st.fragment
def recipes() -> None:
    code_of_masks.recipes(plain)


recipes()

# Sentences of different lengths.
headings.section("A batch needs padding, padding needs a mask")
st.fragment(code_of_masks.batch)(plain)

# One text reads another.
headings.section("Cross-attention: one text reads another")
st.fragment(cross.cross)()

# Common mistakes, the words, the code.
code_of_masks.common_mistakes(plain)
code_of_masks.words()
code.show(code_of_masks.MASKED)
prose("masks", "closing")
spine.ending("07_masks")
