"""What such a machine can learn: from its prompt, from its size, and in principle; and the family it belongs to."""

import streamlit as st

from pages.parts.theory import family, scaling
from pages.shared import frame, headings, spine

frame.begin()

# What it asks; a guess; copies of a sentence under the finger.
spine.opening("17_theory")

# One layer is one gradient step.

# Scaling: what size buys.
headings.section("What size buys")
st.fragment(scaling.budget)()
if spine.deep():
    headings.section("A law of our own")
    st.fragment(scaling.law)()
    headings.section("Published laws")
    st.fragment(scaling.published)()
    headings.fold("Turn it: loss over parameters and tokens", st.fragment(scaling.surface))

# What a layer can do: look up, mix by context, learn any map, copy under the head of a tape.

# What goes wrong, and what is packed: rank collapse, superposition.

# The family: encoders, decoders, both; years and sizes.
headings.section("The family")
st.fragment(family.family)()
if spine.deep():
    headings.section("Years and sizes")
    family.trends()
    headings.fold("All dates and sizes", family.table)

# What to take home, check yourself, common mistakes, the code.
spine.ending("17_theory")
