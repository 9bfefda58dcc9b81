"""The end of the path: what to read now, the link to what is on the screen, and whose work it stands on."""

from __future__ import annotations

import streamlit as st

from pages.parts.exam import repair
from pages.shared import handout, headings, spine
from pages.shared.text import prose


def draw() -> None:
    """At the idea what to read; deeper also the link and the thanks."""
    headings.section("The end of the path")
    prose("exam", "end")
    if spine.deep():
        _more()
    else:
        headings.fold("Share this, and thanks", _more)


def _more() -> None:
    prose("exam", "share")
    repair.FILL.rest(lambda: st.code(handout.here(), language=None, wrap_lines=True))
    prose("exam", "thanks")
