"""In front of a class: one picture or one guess on the screen, answers that wait, a picture alone in a frame. What can
be done without the server is done in start/classroom.js; here is what is said, and what the address keeps.

`slide=` names what fills the screen. Where that is a picture which waits behind a guess, the guess is shown first, and
says its answer; the next slide is the picture.
"""

from __future__ import annotations

import streamlit as st

from pages.shared import address, controls, frame, handout, lessons
from pages.shared.asks import predict
from pages.shared.text import N_, _

PASSING = ("only", "slide")  # said by the address of one page, kept by nobody
KEYS = {
    "slide_back": ("←", N_("The slide before (Page Up)")),
    "slide_next": ("→", N_("The next slide (Page Down)")),
    "slide_leave": ("✕", N_("Back to the page (Escape)")),
}


def arrive() -> None:
    """On every page, before it is drawn: what goes from page to page, and the buttons of it."""
    for word in PASSING:
        address.passing(word)
    predict.begin()
    lessons.bar()
    presenting, hiding = address.now("present") == "1", predict.hiding()
    if not presenting and not hiding:
        return
    with st.container(key="deck", horizontal=True, vertical_alignment="center", gap="small"):
        if hiding:
            st.button(
                _("Answers: key A"),
                key="answers",
                on_click=predict.tell,
                type="primary" if predict.solved() else "secondary",  # then style.css shows the solutions
            )
        for key, (sign, help) in KEYS.items() if presenting else ():
            st.button(sign, key=key, help=_(help))


def tools(topic: str) -> None:
    """For who teaches, in the sidebar. topic: of the page that is about to be drawn; what is no room has no handout, and
    no state to be kept."""
    if address.now("depth") != "teach":
        return
    st.button(_("Present this page"), key="present_now", on_click=address.write, args=("present", "1"), width="stretch")
    room = topic in (frame.topic_of(entry.file) for entry in frame.entries())
    if room:
        handout.button()
    lessons.collect(room)
    hiding = controls.Setting("hide")
    st.toggle(
        _("Hide answers"),
        value=hiding.now() == "answers",
        key=f"hide_{hiding.now()}",
        on_change=lambda: hiding.keep("no" if hiding.now() == "answers" else "answers"),
    )
