"""Cutting links: the two ways to do it, side by side, and the question how many of them decide."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.lab import cuts, outcomes, subject
from core.lab import head as oh
from core.lab import text as sentence
from core.whatif import Change
from pages.parts.attention.room import Room, jump
from pages.shared import controls, frame, headings
from pages.shared.asks import predict
from pages.shared.pictures import bars, live, matrix
from pages.shared.text import N_, _, filled, prose, say

SHOWN = 6  # links in the list


def chase(room: Room, head: oh.Head, cell: tuple[int, int] | None) -> None:
    """The guess and the links at the left, what a cut does at the right: a click there shows here."""
    headings.section("Cut a link, two ways")
    inside = cell is not None and bool(head.allowed[cell])
    cell = cell if inside else _strongest(head)
    left, right = st.columns([2, 3], gap="medium")
    with right:
        _both(room, cell)
    with left:
        prose("attention", "ways")
        asked = prediction(room.reading)
        if controls.switch("Show which links decide", False, key="ranking") or asked:
            _ranking(room, (room.demo(1.0).layer, room.index[0], *cell))


def _strongest(head: oh.Head) -> tuple[int, int]:
    row = len(head.weights) - 1
    return row, int(head.weights[row].argmax())


def _both(room: Room, cell: tuple[int, int]) -> None:
    """One row and the next word: untouched, and with the link cut in both ways."""
    demo = room.demo(1.0)
    link = (demo.layer, demo.head, *cell)
    found = frame.cached(cuts.both, demo.text, link)
    head, query, key = f"{demo.layer}.{demo.head}", room.rows[cell[0]], room.columns[cell[1]]
    say("Here “«query»” no longer reads “«key»” in head «head»:", head=head, key=key, query=query)
    matrix.show(
        live.Picture(key="ways", quantity="weights", says=_("One row of the map: untouched, and cut in both ways.")),
        found.rows,
        rows=[_("untouched"), _("it shares"), _("it stays")],
        columns=room.columns,
        look=matrix.Look(
            row_title="", row_role="a", row_height=24, most=38, tools=False, point=((1, cell[1]), (2, cell[1]))
        ),
    )
    tokens, before = [sentence.called(id) for id in found.ids], found.probs[0]
    names = (N_("**The row shares** what is left"), N_("**The row stays** as it was"))
    for column, name, way, probs in zip(st.columns(2), names, ("share", "keep"), found.probs[1:], strict=True):
        with column:
            st.markdown(_(name))
            bars.next_tokens(bars.next_picture(f"way_{way}"), tokens, probs, before, marked=0)


# ---- how many decide ----


def prediction(reading: Any) -> str | None:
    """How many links decide? The answer is core's own count; for a new sentence it is computed once it is asked."""
    n = len(reading.tokens)
    first = reading.text == sentence.SENTENCE
    asked = predict.answer("links")
    cells = _cells(n)
    found = links(reading) if first or asked else None
    count = found.deciders if found else 0
    share = "few" if count < 10 else "some" if count < cells / 2 else "most"
    values = {"cells": f"{cells:,}", "count": count}
    because = {
        "few": N_(
            "Of «cells» links, «count» decide: without any one of them the answer loses more than half of its probability."
        ),
        "some": N_("Of «cells» links only «count» decide. Most cells are bright for reasons that do not matter here."),
        "most": N_("A bright cell looks important, yet almost every link can go: only «count» of «cells» decide."),
        "?": N_("Of «cells» links, «count» decide. Here are those that come first."),
    }
    if share == "most":  # a text of two or three tokens: what is said of bright cells would be wrong
        because["some"] = because["most"] = because["few"]
    options = {"few": N_("fewer than ten"), "some": N_("dozens"), "most": N_("most of them")}
    question = N_("Guess first: cut one at a time, how many of «cells» links decide the next word?")
    return predict.ask(predict.Prediction("links", question, options, share, because), **values)


def _cells(n: int) -> int:
    config = subject.model().config
    rows = range(1, n) if n <= cuts.LONG else [n - 1]
    return config.n_layers * config.n_heads * sum(row + 1 for row in rows)


def links(reading: Any) -> cuts.Ranking:
    """The ranking of all links, each cut so that its row shares; the first sentence's is recorded."""
    if reading.text == sentence.SENTENCE:
        first, found = outcomes.recorded_words()[0], outcomes.outcomes()
        decide = sum(link.p < first.p / 2 for link in found.share)
        return cuts.Ranking(first.id, first.p, found.cells, found.share, decide)
    with st.spinner(_("Cutting every link once …")):
        return frame.cached(cuts.ranking, sentence.of(reading), True)


def _ranking(room: Room, shown: tuple[int, int, int, int]) -> None:
    """The most decisive links, each a button that shows it in both ways."""
    found, text = links(room.reading), sentence.of(room.reading)
    word = sentence.called(found.answer)
    template = N_("p(«word») is «p» untouched. Without one link it becomes (row shares | row stays):")
    say(template, word=word, p=f"{found.p:.3f}")
    if len(text) > cuts.LONG:
        say("This text is long, so only the links of its last token were cut.")
    for i, link in enumerate(found.worst[:SHOWN]):
        where = (link.layer, link.head, link.query, link.key)
        (stays,) = frame.cached(subject.chances, text, Change(cut=where), (found.answer,))
        name = f"{link.layer}.{link.head}  ·  {room.rows[link.query]} → {room.columns[link.key]}"
        label = filled("«p» | «q»  ·  «name»", p=f"{link.p:.3f}", q=f"{stays:.3f}", name=name)
        kind = "primary" if where == shown else "secondary"
        st.button(label, key=f"link_{i}", on_click=jump, args=where, width="stretch", type=kind)
