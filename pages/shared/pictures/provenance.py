"""Where a number comes from, written out: the sum as a formula that ends in the number, its terms one below the other."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab.provenance import Provenance
from pages.shared.pictures import live, matrix
from pages.shared.text import N_, say

MOST = 16  # terms drawn; of more only the largest, as the formula above holds them all


def formula(made: Provenance) -> None:
    """The sum alone, down to the value on the screen."""
    lines = r" \\ ".join(f"&{line}" for line in made.lines)
    # KaTeX's last row juts out 2px: room, or it would scroll
    st.latex(rf"\small\begin{{aligned}}{lines}\end{{aligned}}\,")


def show(made: Provenance, *, key: str, quantity: str, says: str, among: int | None = None) -> None:
    """The formula down to the value on the screen, and under it the numbers it is made of, one term a line: a table of
    three columns fits where a strip of all terms would be cut off.

    among: a term that is drawn however little it weighs.
    """
    formula(made)
    names, values = zip(*made.rows, strict=True)
    numbers = np.stack([np.asarray(v, float) for v in values], 1)
    terms = list(made.columns) if made.columns else [str(i) for i in range(len(numbers))]
    if len(numbers) > MOST:
        weight = np.abs(numbers[:, -1])
        if among is not None:
            weight[among] = np.inf
        largest = np.sort(np.argsort(-weight, kind="stable")[:MOST])
        say("Under the sum: the «n» largest of its «all» products.", n=MOST, all=len(numbers))
        numbers, terms = numbers[largest], [terms[i] for i in largest]
    look = matrix.Look(
        row_title="key" if made.columns else N_("dimension"),
        column_title="",
        row_role="k",
        most=64,
        row_height=22,
        tools=False,
    )
    picture = live.Picture(key=key, quantity=f"{quantity}.terms", says=says)
    matrix.show(picture, numbers, rows=terms, columns=list(names), look=look)
