"""Cross-attention: a small trained encoder-decoder reads a date and writes it in digits, sign by sign."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.nets import dates as ed
from core.nets import dates_task
from pages.shared import controls, frame, readers, spine
from pages.shared.pictures import bars, live, matrix
from pages.shared.text import N_, _, filled, prose, say

EXAMPLES = (dates_task.TEXT, "21st Nov 1989", "july 4th, 1776", "29 February 2024", "December 31st, 1066")
MEMORY = ed.MEMORY
STOPS = tuple(range(1, dates_task.LENGTH + 1))


def typed() -> tuple[dates_task.Source, int, int]:
    """The visitor's date, as the model can read it, and a head; what was left out is said."""
    deep = spine.deep()
    one, two, three, four = st.columns([4, 1.6, 1.6, 1.6], vertical_alignment="bottom")
    with four if deep else two, st.popover(_("Examples"), width="stretch"):
        for i, text in enumerate(EXAMPLES):
            st.button(filled("«text»", text=text), key=f"date_{i}", on_click=_choose, args=(text,), width="stretch")
    with one:
        text = controls.typed("A date, in English", dates_task.TEXT, key="date", longest=200, hide_label=not deep)
    block = controls.Setting("date_block", 0, readers.of(range(ed.CONFIG.n_layers))).now()
    head = controls.Setting("date_head", 0, readers.of(range(ed.CONFIG.n_heads))).now()
    if deep:
        with two:
            block = controls.pick("Block", range(ed.CONFIG.n_layers), 0, key="date_block")
        with three:
            head = controls.pick("Head", range(ed.CONFIG.n_heads), 0, key="date_head")
    source = dates_task.read(text or "")
    unknown = source.unknown[:12] + "…" * (len(source.unknown) > 12)
    if "unknown" in source.notes:
        say("This model has never seen «signs»: left out.", signs=unknown)
    if "cut" in source.notes:
        say("It reads «most» signs at most; the rest was cut.", most=dates_task.LONGEST)
    if "empty" in source.notes:
        say("Nothing was left to read, so here is the first example.")
    return source, block, head


def _choose(text: str) -> None:
    controls.Setting("date", dates_task.TEXT).keep(text)
    controls.forget("date_step", "date_cell")


def cross() -> None:
    """Three attentions beside each other, and what is written, all under one slider."""
    source, block, head = typed()
    demo = ed.Demo(source.text)
    found = frame.cached(ed.unfold, demo, block, head)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if spine.deep():
            st.markdown(f"**{_('Cross-attention: the written asks, the read answers')}**")
        _cross(found)
    with right:
        _result(source, ed.answer(frame.cached(ed.run, demo)))
        prose("masks", "cross", written=len(found.written), read=len(found.source))
        if spine.deep():
            st.markdown(f"**{_('The candidates for this sign')}**")
            _next(found)
    if spine.deep():
        prose("masks", "rectangle")
        _both(found)
        _about(demo)


def _both(found: ed.Unfolding) -> None:
    """The encoder's own attention and the decoder's."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{_('Encoder: every sign reads all signs, no mask')}**")
        _plain(found.encoder, list(found.source), "date_encoder", _("The encoder's own attention."))
    with right:
        st.markdown(f"**{_('Decoder: only what has been written')}**")
        _decoder(found)


def _about(demo: ed.Demo) -> None:
    """The block's three steps, the size of the model, and its numbers."""
    prose(
        "masks", "blocks", parameters=f"{frame.cached(ed.size):,}", accuracy=f"{frame.cached(_accuracy):.1%}", n=TESTED
    )
    trace = frame.cached(ed.run, demo)
    st.download_button(_("The numbers (.npz)"), trace.as_npz, "dates.npz", key="dates_npz")


TESTED = 200


def _accuracy() -> float:
    return ed.accuracy(ed.model(), TESTED)


def _result(source: dates_task.Source, answer: str) -> None:
    """What the model wrote, beside what a rule says."""
    true = dates_task.digits(source.text)
    with st.container(border=True, key="date_result"):
        if true is None:
            template = N_(
                "“«text»” → **«answer»**. This is no date as the model learned them, so it guesses: it cannot refuse."
            )
        elif true == answer:
            template = N_("“«text»” → **«answer»**. Right.")
        else:
            template = N_("“«text»” → **«answer»**. Wrong: it is «true».")
        say(template, text=source.text, answer=answer, true=true)


def _dial(found: ed.Unfolding) -> controls.Dial:
    """One stop for each sign that is written."""
    shown = tuple(f"{step} · {sign}" for step, sign in zip(STOPS, found.written, strict=True))
    return controls.Dial("date_step", N_("Signs written"), STOPS, STOPS[-1], shown=shown)


def _cell(found: ed.Unfolding) -> controls.Setting:
    return controls.Setting("date_cell", None, controls.within(len(found.written), len(found.source)), heard="cell")


def _cross(found: ed.Unfolding) -> None:
    template = N_("“{sign}” looks most at “{seen}”, place {place}, with {weight} of its weight")
    captions = [
        _(template).format(
            sign=found.written[t],
            seen=found.source[i],
            place=i,
            weight=f"{found.cross[-1, t, i]:.0%}",
        )
        for t, i in enumerate(found.strongest)
    ]
    matrix.show(
        live.Picture(
            key="date_cross",
            wordless=True,
            quantity="weights",
            says=_("Cross-attention: one row for each sign that is written, one column for each sign that was read."),
            slider=_dial(found).slider(together=True),
            captions=captions,
            released=controls.receivers(_cell(found), _dial(found)),
        ),
        found.cross,
        rows=list(found.written),
        columns=list(found.source),
        look=matrix.Look(
            from_zero=True,
            row_title=N_("written"),
            column_title=N_("read"),
            strip="{row}" if spine.deep() else "",
            closed=N_("not written yet"),
            tall=330,
            row_height=None if spine.deep() else 17,
            most=36,
        ),
        shut=found.cross_shut,
        cell=_cell(found).now(),
        row=list(range(len(found.written))),
    )


def _decoder(found: ed.Unfolding) -> None:
    matrix.show(
        live.Picture(
            key="date_decoder",
            wordless=True,
            quantity="weights",
            says=_("The decoder's self-attention: each step reads the signs written before it."),
            slider=_dial(found).slider(together=True, hidden=True),
        ),
        found.decoder,
        rows=list(found.written),
        columns=list(found.fed),
        look=matrix.Look(
            from_zero=True,
            row_title=N_("written"),
            column_title=N_("fed in"),
            closed=N_("not written yet"),
            tall=300,
            most=28,
        ),
        shut=found.decoder_shut,
    )


def _plain(values: np.ndarray, names: list[str], key: str, says: str) -> None:
    matrix.show(
        live.Picture(key=key, wordless=True, quantity="weights", says=says),
        values,
        rows=names,
        columns=names,
        look=matrix.Look(from_zero=True, tall=300, most=28),
    )


def _next(found: ed.Unfolding) -> None:
    bars.show(
        live.Picture(
            key="date_next",
            wordless=True,
            quantity="written_probs",
            says=_(ed.WRITTEN_PROBS.says),
            slider=_dial(found).slider(together=True, hidden=True),
        ),
        list(ed.TARGETS),
        found.probs,
        high=1.0,
        percent=True,
    )
