"""Where a number comes from, written out: the ingredients as strips, the sum as a formula that ends in the number."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.provenance import Provenance
from pages.shared import matrix
from pages.shared.text import N_


def show(made: Provenance, *, key: str, quantity: str, says: str) -> None:
    """The formula down to the value on the screen, and under it the numbers it is made of."""
    st.latex(r"\begin{aligned}" + r" \\ ".join(f"&{line}" for line in made.lines) + r"\end{aligned}")
    names, values = zip(*made.rows, strict=True)
    numbers = np.stack([np.asarray(v, float) for v in values])
    matrix.show(
        numbers,
        key=key,
        quantity=f"{quantity}.terms",
        says=says,
        rows=list(names),
        columns=list(made.columns) if made.columns else None,
        look=matrix.Look(row_title="", column_title="key" if made.columns else N_("dimension"), flat=26, tools=False),
    )
