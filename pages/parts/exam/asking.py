"""Five questions from the visitor's own sentence: asked, answered by hand, and the sum shown; the same paper for a class."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.exam import questions as qs
from core.topics.exam import typed
from core.topics.exam.question import KINDS, Question
from pages.shared import address, controls, frame, handout, headings, spine, story
from pages.shared.text import _, filled, lang, prose, say, sections

PAPER = controls.Setting("paper")
PAPERS = 9999
RIGHT, MISSED, UNREAD = "right", "missed", "unread"


@dataclass(frozen=True)
class Tried:
    """What became of one question so far. misses: of answers that could be read, and of giving up."""

    typed: str = ""
    state: str = ""  # RIGHT, MISSED, UNREAD
    misses: int = 0

    @property
    def told(self) -> bool:
        """Is the sum shown?"""
        return self.state == RIGHT or self.misses > 1


def draw(reading: Reading | None = None) -> None:
    """The sentence (where the page has not asked for it above), five questions, and how they went."""
    headings.section("Questions from your sentence")
    reading = story.ask() if reading is None else reading
    if not spine.deep():
        st.fragment(_paper)(reading)
        return
    prose("exam", "questions")
    st.fragment(_paper)(reading)
    prose("exam", "questions_class")


def _paper(reading: Reading) -> None:
    number = int(PAPER.now())
    paper = qs.make(sentence.of(reading), number)
    for place, question in enumerate(paper, 1):
        _asked(place, question, reading.text)
    handout.paper([(f"{at}. {_said(one, 0)}", [*one.options], _said(one, 2)) for at, one in enumerate(paper, 1)])
    tries = [_tries(one).now() or Tried() for one in paper]
    done, clean = sum(one.told for one in tries), sum(one.state == RIGHT and not one.misses for one in tries)
    with st.container(horizontal=True, vertical_alignment="center", key="paper_tools"):
        st.button(_("Five more"), key="paper_next", on_click=PAPER.keep, args=(number % PAPERS + 1,))
        say(
            "Paper «number» · «clean» right at once, «done» of «n» done",
            number=number,
            clean=clean,
            done=done,
            n=len(paper),
        )
    _marks(paper, tries)


# ---- one question ----


def _said(question: Question, part: int) -> str:
    """0: what is asked, 1: the hint, 2: the sum; its holes filled."""
    parts = sections(lang(), "exam")[f"ask_{question.kind}"].split("\n\n")
    return _bare(filled(parts[part], **question.told | {"answer": _answer(question)}))


def _bare(summed: str) -> str:
    """Brackets round a number are for its minus."""
    summed = re.sub(r"(?<=[×−] )\((\d[\d.]*)\)", r"\1", summed)
    return re.sub(
        r"(?<=[×−])（(\d[\d.]*)）(?=(.?))", lambda found: f" {found[1]}{'' if found[2] == '）' else ' '}", summed
    )


def _answer(question: Question) -> str:
    """As the sum prints it: what its printed numbers come to, counts to the last one."""
    if "answer" in question.told:
        return question.told["answer"]
    if isinstance(question.answer, str):
        return question.answer
    if not question.tolerance:
        return f"{int(question.answer):,}"
    return f"{question.answer:.4g}".replace("-", "−")


def _id(question: Question) -> str:
    """Another sentence or another number makes another question, with an empty box."""
    return f"{question.kind}_{zlib.crc32(repr((question.values, question.answer)).encode()):x}"


def _tries(question: Question) -> controls.Held:
    return controls.Held(f"asked_{_id(question)}")


def _asked(place: int, question: Question, text: str) -> None:
    held, key = _tries(question), f"answer_{_id(question)}"
    tried: Tried = held.now() or Tried()
    with st.container(border=True, key=f"asked_{place}", gap="small"):
        left, right = st.columns([5, 2], vertical_alignment="center", gap="small")
        left.markdown(f"**{place}.** {_said(question, 0)}")
        with right:
            _box(place, question, key, tried, lambda given: held.keep(judged(question, held.now() or Tried(), given)))
        if tried.state or address.now("depth") == "teach":
            with st.container(key=f"solution_ask_{place}"):
                _verdict(question, tried, text)


def _box(place: int, question: Question, key: str, tried: Tried, take: Callable[[str], None]) -> None:
    """Where the answer goes: a line to type into, or the four to choose from; beside it the way to give up."""

    def heard() -> None:
        take(str(address.shown(key) or ""))

    label = f"{_('Your answer')} {place}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if question.options:
            at = question.options.index(tried.typed) if tried.typed in question.options else None
            st.selectbox(
                label,
                question.options,
                at,
                key=key,
                on_change=heard,
                label_visibility="collapsed",
                placeholder=_("choose"),
            )
        else:
            st.text_input(label, tried.typed, typed.LONGEST, key=key, on_change=heard, label_visibility="collapsed")
        st.button("?", key=f"{key}_unknown", type="tertiary", help=_("I don't know"), on_click=take, args=("?",))


def judged(question: Question, before: Tried, given: str) -> Tried:
    """What becomes of a question when this is given as its answer. "?" gives up one step; nothing changes nothing."""
    if not given.strip() or before.told:
        return before
    if given == "?":
        return Tried(before.typed, MISSED, before.misses + 1)
    readings: tuple[float | str, ...] = (given,) if question.options else typed.numbers(given)
    if not readings:
        return Tried(given, UNREAD, before.misses)
    right = any(question.right(one) for one in readings)
    return Tried(given, RIGHT if right else MISSED, before.misses + (not right))


def _verdict(question: Question, tried: Tried, text: str) -> None:
    key = address.now("depth") == "teach"
    if tried.state == UNREAD and not key:
        say("“«typed»” is no number I can read. Try 0.25, 25%, 1/4 or 1,024.", typed=tried.typed)
        return
    if not tried.told and not key:
        st.markdown(f"**{_('Not yet.')}** {_said(question, 1)}")
        return
    opening = _("Right.") if tried.state == RIGHT else _("The sum:")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{opening}** {_said(question, 2)}", width="stretch")
        _way(question, text)


def _way(question: Question, text: str) -> None:
    """To the room that teaches it, as it stands for this very question."""
    entry = _entry(question.room)
    if entry is None:
        return
    said = dict(question.state) | {"lang": lang()}
    said |= {controls.TEXT: text} if text != sentence.SENTENCE else {}
    said |= {"ffn_text": text} if question.room == "feedforward" and len(text) <= 1500 else {}
    label = _("See it") if KINDS[question.kind].shown else _("To its room")
    st.page_link(frame.path_of(entry), label=f"{label} →", query_params=said)


def _entry(room: str) -> frame.Entry | None:
    return next((entry for entry in frame.entries() if frame.topic_of(entry.file) == room), None)


# ---- what a browser remembers ----


def _marks(paper: tuple[Question, ...], tries: list[Tried]) -> None:
    """Told to start/results.js, which keeps them: a question is right if no answer missed."""
    with st.container(key="told_results"):
        for question, tried in zip(paper, tries, strict=True):
            if tried.told:
                how = RIGHT if not tried.misses else "again"
                st.container(
                    key=f"told_{question.room}_{how}_{_id(question).rpartition('_')[2]}", height=1, border=False
                )


def card() -> None:
    """How it went, room by room. What stands in the rows is put there by the browser that remembers it."""
    with st.container(border=True, key="results", gap="small"):
        with st.container(horizontal=True, gap="small"):
            say("**Your result card.** Only this browser keeps it; the server knows nothing of it.")
            with st.container(key="results_none", width="content"):
                say("Answer a question, and its room stands here.")
        with st.container(key="results_rooms", horizontal=True, gap="small"):
            for room in rooms():
                entry = _entry(room)
                if entry:
                    with st.container(key=f"result_{room}", width="content"):
                        st.page_link(frame.path_of(entry), label=_(entry.title))
        with st.container(key="results_some"):
            say("Right at once, of all you answered. ↻ marks a room to look at again.")
            st.button(_("Forget my results"), key="results_forget", type="tertiary")


def rooms() -> list[str]:
    """The rooms that questions come from, in reading order."""
    asked = {kind.room for kind in KINDS.values()}
    return [room for room in map(frame.topic_of, (entry.file for entry in frame.entries())) if room in asked]
