"""Any number of heads silent at once, and what the model says without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.lab import head as onehead
from core.lab import subject
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.heads import volume
from core.whatif import Change
from pages.parts.heads import volume as parts
from pages.shared import controls, frame
from pages.shared.pictures import bars, live, tiles
from pages.shared.text import N_, _, prose, say

CLICKS = {"mute": N_("silences it"), "alone": N_("leaves it alone in its block")}


def silence(reading: Reading) -> None:
    """All maps; a click silences a head. Beside them, what the model says now."""
    _layers, heads = parts.shape()
    silent = parts.muted()
    weights, step = frame.cached(onehead.overview, onehead.Demo(sentence.of(reading), 0, 0))
    shown = weights.copy()
    places = [layer * heads + head for layer, head in silent]
    shown[places] = 0
    left, right = st.columns([3, 2], gap="medium")
    with left:
        how = controls.choice("A click on a head", CLICKS, "mute", key="click")
        tiles.show(
            live.Picture(
                key="maps",
                quantity="weights",
                says=_("Every head of the model on this sentence, one block a row; silent heads are blank."),
                released=lambda name, value: _toggle(name, value, how, silent),
            ),
            shown,
            columns=heads,
            names=[f"{name} ✕" if i in places else name for i, name in enumerate(parts.names())],
        )
        if step > 1:
            say("Reduced to fit: each cell shows the largest of «n» × «n» weights.", n=step)
    with right:
        _told(reading, silent)


def _toggle(name: str, value: Any, how: str, silent: volume.Muted) -> None:
    layers, heads = parts.shape()
    if name != "tile" or not isinstance(value, int) or not 0 <= value < layers * heads:
        return
    layer, head = divmod(value, heads)
    if how == "alone":
        now = {pair for pair in silent if pair[0] != layer} | {(layer, j) for j in range(heads) if j != head}
    else:
        now = set(silent) ^ {(layer, head)}
    parts.MUTED.keep(parts.spelled(now))


def _told(reading: Reading, silent: volume.Muted) -> None:
    change = Change(muted=silent)
    before = frame.cached(subject.outlook, sentence.of(reading), subject.UNTOUCHED).asked
    now = frame.cached(subject.outlook, sentence.of(reading), change, before.id)
    shown = bars.with_answer(now.words, now.asked)
    ids = tuple(word.id for word in shown)
    ghost = frame.cached(subject.chances, sentence.of(reading), subject.UNTOUCHED, ids)
    says = N_("How likely each word is to come next, with these heads silent.") if silent else bars.NEXT
    bars.next_words(shown, says, key="left_over", before=list(ghost), answer=before.id)
    if not silent:
        prose("heads", "silence")
        return
    loss, calm = (frame.cached(subject.story_loss, c) for c in (change, subject.UNTOUCHED))
    template = N_(
        "«n» of «all» heads are silent. Mean loss on «stories» short stories: **«after»** nats a token, untouched "
        "«before», blind guessing «blind»."
    )
    blind = f"{np.log(subject.model().config.vocab_size):.1f}"
    numbers = dict(n=len(silent), all=parts.shape()[0] * parts.shape()[1], stories=subject.story_count())
    say(template, **numbers, after=f"{loss:.2f}", before=f"{calm:.2f}", blind=blind)
    st.button(_("Wake them all"), key="wake", on_click=parts.MUTED.forget)
