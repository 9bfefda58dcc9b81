"""Why attention? The same sentence handed on word by word, and read directly; and what each of them costs."""

import streamlit as st

from pages.parts.why import recurrence as more
from pages.parts.why import window as parts
from pages.shared import controls, frame, headings, spine
from pages.shared.pictures import code
from pages.shared.text import _, prose, say

frame.begin()

# What you can change, and a guess before it is shown.
spine.opening("02_why")
st.caption(
    _(
        "Architecture · basics, required: every page builds on it · the whole topic: 5 of 5 in difficulty, this page 1 · "
        "for people who build: know the parts, the derivations are folded away"
    )
)
reading = parts.text()
found = parts.found(reading)
guessed = parts.prediction(reading, found)

# How far back must a word see?
parts.reach(reading, found, guessed)

# Hand on, or look directly.
headings.section("Hand it on, or look directly")
if len(reading.tokens) > 1:
    parts.hops(reading)
else:
    say("One token alone has nobody to ask. Type a few words above.")

# Who is done first, and what it costs.
headings.section("Who is done first?")
parts.race(reading)

# What gets lost on the way.
headings.section("The further back, the fainter")
more.fading(reading)
with st.container():  # always there: what opens in it moves nothing below
    if controls.switch("What fits into a state?", False, key="rnn_bucket"):
        more.bucket()

# The price.
headings.section("The bill")
more.bill(controls.choice("What is counted", parts.MEASURES, "work", key="bill", hide_label=True))

# What to take along.
headings.section("What changed in 2017")
more.change()
more.timeline()

# Check yourself, common mistakes, the code.
more.check(reading)
more.common_mistakes()
code.show(parts.STATE)
prose("why", "closing")
spine.ending("02_why")
