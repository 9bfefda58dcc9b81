"""RoPE: two words turn like clock hands, their score hears only the distance; and what happens past the trained length."""

import streamlit as st

from core import rope as rp
from pages.parts.rope import benches as labs
from pages.parts.rope import faces as parts
from pages.parts.rope import far
from pages.shared import controls, frame, headings, spine
from pages.shared.pictures import code
from pages.shared.text import prose

frame.begin()

# The question, the sentence, a guess.
spine.opening("10_rope")
room = parts.room()
parts.prediction(room)
pair = parts.pair_of(room.pairs).now()


# Two clock faces. A release runs this part alone.
@st.fragment
def turn() -> None:
    parts.clock_faces(room, pair)


turn()
prose("rope", "faces", **room.names)
parts.law(room)
if spine.deep():
    parts.kinds(room)
    parts.download(room)
    code.show(rp.ANGLES)


# Four benches, one at a time; at the idea the first.
@st.fragment
def benches(room: parts.Room) -> None:
    headings.section("Take it apart")
    lab = controls.Setting("rope_lab").now()
    if spine.deep() or lab != "pair":  # a link to a bench opens it
        lab = controls.choice("Bench", labs.LABS, "pair", key="rope_lab", hide_label=True)
    labs.bench(lab, room)


benches(room)

# Past the trained length.
headings.section("Past the trained length")
st.fragment(far.guess)()
if spine.deep():
    headings.section("Angles never seen")
    far.base()
    headings.section("Five ways to slow the clocks")
    far.methods()
    headings.section("What each of them repairs")
    st.fragment(far.repaired)()

# What to take home, check yourself, common mistakes.
spine.take_home("rope", "rope_freeze")
if spine.deep() and far.LOSS.now() == "yes":
    prose("rope", "limits")
parts.check(room, pair)
if spine.deep():
    far.common_mistakes(parts.one_score(room))
spine.offer(*parts.DEEPER)
spine.ending("10_rope")
