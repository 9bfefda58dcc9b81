"""Why should loss fall as a power of the parameters? Hints, one after the other, and grids that keep the law."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.topics.exam import manifold as mf
from pages.shared import controls, frame
from pages.shared.asks import check
from pages.shared.pictures import figures, lines, live
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose

DIMENSION = controls.Dial("exam_dim", N_("Dimensions d of the data"), mf.DIMENSIONS, 8)
HINTS = ("law_1", "law_2", "law_3", "law_4")
ROLES = ("v", "q", "warn", "a")
ASKED = 12  # dimensions, of the question


def room() -> None:
    """The question, as many hints as are asked for, the grids; once all hints are told the law under a slider."""
    found = frame.cached(mf.grids)
    prose("exam", "law")
    left, right = st.columns([2, 3], gap="medium")
    with left:
        shown = controls.pick("Hints", range(len(HINTS) + 1), 0, key="exam_hint")
        for hint in HINTS[:shown]:
            prose("exam", hint, **_numbers(found))
    with right:
        _picture(found, told=shown == len(HINTS))
    if shown < len(HINTS):
        return
    check.number(
        N_("By the law: data of d = «d» dimensions. How many times the parameters halve the loss?"),
        mf.needed(ASKED),
        key="exam_law",
        hint=N_("α = 4/d, so the loss falls by N^(−4/d). When is that one half?"),
        how=N_("2^(d/4) = 2^(«d»/4) = «answer» times."),
        d=ASKED,
    )


def _numbers(found: mf.Grids) -> dict[str, Any]:
    """Slopes of the grids and of the law, and the dimension that a measured exponent would mean."""
    slopes = {f"slope{d}": f"{slope:.2f}".replace("-", "−") for d, slope in found.slopes.items()}
    laws = {f"law{d}": f"{-mf.alpha(d):.3g}".replace("-", "−") for d in found.slopes}
    return dict(kaplan=mf.KAPLAN, d=f"{4 / mf.KAPLAN:.0f}", **slopes, **laws)


def _picture(found: mf.Grids, *, told: bool) -> None:
    """The grids as squares, each dimension's finest one laid on its own law; told: the law under the slider beside them."""
    cells = np.unique(np.concatenate([*found.knots.values(), np.geomspace(1, 1e6, 25)]))
    values = np.full((len(found.knots), len(cells)), np.nan)
    for row, (d, knots) in enumerate(found.knots.items()):
        at = np.searchsorted(cells, knots)
        values[row, at] = found.losses[d] / found.losses[d][-1] * mf.line(d, knots[-1:])
    series = [
        Series(_("grid, d = {d}").format(d=d), role, dots=True) for d, role in zip(found.knots, ROLES, strict=True)
    ]
    moves: dict[str, Any] = {}
    if told:
        moving = np.stack([mf.line(d, cells) for d in mf.DIMENSIONS])
        values = np.concatenate([moving[:, None], np.broadcast_to(values, (len(moving), *values.shape))], 1)
        series = [Series(_("the law, d of the slider"), "k"), *series]
        said = _("α = 4/{d} = {alpha}: {times} times the parameters halve the loss")
        captions = [
            said.format(d=d, alpha=f"{mf.alpha(d):.3f}", times=figures.number(mf.needed(d), 2)) for d in mf.DIMENSIONS
        ]
        moves = dict(slider=DIMENSION.slider(), captions=captions, released=DIMENSION.receive)
    lines.show(
        live.Picture(
            key="exam_law_lines" if told else "exam_law_grids",
            quantity="loss",
            says=_(
                "Loss by the number of cells: the law for the chosen dimension, and grids in one to four dimensions."
            ),
            **moves,
        ),
        values,
        cells,
        series,
        x=Axis(_("parameters N"), log=True),
        y=Axis(_("loss, relative"), log=True, low=1e-10, high=1),
        tall=280,
    )
