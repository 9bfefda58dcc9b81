"""Running it cheaper: which pairs of words matter, how Flash never stores the square, and what stands in for attention."""

import streamlit as st

from pages.parts.efficient import depths, gallery, pairs, tiles
from pages.shared import frame, headings, spine
from pages.shared.text import N_, prose

frame.begin()

# What it asks; a guess; the pattern, its mask and its loss under one slider.
spine.opening("16_efficient")
kind = pairs.settings()
pairs.prediction()


# A release runs this part alone.
@st.fragment
def which_pairs() -> None:
    pairs.signature(kind)


which_pairs()
prose("efficient", "pairs")

# The same pattern on the visitor's own sentence.
headings.section("The same pattern on your sentence")
st.fragment(pairs.sentence)(kind)
if spine.deep():
    headings.section("A pattern of your own")
    st.fragment(pairs.own)()

# Flash: the same numbers, without the square.
headings.section("Flash, tile by tile")
st.fragment(tiles.tiles)()
if spine.deep():
    headings.fold("Tiles that are skipped", st.fragment(tiles.skipped))
headings.fold("Measure it: memory and time of torch's own kernel", tiles.kernel)

# What else there is.
headings.section("What stands in for attention")
st.fragment(gallery.gallery)()
if spine.deep():
    headings.section("From word to word: hops")
    st.fragment(gallery.hops)()
    headings.section("Rank: what softmax does to it")
    depths.rank()
    headings.section("Two forms of one thing")
    depths.forms()
    headings.section("A state that chooses")
    st.fragment(depths.scan)()

# What to take home, check yourself, common mistakes, the code.
spine.take_home("efficient", "pairs", "flash_gap")
depths.check()
if spine.deep():
    depths.common_mistakes()
    depths.shown_code()
spine.offer(
    N_("A pattern of your own"),
    N_("Tiles that are skipped"),
    N_("From word to word: hops"),
    N_("Rank: what softmax does to it"),
    N_("Two forms of one thing"),
    N_("A state that chooses"),
    N_("Common mistakes"),
)
spine.ending("16_efficient")
