"""The arithmetic of LaTeX: what a displayed formula comes to, from its text and the values of its symbols alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

SKIPPED = re.compile(r"\s+|\\[,;!]|\\(?:cdot|times)(?![a-z])|\\(?:left|right)")


def evaluate(formula: str, symbols: Mapping[str, float | Fraction]) -> Fraction:
    """Sums, products (also unwritten ones), powers and fractions. Raises ValueError at whatever it cannot read."""
    reader = _Reader(formula, symbols)
    value = reader.sum()
    if reader.rest:
        raise ValueError(f"{formula}: cannot read on at {reader.rest!r}")
    return value


class _Reader:
    def __init__(self, formula: str, symbols: Mapping[str, float | Fraction]) -> None:
        self.formula, self.rest = formula, formula
        self.symbols = sorted(symbols, key=len, reverse=True)  # h_{kv} before h
        self.values = symbols
        self._skip()

    def _skip(self) -> None:
        while match := SKIPPED.match(self.rest):
            self.rest = self.rest[match.end() :]

    def _take(self, wanted: str) -> bool:
        if not self.rest.startswith(wanted):
            return False
        self.rest = self.rest[len(wanted) :]
        self._skip()
        return True

    def _need(self, wanted: str) -> None:
        if not self._take(wanted):
            raise ValueError(f"{self.formula}: expected {wanted} at {self.rest!r}")

    def sum(self) -> Fraction:
        value = self.product()
        while self.rest[:1] in ("+", "-") and self.rest:
            sign = 1 if self._take("+") else -1 if self._take("-") else 0
            value += sign * self.product()
        return value

    def product(self) -> Fraction:
        value = self.power()
        while self.rest and self.rest[0] not in "+-)}":
            value *= self.power()
        return value

    def power(self) -> Fraction:
        value = self.atom()
        return value ** int(self._braced() if self.rest[:1] == "{" else self._digit()) if self._take("^") else value

    def _digit(self) -> int:
        digit, self.rest = int(self.rest[0]), self.rest[1:]
        self._skip()
        return digit

    def _braced(self) -> Fraction:
        self._need("{")
        value = self.sum()
        self._need("}")
        return value

    def atom(self) -> Fraction:
        if self._take("("):
            value = self.sum()
            self._need(")")
            return value
        if self._take(r"\tfrac") or self._take(r"\frac"):
            above = self._braced()
            return above / self._braced()
        if number := re.match(r"\d+(?:\.\d+)?", self.rest):
            self._need(number[0])
            return Fraction(number[0])
        for name in self.symbols:
            if self._take(name):
                return Fraction(self.values[name])
        raise ValueError(f"{self.formula}: cannot read {self.rest!r}")
