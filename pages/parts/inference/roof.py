"""Reading against writing: both measured here, under the roof of this machine and of some GPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.lab.text import FIRST
from core.topics.inference import roofline as rl
from pages.shared import controls, frame
from pages.shared.asks import predict
from pages.shared.pictures import figures
from pages.shared.text import N_, _, prose

KINDS = {"read": N_("reading: tokens of one text, all at once"), "write": N_("writing: one token for each reader")}
COLOURS = {"read": "q", "write": "warn"}
RUN = controls.Held("roof")
SHOWN = ("RTX 4090", "H100 80 GB")  # a card for a desk and one for a rack
TENS = [10**i for i in range(7)]
LOWEST, HIGHEST = 0.25, 1024.0  # FLOPs a byte that are drawn


def measured() -> rl.Measured:
    """Once for all; anew for who asks."""
    return frame.cached(rl.measure, FIRST, int(RUN.now() or 0))


def compare() -> None:
    """How much longer does a step take for 64 readers than for one? Measured once somebody has guessed."""
    if not _guess():
        return
    with st.spinner(_("Measuring …")):
        found = measured()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        says = _("FLOPs a second against FLOPs for each byte fetched: the measured passes under the roofs.")
        figures.show(_chart, found, key="roof", says=says)
    with right:
        one, many = found.of("write")[0], found.of("write")[-1]
        whole = found.of("read")[-1]
        prose(
            "inference",
            "roof",
            n=whole.tokens,
            readers=many.tokens,
            held=rl.HELD,
            read_each=_two(1000 * whole.seconds / whole.tokens),
            write_each=_two(1000 * one.seconds),
            many_each=_two(1000 * many.seconds / many.tokens),
            peak=_two(found.roof.peak / 1e9),
            bandwidth=_two(found.roof.bandwidth / 1e9),
            ridge=_two(found.roof.ridge),
            low=_two(one.intensity),
            high=_two(whole.intensity),
        )
        st.button(_("Measure again"), key="roof_again", on_click=lambda: RUN.keep(int(RUN.now() or 0) + 1))
    _table(found)


def _two(x: float) -> str:
    """Two digits: what a clock tells is not surer than that."""
    return f"{x:,.0f}" if x >= 10 else f"{x:.1f}" if x >= 1 else f"{x:.2f}"


def _guess() -> bool:
    most = rl.READERS[-1]
    times = 6.0
    if predict.answer("roof"):
        write = measured().of("write")
        times = write[-1].seconds / write[0].seconds
    near = {"all": float(most), "ten": 8.0, "same": 1.0}
    answer = min(near, key=lambda one: abs(np.log(near[one] / times)))
    options = {"all": f"{most} ×", "ten": _("about {n}").format(n="8 ×"), "same": N_("no longer")}
    true = N_(
        "Measured here just now: «times» times as long, for «most» tokens instead of one. The weights are fetched once "
        "for all of them; only what each reader has in the cache is fetched for each."
    )
    question = N_(
        "Guess first: «most» readers wait for their next token. All at once, how long does a step take, next to one alone?"
    )
    asked = predict.Prediction("roof", question, options, answer, dict.fromkeys([*options, predict.UNSURE], true))
    return predict.ask(asked, most=most, times=f"{times:.1f}") is not None


def _chart(found: rl.Measured) -> Any:
    """Log-log: FLOPs a byte against FLOPs a second; every roof is a line with a bend and its name at the end."""
    alt = figures.altair()
    log = _("log scale")
    x = alt.X(
        "x:Q",
        title=f"{_('FLOPs for each byte fetched')} · {log}",
        scale=alt.Scale(type="log", domain=[LOWEST, HIGHEST]),
        axis=alt.Axis(values=TENS, grid=False),
    )
    y = alt.Y(
        "y:Q",
        title=f"{_('billion FLOPs a second')} · {log}",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(values=TENS),
    )
    layers = [*_roofs(alt, found, x, y), _dots(alt, found, x, y)]
    return alt.layer(*layers).resolve_scale(color="independent").properties(height=340)


def _roofs(alt: Any, found: rl.Measured, x: Any, y: Any) -> list[Any]:
    """The lines, and their names at the right end: of the lower card below it, of the others above."""
    here = _("this machine")
    roofs = {here: found.roof} | {name: rl.gpus()[name] for name in SHOWN}
    bends = [
        {"x": at, "y": roof.at(at) / 1e9, "roof": name, "here": name == here}
        for name, roof in roofs.items()
        for at in sorted({LOWEST, roof.ridge, HIGHEST})
    ]
    ends = [{"x": HIGHEST, "y": roof.peak / 1e9, "roof": name, "here": name == here} for name, roof in roofs.items()]
    colour = alt.condition("datum.here", alt.value(figures.colour("a")), alt.value(figures.colour("quiet")))
    lines = alt.Chart(alt.InlineData(bends)).mark_line().encode(x=x, y=y, detail="roof:N", color=colour)
    names = alt.Chart(alt.InlineData(ends)).encode(x=x, y=y, text="roof:N", color=colour)
    low = alt.datum.roof == SHOWN[0]
    above = names.transform_filter(~low).mark_text(align="right", dy=-8)
    return [lines, above, names.transform_filter(low).mark_text(align="right", dy=13)]


def _dots(alt: Any, found: rl.Measured, x: Any, y: Any) -> Any:
    """What was measured."""
    points = [
        {
            "x": p.intensity,
            "y": p.speed / 1e9,
            "of": _(KINDS[p.kind]),
            "tokens": p.tokens,
            "rate": figures.number(p.rate),
        }
        for p in found.points
    ]
    colours = alt.Scale(domain=[_(one) for one in KINDS.values()], range=[figures.colour(COLOURS[k]) for k in KINDS])
    legend = alt.Legend(title=None, orient="top", direction="vertical", labelLimit=420)
    told = [
        "of:N",
        alt.Tooltip("tokens:Q", title=_("tokens")),
        alt.Tooltip("rate:N", title=_("tokens a second")),
        alt.Tooltip("x:Q", title=_("FLOPs a byte"), format=".2f"),
        alt.Tooltip("y:Q", title=_("billion FLOPs a second"), format=".1f"),
    ]
    marks = alt.Chart(alt.InlineData(points)).mark_point(filled=True, size=70, opacity=1)
    return marks.encode(x=x, y=y, color=alt.Color("of:N", scale=colours, legend=legend), tooltip=told)


def _table(found: rl.Measured) -> None:
    head = [_("tokens at once"), _("reading: ms"), _("ms a token"), _("writing: ms"), _("ms a token")]
    rows = []
    writing = {p.tokens: p for p in found.of("write")}
    for p in found.of("read"):
        w = writing.get(p.tokens)
        cells = [f"{1000 * x:.1f}" for x in (p.seconds, p.seconds / p.tokens)]
        cells += [f"{1000 * x:.1f}" for x in (w.seconds, w.seconds / w.tokens)] if w else ["–", "–"]
        rows.append([str(p.tokens), *cells])
    figures.table(head, rows, words=0)
