"""A page on paper: its picture, its question with room to write, a way back to this very state, the answer overleaf.

print=1 shows it; what else is on the page is left out by start/classroom.js, so that what is seen is what is printed.
"""

from __future__ import annotations

from urllib.parse import urlencode

import segno
import streamlit as st
from segno.encoder import DataOverflowError

from pages.shared import address, controls
from pages.shared.asks import predict
from pages.shared.text import _, filled, plain, say
from pages.shared.words import MODES

PIXELS = 130  # a side of the code
MORE = controls.Held("handout_paper")  # what a page asks beyond its own question


def wanted() -> bool:
    return bool(address.passing("print") == "1")


def button() -> None:
    """For the sidebar of who teaches."""
    st.button(_("Handout"), key="handout_now", on_click=address.put, args=("print", "1"), width="stretch")


def paper(questions: list[tuple[str, list[str], str]]) -> None:
    """Questions for the sheet, in the page's own words: what is asked, what can be chosen, what is true."""
    MORE.keep(questions)


def draw() -> None:
    """At the foot of a page, once its questions are known."""
    if not wanted():
        return
    asked = predict.asked()[:1]  # the page's own question; later ones belong to its steps
    more: list[tuple[str, list[str], str]] = MORE.now() or []
    with st.container(key="handout"):
        for prediction, values in asked:
            st.markdown(f"**{filled(_(prediction.question), **values)}**")
            st.markdown("\n".join(f"- ☐ {label}" for label in predict.labels(prediction)))
        st.container(key="handout_room", height=112, border=False)
        for place, (question, options, _answer) in enumerate(more):
            with st.container(key=f"handout_question_{place}"):
                st.markdown(question)
                st.markdown("\n".join(f"- ☐ {plain(option)}" for option in options))
                st.container(key=f"handout_line_{place}", height=37, border=False)
        _code()
    if asked or more:
        with st.container(key="handout_key"):
            st.markdown(f"### {_('The answer')}")
            for prediction, values in asked:
                st.markdown(f"**{filled(_(prediction.question), **values)}**")
                st.markdown(predict.key(prediction, values))
            for place, (_question, _options, answer) in enumerate(more, 1):
                st.markdown(f"{place}. {answer}")
    with st.container(key="handout_tools", horizontal=True):
        st.button(_("Print"), key="handout_print")
        st.button(_("Back to the page"), key="handout_back", on_click=address.put, args=("print", None))


def here() -> str:
    """The whole address of what is shown, for those who learn: nothing that is for the teacher."""
    said = {word: text for word, text in st.query_params.items() if word not in MODES}
    if said.get("depth") == "teach":
        said["depth"] = "all"
    return (st.context.url or "") + (f"?{urlencode(said)}" if said else "")


def _code() -> None:
    """A long text does not fit into a code; the picture is on the paper all the same."""
    try:
        code = segno.make(here(), error="l", boost_error=False, micro=False)
    except DataOverflowError:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="handout_code"):
        st.image(
            code.svg_inline(scale=4, border=2, light="white"), width=PIXELS, alt=_("A QR code of this page's address")
        )
        say("Point a telephone here: this very page opens.")
