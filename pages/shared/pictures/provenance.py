"""Where a number comes from, written out: the ingredients as strips, the sum as a formula that ends in the number."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab.provenance import Provenance
from pages.shared.pictures import live, matrix
from pages.shared.text import N_


def show(
    made: Provenance, *, key: str, quantity: str, says: str, most: int | None = None, among: int | None = None
) -> None:
    """The formula down to the value on the screen, and under it the numbers it is made of.

    most: of more numbers, only those that weigh most in the sum, and number `among` with them.
    """
    lines = r" \\ ".join(f"&{line}" for line in made.lines)
    st.latex(
        rf"\small\begin{{aligned}}{lines}\end{{aligned}}\,"
    )  # KaTeX's last row juts out 2px: room, or it would scroll
    names, values = zip(*made.rows, strict=True)
    numbers = np.stack([np.asarray(v, float) for v in values])
    columns = list(made.columns) if made.columns else None
    if most and numbers.shape[1] > most:
        weight = np.abs(numbers[-1])
        if among is not None:
            weight[among] = np.inf
        largest = np.sort(np.argsort(-weight, kind="stable")[:most])
        numbers, columns = numbers[:, largest], [columns[i] if columns else str(i) for i in largest]
    matrix.show(
        live.Picture(key=key, quantity=f"{quantity}.terms", says=says),
        numbers,
        rows=list(names),
        columns=columns,
        look=matrix.Look(
            row_title="", column_title="key" if made.columns else N_("dimension"), flat=26, tools=False, legible=True
        ),
    )
