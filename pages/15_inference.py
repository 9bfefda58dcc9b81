"""Running it: the cache is the only memory of a model that writes; what it saves, and how the next token is drawn."""

import streamlit as st

from core import cache
from pages.parts.inference import cheaper, continuations, drawing, roof, swapped, writing
from pages.shared import frame, headings, spine
from pages.shared.pictures import code
from pages.shared.text import N_, prose

frame.begin()

# The question, the sentence and its swap, a guess.
spine.opening("15_inference")
room = swapped.room()
guessed = swapped.guess(room)


# All cells, renewed in turn or one alone. A release runs this part alone.
st.fragment(swapped.cells)(room, guessed)

headings.section("How many cells?")
swapped.one_cell(room)
if spine.deep():
    prose("inference", "formula", **room.names)
    code.show(cache.KEPT_KEYS)
    headings.fold("Inside the cell", lambda: swapped.inside(room))
    headings.fold("What a swap spoils", lambda: swapped.valid(room))

# The model writes; the cache grows.
headings.section("Write on")
st.fragment(writing.story)(room.demo.text)
if writing.guess_speed():
    writing.timed()
if spine.deep():
    headings.section("Reading against writing")
    st.fragment(roof.compare)()

# What the next token is drawn from.
headings.section("What may be drawn")
place = drawing.place(room.demo.text)
drawing.sieve(room.demo.text, place, drawing.guess(room.demo.text, place))
if spine.deep():
    headings.section("Two hundred continuations")
    st.fragment(continuations.shelf)()
    headings.section("Is greedy the likeliest?")
    drawing.likeliest(room.demo.text)
    headings.section("Cheaper still")
    headings.fold("The cache in few bits", lambda: cheaper.bits(room.demo.text))
    headings.fold("A cache of fixed size", cheaper.window)
    headings.fold("Drafts, checked in one pass", lambda: cheaper.drafted(room.demo.text))
    headings.fold("A state of fixed size", lambda: cheaper.fixed(room.demo.text))

# What to take home, check yourself.
spine.take_home("inference", "stale_next")
swapped.check(room)
if spine.deep():
    cheaper.common_mistakes(room.demo.text)
spine.offer(
    N_("Inside the cell"),
    N_("What a swap spoils"),
    N_("Reading against writing"),
    N_("Two hundred continuations"),
    N_("Is greedy the likeliest?"),
    N_("The cache in few bits"),
    N_("A cache of fixed size"),
    N_("Drafts, checked in one pass"),
    N_("A state of fixed size"),
    N_("Common mistakes"),
)
spine.ending("15_inference")
