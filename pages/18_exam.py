"""Can you answer it yourself? A line to repair, questions from one's own sentence, exercises, cards, and the end of the path."""

import streamlit as st

from pages.parts.exam import asking, cards, closing, exercises, repair, shelf, whatifs
from pages.shared import frame, headings, spine, story
from pages.shared.text import N_

frame.begin()

# What it asks; a guess; the line with blanks, every wrong answer run.
spine.opening("18_exam")
reading = story.ask()
repair.signature(reading)
if spine.deep():
    repair.deeper(reading)

# Questions from one's own sentence, five at a time; the result card.
asking.draw(reading)
asking.card()

# Exercises: a map painted, FLOPs counted, a mask, a plot, weights set by hand, a law derived.
headings.section("Exercises")
st.fragment(exercises.room)()

# What if: the usual answer beside what happened.
if spine.deep():
    headings.section("What if?")
    st.fragment(whatifs.room)()

# Interview cards.
cards.draw(reading)

# The shelf: what to read, and what is verified.
shelf.draw()

# The end of the path.
spine.take_home("exam", repair.GUESS)
spine.offer(N_("The fill value, from 0 to −∞"), N_("All lines at a glance"), N_("No scaling, one head, no mask"))
closing.draw()
spine.ending("18_exam")
