"""The sentence that goes with the visitor from page to page: its box, texts that show something, a word of warning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from core.lab import text as sentence
from core.tokenizer import Reading
from pages.shared import controls, frame
from pages.shared.pictures import bars
from pages.shared.text import N_, _, say

GALLERY = {
    sentence.SENTENCE: N_("Who gets the ball"),
    sentence.TWIN: N_("Its twin: one name swapped"),
    "The cat slept on the rug. The dog slept on the": N_("Copying what came before"),
    "Tom was very thirsty. He wanted to": N_("One word decides"),
    "Anna is a girl. Tom is a": N_("Contrast"),
    "Tom dropped the glass and it": N_("Strong, but not decisive"),
}


def box() -> Reading:
    """The box alone, where there is no room for more."""
    reading: Reading = controls.sentence("Your sentence", sentence.SENTENCE, sentence.read)
    warn(reading)
    bars.explain_dot(reading.tokens)
    return reading


def ask(chosen: Callable[[str], None] | None = None) -> Reading:
    """The box and the gallery. chosen(text) is called before the run in which a text of the gallery has been taken."""
    left, right = st.columns([4, 1])
    with right, st.popover(_("Examples"), width="stretch"):
        for i, (text, shows) in enumerate(GALLERY.items()):
            st.button(_(shows), key=f"story_{i}", on_click=_take, args=(text, chosen), width="stretch")
    with left:
        return box()


def _take(text: str, chosen: Callable[[str], None] | None) -> None:
    controls.write(text, sentence.SENTENCE)
    if chosen:
        chosen(text)


def warn(reading: Reading) -> None:
    """What this model makes of a text unlike those it has read."""
    from core.lab import subject  # needs torch: Home's first screen does without

    surprise = frame.cached(subject.surprise, sentence.of(reading))
    if surprise > sentence.STRANGE:
        template = N_(
            "▲ This text is strange to the model: «nats» nats a token, and guessing blindly would cost «blind»."
        )
        blind = f"{np.log(subject.model().config.vocab_size):.1f}"
        say(template, nats=f"{surprise:.1f}", blind=blind)
    elif reading.text[:1].islower():
        say("The model has read stories whose sentences begin with a capital letter. Without one it is at a loss.")
