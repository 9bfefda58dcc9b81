"""What to read: every reference with what was found when it was looked up."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from core.assets import ASSETS

FILE = ASSETS / "data" / "references.toml"
BADGES = ("verified", "corrected", "unconfirmed", "lost")
ABOUT = ("begin", "models", "theory", "icl", "scaling", "faster", "course")


@dataclass(frozen=True)
class Reference:
    """badge: one of BADGES. about: one of ABOUT. year: 0 where it is given again and again. link: empty if none is known."""

    id: str
    badge: str
    about: str
    authors: str
    title: str
    year: int
    venue: str
    link: str


@cache
def shelf() -> tuple[Reference, ...]:
    """All of them, in reading order."""
    return tuple(Reference(id, **row) for id, row in tomllib.loads(FILE.read_text("utf8")).items())


def chosen(badge: str = "all", about: str = "all") -> tuple[Reference, ...]:
    """Those with this badge and about this; "all" asks for any."""
    return tuple(one for one in shelf() if badge in ("all", one.badge) and about in ("all", one.about))
