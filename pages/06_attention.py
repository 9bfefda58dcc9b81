"""Attention, step by step: one head, five steps, every number, and the one link that decides."""

import streamlit as st

from pages.parts.attention import findings as more
from pages.parts.attention import room as parts
from pages.shared import controls, frame, spine
from pages.shared.pictures import code
from pages.shared.text import _, prose

frame.begin()

# What you can change.
left, right = st.columns([3, 2], vertical_alignment="bottom")
with left:
    spine.opening("06_attention")
    st.caption(_("Architecture · basics, required · 4 of 5 in difficulty · before it: linear layers and softmax"))
with right:
    source = controls.choice("Vectors", parts.SOURCES, "sentence", key="source")
room = parts.sentence_room() if source == "sentence" else None
if room:
    parts.prediction(room.reading)


# The five steps, one open at a time. A click or a release runs this part alone.
@st.fragment
def steps(room: parts.Room | None) -> None:
    room = room or parts.own_vectors(source)
    head = room.head(room.value())
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    with left:
        step = controls.choice("Step", parts.STEP_NAMES, "weights", key="step", hide_label=True)
    cut = "look"
    if room.demo and step == "weights":
        with right:
            cut = controls.choice("A click on a cell", parts.CUTS, "keep", key="cut", hide_label=True)
    cell = room.cell(step, head.v.shape[-1] if step == "z" else len(room.columns)).now()
    row = parts.followed(room, cell)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        parts.picture(room, head, step, cell, row=row, cut=cut)
        more.downloads(room, row)
    with right:
        parts.beside(room, head, step, cell, cut)
    if room.demo:
        more.losses(room)
    if step == "z":
        more.mixture(room, head, row)
    if room.free:
        more.spread(room)
    code.show(parts.STEPS[step])


steps(room)

# What to notice.
if room:
    more.overview(room)
    if controls.switch("Show which links decide", False, key="ranking"):
        parts.ranking(room)
prose("attention", "closing")

# Check yourself, common mistakes, the words.
if room:
    more.check(room)
more.common_mistakes(room)
more.words()
spine.ending("06_attention")
