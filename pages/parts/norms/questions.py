"""Check yourself on the norms page, and its common mistakes."""

from __future__ import annotations

import numpy as np

from core.topics.norms import vectors as numbers
from pages.parts.norms.vectors import vector
from pages.shared import frame, spine
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes
from pages.shared.pictures import figures
from pages.shared.text import N_

MISTAKES = ["undoes", "order", "half_cost", "eps_place", "identity", "shift_story", "centring", "lens"]


def check() -> None:
    """Two questions with the visitor's own six numbers."""
    x = vector()
    found = frame.cached(numbers.moved, x, "scale", 0)
    at = numbers.SCALES.index(1.0)
    row = "  ".join(figures.number(value, 2) for value in x)
    checks.number(
        N_("Six numbers: «row». What does RMSNorm make of the last one? (ε is negligible.)"),
        float(found.rms[at, -1]),
        key="rms_check",
        hint=N_("Square all, take the mean, then the root. That is what the last one is divided by."),
        how=N_("The root mean square is «size», and «last» ÷ «size» = «answer»."),
        row=row,
        size=figures.number(float(found.size[at]), 3),
        last=figures.number(x[-1], 2),
    )
    if not spine.deep():
        return
    checks.number(
        N_("And LayerNorm, of the same last number?"),
        float(found.layer[at, -1]),
        key="layer_check",
        hint=N_("First take the mean off. Then divide by the spread around it, with n and not n − 1 below."),
        how=N_("Mean «mean», spread «spread»: («last» − «mean») ÷ «spread» = «answer»."),
        mean=figures.number(float(found.mean[at]), 3),
        spread=figures.number(float(found.spread[at]), 3),
        last=figures.number(x[-1], 2),
    )


def common_mistakes(*more: str, **told: str) -> None:
    """What looks right about norms, and what is true. more: those of the sections below, told: what fills their holes."""
    found = numbers.tiny()
    at = [int(np.argmin(np.abs(np.array(numbers.TINY) - x))) for x in (1e-3, 1e-6)]
    inside, outside = found.largest
    back = numbers.undo().rows[0, 3]
    mistakes.show(
        "norms",
        [*MISTAKES, *more],
        a=f"{inside[at[0]]:.3f}",
        b=f"{outside[at[0]]:.3f}",
        c=f"{inside[at[1]]:.4f}",
        d=f"{outside[at[1]]:.3f}",
        first=" ".join(f"{x:g}" for x in numbers.FOUR),
        second=" ".join(f"{x:g}" for x in numbers.OTHER).replace("-", "−"),
        back=" ".join(f"{x:.2f}" for x in back),
        **told,
    )
