"""What such a machine can learn: from its prompt, from its size, and in principle; and the family it belongs to."""

import streamlit as st

from core.lab import text as words
from pages.parts.theory import collapse, family, line, lookup, machines, packed, questions, scaling, sky
from pages.shared import frame, headings, spine, story
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

# Points, a line: one layer is one gradient step.
headings.section("Points in the prompt, a line as the answer")
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

# What becomes of the words when nothing but attention is left, and what a layer can do: look up, mix by context.
headings.section("If only attention were left")
given = words.of(story.ask())
st.fragment(collapse.section)(given)
if spine.deep():
    headings.section("A dictionary, softly")
    st.fragment(lookup.dictionary)()
    headings.section("How near do real heads come?")
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
    N_("A dictionary, softly"),
    N_("How near do real heads come?"),
    N_("One word, two sentences"),
    N_("Any map at all"),
    N_("Why any map"),
    N_("A Turing machine, set by hand"),
    N_("Five features, two numbers"),
    N_("The family"),
    N_("Years and sizes"),
    N_("Common mistakes"),
)
spine.ending("17_theory")
