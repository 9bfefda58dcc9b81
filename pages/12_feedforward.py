"""The FFN: one neuron turned up and down, every word on its own, what neurons listen to, and the bends between two maps."""

import streamlit as st

from core import feedforward as ff
from core.lab import text as sentence
from pages.parts.feedforward import alone, bends, found, questions
from pages.parts.feedforward import room as parts
from pages.shared import frame, headings, spine, story
from pages.shared.pictures import code
from pages.shared.text import N_, prose

frame.begin()

# The question, a sentence, a guess, one neuron.
spine.opening("12_feedforward")
room = parts.room()
parts.prediction(room)
st.fragment(parts.picture)(room)
parts.told(room)
if spine.deep():
    code.show(ff.FFN_OUT)
    headings.section("Gate times up")
    found.gate_times_up()

# Every word alone.
headings.section("Every word alone")
text = sentence.of(story.ask())  # the visitor's, which goes from room to room
st.fragment(alone.every_word_alone)(text, room.demo.layer)

# What neurons listen to, and how many decide.
headings.section("What does a neuron listen to?")
prose("feedforward", "gallery")
found.gallery()
if spine.deep():
    prose("feedforward", "gallery_means", idle="5.709")
headings.section("How many neurons decide?")
found.muted_one_by_one()

# The bends, and whole FFNs.
if spine.deep():
    headings.section("The bend in between")
    st.fragment(bends.bench)(text, room.demo.layer)
    headings.section("A whole FFN, louder and quieter")
    st.fragment(bends.volume)(text)

# What to take home, check yourself, common mistakes.
spine.take_home("feedforward", parts.MUTE, found.HALVE)
if spine.deep():
    prose("feedforward", "limits")
questions.check(room)
if spine.deep():
    questions.common_mistakes(text, room.demo.layer)
spine.offer(
    N_("Gate times up"),
    N_("The bend in between"),
    N_("A whole FFN, louder and quieter"),
    N_("Common mistakes"),
)
spine.ending("12_feedforward")
