"""Attention, step by step: one head's map, how it is made, and the links that decide."""

import streamlit as st

from pages.parts.attention import chase, findings, tour
from pages.parts.attention import map as first
from pages.parts.attention import room as parts
from pages.shared import address, frame, spine, story
from pages.shared.pictures import live
from pages.shared.text import N_, _, prose

frame.begin()

# What it asks; the text, and the settings in one line.
spine.opening("06_attention")
if address.now("depth") == "all":  # who teaches has the note there
    st.caption(_("Architecture · basics, required · 4 of 5 in difficulty · before it: linear layers and softmax"))
text, examples, line = st.columns([5, 1.3, 3.4], vertical_alignment="bottom")
with line:
    chosen = parts.settings()
room = None
if chosen.source == "sentence":
    with examples:
        parts.examples()
    with text:
        reading = story.box()
    if address.changed("text", reading.text):  # a link that was cut joins two words of the text before
        address.forget("cell", "zcell", "origin")
    room = parts.sentence_room(chosen, reading)
    first.prediction(room)


def map_of(room: parts.Room) -> None:
    head, cell = room.still(), room.cell().now()
    with st.container(key="at-map"):
        left, right = st.columns([3, 2], gap="medium")
        with right:  # first, for it is waited for: the hand knows what it has cut
            first.beside(room, head, cell)
        with left:
            first.picture(room, head, cell)
            if room.free:
                parts.heat()
            prose("attention", "heat" if room.demo or chosen.source == "hand" else "wide")
    if room.demo and spine.deep():
        room.dial.rest(lambda: findings.losses(room))
    if room.free:
        room.dial.rest(lambda: findings.spread(room))


def tour_of(room: parts.Room) -> None:
    head = room.still()
    tour.tour(room, head)
    if spine.deep():
        findings.mixture(room, head, room.cell().now())


# One head's map, how it is made, and its links, cut. A click on a link in the map concerns all three; what is changed in
# the others does not reach beyond them.
@st.fragment
def head_of() -> None:
    if room:
        map_of(room)
        live.part(parts.TOUR, lambda: tour_of(room))
        live.part("links", lambda: chase.chase(room, room.head(1.0), room.cell().now()))
    else:
        now = parts.own_vectors(chosen.source)
        live.part(parts.MAP, lambda: map_of(now()))
        live.part(parts.TOUR, lambda: tour_of(now()))


head_of()

# What to notice, check yourself.
if room and spine.deep():
    findings.overview(room)
prose("attention", "closing")
if room:
    findings.check(room)
if spine.deep():
    prose("attention", "more")
    findings.common_mistakes(room)
    findings.words()
spine.offer(
    N_("All heads at once"),
    N_("The output as a mixture"),
    N_("The code of every step"),
    N_("Common mistakes"),
    N_("The numbers, to download"),
)
spine.ending("06_attention")
