"""The first screen: two heads that look one way each, and what is left when the second one is turned down."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.nets import neighbours as nets
from pages.shared import controls, frame, spine
from pages.shared.asks import predict
from pages.shared.pictures import live, matrix, tiles
from pages.shared.text import N_, _, filled, prose, say, unmarked

DIGITS = "314159265358"
SIDES = (N_("on the left"), N_("on the right"))


def _as_digits(text: str) -> tuple[int, ...] | None:
    fits = len(text) == nets.PLACES and text.isascii() and text.isdigit()
    return tuple(int(d) for d in text) if fits else None


def digits() -> tuple[int, ...]:
    """The row that the small net reads, in the settings line."""
    default = _as_digits(DIGITS)
    now = controls.Setting("digits", DIGITS).now()
    with spine.settings(filled(_("digits «row»"), row=now)):
        typed = controls.typed(unmarked(_("«n» digits"), n=nets.PLACES), DIGITS, key="digits", longest=60)
    found = _as_digits(typed or "")
    if found is None:
        say("«n» digits from 0 to 9 are needed; here is the row we start with.", n=nets.PLACES)
    return found or default or ()


def prediction() -> None:
    """One head instead of two: how much is lost?"""
    scores = frame.cached(nets.scores, "linear").mean(1) if predict.told("two") else np.zeros(2)
    share = frame.cached(nets.turned, _as_digits(DIGITS)).share
    true = "tenth" if share[0] < 0.2 else "half" if share[0] < 0.8 else "all"
    told = N_(
        "One in ten: one side is always named, the other is a guess among ten digits. A net trained with one head "
        "alone is right at «one» of the places, with two at «two»."
    )
    predict.ask(
        predict.Prediction(
            "two",
            N_("Guess first: one head instead of two. Where are both neighbours right?"),
            {"all": N_("nearly everywhere"), "half": N_("at half"), "tenth": N_("at a tenth")},
            true,
            {
                "tenth": told,
                "?": told,
                "half": N_(
                    "Half of all answers, yes: one side stays right everywhere. But both at once are right only where "
                    "the other side is guessed: «quiet». Trained with one head alone: «one», with two: «two»."
                ),
                "all": N_(
                    "One side, yes, everywhere. The other is a guess among ten digits, so both are right at «quiet». "
                    "Trained with one head alone: «one», with two: «two»."
                ),
            },
            opens=("toy", "toy_scores"),
        ),
        quiet=f"{share[0]:.0%}",
        one=f"{scores[0]:.1%}",
        two=f"{scores[1]:.1%}",
    )


def _dial() -> controls.Dial:
    shown = tuple(f"{v:.0%}" for v in nets.VOLUMES)
    return controls.Dial("toy_volume", N_("Volume of the second head"), nets.VOLUMES, 1.0, shown=shown, quiet=True)


SURE = matrix.Look(
    "", N_("digit"), row_role="a", column_role="quiet", from_zero=True, row_height=72, digits=3
)  # how a row of chances is shown


def two_heads(row: tuple[int, ...]) -> None:
    """How sure the net is of each neighbour, and where its two heads look."""
    found = frame.cached(nets.turned, row)
    line = _("Both right at «n» of «all» places here; on «rows» new rows at «share»")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        say("**Drag the slider to the left**: the second head falls silent.")
        matrix.show(
            live.Picture(
                key="toy_sure",
                quantity="probs",
                says=_("How likely the net finds the true neighbour, at the left and at the right of every digit."),
                slider=_dial().slider(),
                signature=True,
                room=283,
                captions=[
                    unmarked(line, n=n, all=nets.PLACES, rows=nets.ROWS, share=f"{share:.0%}")
                    for n, share in zip(found.right, found.share, strict=True)
                ],
                released=_dial().receive,
            ),
            found.p,
            rows=[_(side) for side in SIDES],
            columns=[str(d) for d in row],
            look=SURE,
        )
        prose("heads", "two", first=_(SIDES[found.looks[0]]), second=_(SIDES[found.looks[1]]))
    with right:
        prose("heads", "neighbours")
        tiles.show(
            live.Picture(
                key="toy_maps", quantity="weights", says=_("Where each of the two heads looks, one row a place.")
            ),
            found.weights,
            columns=2,
            names=[f"{i} · {_(SIDES[side])}" for i, side in enumerate(found.looks)],
            most=150,
        )
