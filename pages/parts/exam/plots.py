"""Sinusoids to be matched: a target picture, and one's own under a base and a width."""

from __future__ import annotations

import streamlit as st

from core.topics.exam import waves as wv
from pages.shared import controls, frame, readers
from pages.shared.asks import check
from pages.shared.pictures import live, matrix
from pages.shared.text import N_, _, prose, say

BASE = controls.Dial("exam_base", N_("Base b"), wv.BASES, wv.BASES[8], shown=tuple(f"{base:,.5g}" for base in wv.BASES))
TARGET = controls.Setting("exam_target", 0, readers.of(range(len(wv.TARGETS))))
LOOK = matrix.Look(N_("dimension"), N_("position"), "quiet", "quiet", bound=1.0, row_height=18, tools=False)


def waves() -> None:
    """The target, one's own picture under the slider, and a question about the way round."""
    at = TARGET.now()
    target = wv.TARGETS[at]
    prose("exam", "waves")
    width = controls.pick("Width d", wv.WIDTHS, 64, key="exam_width")
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{_('the target')}**")
        _picture("exam_wave_target", wv.first(*target))
    with right:
        st.markdown(f"**{_('yours')}**")
        gaps = [wv.away(base, width, target) for base in wv.BASES]
        told = [
            _("the same picture") if gap < 0.005 else _("off by {gap} a cell").format(gap=f"{gap:.2f}") for gap in gaps
        ]
        _picture(
            "exam_wave", frame.cached(wv.frames, width), slider=BASE.slider(), captions=told, released=BASE.receive
        )
    base = BASE.now()
    if wv.matches(base, width, target):
        found = wv.solutions(target)
        prose("exam", "waves_found", base=f"{base:,.5g}", d=width, ratio=f"{wv.step(*target):.2f}", many=len(found))
        _round(at)
    else:
        say("Drag the base, try another width.")
    st.button(_("Another target"), key="exam_other_target", on_click=TARGET.keep, args=((at + 1) % len(wv.TARGETS),))


def _picture(key: str, values: object, **how: object) -> None:
    names = [f"{'sin' if i % 2 == 0 else 'cos'} {i // 2}" for i in range(wv.SHOWN)]
    says = _("The first eight dimensions of the sinusoids, one row each, over the positions.")
    matrix.show(
        live.Picture(key=key, quantity="sinusoids", says=says, **how),  # type: ignore[arg-type]
        values,  # type: ignore[arg-type]
        rows=names,
        columns=[str(i) for i in range(wv.PLACES)],
        look=LOOK,
    )


def _round(at: int) -> None:
    base, d = wv.TARGETS[at]
    pair = 2
    check.number(
        N_(
            "After how many positions has pair «pair» gone round once? Each pair is «ratio» times slower than the one before."
        ),
        wv.round_trip(base, d, pair),
        key=f"exam_round_{at}",
        hint=N_("Pair 0 turns by 1 radian a position, so it needs 2π of them."),
        how=N_("2π × «ratio»^«pair» = «answer» positions."),
        pair=pair,
        ratio=f"{wv.step(base, d):.3f}",
    )
