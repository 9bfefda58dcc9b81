"""Masks and cross-attention: how far a word may look, who may look at whom, and one text that reads another."""

import streamlit as st

from pages.parts.masks import cross, sight
from pages.parts.masks import painting as parts
from pages.parts.masks import recipes as code_of_masks
from pages.shared import controls, frame, headings, spine
from pages.shared.pictures import code
from pages.shared.text import N_, say

frame.begin()

# What it asks; the text; a guess; the mask's effect on the answer and the loss.
spine.opening("07_masks")
reading, layer, head = sight.text()
sight.prediction()
st.fragment(sight.sight)(reading, layer, head)


# Painting, and the lamp that finds leaks. A stroke or a release runs this part alone.
@st.fragment
def live_mask() -> None:
    headings.section("Paint a mask, find the leak")
    say("Press on a cell to open or close it; drag to paint. Open one above the diagonal, and **watch the lamp.**")
    demo = parts.bench(reading, layer, head)
    if spine.deep():
        parts.travel(demo)


live_mask()

# A model that was trained without one.
headings.section("What the mask is for: training")
code_of_masks.cheating()
plain = parts.causal(reading, layer, head)


# A few lines of code, and how they go wrong; sentences of different lengths.
@st.fragment
def recipes() -> None:
    headings.section("The mask as code")
    code_of_masks.recipes(plain)


if spine.deep():
    recipes()
    headings.section("A batch needs padding, padding needs a mask")
    st.fragment(code_of_masks.batch)(plain)

# One text reads another.
headings.section("Cross-attention: one text reads another")
st.fragment(cross.cross)()

# Check yourself, common mistakes, the words, the code.
spine.take_home("masks", "unmasked")
code_of_masks.check(parts.mask_of(reading, layer, head, controls.Setting("mask_kind").now()))
if spine.deep():
    code_of_masks.common_mistakes(plain)
    code_of_masks.words()
    code.show(code_of_masks.MASKED)
spine.offer(
    N_("The gradients, block after block"),
    N_("The mask as code"),
    N_("A batch needs padding, padding needs a mask"),
    N_("What the two tiny models write"),
    N_("Encoder and decoder"),
    N_("Common mistakes"),
)
spine.ending("07_masks")
