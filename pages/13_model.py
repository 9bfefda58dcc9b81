"""Build the model: a block that works and one wire of it, its parts one by one, a repair shop, and a workbench."""

import streamlit as st

from pages.parts.model import assembling, switching, true_size, walk
from pages.parts.model import details as extras
from pages.parts.model import repair as parts
from pages.shared import controls, frame, headings, spine, story
from pages.shared.text import prose

frame.begin()

# The question, the sentence, a guess.
spine.opening("13_model")
reading = story.ask()
parts.prediction(reading)


# A block that works, and one wire under the finger. A click on a line or a release runs this part alone.
@st.fragment
def working() -> None:
    room = parts.working(reading)
    one, two = st.columns([5, 4], gap="medium")
    with one:
        parts.wires(room)
    with two:
        if spine.deep():
            parts.compare_own()
        parts.next_word(room)
        if spine.deep():
            parts.who_reads(room)
    parts.verdict(room)


working()
st.fragment(switching.switch_on)(reading)


# The repair shop: what is wrong is not told.
@st.fragment
def shop() -> None:
    headings.section("The repair shop")
    room = parts.ward(reading)
    one, two = st.columns([5, 4], gap="medium")
    with one:
        parts.wires(room)
    with two:
        parts.next_word(room)
        parts.verdict(room)
        if spine.deep():
            parts.who_reads(room)


shop()


# The workbench: one thing open at a time.
@st.fragment
def bench() -> None:
    headings.section("The workbench")
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


if spine.deep() or controls.Setting("model_bench").now() != "parts":  # a link to a bench opens it
    bench()

# What to take home, check yourself, common mistakes, the words.
prose("model", "closing")
extras.check(reading)
if spine.deep():
    extras.finding()
    extras.common_mistakes(reading)
    extras.program()
    extras.words()
spine.offer(*extras.DEEPER)
spine.ending("13_model")
