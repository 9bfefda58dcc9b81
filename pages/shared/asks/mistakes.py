"""Common mistakes: what looks right, what is true, how to see it on this page."""

from __future__ import annotations

import streamlit as st

from pages.shared import headings
from pages.shared.text import _, filled, lang, sections


def show(page: str, names: list[str], **values: object) -> None:
    """Each name is a section `mistake_<name>` of the page's text: three paragraphs: what looks right, what is true, where to see it."""

    def inside() -> None:
        for name in names:
            wrong, right, see = filled(sections(lang(), page)[f"mistake_{name}"], **values).split("\n\n")
            st.markdown(f"{_('Looks right:')} {wrong}\n\n**{_('True:')}** {right}\n\n*{_('See it here:')}* {see}")
            if name != names[-1]:
                st.divider()

    headings.fold("Common mistakes", inside, len(names))
