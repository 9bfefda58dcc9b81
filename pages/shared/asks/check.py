"""Check yourself: a question made of the visitor's own numbers. A miss brings a hint, the second one the way."""

from __future__ import annotations

import math

import streamlit as st

from pages.shared import address, controls
from pages.shared.text import _, filled


def number(
    question: str, answer: float, *, key: str, hint: str, how: str, tolerance: float = 0.02, **values: object
) -> None:
    """Ask for a number; right within `tolerance`, relative, or within 0.005 of a small one. how: the way to it."""
    missed = controls.Held(f"{key}_missed")

    def right(given: float) -> bool:
        return math.isclose(given, answer, rel_tol=tolerance, abs_tol=0.005)

    def tried() -> None:
        given = address.shown(key)
        if given is not None and not right(given):
            before = missed.now() or (answer, 0)
            missed.keep((answer, before[1] + 1 if before[0] == answer else 1))

    with st.container(border=True, key=f"check_{key}"):
        st.markdown(f"**{_('Check yourself')}** · {filled(_(question), **values)}")
        given = st.number_input(
            _("Your answer"), value=None, key=key, format="%.4g", on_change=tried, label_visibility="collapsed"
        )
        with st.container(key=f"solution_{key}"):
            if given is None:
                return
            about, misses = missed.now() or (answer, 0)
            told = right(given) or (about == answer and misses > 1)
            said = filled(_(how), answer=f"{answer:.3g}", **values) if told else filled(_(hint), **values)
            st.markdown(f"**{_('Right.') if right(given) else _('Not yet.')}** {said}")
