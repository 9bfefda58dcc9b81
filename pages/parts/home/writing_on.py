"""Write on: the model continues the sentence, the map follows every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core import tokenizer
from core.lab import text as sentence
from core.lab.text import Text
from pages.parts.home import hunt
from pages.parts.home import map as drawn
from pages.shared import controls, frame
from pages.shared.text import N_, _, say, unmarked

if TYPE_CHECKING:
    from core.topics.home.writing import Story

HEATS = (0.0, 0.5, 0.8, 1.0, 1.5)
WRITE, ROLL = controls.Setting("write"), controls.Setting("roll")


def button() -> None:
    """Begin to write, or go back to the hunt."""
    if WRITE.now():
        st.button(_("Back to the links"), key="stop_writing", on_click=WRITE.forget)
    else:
        st.button(_("Let it write on"), key="write_on", on_click=_begin)


def _begin() -> None:
    controls.forget("link", "on")
    WRITE.keep(True)


def show(text: Text) -> None:
    """The map over a slider that counts the tokens written; all steps are there at once, nothing waits for the server."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        heat = controls.pick("Temperature of the draw (0: always the likeliest)", HEATS, 0.0, key="heat")
        if heat:
            st.button(_("Draw again"), key="again", on_click=ROLL.keep, args=((int(ROLL.now()) + 1) % 1000,))
        button()
    from core.topics.home import writing  # needs torch

    told = frame.cached(writing.write, text, heat, int(ROLL.now()))
    endings = [drawn.Ending(step.words, step.lens) for step in told.steps]
    if len(endings) == 1:
        full = len(text) >= sentence.context(text.subject)
        over = N_("The story is over: the model writes nothing more here.")
        say(N_("The text fills all that this model reads at once, «n» tokens.") if full else over, n=len(text))
        hunt.show_map(told.flow, endings)
        return
    stops = tuple(range(len(endings)))
    dial = controls.Dial("on", N_("Tokens written"), stops, 0, shown=tuple(map(str, stops)))
    hunt.show_map(told.flow, endings, dial=dial, captions=_captions(text, told))


def _captions(text: Text, told: Story) -> list[str]:
    """Under every stop: the text so far, and how likely its last token was."""
    words = tokenizer.of_model(sentence.folder(text.subject))
    ids = told.flow.trace["ids"].value.tolist()
    captions = [words.decode(ids[: told.start]) + " …"]
    for i, step in enumerate(told.steps[:-1]):
        so_far = words.decode(ids[: told.start + i + 1])
        captions.append(
            unmarked(
                _("«text» … (“«token»” had «p»)"), text=so_far, token=step.written.token, p=f"{step.written.p:.1%}"
            )
        )
    return captions
