"""Charts of numbers: arrays and names in, an Altair chart on the page. Nothing is computed here.

Altair is imported when the first chart is drawn, because Home has none and should not wait for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from pages.shared.pictures import palette


def _alt() -> Any:
    import altair

    return altair


def colour(role: str) -> str:
    """A role's colour as Vega reads it, in whichever theme the visitor uses."""
    return palette.ROLES[role][1 if st.context.theme.type == "dark" else 0]


def show(chart: Any, *, key: str, says: str) -> None:
    """Put a chart on the page with its alternative text."""
    st.altair_chart(chart, key=key, alt=says, width="stretch")


def histogram(edges: np.ndarray, counts: np.ndarray, *, x: str, y: str, key: str, says: str) -> None:
    """Counts over bins. edges: (bin + 1,), counts: (bin,)."""
    alt = _alt()
    rows = [
        {"from": float(a), "to": float(b), "count": int(c)}
        for a, b, c in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    chart = (
        alt.Chart(alt.InlineData(rows))
        .mark_bar(color=colour("a"))
        .encode(
            x=alt.X("from:Q", title=x, bin="binned"),
            x2="to:Q",
            y=alt.Y("count:Q", title=y),
            tooltip=["from:Q", "to:Q", "count:Q"],
        )
    )
    show(chart.properties(height=220), key=key, says=says)


def lines(
    series: dict[str, np.ndarray], xs: np.ndarray, *, x: str, y: str, key: str, says: str, log_y: bool = False
) -> None:
    """One line a name over common xs."""
    alt = _alt()
    rows = [
        {"x": float(a), "y": float(b), "name": name}
        for name, ys in series.items()
        for a, b in zip(xs, ys, strict=True)
        if np.isfinite(b)
    ]
    chart = (
        alt.Chart(alt.InlineData(rows))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("x:Q", title=x),
            y=alt.Y("y:Q", title=y, scale=alt.Scale(type="log" if log_y else "linear")),
            color=alt.Color("name:N", title=None, sort=list(series)),
            tooltip=["name:N", "x:Q", "y:Q"],
        )
    )
    show(chart.properties(height=260), key=key, says=says)
