"""What such a machine can learn: from its prompt, from its size, and in principle; and the family it belongs to."""

import streamlit as st

from pages.parts.theory import family, line, questions, scaling, sky
from pages.shared import frame, headings, spine
from pages.shared.text import N_

frame.begin()

# What it asks; a guess; copies of a sentence under the finger.
spine.opening("17_theory")
demo, found = sky.sentence()
sky.prediction(demo, found)
st.fragment(sky.signature)(demo, found)
sky.meaning(demo, found)

# Another subject, of which nothing was written.
headings.section("Ask about another subject")
sky.other(demo, found)
if spine.deep():
    headings.section("Which heads carry it")
    st.fragment(sky.heads)(demo)

# One layer is one gradient step.
headings.section("One layer is one gradient step")
line.layers()
if spine.deep():
    headings.section("Who draws the line?")
    line.drawn()

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
if spine.deep():
    headings.section("The family")
    st.fragment(family.family)()
    headings.section("Years and sizes")
    family.trends()
    headings.fold("All dates and sizes", family.table)

# What to take home, check yourself, common mistakes, the code.
spine.take_home("theory", "copies", "other")
questions.check(found)
if spine.deep():
    questions.common_mistakes()
    questions.shown_code()
spine.offer(
    N_("Which heads carry it"),
    N_("Who draws the line?"),
    N_("A law of our own"),
    N_("Published laws"),
    N_("The family"),
    N_("Years and sizes"),
    N_("Common mistakes"),
)
spine.ending("17_theory")
