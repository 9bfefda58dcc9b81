"""Interview cards: one question at a time, one's own answer first, then the model answer and its common mistake."""

from __future__ import annotations

import streamlit as st

from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.exam import cards
from pages.shared import address, controls, frame, headings, readers, spine
from pages.shared.pictures import figures
from pages.shared.text import _, filled, lang, prose, say, sections

IDS = tuple(cards.CARDS)
CHOSEN = controls.Setting("card", IDS[0], readers.one_of(*IDS))
TURNED = controls.Held("cards_turned")
LONGEST = 2000  # characters of one's own answer


def draw(reading: Reading | None = None) -> None:
    """At the idea a fold, shut; deeper a section."""
    reading = _reading() if reading is None else reading
    if spine.deep():
        headings.section("Interview cards")
        st.fragment(_one)(reading)
    else:
        headings.fold("Interview cards", lambda: st.fragment(_one)(reading), len(IDS))


def _reading() -> Reading:
    return sentence.read(controls.text(sentence.SENTENCE))


def _one(reading: Reading) -> None:
    prose("exam", "cards")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        named = {id: _called(id) for id in IDS}
        id = controls.listed(_("Card"), IDS, IDS[0], key="card", shown=named.__getitem__, label_visibility="collapsed")
        following = IDS[(IDS.index(id) + 1) % len(IDS)]
        st.button(_("Next card"), key="card_next", on_click=CHOSEN.keep, args=(following,))
    question, answer, mistake = sections(lang(), "exam")[f"card_{id}"].split("\n\n")
    with st.container(border=True, key="card_face"):
        st.markdown(f"**{filled(question)}**")
        _own(id)
        turned = id in (TURNED.now() or ())
        if not turned:
            st.button(_("Turn the card"), key="card_turn", on_click=_turn, args=(id,))
        if turned or address.now("depth") == "teach":
            with st.container(key="solution_card"):
                _back(cards.CARDS[id], reading, answer, mistake)


def _turn(id: str) -> None:
    TURNED.keep((*(TURNED.now() or ()), id))


def _called(id: str) -> str:
    """A card by its place, its room and its question."""
    question = sections(lang(), "exam")[f"card_{id}"].split("\n\n")[0]
    return f"{IDS.index(id) + 1} · {question.replace('$', '')}"


def _own(id: str) -> None:
    """Text and nothing else: it goes back into its box and nowhere else."""
    held, key = controls.Held(f"card_own_{id}"), f"own_{id}"
    st.text_area(
        _("Your own answer"),
        held.now() or "",
        height=80,
        max_chars=LONGEST,
        key=key,
        on_change=lambda: held.keep(address.shown(key)),
        placeholder=_("Your own answer"),
        label_visibility="collapsed",
    )


def _back(card: cards.Card, reading: Reading, answer: str, mistake: str) -> None:
    numbers = {name: _printed(value) for name, value in cards.facts(sentence.of(reading), card.id).items()}
    st.markdown(filled(answer, **numbers))
    st.markdown(f"**{_('Common mistake')}:** {filled(mistake, **numbers)}")
    if card.room != "exam":
        entry = next(entry for entry in frame.entries() if frame.topic_of(entry.file) == card.room)
        say("Could you also say why? Here one can look:")
        said = dict(card.state) | {"lang": lang()}
        said |= {controls.TEXT: reading.text} if reading.text != sentence.SENTENCE else {}
        st.page_link(frame.path_of(entry), label=f"{_(entry.title)} →", query_params=said)


def _printed(value: int | float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else figures.number(value)
