"""How a head works inside: one matrix cut into slabs, the rank of its question, a head that has learned nothing."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.heads import volume
from pages.parts.heads import volume as parts
from pages.shared import controls, frame
from pages.shared.pictures import lines, live, matrix, stack
from pages.shared.text import N_, _, prose, say

CLOSER = {
    "cut": N_("Cutting one matrix into heads"),
    "rank": N_("What one head can express"),
    "fresh": N_("A head that has learned nothing"),
}

TINTS = ("q", "warn", "v", "a", "k", "attn", "ffn")  # one for each of the first heads


def closer(reading: Reading) -> None:
    """One of three at a time."""
    chosen = controls.choice("Look closer", CLOSER, "cut", key="workings")
    {"cut": slabs, "rank": rank, "fresh": fresh}[chosen](reading)


def slabs(reading: Reading) -> None:
    """h changes the shapes, and the number of parameters not at all."""
    d = controls.pick("d_model", (subject.model().config.d_model, 512, 4096), 512, key="cut_d")
    h = controls.pick("h", (1, 2, 3, 4, 5, 6, 8, 12, 16, 32), 8, key="cut_h")
    try:
        width = volume.head_width(d, h)
    except ValueError as error:
        say("The assertion fails: «error».", error=error)
        return
    numbers = dict(d=d, h=h, width=width, each=f"{d * width:,}", all=f"{d * h * width:,}", square=f"{d * d:,}")
    prose("heads", "slabs", **numbers, block=f"{4 * d * d:,}")
    stack.show(
        live.Picture(
            key="slabs",
            wordless=True,
            quantity="parameters",
            says=_("The numbers in the slabs of all heads: as they are, and as squares."),
        ),
        np.array([[d * width] * h, [width * width] * h]),
        [_("as it is"), _("as squares")],
        [str(i) for i in range(h)],
        high=float(d * d),
        roles=TINTS + ("quiet",) * max(1, h - len(TINTS)),
    )
    _origins(reading, h, d)


def _origins(reading: Reading, h: int, d: int) -> None:
    """Where each row of each head was cut from: as it should be, and with a reshape that forgets the transpose."""
    right, wrong = volume.origins(len(reading.ids), h, d)
    say(
        "**Which token's numbers stand where?** Each cell holds the place of the token that a row of a head was cut from."
    )
    for column, (name, table, says) in zip(
        st.columns(2),
        (
            ("cut_right", right, N_("view, then transpose: every row its own token")),
            ("cut_wrong", wrong, N_("reshape alone: the same shape, other tokens")),
        ),
        strict=True,
    ):
        with column:
            st.markdown(_(says))
            matrix.show(
                live.Picture(key=name, quantity="token", says=_(says)),
                table,
                rows=[str(i) for i in range(h)],
                columns=sentence.names(reading.tokens),
                look=matrix.Look(
                    from_zero=True,
                    row_title=N_("head"),
                    column_title=N_("row of the head"),
                    row_role="a",
                    column_role="quiet",
                    bound=float(max(1, len(reading.ids) - 1)),
                    digits=0,
                    tools=False,
                    row_height=22,
                ),
            )
    gap = frame.cached(volume.reshaped, sentence.of(reading), 0)
    say("On the real queries and keys of block 0 the weights then differ by up to «gap».", gap=f"{gap:.2f}")


def rank(reading: Reading) -> None:
    """A head is narrow: the rank of its question is its width."""
    demo = parts.chosen(reading)
    found = volume.ranks(demo.text, demo.layer, demo.head)
    n = len(found.whole)
    prose(
        "heads",
        "rank",
        head=parts.name_of(demo.layer, demo.head),
        one=found.count(found.one),
        whole=found.count(found.whole),
        d=n,
    )
    sizes = np.stack([found.one / found.one[0], found.whole / found.whole[0]])
    lines.show(
        live.Picture(
            key="ranks", quantity="singular_values", says=_("Singular values of W_Q W_K^T, relative to the largest.")
        ),
        np.where(sizes > 1e-9, sizes, np.nan),
        np.arange(1, n + 1),
        [lines.Series(_("one head")), lines.Series(_("all heads as one"), dash=True)],
        x=lines.Axis(_("number")),
        y=lines.Axis(_("relative size"), log=True, low=1e-4, high=1.0),
        tall=220,
    )


def fresh(reading: Reading) -> None:
    """Random W_Q and W_K at every scale: near zero every row is uniform."""
    config = subject.model().config
    h = controls.pick("h", (1, 2, 3, 6, 12, 24), config.n_heads, key="fresh_h")
    found = frame.cached(volume.fresh, sentence.of(reading), h)
    dial = controls.Dial("init", N_("Standard deviation of the weights"), volume.scales(len(reading.ids)), 0.01)
    prose("heads", "fresh", width=volume.head_width(config.d_model, h))

    matrix.show(
        live.Picture(
            key="fresh",
            quantity="weights",
            says=_("The weights of a head whose W_Q and W_K are random."),
            slider=dial.slider(),
            released=dial.receive,
        ),
        found.weights,
        rows=sentence.names(reading.tokens),
        columns=sentence.names(reading.tokens),
        look=matrix.Look(from_zero=True, most=36, tall=420, strip=N_("weights of “{row}” · entropy {entropy} bits")),
        entropy=found.entropy,
        row=len(reading.ids) - 1,
    )
