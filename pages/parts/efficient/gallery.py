"""What stands in for attention, one tile each: which words it reads, what it costs at n, what it does to this model."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.nets import ssm
from core.topics.efficient import hops as hp
from core.topics.efficient import instead as ins
from core.topics.efficient import patterns as pt
from core.topics.efficient import state as sp
from pages.shared import controls, frame
from pages.shared.pictures import figures, lines, live, matrix, tiles
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose

NAMES = {
    "plain": N_("all pairs"),
    "longformer": "Longformer",
    "bigbird": "BigBird",
    "linformer": "Linformer",
    "performer": "Performer",
    "linear": N_("linear attention"),
    "mamba": "Mamba",
}
ROLES = {"plain": "quiet", "longformer": "q", "bigbird": "v", "linformer": "k", "performer": "warn", "linear": "a"}
CHOSEN = controls.Setting("instead", heard="instead")
LENGTH = controls.Dial("instead_n", N_("Tokens n"), ins.LENGTHS, 4096, shown=tuple(f"{n:,}" for n in ins.LENGTHS))
LETTERS = "cabhdfegbacdhgfeabdcfhegdacbehfg"
MARKED = 11


def gallery() -> None:
    """The tiles; below them the one that is chosen, and the costs of all."""
    chosen = CHOSEN.now()
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _tiles(chosen)
        prose("efficient", f"about_{chosen}", **facts())
    with right:
        _costs(chosen)


def _tiles(chosen: str) -> None:
    def receive(name: str, value: Any) -> None:
        if name == "tile" and isinstance(value, int) and 0 <= value < len(ins.GALLERY):
            CHOSEN.keep(ins.GALLERY[value])

    maps = frame.cached(ins.gallery)
    scan = frame.cached(sp.read, LETTERS, MARKED).map[None]
    tiles.show(
        live.Picture(
            key="instead",
            wordless=True,
            quantity="weights",
            says=_("Which words a real head reads under each method; the last one is the trained scan on letters."),
            released=receive,
        ),
        np.concatenate([maps / maps.max((1, 2), keepdims=True), scan]),
        columns=4,
        names=[_(NAMES[one]) for one in ins.GALLERY],
        chosen=ins.GALLERY.index(chosen),
        most=80,
    )


def _costs(chosen: str) -> None:
    """Multiplications of one head by the length of the text."""
    work, kept = frame.cached(ins.multiplications), frame.cached(ins.remembered)
    one, said = (
        ins.GALLERY.index(chosen),
        _("{name} at n = {n}: {work} multiplications, all pairs {whole}; kept {kept}"),
    )
    captions = [
        said.format(
            name=_(NAMES[chosen]),
            n=f"{n:,}",
            work=figures.number(work[one, i]),
            whole=figures.number(work[0, i]),
            kept=figures.number(kept[one, i]),
        )
        for i, n in enumerate(ins.LENGTHS)
    ]
    shown = [name for name in ins.GALLERY if name != "bigbird"]  # as much as Longformer
    series = [
        Series(
            _("Longformer, BigBird") if name == "longformer" else _(NAMES[name]),
            ROLES.get(name, "a"),
            dash=name == "mamba",
        )
        for name in shown
    ]
    lines.show(
        live.Picture(
            key="instead_cost",
            wordless=True,
            quantity="multiplications",
            says=_("Multiplications of one head for a whole text, by its length."),
            slider=LENGTH.slider(),
            captions=captions,
            released=LENGTH.receive,
        ),
        work[[ins.GALLERY.index(name) for name in shown]],
        np.array(ins.LENGTHS),
        series,
        x=Axis(_("tokens n"), log=True),
        y=Axis(_("multiplications"), log=True),
        moving=np.array(ins.LENGTHS, float),
        tall=170,
    )


def facts() -> dict[str, object]:
    """For the texts of the tiles."""
    found, off = frame.cached(ins.recorded).nats, frame.cached(ins.recorded).off
    accuracy = {kind: frame.cached(ssm.accuracy, kind) for kind in ssm.KINDS}
    last = ssm.TESTED[-1]
    return dict(
        whole=f"{pt.whole():.2f}",
        window=ins.WINDOW,
        longformer=f"{pt.loss('first', ins.WINDOW):.2f}",
        bigbird=f"{pt.loss('bigbird', ins.WINDOW):.2f}",
        kept=ins.KEPT,
        linformer=f"{found['pooled'][ins.KEPT]:.2f}",
        drawn=ins.DRAWN,
        many=f"{ins.FEATURES[-1]:,}",
        performer=f"{found['features'][ins.DRAWN]:.2f}",
        performer_many=f"{found['features'][ins.FEATURES[-1]]:.2f}",
        off=f"{off[ins.FEATURES[-1]]:.2f}",
        off_even=f"{off[0]:.2f}",
        waves=f"{found['waves'][ins.FEATURES[-1]]:.1f}",
        linear=f"{found['linear'][0]:.2f}",
        even=f"{found['even'][0]:.2f}",
        state=ins.STATE,
        last=last,
        selective=f"{accuracy['selective'][last]:.2f}",
        fixed=f"{accuracy['fixed'][last]:.2f}",
    )


# ---- hops ----

GRAPHS = {
    "causal": N_("only back"),
    "causal_global": N_("only back + first token"),
    "causal_random": N_("… + 3 random links"),
    "both": N_("both ways"),
    "both_global": N_("both ways + first token"),
}
WINDOW = controls.Dial("hops_w", N_("Window"), hp.WINDOWS, 4)


def hops() -> None:
    """How many blocks does it take from one word to another?"""
    graph = controls.choice("Who reads whom", GRAPHS, "causal", key="hops", hide_label=True)
    found = frame.cached(hp.frames, graph)
    names = [str(i) for i in range(hp.N)]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="hops",
                wordless=True,
                quantity="hops",
                says=_("How many steps from each word to each other."),
                slider=WINDOW.slider(),
                captions=[_("at most {most} hops").format(most=most) for most in found.most],
                released=WINDOW.receive,
            ),
            np.nan_to_num(found.far),
            rows=names,
            columns=names,
            look=matrix.Look(row_title=N_("from"), column_title=N_("to"), digits=0, tall=320, ends=(24.0,) * hp.N),
            shut=np.isnan(found.far[0]),
        )
    with right:
        most = {one: int(frame.cached(hp.frames, one).most[hp.WINDOWS.index(4)]) for one in GRAPHS}
        prose("efficient", "hops", n=hp.N, **most)
