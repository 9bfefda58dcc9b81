"""Rank collapse: the words of a sentence become one where only attention is left, under one slider over the skips."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab.text import Text
from core.topics.theory import collapse as co
from pages.shared import controls, frame, spine
from pages.shared.asks import predict
from pages.shared.pictures import lines, live, matrix
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose, say

SKIP = controls.Dial("collapse_skip", N_("Every skip keeps"), co.SKIPS, 0.0, shown=tuple(f"{s:.0%}" for s in co.SKIPS))
LEFT = {"bare": (False, False), "masked": (False, True), "ffn": (True, False), "whole": (True, True)}  # FFN, mask
NAMES = {
    "whole": N_("FFN and mask"),
    "ffn": N_("FFN, no mask"),
    "masked": N_("no FFN, mask"),
    "bare": N_("no FFN, no mask"),
}
ROLES = {"whole": "q", "ffn": "v", "masked": "a", "bare": "warn"}
GUESS = "collapse"


def section(given: Text) -> None:
    """A guess beside four lines under one slider; for experts how alike the words are, pair by pair."""
    left, right = st.columns(2, gap="medium")
    with left:
        prose("theory", "collapse")
        _ask(_run(given, "masked"))
    with right:
        if predict.answer(GUESS) is None:
            say("Guess first, then the parts can be taken away.")
            return
        runs = {name: _run(given, name) for name in NAMES}
        trained = runs["whole"].different[-1]
        _lines(runs, trained)
    bare, masked = runs["bare"].different[0], runs["masked"].different[0]
    now = f"{trained[-1]:.2f}"
    prose("theory", "collapsed", blocks=len(trained) - 1, bare=f"{bare[-1]:.3f}", masked=f"{masked[-1]:.3f}", now=now)
    if spine.deep():
        _deep(given, runs, now)


def _run(given: Text, name: str) -> co.Run:
    ffn, mask = LEFT[name]
    found: co.Run = frame.cached(co.run, co.Demo(given, ffn, mask))
    return found


def _deep(given: Text, runs: dict[str, co.Run], now: str) -> None:
    """Every number without skips; the cosines; what theory says."""
    _table(runs)
    left, right = st.columns(2, gap="medium")
    with left:
        _alike(given, runs)
    with right:
        without = {name: f"{run.different[0, -1]:.2f}" for name, run in runs.items()}
        noffn = f"{runs['masked'].different[-1, -1]:.2f}"
        prose("theory", "collapse_law", noffn=noffn, now=now, longest=co.LONGEST, **without)


def _ask(alone: co.Run) -> None:
    """The answer is this sentence's own."""
    start, end = alone.different[0, [0, -1]]
    answer = "same" if end < 0.5 * start else "more" if end > start else "little"
    because = {
        "same": N_("«end» of «start» is left: every block averages, and averages of averages are all alike."),
        "more": N_(
            "Each head reads other words, that is right. But it takes averages, and those lie closer together: «end» of «start» is left."
        ),
        "little": N_(
            "In the trained model little changes, that is right. But skips and FFNs do that; without them «end» of «start» is left."
        ),
        "?": N_("They become alike: of their differences, «start» at first, «end» is left."),
    }
    options = {"more": N_("further apart"), "little": N_("as before"), "same": N_("more alike")}
    question = N_("Guess first: only attention is left, no skips, no FFNs. What do the blocks make of the words?")
    predict.ask(
        predict.Prediction(GUESS, question, options, answer, because, opens=("collapse", "collapse_alike")),
        start=f"{start:.2f}",
        end=f"{end:.2f}",
    )


def _lines(runs: dict[str, co.Run], trained: np.ndarray) -> None:
    values = np.stack(
        [*(runs[name].different for name in NAMES), np.broadcast_to(trained, runs["whole"].different.shape)]
    )
    said = _("after the last block: FFN and mask {all} · no FFN, no mask {bare}")
    captions = [
        said.format(all=f"{runs['whole'].different[i, -1]:.3f}", bare=f"{runs['bare'].different[i, -1]:.3f}")
        for i in range(len(co.SKIPS))
    ]
    lines.show(
        live.Picture(
            key="collapse",
            quantity="different",
            says=_("How different the words are before the blocks and after each, with more and more of every skip."),
            slider=SKIP.slider(together=True),
            captions=captions,
            released=SKIP.receive,
        ),
        values.swapaxes(0, 1),
        np.arange(values.shape[-1]),
        [
            *(Series(_(NAMES[name]), ROLES[name], dots=True) for name in NAMES),
            Series(_("as trained"), "quiet", dash=True),
        ],
        x=Axis(_("blocks passed")),
        y=Axis(_("difference |X − mean| / |X|"), low=0, high=1.1),
        tall=210,
    )


def _alike(given: Text, runs: dict[str, co.Run]) -> None:
    named = {name: _(NAMES[name]) for name in NAMES}
    left = controls.listed(
        _("What is left beside attention"), tuple(NAMES), "bare", key="collapse_left", shown=named.__getitem__
    )
    names = given.names[: co.LONGEST]
    matrix.show(
        live.Picture(
            key="collapse_alike",
            quantity="cosine",
            says=_("How alike the words are after the last block, pair by pair."),
            slider=SKIP.slider(together=True, hidden=True),
        ),
        runs[left].alike,
        rows=names,
        columns=names,
        look=matrix.Look(
            row_title=N_("word"), column_title=N_("word"), row_role="quiet", column_role="quiet", bound=1.0, tall=250
        ),
    )


def _table(runs: dict[str, co.Run]) -> None:
    """Without skips, block by block."""
    depths = runs["whole"].different.shape[1]
    head = f"| {_('no skips, left beside attention')} | {' | '.join(str(i) for i in range(depths))} |\n|---|{'---:|' * depths}\n"
    rows = [f"| {_(NAMES[name])} | {' | '.join(f'{x:.4f}' for x in runs[name].different[0])} |" for name in NAMES]
    st.markdown(head + "\n".join(rows))
