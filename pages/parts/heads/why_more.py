"""Why more than one head: a task that one head read linearly cannot do, and what a paper measured."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.nets import neighbours as nets
from core.topics.heads import volume
from pages.shared import controls, frame, readers, spine
from pages.shared.asks import predict
from pages.shared.pictures import bars, lines, live, tiles
from pages.shared.text import N_, _, prose, say

READERS = {"linear": N_("a linear layer"), "ffn": N_("an FFN")}


def trained(digits: tuple[int, ...]) -> None:
    """Nets trained with every number of heads, read in two ways."""
    if not predict.answer("two"):
        say("Answer the guess at the top: then the nets that were trained with one head stand here beside the others.")
        return
    say("Every net here was trained anew, with as many heads as its bar says. **Choose who reads them.**")
    reader = controls.choice("Read by", READERS, "linear", key="toy_reader", hide_label=True)
    left, right = st.columns([3, 2], gap="medium")
    heads = controls.Setting("toy_heads", 1, readers.of(nets.HEADS)).now()
    with left:
        _budget(heads, reader)
    with right:
        prose("heads", "budget", seeds=len(nets.SEEDS), most=nets.HEADS[-1], width=nets.WIDTH)
    if spine.deep():
        _net(digits, reader)


def _net(digits: tuple[int, ...], reader: str) -> None:
    """One of these nets on the row of digits: where its heads look, and what it names."""
    n_heads = controls.pick("Heads", nets.HEADS, 1, key="toy_heads")
    weights, named = frame.cached(nets.read, n_heads, digits, reader)
    left, right = st.columns([3, 2], gap="medium")
    with left:
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
        right_ones = int((named == nets.truth(digits)).all(-1).sum())
        said = " ".join(f"{a}‹{d}›{b}" for d, (a, b) in zip(digits, named, strict=True))
        st.code(said, language=None, wrap_lines=True)
        say("Both neighbours right at **«n»** of «all» places.", n=right_ones, all=len(digits))


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
        marks=tuple((float(r.n_heads), f"{r.n_heads}: {r.bleu}") for r in rows),
        tall=220,
    )
