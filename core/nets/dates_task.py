"""Dates as people write them and as a standard does: the task of the small encoder-decoder in core.nets.dates.

"March 5, 2021" becomes "2021-03-05". Ten rules would do it; it is a task whose alignment anyone can read.
"""

from __future__ import annotations

import calendar
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

TEXT = "March 5, 2021"
PAD, START, END = "<pad>", "<s>", "</s>"
VOCAB = (PAD, START, END, *" ,-0123456789", *"ADFJMNOSabcdefghijlmnoprstuvy")
LONGEST = 24  # characters of a source
LENGTH = 11  # signs of an answer: 2021-03-05 and </s>
YEARS = (1000, 2999)
HELD_OUT = 10  # every tenth day is kept away from training
MONTHS = tuple(calendar.month_name)[1:]
SPOKEN = re.compile(
    r"(?:(?P<m1>[a-z]+) (?P<d1>\d{1,2})(?P<t1>st|nd|rd|th)?,? |(?P<d2>\d{1,2})(?P<t2>st|nd|rd|th)? (?P<m2>[a-z]+) )"
    r"(?P<y>\d{4})",
    re.I,
)


def ordinal(day: int) -> str:
    return f"{day}" + ("th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th"))


def forms(year: int, month: int, day: int) -> list[str]:
    """Every way of writing a date that the model is shown."""
    long, brief = MONTHS[month - 1], MONTHS[month - 1][:3]
    return [
        f"{name} {d}, {year}" if first else f"{d} {name} {year}"
        for name in (long, brief)
        for d in (str(day), ordinal(day))
        for first in (True, False)
    ]


def digits(text: str) -> str | None:
    """The right answer, by rule and not by the model; None for a text that is no date as `forms` writes them."""
    found = SPOKEN.fullmatch(text)
    if not found:
        return None
    name, day, year = found["m1"] or found["m2"], int(found["d1"] or found["d2"]), int(found["y"])
    month = next((i for i, m in enumerate(MONTHS, 1) if name.lower() in (m.lower(), m[:3].lower())), 0)
    if not month or not YEARS[0] <= year <= YEARS[1] or not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return f"{year:04d}-{month:02d}-{day:02d}"


def held_out(year: int, month: int, day: int) -> bool:
    """Days that training never shows, in no form."""
    return (372 * year + 31 * month + day) % HELD_OUT == 7


def examples(seed: int, *, unseen: bool = False) -> Iterator[tuple[str, str]]:
    """Pairs of a date as people write it and as the model should, without end."""
    chance = random.Random(seed)
    while True:
        year, month = chance.randint(*YEARS), chance.randint(1, 12)
        day = chance.randint(1, calendar.monthrange(year, month)[1])
        source = chance.choice(forms(year, month, day))
        if held_out(year, month, day) == unseen:
            yield (source.lower() if chance.random() < 0.15 else source), f"{year:04d}-{month:02d}-{day:02d}"


def ids(text: str) -> list[int]:
    """Raises ValueError for a sign outside the vocabulary, for no sign, and for more than LONGEST."""
    if not 0 < len(text) <= LONGEST:
        raise ValueError(f"this model reads 1 to {LONGEST} signs, not {len(text)}")
    if unknown := sorted(set(text) - set(VOCAB)):
        raise ValueError(f"this model does not know the signs {' '.join(unknown)}; `read` leaves them out")
    return [VOCAB.index(sign) for sign in text]


@dataclass(frozen=True)
class Source:
    """A visitor's text as this model reads it. notes: "empty", "unknown", "cut"; unknown: the signs left out."""

    text: str
    notes: tuple[str, ...] = ()
    unknown: str = ""


def read(text: str) -> Source:
    """Only signs the model knows, at most 24 of them; nothing left becomes the first example."""
    text = " ".join(text.split())
    unknown = "".join(dict.fromkeys(c for c in text if c not in VOCAB))
    kept = " ".join("".join(c for c in text if c in VOCAB).split())
    notes = ["unknown"] * bool(unknown) + ["cut"] * (len(kept) > LONGEST)
    kept = kept[:LONGEST].rstrip()
    if not kept:
        return Source(TEXT, (*notes, "empty"), unknown)
    return Source(kept, tuple(notes), unknown)
