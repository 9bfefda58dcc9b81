"""Points in the prompt, a line as the answer: a layer, the same layer many times, nets that were trained, and ridge."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.nets import line as nets
from core.topics.theory import line as ln
from pages.parts.theory import board
from pages.shared import controls, frame, spine
from pages.shared.asks import predict
from pages.shared.pictures import figures, live
from pages.shared.text import N_, _, prose, say

POINTS = controls.Setting(
    "given_points",
    ln.spell(ln.FIRST),
    lambda text: None if (points := ln.unspell(text)) is None else ln.spell(points),
    heard="points",
)
LAYERS = controls.Dial("given_layers", N_("Layers"), tuple(range(ln.DEPTH + 1)), 0)
STRENGTH = controls.Dial("given_lambda", "λ", ln.LAMBDAS, 0.01, shown=tuple(figures.number(one) for one in ln.LAMBDAS))
COUNTS = (2, 4, 8, ln.MOST)  # points at which errors are told
WAYS = {
    "step": N_("one step, its best rate"),
    "layer": N_("the trained layer"),
    "reader": N_("the small decoder"),
    "ridge": N_("ridge, λ = σ²"),
}


def points() -> ln.Points:
    """What the visitor has set."""
    return ln.unspell(POINTS.now()) or ()


# ---- one layer, many layers ----


def layers() -> None:
    """Set points; the line leans towards them, layer by layer."""
    given = points()
    found = frame.cached(ln.run, given)
    prediction(found)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        board.show(
            live.Picture(
                key="given",
                quantity="linear_attn",
                says=_("Points, and the line that so many layers of linear attention draw through them."),
                slider=LAYERS.slider(),
                captions=_captions(given, found),
                released=controls.receivers(POINTS, LAYERS),
            ),
            [
                board.Curve(_("the layers"), "a", found.hand),
                board.Curve(_("least squares"), "quiet", found.best, dash=True),
            ],
            given,
            tall=300,
        )
    with right:
        prose("theory", "line")
        if predict.answer("given_one") is not None:
            gaps = dict(one=figures.number(found.gap_one), all=figures.number(found.gap))
            prose("theory", "line_equal", **gaps, depth=ln.DEPTH, rate=f"{ln.RATE:g}")
            if spine.deep():
                prose("theory", "line_formula")
        st.button(_("The first points again"), key="given_first", on_click=POINTS.forget)


def prediction(found: ln.Lines) -> None:
    """None, one step, the best line: the answer is what the first layer does."""
    options = {
        "none": N_("flat"),
        "step": N_("leaning towards them"),
        "best": N_("the best there is"),
    }
    true = N_(
        "One layer takes one step of gradient descent: apart from it by «gap». Drag: so many layers, so many steps."
    )
    because = {
        "none": N_(
            "Nobody trained it, that is right. But matrices can be set so that the points themselves do it. «truth»"
        ),
        "step": N_("«truth»"),
        "best": N_("It goes the right way, but not all of it. «truth»"),
        predict.UNSURE: N_("«truth»"),
    }
    question = N_("Guess first: one such layer, never trained. What is its line?")
    asked = predict.Prediction("given_one", question, options, "step", because, opens=("given_ways",))
    predict.ask(asked, truth=_(true).replace("«gap»", figures.number(found.gap_one)))


def _captions(given: ln.Points, found: ln.Lines) -> list[str]:
    """Slope and height at every stop; once it is guessed, how far the layers are from as many steps."""
    steps = frame.cached(ln.by_steps, given)
    said = _("{n} layers: slope {slope}, height {height}")
    captions = [
        said.format(n=n, slope=figures.number(float(a)), height=figures.number(float(b)))
        for n, (a, b) in enumerate(steps)
    ]
    if predict.answer("given_one") is None:
        return captions
    gaps = np.abs(found.hand - ln.straight(steps)).max(-1)
    told = _("{told} · {n} gradient steps: apart by {gap}")
    return [
        told.format(told=caption, n=n, gap=figures.number(float(gap)))
        for n, (caption, gap) in enumerate(zip(captions, gaps, strict=True))
    ]


# ---- who draws it ----


def drawn() -> None:
    """The trained layer, the small decoder, and ridge under the finger, over twice the trained range."""
    if predict.answer("given_one") is None:
        say("First the guess above: this picture follows it.")
        return
    given = points()
    found = frame.cached(ln.run, given)
    prose("theory", "drawn", given=nets.GIVEN, size=f"{nets.size():,}", most=ln.MOST)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        board.show(
            live.Picture(
                key="given_ways",
                quantity="linear_attn",
                says=_("Points, and the lines of ridge regression, of a trained layer and of a small decoder."),
                slider=STRENGTH.slider(),
                released=controls.receivers(POINTS, STRENGTH),
            ),
            [
                board.Curve(_("ridge"), "q", found.ridge),
                board.Curve(_("the trained layer"), "v", found.layer),
                board.Curve(_("the small decoder"), "warn", found.reader),
            ],
            given,
            reach=True,
            tall=380,
        )
    with right:
        _rates()
    _errors()


def _rates() -> None:
    """What the trained layer found, beside what is best."""
    found = frame.cached(ln.found)
    numbers = {
        name: figures.number(float(x), 2) for name, x in zip(("slope", "height"), np.diag(found.rates), strict=True)
    }
    best = {
        f"{name}_best": figures.number(float(x), 2) for name, x in zip(("slope", "height"), found.ideal, strict=True)
    }
    prose("theory", "rates", **numbers, **best, rest=figures.number(found.rest, 2))


def _errors() -> None:
    """Mean squared distance to the line, by the number of points, inside and outside what was trained."""
    recorded = frame.cached(nets.errors)
    headings = {"trained": N_("x as in training"), "wide": N_("x twice as wide")}
    for column, (name, heading) in zip(st.columns(2, gap="medium"), headings.items(), strict=True):
        with column:
            _table(_(heading), recorded[name])
    reader, ridge = (recorded["wide"][nets.WAYS.index(way), COUNTS[-1]] for way in ("reader", "ridge"))
    prose("theory", "range", times=f"{reader / ridge:.0f}", n=COUNTS[-1])


def _table(heading: str, errors: np.ndarray) -> None:
    """errors: (way, number of points)."""
    head = (f"**{heading}**", *(f"n = {n}" for n in COUNTS))
    rows = [
        (_(label), *(figures.number(float(errors[nets.WAYS.index(way), n]), 4) for n in COUNTS))
        for way, label in WAYS.items()
    ]
    figures.table(head, rows)
