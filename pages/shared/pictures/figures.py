"""Charts of numbers: arrays and names in, an Altair chart on the page. Nothing is computed here.

Altair is imported when the first chart is drawn, because Home has none and should not wait for it. To put a chart
together and to check it takes Altair far longer than the rest of a page takes: it is done once for all visitors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from math import ceil, floor, log10
from typing import Any

import numpy as np
import streamlit as st

from core.lab.memory import kept
from pages.shared import address
from pages.shared.pictures import palette
from pages.shared.text import lang

CHOSEN = "chosen"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(x: float, digits: int = 3) -> str:
    """A number as the pictures write it: 0.123, 12.34, 123.4, 1,024, −1.23e−9. `short` in numbers.js does the same."""
    if x != x:
        return "NaN"
    if x in (float("inf"), float("-inf")):
        return "∞" if x > 0 else "−∞"
    a, exact = abs(x), Decimal(x)
    if x == int(x) and 100 <= a < 2**24:
        text = f"{int(x):,}"
    elif a == 0:
        text = "0"
    elif a < 10**-digits or a >= 1e6:
        mantissa, power = f"{Context(prec=3, rounding=ROUND_HALF_UP).plus(exact):.2e}".split("e")
        text = f"{mantissa}e{int(power):+d}"
    else:
        places = 1 if a >= 100 else 2 if a >= 10 else digits
        text = str(exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))
    return text.replace("-", "−")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> None:
    """A table of strings that are Markdown already. The first `words` columns hold words, the others numbers."""
    sides = ["---"] * words + ["---:"] * (len(head) - words)
    st.markdown("\n".join("| " + " | ".join(row) + " |" for row in (head, sides, *rows)))


def raised(n: int) -> str:
    """An exponent: ⁻⁶."""
    return str(n).translate(RAISED)


def power(x: float, digits: int = 1) -> str:
    """A large number as budgets are written: 3.2 · 10¹⁰."""
    mantissa, exponent = f"{x:.{digits}e}".split("e")
    return f"{mantissa} · 10{raised(int(exponent))}"


def altair() -> Any:
    """Altair, told to check a chart when it is finished, and not each of its parts as well while it is put together; and
    to add no sizes of its own."""
    import altair as alt

    alt.utils.schemapi.disable_debug_mode()
    alt.theme.enable("none")
    return alt


def colour(role: str) -> str:
    """A role's colour as Vega reads it, in whichever theme the visitor uses."""
    return palette.ROLES[role][_dark()]


def ink() -> str:
    """The colour of words, likewise."""
    return palette.INK[_dark()]


def shades() -> list[tuple[float, str]]:
    """From paper to full as Plotly reads it, likewise."""
    anchors = palette.WEIGHTS[_dark()]
    return [(i / (len(anchors) - 1), f"rgb{rgb}") for i, rgb in enumerate(anchors)]


def _dark() -> int:
    return int(st.context.theme.type == "dark")


