"""The FFN: one neuron turned up and down, every word on its own, and the bends between two maps."""

import streamlit as st

from pages.parts.feedforward import room as parts
from pages.shared import frame, spine
from pages.shared.text import prose

frame.begin()

# The question, a sentence, a guess, one neuron.
spine.opening("12_feedforward")
room = parts.room()
parts.prediction(room)
st.fragment(parts.picture)(room)
prose("feedforward", "neuron", name=room.name)

# What to take home.
spine.take_home("feedforward", parts.MUTE)
spine.ending("12_feedforward")
