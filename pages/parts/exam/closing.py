"""The end of the path: what to read now, how to share what is on the screen, and whose work it stands on."""

from __future__ import annotations

from pages.shared import headings, spine
from pages.shared.text import prose


def draw() -> None:
    """At the idea what to read; deeper also how to share it and the thanks."""
    headings.section("The end of the path")
    prose("exam", "end")
    if spine.deep():
        _more()
    else:
        headings.fold("Share this, and thanks", _more)


def _more() -> None:
    prose("exam", "share")
    prose("exam", "thanks")
