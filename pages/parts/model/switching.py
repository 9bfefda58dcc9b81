"""The parts of a block, switched on one after another in the real model: what each does, and what the model says then."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.model import parts
from pages.parts.model import wiring
from pages.parts.model.repair import arcs_of, rows_of
from pages.shared import controls, frame, headings
from pages.shared.pictures import bars, live
from pages.shared.text import N_, _, prose, say

NAMES = {
    "residual": N_("residual"),
    "norms": N_("norms"),
    "attention": N_("attention"),
    "ffn": N_("FFN"),
}
MAKES = {"norms": ("norm1", "norm2"), "attention": ("attn_out",), "ffn": ("ffn_out",)}  # the lines of each
FIRST = ("residual",)


def switch_on(reading: Reading) -> None:
    """Parts in, one block out, in all blocks at once; beside it the next word."""
    headings.section("Switch its parts on")
    say("The same model, with only these parts in all its blocks. **Switch on one after another.**")
    on = controls.some("Its parts", NAMES, FIRST, FIRST, key="parts_on")
    found = frame.cached(parts.run, sentence.of(reading), on)
    left, right = st.columns([5, 4], gap="medium", vertical_alignment="center")
    with left:
        _block(found, on)
    with right:
        st.markdown(f"**{_('Next word')}**")
        says = N_("How likely each word is to come next, with these parts alone.")
        bars.next_words(list(found.words[:6]), says, key="parts_next")
    for part in on:
        prose("model", f"part_{part}")
    best = found.words[0]
    said = dict(word=best.token, p=f"{best.p:.1%}")
    if len(on) == len(parts.PARTS):
        say("**All four together:** the model says “«word»”, «p».", **said)
    elif best.id != found.whole.id:
        say("With these alone it says “«word»”, «p», and not “«whole»”.", whole=found.whole.token, **said)


def _block(found: parts.Switched, on: tuple[str, ...]) -> None:
    off = tuple(line for part, lines in MAKES.items() if part not in on for line in lines)
    shapes = dict(zip(parts.LINES, found.shapes, strict=True))
    size = np.array([np.nan if line in off else x for line, x in zip(parts.LINES, found.size, strict=True)])
    skips = "residual" in on
    wiring.show(
        live.Picture(key="parts_block", quantity="rms", says=_("The block with the parts that are switched on.")),
        rows_of(parts.LINES, shapes, set(), off, joined=skips),
        arcs_of(parts.LINES) if skips else [],
        values=size,
        ends=(0.01, 100.0),
        measured=" · ".join((_("block {i}").format(i=0), _("size (rms)"), _("log scale"))),
    )
