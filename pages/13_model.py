"""Build the model: find a wrong wire, assemble a block, walk through the families, and see one at its true size."""

import streamlit as st

from pages.parts.model import assembling, true_size, walk
from pages.parts.model import details as extras
from pages.parts.model import repair as parts
from pages.shared import controls, frame, spine, story
from pages.shared.text import prose

frame.begin()

# What you can change.
left, right = st.columns([3, 2], vertical_alignment="bottom")
with left:
    spine.opening("13_model")
with right:
    mode = controls.choice("Repair shop", parts.MODES, "break", key="shop")
reading = story.ask()
parts.prediction(reading)


# The repair shop. A click on a wire or a release runs this part alone.
@st.fragment
def shop() -> None:
    room = parts.room(reading, mode)
    one, two, three = st.columns([5.7, 2.9, 3.5], gap="medium")
    with one:
        parts.wires(room)
    with two:
        parts.next_word(room)
    with three:
        parts.who_reads(room)
    parts.verdict(room)


shop()


# The workbench: one thing open at a time.
@st.fragment
def bench() -> None:
    st.subheader(parts.bench_title(), anchor=False)
    chosen = controls.choice("Workbench", parts.BENCH, "parts", key="model_bench", hide_label=True)
    if chosen == "parts":
        assembling.assemble(reading)
    elif chosen == "walk":
        walk.walk(reading)
    elif chosen == "size":
        true_size.true_size()
    elif chosen == "bug":
        extras.spot_the_bug(reading)
    else:
        extras.four_things(reading)


bench()

# What to notice, check yourself, common mistakes, the words.
prose("model", "closing")
extras.check(reading)
extras.common_mistakes(reading)
extras.program()
extras.words()
spine.ending("13_model")
