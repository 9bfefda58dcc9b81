"""The FFN: one neuron turned up and down, every word on its own, and the bends between two maps."""

import streamlit as st

from pages.parts.feedforward import experts, machines, mixture
from pages.parts.feedforward import room as parts
from pages.shared import frame, headings, spine
from pages.shared.text import prose

frame.begin()

# The question, a sentence, a guess, one neuron.
spine.opening("12_feedforward")
room = parts.room()
parts.prediction(room)
st.fragment(parts.picture)(room)
prose("feedforward", "neuron", name=room.name)

# Experts: why there are any, a mixture that was trained, and four machines.
headings.section("Why experts exist")
experts.why(room.demo.text)
headings.section("A mixture, really trained")
mixture.sentence(parts.typed(), parts.START)
if spine.deep():
    mixture.training()
    headings.section("Experts on four machines")
    st.fragment(machines.four)(parts.typed(), parts.START)
    headings.section("Many small products, or one")
    st.fragment(machines.timing)()
    machines.check()

# What to take home.
spine.take_home("feedforward", parts.MUTE)
spine.ending("12_feedforward")
