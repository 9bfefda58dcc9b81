"""Why attention? The same sentence handed on word by word, and read directly; and what each of them costs."""

import streamlit as st

from pages.parts.why import recurrence as more
from pages.parts.why import window as parts
from pages.shared import controls, frame, headings, spine
from pages.shared.pictures import code
from pages.shared.text import N_, _, prose, say

frame.begin()
spine.opening("02_why")
if spine.deep():
    st.caption(
        _(
            "Architecture · basics, required: every page builds on it · the whole topic: 5 of 5 in difficulty, this page 1 · "
            "for people who build: know the parts, the derivations are folded away"
        )
    )

# How far back must a word see?
reading = parts.text()
found = parts.found(reading)
guessed = parts.prediction(reading, found)
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
if spine.deep():
    headings.section("The further back, the fainter")
    more.fading(reading)
    with st.container():  # always there: what opens in it moves nothing below
        if controls.switch("What fits into a state?", False, key="rnn_bucket"):
            more.bucket()

# The price.
headings.section("The bill")
more.guess_bill()
more.bill(more.measure())

# What to take along.
if spine.deep():
    headings.section("What changed in 2017")
    more.change()
    more.timeline()
prose("why", "closing")

# Check yourself, common mistakes, the code.
more.check(reading)
if spine.deep():
    more.common_mistakes()
    code.show(parts.STATE)
spine.offer(
    N_("The further back, the fainter"),
    N_("What fits into a state?"),
    N_("What changed in 2017"),
    N_("Common mistakes"),
)
spine.ending("02_why")
