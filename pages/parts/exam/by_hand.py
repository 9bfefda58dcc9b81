"""A head whose weights are set by hand until it copies the token before, or the one before that."""

from __future__ import annotations

import streamlit as st

from core.topics.exam import offsets as of
from pages.shared import controls, frame, readers
from pages.shared.pictures import live, matrix
from pages.shared.text import N_, _, prose, say

BACK = controls.Dial("exam_back", N_("W_Q turns back by"), of.BACKS, 0.0, shown=tuple(f"{back:g}" for back in of.BACKS))
SHARP = controls.Setting("exam_sharp", of.SHARPS[1], readers.of(of.SHARPS))


def room() -> None:
    """One slider in W_Q, one factor in W_K, and the head's map."""
    prose("exam", "copy", d=of.D, base=f"{of.BASE:g}")
    left, right = st.columns([3, 2], gap="medium")
    with right:
        sharp = controls.pick("W_K: factor", of.SHARPS, of.SHARPS[1], key="exam_sharp")
    found = frame.cached(of.run, sharp)
    with left:
        _map(found)
    with right:
        at = of.BACKS.index(BACK.now())
        for far, name in ((1, N_("copies token i − 1")), (2, N_("copies token i − 2"))):
            sign = "✓" if found.copies(at, far) else "○"
            st.markdown(f"{sign} {_(name)}: **{found.on[at, far]:.0%}**")
        if found.copies(at, 1) or found.copies(at, 2):
            prose("exam", "copied", back=f"{BACK.now():g}", enough=f"{of.ENOUGH:.0%}")
        else:
            say(
                "A head copies once at least «enough» of every row lies on one place. Drag, then sharpen.",
                enough=f"{of.ENOUGH:.0%}",
            )


def _map(found: of.Found) -> None:
    said = _("on i: {zero} · on i − 1: {one} · on i − 2: {two}")
    captions = [
        said.format(**{name: f"{x:.0%}" for name, x in zip(("zero", "one", "two"), on, strict=True)}) for on in found.on
    ]
    names = [str(i) for i in range(of.N)]
    matrix.show(
        live.Picture(
            key="exam_copy",
            quantity="weights",
            says=_("Where each token looks, in a head whose weights are set by hand."),
            slider=BACK.slider(),
            captions=captions,
            released=BACK.receive,
        ),
        found.weights,
        rows=names,
        columns=names,
        look=matrix.Look(from_zero=True, tall=264),
    )
