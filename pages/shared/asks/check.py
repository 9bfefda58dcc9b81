"""Check yourself: a question made of the visitor's own numbers, checked on the spot."""

from __future__ import annotations

import math

import streamlit as st

from pages.shared.text import _, filled


def number(question: str, answer: float, *, key: str, how: str, tolerance: float = 0.02, **values: object) -> None:
    """Ask for a number; right within `tolerance`, relative, or within 0.005 of a small one. how: the way to it."""
    with st.container(border=True):
        st.markdown(f"**{_('Check yourself')}** · {filled(_(question), **values)}")
        given = st.number_input(_("Your answer"), value=None, key=key, format="%.4g", label_visibility="collapsed")
        if given is None:
            return
        close = math.isclose(given, answer, rel_tol=tolerance, abs_tol=0.005)
        opening = _("Right.") if close else _("Not yet.")
        st.markdown(f"**{opening}** {filled(_(how), answer=f'{answer:.3g}', **values)}")
