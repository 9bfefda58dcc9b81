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

# What you can change.
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
parts.kinds(room)
parts.check(room, pair)
parts.download(room)
code.show(rp.ANGLES)


# Four benches, one at a time.
@st.fragment
def benches(room: parts.Room) -> None:
    headings.section("Take it apart")
    lab = controls.choice("Bench", labs.LABS, "pair", key="rope_lab", hide_label=True)
    labs.bench(lab, room)


benches(room)

# Past the trained length.
headings.section("Past the trained length")
st.fragment(far.guess)()
headings.section("Angles never seen")
far.base()
headings.section("Five ways to slow the clocks")
far.methods()
headings.section("What each of them repairs")
st.fragment(far.repaired)()

# What to take along, common mistakes.
prose("rope", "closing")
far.common_mistakes(parts.one_score(room))
spine.ending("10_rope")
