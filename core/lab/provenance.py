"""Where one number comes from: the recorded numbers it is made of, written out up to the number on the screen.

Works on one head: arrays without the head's axis, as a page shows them. Everything is taken from the record and
computed again in float64, so that the last line can be compared with what was recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Provenance:
    """rows: (name, numbers) pairs of one length, the ingredients and the terms made of them; columns: what their
    numbers stand for, None for the dimensions of a head; lines: LaTeX, the last one ending in `value`."""

    value: float
    rows: tuple[tuple[str, np.ndarray], ...]
    columns: tuple[str, ...] | None
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Head:
    """The tensors of one head: q (query, d_head), k (key, d_head), v (key, d_v), scores ... weights (query, key)."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    scores: np.ndarray
    scaled: np.ndarray
    allowed: np.ndarray
    weights: np.ndarray
    temperature: float = 1.0
    scaling: bool = True
    tokens: tuple[str, ...] = ()


def explain(head: Head, step: str, row: int, column: int) -> Provenance:
    """Cell (row, column) of one step: scores, scaled, masked, weights or z. Raises KeyError for any other step."""
    return EXPLAIN[step](head, row, column)


def number(x: float, digits: int = 3) -> str:
    """A number as LaTeX writes it: as many digits as tell, minus infinity as a sign."""
    if np.isneginf(x):
        return r"-\infty"
    if x and (abs(x) < 10**-digits or abs(x) >= 1e5):
        mantissa, exponent = f"{x:.2e}".split("e")
        return rf"{mantissa}\cdot10^{{{int(exponent)}}}"
    return f"{x:.{digits}f}"


def _factor(x: float) -> str:
    return rf"({number(x)})" if x < 0 else number(x)


def _sum_of_products(left: np.ndarray, right: np.ndarray, shown: int = 6) -> tuple[np.ndarray, list[str], float]:
    """(terms, lines, sum): the largest terms written out, two to a line, the others summed up in one."""
    terms = left.astype(np.float64) * right.astype(np.float64)
    order = np.argsort(-np.abs(terms), kind="stable")
    named = [rf"{_factor(left[i])}\cdot{_factor(right[i])}" for i in order[:shown]]
    rest = terms[order[shown:]]
    lines = [" + ".join(named[i : i + 2]) for i in range(0, len(named), 2)]
    if len(rest):
        lines.append(rf"\underbrace{{{_factor(rest.sum())}}}_{{{len(rest)}}}")
    return terms, [("+ " if i else "= ") + line for i, line in enumerate(lines)], float(terms.sum())


def products(start: str, left: np.ndarray, right: np.ndarray, names: tuple[str, str, str]) -> Provenance:
    """Any sum of products. start: LaTeX of what it is; names: of the two rows of factors and of their products."""
    terms, lines, total = _sum_of_products(left, right)
    rows = tuple(zip(names, (left, right, terms), strict=True))
    return Provenance(total, rows, None, (start, *lines, f"= {number(total)}"))


def _scores(head: Head, row: int, column: int) -> Provenance:
    q, k = head.q[row], head.k[column]
    terms, lines, total = _sum_of_products(q, k)
    start = rf"S_{{{row},{column}}} = q_{{{row}}}\cdot k_{{{column}}}"
    rows = (("q", q), ("k", k), ("q · k", terms))
    return Provenance(float(head.scores[row, column]), rows, None, (start, *lines, f"= {number(total)}"))


def _scaled(head: Head, row: int, column: int) -> Provenance:
    score, width = float(head.scores[row, column]), head.q.shape[-1]
    root = width**0.5 if head.scaling else 1.0
    below = rf"\sqrt{{{width}}}" if head.scaling else "1"
    lines = (
        rf"\hat S_{{{row},{column}}} = \frac{{S_{{{row},{column}}}}}{{\tau\,{below}}}",
        rf"= \frac{{{number(score)}}}{{{number(head.temperature)}\cdot{number(root)}}}",
        f"= {number(score / (head.temperature * root))}",
    )
    everything = head.scores[row].astype(np.float64)
    rows = (("S", everything), ("Ŝ", everything / (head.temperature * root)))
    return Provenance(float(head.scaled[row, column]), rows, head.tokens, lines)


def _masked(head: Head, row: int, column: int) -> Provenance:
    allowed = bool(head.allowed[row, column])
    masked = np.where(head.allowed[row], head.scaled[row], -np.inf)
    sign = r"\le" if column <= row else ">"
    lines = (
        rf"{column} {sign} {row}",
        rf"\Rightarrow\ {number(float(masked[column]))}" if allowed else r"\Rightarrow\ -\infty",
    )
    return Provenance(float(masked[column]), (("Ŝ", head.scaled[row]), ("−∞", masked)), head.tokens, lines)


def _weights(head: Head, row: int, column: int) -> Provenance:
    masked = np.where(head.allowed[row], head.scaled[row].astype(np.float64), -np.inf)
    if not head.allowed[row].any():  # nothing to share out: zeros by definition, as softmax would divide 0 by 0
        empty = (rf"\forall j:\ \hat S_{{{row},j}} = -\infty", rf"\Rightarrow\ A_{{{row},{column}}} := {number(0.0)}")
        nothing = (("Ŝ", masked), ("A", np.zeros_like(masked)))
        return Provenance(float(head.weights[row, column]), nothing, head.tokens, empty)
    most = masked.max()
    powers = np.exp(masked - most)
    total = float(powers.sum())
    here = number(float(masked[column]))
    lines = (
        rf"A_{{{row},{column}}} = \frac{{e^{{\hat S_{{{row},{column}}} - \max}}}}{{\sum_j e^{{\hat S_{{{row},j}} - \max}}}}",
        rf"= \frac{{e^{{{here} - {_factor(most)}}}}}{{{number(total)}}}",
        rf"= \frac{{{number(float(powers[column]))}}}{{{number(total)}}}",
        f"= {number(float(powers[column]) / total)}",
    )
    rows = (("Ŝ", masked), ("exp", powers), ("A", powers / total))
    return Provenance(float(head.weights[row, column]), rows, head.tokens, lines)


def _z(head: Head, row: int, column: int) -> Provenance:
    weights, values = head.weights[row], head.v[:, column]
    terms, lines, total = _sum_of_products(weights, values)
    start = rf"Z_{{{row},{column}}} = \sum_j A_{{{row},j}}\,V_{{j,{column}}}"
    value = float((weights.astype(np.float64) * values).sum())
    rows = (("A", weights), ("v", values), ("A · v", terms))
    return Provenance(value, rows, head.tokens, (start, *lines, f"= {number(total)}"))


EXPLAIN = {"scores": _scores, "scaled": _scaled, "masked": _masked, "weights": _weights, "z": _z}