# A number at an axis, as `tick` in lines.js writes it: 0.5, 1000, 1e5, 1e−8.
TICK = """datum.value != 0 && (abs(datum.value) < 1e-3 || abs(datum.value) >= 1e5)
? replace(replace(format(datum.value, '.0e'), 'e+', 'e'), '-', '−') : replace(format(datum.value, '.4~r'), '-', '−')"""


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Where a logarithmic axis has numbers and level lines, as `ticks` in lines.js chooses: tens; over less than two of
    them 1, 2 and 5 of each."""
    first, last = floor(log10(low)), floor(log10(high) + 1e-9)
    if high / low < 100:
        few = [m * 10.0**power for power in range(first, last + 1) for m in (1, 2, 5)]
        return [x for x in few if low * (1 - 1e-9) <= x <= high * (1 + 1e-9)]
    first = ceil(log10(low) - 1e-9)
    return [10.0**power for power in range(first, last + 1, max(1, ceil((last - first + 1) / most)))]


def themed(chart: Any) -> Any:
    """A chart in the dress of our own pictures (lines.js): quiet level lines, the title of the upright axis above it and
    level, that of the other at its right end, and the same sizes of words, lines and dots."""
    quiet, words = colour("quiet"), {"labelColor": ink(), "titleColor": ink()}
    axis = {"labelFontSize": 12, "labelFontWeight": 400, "titleFontSize": 12, "titleFontWeight": 600, "titleLimit": 600}
    level = {"grid": False, "ticks": True, "tickSize": 4, "domain": True, "domainOpacity": 0.7, "titleAnchor": "end"}
    above = {"titleAngle": 0, "titleAnchor": "end", "titleAlign": "left", "titleBaseline": "bottom"}
    upright = {"grid": True, "ticks": False, "domain": False, "titleX": -40, "titleY": -10, **above}
    legend = {"labelColor": ink(), "labelFontSize": 13, "orient": "top", "offset": 26, "symbolStrokeWidth": 3}
    return (
        chart.properties(padding={"left": 2, "right": 18, "top": 4, "bottom": 4})
        .configure_view(stroke=None)
        .configure_axis(**axis, **words, labelExpr=TICK, gridColor=quiet, gridOpacity=0.22, labelFlush=False)
        .configure_axisX(**level, domainColor=quiet, tickColor=quiet, tickOpacity=0.7, labelPadding=3, titlePadding=6)
        .configure_axisY(**upright)
        .configure_legend(**legend)
        .configure_line(strokeWidth=2.5)
        .configure_point(filled=True, opacity=1, size=80)
        .configure_text(fontSize=12, color=ink())
    )


def _finished(
    build: Callable[..., Any], settings: tuple[Hashable, ...], *_seen: Hashable
) -> tuple[str, dict[str, Any]]:
    """Its Vega-Lite as JSON, and by name the rows that it draws, as Streamlit would make them anew for each visitor.

    _seen: what else the chart hangs on, a part of the key.
    """
    import pandas as pd  # comes with Streamlit, and so does pyarrow
    import pyarrow as pa

    spec = themed(build(*settings)).to_dict()
    rows = spec.pop("datasets")
    return json.dumps(spec), {name: pa.Table.from_pandas(pd.DataFrame(held)) for name, held in rows.items()}


def show(
    build: Callable[..., Any],
    *settings: Hashable,
    key: str,
    says: str,
    chosen: Callable[[Any], None] | None = None,
) -> None:
    """Put the chart that build(*settings) makes on the page, dressed as all are (`themed`), with its alternative text.

    build: a function of a module. settings: all that the chart hangs on but the language and the theme. It is made once
    for each of them. chosen: called before the next run with the field CHOSEN of the mark that was pressed; the chart
    says `pressed()`.
    """
    text, rows = kept(_finished, build, settings, lang(), _dark())
    spec = json.loads(text) | {"datasets": rows}  # a fresh one: Streamlit writes into it
    if chosen is None:
        st.vega_lite_chart(spec=spec, key=key, alt=says, width="stretch")
        return

    def hear() -> None:
        found = (address.shown(key) or {}).get("selection", {}).get(CHOSEN) or [{}]
        if CHOSEN in found[0]:
            chosen(found[0][CHOSEN])

    st.vega_lite_chart(spec=spec, key=key, alt=says, width="stretch", on_select=hear, selection_mode=[CHOSEN])


def pressed() -> Any:
    """What a chart needs so that one of its marks can be chosen; each mark has a field CHOSEN."""
    return altair().selection_point(name=CHOSEN, fields=[CHOSEN], on="click", clear=False)


def histogram(edges: np.ndarray, counts: np.ndarray, *, x: str, y: str) -> Any:
    """A chart of counts over bins. edges: (bin + 1,), counts: (bin,)."""
    alt = altair()
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
    return chart.properties(height=220)
