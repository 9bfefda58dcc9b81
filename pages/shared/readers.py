"""What a word of the address may say: readers, which turn its text into a value, or into None if it is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

LONGEST = 4000  # characters of a value: a longer link is refused by servers
DEPENDS: Any = object()  # a default that depends on what is shown: the page says it
Reader = Callable[[str], Any]  # an address's text -> a value, or None if it is none


@dataclass(frozen=True)
class Word:
    """One word of the address. pages: the topics that use it, none named if all pages share it.

    read: what it may say. always: written even where it says the default. shared: one of its pages hands it to the next.
    """

    read: Reader
    default: Any = DEPENDS
    pages: tuple[str, ...] = ()
    always: bool = False
    shared: bool = False


# ---- what a word may say ----


def flag(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text)


def number(low: float, high: float) -> Reader:
    """A number in this range. Anything else, NaN among it, is none."""

    def read(text: str) -> float | None:
        value = _number(text)
        return value if value is not None and low <= value <= high else None

    return read


def whole(low: int, high: int) -> Reader:
    def read(text: str) -> int | None:
        value = _number(text)
        return int(value) if value is not None and value.is_integer() and low <= value <= high else None

    return read


def near(stops: Sequence[float]) -> Reader:
    """A number, read as the nearest of the stops."""

    def read(text: str) -> float | None:
        value = _number(text)
        return None if value is None else min(stops, key=lambda stop: abs(stop - value))

    return read


def one_of(*options: str) -> Reader:
    return lambda text: text if text in options else None


def some_of(*options: str) -> Reader:
    """'a,c' -> ("a", "c"), in the order of the options; None where none of them is named."""

    def read(text: str) -> tuple[str, ...] | None:
        named = text.split(",")
        return tuple(option for option in options if option in named) or None

    return read


def of(options: Sequence[Any]) -> Reader:
    """One of a few values of any kind, each known by how it is written."""
    spelled = {written(option): option for option in options}
    return spelled.get


def places(n: int) -> Reader:
    """'13,3' -> (13, 3): so many whole numbers, none negative; anything else is none."""

    def read(text: str) -> tuple[int, ...] | None:
        parts = text.split(",")
        if len(parts) != n or not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts):
            return None
        return tuple(int(part) for part in parts)

    return read


cell = places(2)


def line(longest: int) -> Reader:
    """Any text up to so many characters; what it means is the page's to say."""
    return lambda text: text if len(text) <= longest else None


def written(value: Any) -> str:
    """How a value is spelled: numbers bare, pairs with a comma, true and false."""
    if isinstance(value, tuple | list):
        return ",".join(written(part) for part in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e12 else None  # NaN is not below anything
