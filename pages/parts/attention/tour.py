"""How a map is made: five steps, one at a time, each with its formula and with one number written out."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core import attention as at
from core.lab import head as oh
from core.lab import provenance
from core.topics.attention import program
from core.trace import Quantity
from pages.parts.attention.room import CELL, Room
from pages.shared import controls, headings, spine
from pages.shared.pictures import code, live, matrix
from pages.shared.pictures import provenance as written
from pages.shared.text import N_, _, filled, say

STEPS: dict[str, Quantity] = {
    "scores": at.SCORES,
    "scaled": at.SCALED,
    "masked": at.MASKED,
    "weights": at.WEIGHTS,
    "z": at.Z,
}
STEP_NAMES = {
    "scores": N_("1 · QKᵀ"),
    "scaled": N_("2 · ÷√d"),
    "masked": N_("3 · mask"),
    "weights": N_("4 · softmax"),
    "z": N_("5 · ×V"),
}
STEP = controls.Setting("step", "scores")
FEW, LOW = 18, 322  # rows up to which a cell has room for its number, and pixels for all of them


def tour(room: Room, head: oh.Head) -> None:
    """One step, its formula, and where the chosen number comes from."""
    headings.section("How is it made?")
    say("Take the five steps one at a time. Click a cell: beside it, its number is written out.")
    step = _steps()
    width = head.v.shape[-1] if step == "z" else len(room.columns)
    place = controls.Setting(
        "zcell" if step == "z" else "origin", None, controls.within(len(room.rows), width), heard="cell"
    )
    cell = place.now() or _start(head, step)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _picture(room, head, step, cell, place)
        if spine.deep():
            room.dial.rest(lambda: downloads(room, cell[0]))
    with right:
        if step == "scores":  # the temperature comes later
            _beside(room, head, step, cell)
        else:
            room.dial.rest(lambda: _beside(room, room.head(room.value()), step, cell))
    if spine.deep():
        code.show(STEPS[step])


def _steps() -> str:
    """The step control between the ways back and on."""
    order = list(STEP_NAMES)
    with st.container(horizontal=True, vertical_alignment="center"):
        at_now = order.index(STEP.now())
        before, after = max(0, at_now - 1), min(len(order) - 1, at_now + 1)
        args = {"on_click": STEP.keep}
        st.button(_("← Back"), key="step_back", disabled=at_now == 0, args=(order[before],), **args)
        step = controls.choice("Step", STEP_NAMES, "scores", key="step", hide_label=True)
        st.button(_("Next step →"), key="step_on", disabled=at_now == len(order) - 1, args=(order[after],), **args)
    return step


def _start(head: oh.Head, step: str) -> tuple[int, int]:
    """The cell that is written out before one is chosen: the link in the map, else the last word's strongest."""
    cell = CELL.now()
    row = len(head.weights) - 1
    if step == "z":
        return row, int(np.abs(head.weights[row] @ head.v).argmax())
    inside = cell is not None and cell[0] <= row and cell[1] < head.weights.shape[1]
    return cell if inside else (row, int(head.weights[row].argmax()))


def _picture(room: Room, head: oh.Head, step: str, cell: tuple[int, int], place: controls.Setting) -> None:
    frames, quantity, n = room.frames(step), STEPS[step], len(room.rows)
    columns = [str(i) for i in range(frames.values.shape[-1])] if step == "z" else room.columns
    matrix.show(
        live.Picture(
            key="tour",
            quantity=step,
            says=_(quantity.says),
            slider=room.dial.slider(together=True, hidden=True) if len(frames.values) > 1 else None,
            released=place.receive,
        ),
        frames.values,
        rows=room.rows,
        columns=columns,
        look=matrix.Look(
            from_zero=step == "weights",
            column_title="d_v" if step == "z" else "key",
            column_role="v" if step == "z" else "k",
            bound=_bound(frames.values, step),
            row_height=min(24, LOW // n) if n <= FEW else None,
        ),
        row=cell[0],
        shut=~head.allowed if step in ("masked", "weights") else None,
        cell=cell,
    )


def _bound(values: np.ndarray, step: str) -> float | None:
    """The scale's end: of the untouched setting where one slider end would drown all others."""
    if step in ("weights", "scores"):
        return None
    finite = np.abs(values[len(values) // 2][np.isfinite(values[len(values) // 2])])
    return float(finite.max(initial=1e-6))


def _beside(room: Room, head: oh.Head, step: str, cell: tuple[int, int]) -> None:
    """The formula, the shape, and where the chosen number comes from."""
    quantity = STEPS[step]
    st.latex(quantity.formula)
    shape = {"z": head.v.shape[-1]}.get(step, len(room.columns))
    template = N_("«says» Shape: «rows» × «columns».")
    say(template, says=_(quantity.says), rows=len(room.rows), columns=shape)
    names = dict(row=room.rows[cell[0]], column=str(cell[1]) if step == "z" else room.columns[cell[1]])
    st.markdown(f"**{filled('«row» → «column»', **names)}**")
    made = provenance.explain(head, step, *cell)
    own = None if step in ("scores", "z") else cell[1]  # these two are sums: their columns are not the picture's
    if not spine.deep():
        written.formula(made)
        return
    written.show(made, key=f"made_{step}", quantity=step, says=_("What this number is made of."), among=own)


# ---- downloads ----


def downloads(room: Room, row: int) -> None:
    """The trace, and a program that computes the pictures from it again."""
    value = room.value()
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.download_button(_("The numbers (.npz)"), lambda: room.trace(value).as_npz(), "attention.npz", key="npz")
        st.download_button(
            _("A program that computes them (.py)"),
            lambda: as_program(room, value, row),
            "attention.py",
            "text/x-python",
            key="program",
        )


def as_program(room: Room, value: float, row: int) -> str:
    head = room.head(value)
    return program.attention(
        "attention.npz",
        scope=room.scope,
        met=room.met,
        head=room.index[0],
        kv_head=room.index[1],
        row=row,
        temperature=head.temperature,
        scaling=head.scaling,
    )
