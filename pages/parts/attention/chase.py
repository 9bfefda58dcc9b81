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
BOTH = (  # a heading, what the bars under it are, their key
    (
        N_("**The row shares** what is left"),
        N_("How likely each word is to come next, with the link cut and its weight shared out."),
        "way_share",
    ),
    (
        N_("**The row stays** as it was"),
        N_("How likely each word is to come next, with the link cut and the rest of its row as it was."),
        "way_keep",
    ),
)


def chase(room: Room, head: oh.Head, cell: tuple[int, int] | None) -> None:
    """The guess and the links at the left, what a cut does at the right: a click there shows here."""
    headings.section("Cut a link, two ways")
    inside = cell is not None and bool(head.allowed[cell])
    cell = cell if inside else _strongest(head)
    link = (room.demo(1.0).layer, room.index[0], *cell)
    found = frame.cached(cuts.both, room.demo(1.0).text, link)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        prose("attention", "ways")
        guessed = prediction(found)
        if controls.switch("Show which links decide", False, key="ranking"):
            _ranking(room, link)
    with right:
        _row(room, link, found)
        if guessed:
            _words(found)


def _strongest(head: oh.Head) -> tuple[int, int]:
    row = len(head.weights) - 1
    return row, int(head.weights[row].argmax())


def _row(room: Room, link: tuple[int, int, int, int], found: cuts.Both) -> None:
    """One row of the map: untouched, and with the link cut in both ways."""
    head, query, key = f"{link[0]}.{link[1]}", room.rows[link[2]], room.columns[link[3]]
    say("Here “«query»” no longer reads “«key»” in head «head»:", head=head, key=key, query=query)
    matrix.show(
        live.Picture(key="ways", quantity="weights", says=_("One row of the map: untouched, and cut in both ways.")),
        found.rows,
        rows=[_("untouched"), _("it shares"), _("it stays")],
        columns=room.columns,
        look=matrix.Look(
            from_zero=True,
            row_title="",
            row_role="a",
            row_height=24,
            most=38,
            tools=False,
            point=((1, link[3]), (2, link[3])),
        ),
    )


def _words(found: cuts.Both) -> None:
    """The next word, with the link cut in both ways, over the untouched model's."""
    tokens, before = [sentence.called(id) for id in found.ids], found.probs[0]
    for column, (name, says, key), probs in zip(st.columns(2), BOTH, found.probs[1:], strict=True):
        with column:
            st.markdown(_(name))
            bars.next_tokens(bars.next_picture(key, says), tokens, probs, before, marked=0)


# ---- which way leaves the model surer ----

ALIKE = 0.02  # chances that lie no further apart are called equal


def prediction(found: cuts.Both) -> str | None:
    """After the cut: in which way is the model surer of what it says?"""
    shares, stays = found.probs[1], found.probs[2]
    p, q = float(shares.max()), float(stays.max())
    answer = "same" if abs(p - q) < ALIKE else "share" if p > q else "keep"
    words = (sentence.called(found.ids[int(way.argmax())]) for way in (shares, stays))
    values = dict(zip(("one", "two"), words, strict=True), p=f"{p:.1%}", q=f"{q:.1%}")
    options = {"share": N_("if the row shares"), "keep": N_("if the row stays"), "same": N_("equally sure")}
    question = N_("Guess first: cut this link. When is the model surer of its next word?")
    because = dict.fromkeys((*options, predict.UNSURE), BECAUSE[answer])
    return predict.ask(
        predict.Prediction("surer", question, options, answer, because, opens=("way_share", "way_keep")), **values
    )


BECAUSE = {
    "share": N_(
        "If the row shares, it says “«one»” with «p»; if it stays, “«two»” with «q». "
        "The words that are left share its weight and speak louder."
    ),
    "keep": N_(
        "If the row stays, it says “«two»” with «q»; if it shares, “«one»” with «p». "
        "Louder words that are left do not make one answer surer here."
    ),
    "same": N_(
        "Hardly a difference: “«one»” with «p», “«two»” with «q». This link matters little, so its share does too."
    ),
}


# ---- which links decide ----


def links(reading: Any) -> cuts.Ranking:
    """The ranking of all links, each cut so that its row shares; the first sentence's is recorded."""
    if reading.text == sentence.SENTENCE:
        first, found = outcomes.recorded_words()[0], outcomes.outcomes()
        decide = sum(link.p < first.p / 2 for link in found.share)
        return cuts.Ranking(first.id, first.p, found.cells, found.share, decide)
    with st.spinner(_("Cutting every link once …")):
        return frame.cached(cuts.ranking, sentence.of(reading), True)


def _open(*where: int) -> None:
    """Another head, and another link: the whole page follows."""
    jump(*where)
    st.rerun()


def _ranking(room: Room, shown: tuple[int, int, int, int]) -> None:
    """The most decisive links, each a button that shows it in both ways."""
    found, text = links(room.reading), sentence.of(room.reading)
    word = sentence.called(found.answer)
    decide = N_(
        "Of «cells» links, «count» decide: without any one of them the answer loses more than half of its probability."
    )
    say(decide, cells=f"{found.cells:,}", count=found.deciders)
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
        st.button(label, key=f"link_{i}", on_click=_open, args=where, width="stretch", type=kind)
