"""Attention, step by step: one head, five steps, every number, and the one link that decides."""

import streamlit as st

from pages.parts import attention as room_of
from pages.parts import attention_more as more
from pages.shared import code, controls, frame
from pages.shared.text import prose

frame.begin()
frame.heading("06_attention")

# What you can change.
source = controls.choice("Vectors", room_of.SOURCES, "sentence", key="source")
room = room_of.open_room(source)
if room.demo:
    room_of.prediction(room.reading)

# The five steps, one open at a time.
step = controls.choice("Step", room_of.STEP_NAMES, "weights", key="step", hide_label=True)
cell = room_of.chosen_cell(room, step)
left, right = st.columns([3, 2], gap="medium")
with left:
    cut = "look"
    if room.demo and step == "weights":
        cut = controls.choice("A click on a cell", room_of.CUTS, "keep", key="cut", hide_label=True)
    room_of.picture(room, step, cell, cutting=cut != "look")
with right:
    room_of.beside(room, step, cell, cut)
if room.demo:
    more.losses(room)

# What to notice.
if room.demo:
    more.overview(room)
    if controls.switch("Show which links decide", False, key="ranking"):
        room_of.ranking(room, "share" if cut == "share" else "keep")
if source == "random":
    more.spread(room)
more.mixture(room)
prose("attention", "closing")

# Check yourself, common mistakes, downloads, the code.
more.check(room, step, cell)
more.common_mistakes(room)
more.words()
more.downloads(room, cell)
code.show(room_of.STEPS[step])
frame.onward("06_attention")
