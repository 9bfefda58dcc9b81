"""For experts: the rank of scores and weights, two forms of one thing, and the scan that remembers one letter."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.nets import ssm
from core.topics.efficient import flash as fl
from core.topics.efficient import instead as ins
from core.topics.efficient import patterns as pt
from core.topics.efficient import state as sp
from pages.parts.efficient.gallery import LETTERS, MARKED
from pages.parts.efficient.tiles import demo
from pages.shared import controls, frame
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes
from pages.shared.pictures import bars, code, figures, lines, live
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose

VALUES = {"scores": N_("scores"), "open": N_("weights, no mask"), "causal": N_("weights, causal")}
COLOURS = {"scores": "q", "open": "k", "causal": "a"}
LEAST = 1e-8  # below, a singular value is rounding
MARK = controls.Dial("scan_mark", N_("Marked letter"), tuple(range(len(LETTERS))), MARKED)


# ---- rank ----


def rank() -> None:
    """Singular values on a log axis; beside them what the best matrix of rank r costs."""
    head = demo()
    found, losses = frame.cached(ins.rank, head), frame.cached(ins.recorded).nats["rank"]
    left, right = st.columns(2, gap="medium")
    with left:
        says = _("Singular values of one head's scores and weights, largest first.")
        figures.show(_values, head, key="rank_values", says=says)
    with right:
        rows = "\n".join(f"| {r} | {losses[r]:.2f} |" for r in (8, 16, 32, 64, 128))
        st.markdown(f"| {_('best rank')} | {_('loss, nats a token')} |\n|---:|---:|\n{rows}")
    on, off = frame.cached(ins.heads_rank)
    whole = f"{pt.whole():.2f}"
    prose("efficient", "rank", **found.counted, on=f"{on:.0f}", off=f"{off:.0f}", n=pt.READ, d=fl.D_HEAD, whole=whole)


def _values(head: fl.Demo) -> Any:
    alt, found = figures.altair(), frame.cached(ins.rank, head)
    rows = [
        {"i": i + 1, "value": max(float(value), LEAST / 10), "of": _(VALUES[name])}
        for name, values in found.values.items()
        for i, value in enumerate(values)
    ]
    named = [_(one) for one in VALUES.values()]
    colours = alt.Scale(domain=named, range=[figures.colour(COLOURS[name]) for name in VALUES])
    log, named_log = alt.Scale(type="log", domain=[LEAST, 1]), f"{_('relative to the first')} · {_('log scale')}"
    return (
        alt.Chart(alt.InlineData(rows))
        .mark_line(clip=True)
        .encode(
            x=alt.X("i:Q", title=_("singular value")),
            y=alt.Y("value:Q", title=named_log, scale=log, axis=alt.Axis(values=[1, 1e-2, 1e-4, 1e-6, 1e-8])),
            color=alt.Color("of:N", title=None, scale=colours, legend=alt.Legend(orient="top", direction="vertical")),
            tooltip=["of:N", "i:Q", alt.Tooltip("value:Q", format=".2e")],
        )
        .properties(height=300)
    )


# ---- two forms, and the scan ----


def forms() -> None:
    """The error between both forms, and the size of a state."""
    found = frame.cached(sp.forms, demo(), LETTERS, MARKED)
    prose(
        "efficient",
        "forms",
        linear=figures.number(found.linear),
        scan=figures.number(found.scan),
        state=f"{found.state:,}",
        cache=f"{found.cache:,}",
        even=found.even,
        n=pt.READ,
    )


def scan() -> None:
    """Move the mark: the step opens there, and only that letter stays in the state."""
    every = [frame.cached(sp.read, LETTERS, place) for place in MARK.stops]
    asked = [ssm.LETTERS.index(LETTERS[int(place)]) for place in MARK.stops]
    prose("efficient", "scan", parameters=frame.cached(_parameters), n=len(LETTERS))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _steps(every)
    with right:
        said = _("marked: {letter} · selective says it with {p}, fixed with {q}")
        captions = [
            said.format(letter=LETTERS[int(at)], p=f"{r.said['selective'][c]:.2f}", q=f"{r.said['fixed'][c]:.2f}")
            for at, r, c in zip(MARK.stops, every, asked, strict=True)
        ]
        bars.show(
            live.Picture(
                key="scan_said",
                wordless=True,
                quantity="said",
                says=_("Which letter the selective net names."),
                slider=MARK.slider(together=True, hidden=True),
                captions=captions,
            ),
            list(ssm.LETTERS),
            np.stack([one.said["selective"] for one in every]),
            high=1.0,
            percent=True,
            row=24,
        )
    longest = ssm.TESTED[-1]
    numbers = {kind: f"{frame.cached(ssm.accuracy, kind)[longest]:.2f}" for kind in ssm.KINDS}
    marked = np.mean([one.delta[int(at)] for at, one in zip(MARK.stops, every, strict=True)])
    rest = np.mean([np.delete(one.delta, int(at)) for at, one in zip(MARK.stops, every, strict=True)])
    prose("efficient", "scanned", marked=f"{marked:.1f}", rest=f"{rest:.2f}", longest=longest, **numbers)


def _parameters() -> int:
    return sum(p.numel() for p in ssm.net("selective").parameters())


def _steps(every: list[sp.Read]) -> None:
    lines.show(
        live.Picture(
            key="scan",
            wordless=True,
            quantity="delta",
            says=_("The step of both nets at every letter."),
            slider=MARK.slider(together=True),
            released=MARK.receive,
        ),
        np.stack([np.stack([one.delta, np.full_like(one.delta, one.fixed)]) for one in every]),
        np.arange(len(LETTERS)),
        [Series(_("Δ, selective"), "a", dots=True), Series(_("Δ, fixed"), "quiet", dash=True)],
        x=Axis(_("letter")),
        y=Axis("Δ", low=0),
        moving=np.array(MARK.stops, float),
        tall=240,
    )


# ---- check yourself, mistakes ----


def check() -> None:
    """From which length on does linear attention keep less than a cache?"""
    d = fl.D_HEAD
    checks.number(
        N_("A head has d = «d». From how many tokens on is linear attention's state smaller than the cache?"),
        (d * d + d) / (2 * d),
        key="state_even",
        hint=N_("The state has d² + d numbers; the cache has d for each key and d for each value."),
        how=N_("(«d»² + «d») ÷ (2 × «d») = «answer» tokens: from the next whole one on."),
        d=d,
    )


def common_mistakes() -> None:
    losses = frame.cached(ins.recorded).nats
    costs = frame.cached(fl.recorded)[-1]
    mistakes.show(
        "efficient",
        ["flash", "rank", "performer", "sparse", "mask", "global", "mamba"],
        n=f"{costs.n:,}",
        plain=f"{costs.plain_bytes / 1e6:,.0f}",
        tiled=f"{costs.flash_bytes / 1e6:,.1f}",
        forgetful=f"{losses['forgetful'][0]:.2f}",
        whole=f"{pt.whole():.2f}",
        performer=f"{losses['features'][4096]:.2f}",
        near=f"{pt.loss('window', 8):.2f}",
        on=f"{frame.cached(ins.heads_rank)[0]:.0f}",
        read=pt.READ,
        d=fl.D_HEAD,
        few=f"{losses['rank'][16]:.2f}",
    )


def shown_code() -> None:
    code.show(fl.RUN_SUM)
