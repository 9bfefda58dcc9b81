"""The FFN: one neuron turned up and down, every word on its own, what neurons listen to, and the bends between two maps."""

import streamlit as st

from core import feedforward as ff
from core.lab import text as sentence
from pages.parts.feedforward import alone, bends, experts, found, machines, mixture, questions
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
reading = story.ask()
text = sentence.of(reading)  # the visitor's, which goes from room to room
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

# Experts: why there are any, a mixture that was trained, and four machines.
headings.section("Why experts exist")
experts.why(text)
if spine.deep():
    headings.section("A mixture, really trained")
    mixture.sentence(reading.text)
    mixture.training()
    headings.section("Experts on four machines")
    st.fragment(machines.four)(reading.text)
    headings.section("Many small products, or one")
    st.fragment(machines.timing)()
    machines.check()

# What to take home, check yourself, common mistakes.
spine.take_home("feedforward", parts.MUTE, found.HALVE)
if spine.deep():
    prose("feedforward", "limits")
questions.check(room)
if spine.deep():
    questions.common_mistakes(text, room.demo.layer, mixture.MISTAKES, mixture.mistake_numbers())
spine.offer(
    N_("Gate times up"),
    N_("The bend in between"),
    N_("A whole FFN, louder and quieter"),
    N_("Experts, really trained"),
    N_("Experts on four machines"),
    N_("Common mistakes"),
)
spine.ending("12_feedforward")
