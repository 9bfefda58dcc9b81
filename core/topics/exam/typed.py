"""What somebody typed as an answer, read kindly: comma or point, per cent, blanks, full-width digits, fractions."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 40
UNITS: tuple[str, ...] = (
    "bytes",
    "byte",
    "b",
    "nats",
    "nat",
    "radians",
    "rad",
    "times",
    "tokens",
    "token",
    "words",
    "cells",
    "x",
)
UNITS += ("字节", "纳特", "弧度", "倍", "个", "次", "格", "层")
NUMBER = re.compile(r"[+-]?(\d[\d.,]*|[.,]\d+)(e[+-]?\d{1,3})?")
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3}){2,}(,\d+)?")


def numbers(text: str) -> tuple[float, ...]:
    """Every number that this may mean, none where it is no number: "1,234" is 1234, and to some 1.234.

    "25 %" is 0.25; "1/4" is 0.25. A unit behind it and a sign of nearness before it are passed over.
    """
    said = unicodedata.normalize("NFKC", text[: 4 * LONGEST]).strip().lower()
    said = re.sub(r"^[≈~=约]+", "", said.replace("−", "-").replace("–", "-"))
    said = re.sub(r"[\s_'’\u00a0]+", "", said).removesuffix("。")
    for unit in sorted(UNITS, key=len, reverse=True):
        if said.endswith(unit) and len(said) > len(unit):
            said = said.removesuffix(unit)
            break
    if len(said) > LONGEST:
        return ()
    if said.endswith("%"):
        return tuple(found / 100 for found in _plain(said[:-1]))
    over, slash, under = said.partition("/")
    if slash:
        return tuple(a / b for a in _plain(over) for b in _plain(under) if b)
    return _plain(said)


def _plain(said: str) -> tuple[float, ...]:
    if not NUMBER.fullmatch(said):
        return ()
    readings = []
    if GROUPED.fullmatch(said):
        readings.append(said.replace(",", ""))
    if POINTS.fullmatch(said):
        readings.append(said.replace(".", "").replace(",", "."))
    if said.count(",") + said.count(".") <= 1:
        readings.append(said.replace(",", "."))
    found = (float(one.rstrip(".")) for one in dict.fromkeys(readings))
    return tuple(one for one in found if abs(one) < 1e15)
