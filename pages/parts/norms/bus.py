"""The stream as a bus: every part writes on it, and what it wrote speaks for the answer or against it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as sentence
from core.topics.norms import contributions as numbers
from pages.parts.norms import arrows
from pages.parts.norms.loudness import names
from pages.shared import controls, frame, headings, readers, spine
from pages.shared.pictures import figures, live
from pages.shared.text import N_, _, filled, prose, say, unmarked


def bus(text: sentence.Text) -> None:
    """What each part adds for the last word, as arrows that end at the difference of two logits."""
    headings.section("Who wrote the answer?")
    rivals = numbers.rivals(text)
    other = controls.Setting("against", rivals[0], readers.of(rivals)).now()
    found = frame.cached(numbers.bus, text, other)
    answer, called = sentence.called(found.answer, text.subject), sentence.called(other, text.subject)
    left, right = st.columns([3, 2], gap="medium")
    with right:
        with spine.settings(filled(_("“«answer»” against “«other»”"), answer=answer, other=called), key="rival"):
            controls.listed(
                _("Against"), rivals, rivals[0], key="against", shown=lambda id: sentence.called(id, text.subject)
            )
        best, worst = _named(int(found.parts.argmax())), _named(int(found.parts.argmin()))
        prose("norms", "bus", answer=answer, other=called, whole=_signed(found.whole))
        told = N_("Most for it speaks «best»: «most»; most against it «worst»: «least».")
        say(told, best=best, most=_signed(found.parts.max()), worst=worst, least=_signed(found.parts.min()))
        if spine.deep():
            prose("norms", "exact", gap=figures.number(found.gap))
    with left:
        _arrows(text, found, answer, called)
        _heads(text, found)


def _arrows(text: sentence.Text, found: numbers.Bus, answer: str, other: str) -> None:
    long, short = names(text)
    layers = subject.config(text.subject).n_layers
    kinds, values = ["embed", *("attn", "ffn") * layers], found.parts
    if found.rest:
        long, short, kinds = [*long, _("the shift of the last norm")], [*short, "β"], [*kinds, "rest"]
        values = np.append(values, found.rest)
    arrows.show(
        live.Picture(
            key="bus",
            quantity="contributions",
            says=_("What every part adds to the stream, as its share of the difference of two logits."),
            released=_block(layers).receive,
        ),
        values,
        names=long,
        short=short,
        kinds=kinds,
        told=[sentence.called(id, text.subject) for id in found.lens] + [""] * bool(found.rest),
        marked=answer,
        below=_("what the output head would say here"),
        ends=(unmarked(_("for “«word»”"), word=answer), unmarked(_("for “«word»”"), word=other)),
        chooses="place",
        chosen=_block(layers).now(),
    )


def _block(layers: int) -> controls.Setting:
    return controls.Setting("heads_of", None, readers.whole(0, 2 * layers), heard="place")


def _heads(text: sentence.Text, found: numbers.Bus) -> None:
    """The heads of the block whose attention is clicked."""
    config = subject.config(text.subject)
    place = _block(config.n_layers).now()
    if place is None or place % 2 == 0:
        say("Click an attention (A) to see its heads one by one.")
        return
    layer = place // 2
    each = frame.cached(numbers.heads, text, layer, found.other)
    labels = [f"{layer}.{head}" for head in range(config.n_heads)]
    if each[-1]:
        labels.append("b_O")
    whole = _signed(found.parts[place])
    say("**The heads of block «i»**: their arrows add up to that of its attention, «sum».", i=layer, sum=whole)
    arrows.show(
        live.Picture(
            key="bus_heads",
            quantity="contributions_of_heads",
            says=_("What every head of this block adds."),
        ),
        each[: len(labels)],
        names=[unmarked(_("head «head»"), head=one) for one in labels],
        short=labels,
        kinds=["attn"] * len(labels),
        ends=("", ""),
    )


PARTS = (N_("the attention of block «i»"), N_("the FFN of block «i»"))


def _named(place: int) -> str:
    """The attention of block 5, or the embedding."""
    return unmarked(_(PARTS[(place - 1) % 2]), i=(place - 1) // 2) if place else _("the embedding")


def _signed(x: float) -> str:
    return f"{x:+.2f}".replace("-", "−")
