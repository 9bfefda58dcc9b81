"""What such a machine can learn: from its prompt, from its size, and in principle; and the family it belongs to."""

import streamlit as st

from core.lab import text as words
from pages.parts.theory import collapse, lookup, machines, packed
from pages.shared import frame, headings, spine, story
from pages.shared.text import N_

frame.begin()

# What it asks; a guess; copies of a sentence under the finger.
spine.opening("17_theory")

# One layer is one gradient step.

# Scaling: what size buys.

# What a layer can do: look up, and what becomes of the words when nothing else is left.
headings.section("A dictionary, softly")
st.fragment(lookup.dictionary)()
headings.section("If only attention were left")
given = words.of(story.ask())
st.fragment(collapse.section)(given)
if spine.deep():
    headings.section("How near do real heads come")
    st.fragment(lookup.heads)(given)
    headings.section("One word, two sentences")
    st.fragment(lookup.contextual)()

# In principle: any map, the head of a tape, more features than numbers.
if spine.deep():
    headings.section("Any map at all")
    st.fragment(machines.universal)()
    headings.section("Why any map")
    st.fragment(machines.proof)()
    headings.section("A Turing machine, set by hand")
    st.fragment(machines.machine)()
    headings.section("Five features, two numbers")
    st.fragment(packed.section)()

# The family: encoders, decoders, both; years and sizes.

# What to take home, check yourself, common mistakes, the code.
spine.offer(
    N_("How near do real heads come"),
    N_("One word, two sentences"),
    N_("Any map at all"),
    N_("Why any map"),
    N_("A Turing machine, set by hand"),
    N_("Five features, two numbers"),
)
spine.ending("17_theory")
