"""Superposition: five features in two numbers, and how often each is on under the finger."""

from __future__ import annotations

import streamlit as st

from core.nets import packed
from core.topics.theory import packed as pk
from pages.shared import controls, frame
from pages.shared.asks import predict
from pages.shared.pictures import live, matrix, plane
from pages.shared.text import N_, _, prose, say

CHANCE = controls.Dial(
    "packed_on", N_("Chance that a feature is on"), packed.CHANCES, 1.0, shown=tuple(f"{p:.1%}" for p in packed.CHANCES)
)
GUESS, ASKED = "packed", 0.05


def section() -> None:
    """A guess; then five arrows in a plane, and what is read back when one alone is on."""
    found = frame.cached(pk.frames)
    prose("theory", "packed", features=packed.FEATURES, numbers=packed.NUMBERS)
    _ask(found)
    if predict.answer(GUESS) is None:
        say("Guess first, then the nets can be seen.")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        _arrows(found)
    with right:
        _read(found)
    numbers = dict(four=f"{pk.first_with(4):.2f}", five=f"{pk.first_with(5):.2f}", features=packed.FEATURES)
    prose("theory", "packed_said", **numbers, loss=f"{found.loss[-1]:.2f}", always=found.kept[0], rare=found.kept[-1])


def _ask(found: pk.Frames) -> None:
    at = pk.nearest(ASKED)
    because = {
        "2": N_(
            "Only two never disturb each other, that is right. Rare features may disturb a little: «kept», with «loss» of the error of two."
        ),
        "4": N_(
            "In opposite pairs, that is right where they are on more often. Here «kept», with «loss» of the error of two."
        ),
        "5": N_(
            "All «kept», in a pentagon. They disturb one another a little, but are seldom on together: «loss» of the error of two."
        ),
        "?": N_("«kept»: rare features are seldom on together, so they may share. «loss» of the error of keeping two."),
    }
    options = {"2": "2", "4": "4", "5": "5"}
    question = N_(
        "Guess first: each of 5 features is on only 1 time in 20. How many can a net read back from 2 numbers?"
    )
    answer = str(found.kept[at])
    predict.ask(
        predict.Prediction(GUESS, question, options, answer, because, opens=("packed", "packed_read")),
        kept=answer,
        loss=f"{found.loss[at]:.2f}",
    )


def _arrows(found: pk.Frames) -> None:
    said = _("{kept} of {features} kept · error {loss} × that of keeping two")
    captions = [
        said.format(kept=kept, features=packed.FEATURES, loss=f"{loss:.2f}")
        for kept, loss in zip(found.kept, found.loss, strict=True)
    ]
    plane.show(
        live.Picture(
            key="packed",
            wordless=True,
            quantity="superposition",
            says=_("The arrow of each feature in the two numbers, by how often a feature is on."),
            slider=CHANCE.slider(together=True),
            captions=captions,
            released=CHANCE.receive,
        ),
        found.w.swapaxes(1, 2),
        [_("feature {i}").format(i=i + 1) for i in range(packed.FEATURES)],
        arrows=True,
        titles=(_("first number"), _("second number")),
        roles=("a", "a"),
        look=plane.Look(tips={_("length"): found.lengths}, bounds=(-1.45, 1.45, -1.3, 1.3)),
        tall=340,
    )


def _read(found: pk.Frames) -> None:
    names = [_("feature {i}").format(i=i + 1) for i in range(packed.FEATURES)]
    matrix.show(
        live.Picture(
            key="packed_read",
            wordless=True,
            quantity="read_back",
            says=_("What is read back when one feature alone is on."),
            slider=CHANCE.slider(together=True, hidden=True),
        ),
        found.read,
        rows=names,
        columns=[str(i + 1) for i in range(packed.FEATURES)],
        look=matrix.Look(
            from_zero=True,
            row_title=N_("feature that is on"),
            column_title=N_("read back"),
            row_role="quiet",
            column_role="a",
            tall=300,
            bound=1.0,
        ),
    )
