"""Places a link can point to: sections and folds. `at=` names one by its English words, in every language."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from pages.shared import address
from pages.shared.text import _


def section(english: str) -> None:
    """A heading; the sign beside it gives its link."""
    st.subheader(_(english), anchor=f"at-{slug(english)}")


def fold(english: str, count: int | None = None, *, name: str = "") -> Any:
    """A fold, shut unless the address points to it. count: of what is in it; name: where a page has several alike."""
    label = _(english) if count is None else f"{_(english)} ({count})"
    name = slug(name or english)
    return st.container(key=f"at-{name}").expander(label, expanded=address.said("at") == name)


def slug(english: str) -> str:
    """'Hand it on, or look directly' -> 'hand-it-on-or-look-directly'; no longer than an address may say."""
    return re.sub(r"[^a-z0-9]+", "-", english.lower()).strip("-")[:40]
