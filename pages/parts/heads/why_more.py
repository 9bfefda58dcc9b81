"""Why more than one head: a task that one head read linearly cannot do, and what a paper measured."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.nets import neighbours as nets
from core.topics.heads import volume
from pages.shared import controls, frame
from pages.shared.asks import predict
from pages.shared.pictures import bars, lines, live, tiles
from pages.shared.text import N_, _, prose, say, unmarked


def _as_digits(text: str) -> tuple[int, ...] | None:
    fits = len(text) == nets.PLACES and text.isascii() and text.isdigit()
    return tuple(int(d) for d in text) if fits else None


def neighbours() -> None:
    """Name the left and the right neighbour: one head can see both and cannot tell them apart."""
    prose("heads", "neighbours")
    known = predict.answer("two")
    one, two = (f"{x:.1%}" for x in frame.cached(nets.scores, "linear").mean(1)[:2]) if known else ("", "")
    answered = predict.ask(
        predict.Prediction(
            "two",
            N_("The same budget every time. What does a second head change?"),
            {"little": N_("a little better"), "all": N_("it solves the task"), "none": N_("nothing")},
            "all",
            dict.fromkeys(
                ("little", "all", "none", predict.UNSURE),
                N_("Both neighbours right: with one head at «one» of the places, with two at «two». See for yourself."),
            ),
        ),
        one=one,
        two=two,
    )
    if answered:
        _net()


READERS = {"linear": N_("a linear layer"), "ffn": N_("an FFN")}


def _net() -> None:
    reader = controls.choice("Read by", READERS, "linear", key="toy_reader")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        one, two = st.columns(2, vertical_alignment="bottom")
        with one:
            n_heads = controls.pick("Heads", nets.HEADS, 1, key="toy_heads")
        with two:
            label = unmarked(_("«n» digits"), n=nets.PLACES)
            typed = controls.typed(label, "314159265358", key="digits", longest=60)
        digits = _as_digits(typed or "")
        if digits is None:
            say("«n» digits from 0 to 9 are needed; here is the row we start with.", n=nets.PLACES)
            digits = _as_digits("314159265358")
        weights, named = frame.cached(nets.read, n_heads, digits, reader)
        tiles.show(
            live.Picture(
                key="toy", quantity="weights", says=_("Where each head of the small net looks, one row a place.")
            ),
            weights[:8],
            columns=min(4, n_heads),
            names=[str(i) for i in range(min(8, n_heads))],
            most=150,
        )
    with right:
        wanted = nets.truth(digits)
        right_ones = int((named == wanted).all(-1).sum())
        said = " ".join(f"{a}‹{d}›{b}" for d, (a, b) in zip(digits, named, strict=True))
        st.code(said, language=None, wrap_lines=True)
        say("Both neighbours right at **«n»** of «all» places.", n=right_ones, all=len(digits))
        _budget(n_heads, reader)
        prose("heads", "budget", seeds=len(nets.SEEDS), most=nets.HEADS[-1], width=nets.WIDTH)


def _budget(n_heads: int, reader: str) -> None:
    """How well nets with so many heads do, trained on the same budget."""
    says = _("The share of places with both neighbours right, by number of heads; the mean of three trainings.")
    bars.show(
        live.Picture(key="toy_scores", quantity="accuracy", says=says),
        [str(h) for h in nets.HEADS],
        frame.cached(nets.scores, reader).mean(1),
        high=1.0,
        percent=True,
        marked=nets.HEADS.index(n_heads),
    )


def published() -> None:
    """What the number of heads did to a real translation model."""
    rows = volume.ABLATIONS
    best, one, many = max(r.bleu for r in rows), rows[0], rows[-1]
    prose("heads", "published", gap=f"{best - one.bleu:.1f}", many=many.n_heads, d_k=many.d_k)
    lines.show(
        live.Picture(
            key="published", quantity="bleu", says=_("Translation quality by number of heads, as the paper gives it.")
        ),
        np.array([[r.bleu for r in rows]]),
        np.array([r.n_heads for r in rows]),
        [lines.Series("BLEU", dots=True)],
        x=lines.Axis(_("heads"), log=True),
        y=lines.Axis("BLEU", low=24.0, high=27.5),  # room for the names above the points
        marks=tuple((float(r.n_heads), f"h = {r.n_heads} · {r.bleu}") for r in rows),
        tall=220,
    )
