"""Lessons: titled links into the rooms, each with a line. Some are shipped as Markdown; a visitor collects one.

A link is read like an address: it names a room and words of it, each as it is declared, or it is none. Titles and
lines are text and nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from pages.shared import address, controls, frame, headings
from pages.shared.readers import LONGEST
from pages.shared.text import _, filled, lang, plain, say, unmarked
from pages.shared.words import LESSONS, MINE, MODES, WORDS

FOLDER = Path(__file__).parents[2] / "assets" / "lessons"
STOP = re.compile(r"^\d+\. \[([^\]\n]+)\]\(([^()\s]+)\) ?(.*)$", re.M)
READ = controls.Held("lesson_read")  # how many links of a pasted lesson could not be added
TITLE = 80  # characters of a stop's title
OWN = MODES | {"lang", "depth"}  # who visits says these, a link of a lesson does not


@dataclass(frozen=True)
class Stop:
    """topic: the room; query: what its address says; line: one sentence for who teaches."""

    title: str
    topic: str
    query: tuple[tuple[str, str], ...]
    line: str = ""

    @property
    def link(self) -> str:
        """Relative, so that it points into whatever house it is opened in."""
        path = "/" if self.topic == "home" else f"/{self.topic}"
        return path + (f"?{urlencode(self.query)}" if self.query else "")


@dataclass(frozen=True)
class Lesson:
    name: str
    title: str
    about: str
    stops: tuple[Stop, ...]


# ---- reading ----


def read(link: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """(room, what its address says), or None where this is no link into our rooms, or one of its words says nothing."""
    parts = urlsplit(link)
    topic = parts.path.removeprefix("/") or "home"
    if parts.scheme or parts.netloc or parts.fragment or not link.startswith("/"):
        return None
    if topic not in (frame.topic_of(entry.file) for entry in frame.entries()):
        return None
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    return (topic, query) if all(_may_say(topic, *pair) for pair in query) else None


def _may_say(topic: str, word: str, text: str) -> bool:
    declared = WORDS.get(word)
    if declared is None or word in OWN - {"depth"} or len(text) > LONGEST:
        return False
    return (not declared.pages or topic in declared.pages) and declared.read(text) is not None


@cache
def shipped(language: str, name: str) -> Lesson:
    """A lesson of assets/lessons: a heading, a line about it, numbered links."""
    head, _blank, rest = (FOLDER / language / f"{name}.md").read_text("utf8").partition("\n")
    stops = [Stop(title, *found, line) for title, link, line in STOP.findall(rest) if (found := read(link))]
    return Lesson(name, head.removeprefix("# "), rest.strip().partition("\n")[0], tuple(stops))


def named(name: str | None) -> Lesson | None:
    """The lesson that an address names."""
    if name == MINE:
        return Lesson(MINE, _("My lesson"), _("Collected by you, kept in the address."), mine())
    return shipped(lang(), name) if name in LESSONS else None


def mine() -> tuple[Stop, ...]:
    """What the visitor collected: a line each, the link and its title."""
    kept = (line.partition(" ") for line in str(address.now("mine")).split("\n") if line)
    return tuple(Stop(_title(title), *found) for link, _blank, title in kept if (found := read(link)))


def keep(stops: tuple[Stop, ...]) -> None:
    """For callbacks. What no longer fits into an address is not kept."""
    if fits(stops):
        address.write("mine", _line(stops))


def fits(stops: tuple[Stop, ...]) -> bool:
    """Can one address hold them?"""
    return WORDS["mine"].read(_line(stops)) is not None


def _line(stops: tuple[Stop, ...]) -> str:
    return "\n".join(f"{stop.link} {stop.title}" for stop in stops)


def _title(text: str) -> str:
    """A title as it may stand in an address and in a Markdown file."""
    return " ".join(re.sub(r"[\[\]]", " ", text).split())[:TITLE]


# ---- collecting ----


def collect(room: bool) -> None:
    """For the sidebar of who teaches: this state goes into the lesson. room: is there one to be kept?"""
    if room:
        st.button(_("Add this state to my lesson"), key="collect", on_click=_add, width="stretch")
    if found := mine():
        label = filled(_("My lesson («n»)"), n=len(found))
        st.page_link("pages/lesson.py", label=label, query_params={"name": MINE})


def _add() -> None:
    entry = next((entry for entry in frame.entries() if frame.topic_of(entry.file) == address.here()), None)
    if entry is None:
        return
    said = tuple((word, text) for word, text in st.query_params.items() if _may_say(address.here(), word, text))
    said = tuple(pair for pair in said if pair[0] not in OWN)
    keep((*mine(), Stop(_title(_(entry.title)), address.here(), said)))


# ---- the page of a lesson ----


def show() -> None:
    """/lesson?name=...: its stops, and the way in; without a name, all there are."""
    lesson = named(address.passing("name"))
    if lesson is None:
        st.title(_("Lessons"), anchor=False)
        say("A lesson leads through several rooms, a step at a time, with a line for each.")
        for name in (*LESSONS, MINE):
            found = named(name)
            if found and found.stops:
                st.page_link("pages/lesson.py", label=f"**{plain(found.title)}**", query_params={"name": name})
                st.markdown(plain(found.about))
        return
    st.title(plain(lesson.title), anchor=False)
    st.markdown(plain(lesson.about))
    if lesson.stops:
        with st.container(key="lesson_begin"):
            _way(lesson, 1, _("Begin"))
    else:
        say("Nothing is collected yet. At the depth “To teach” every page has a button that adds its state.")
    for at, stop in enumerate(lesson.stops, 1):
        with st.container(border=True, key=f"stop_{at}"):
            (_editable if lesson.name == MINE else _listed)(lesson, at, stop)
    if lesson.name == MINE:
        if lesson.stops:
            st.download_button(_("Save as Markdown"), exported(lesson), "lesson.md", "text/markdown")
        headings.fold("Go on with a saved lesson", _again)


def _again() -> None:
    """A lesson that was saved as Markdown is read again."""
    say("Paste the text of a lesson that you saved. Its links come after those that stand here.")
    controls.pasted("A saved lesson", _read_again, key="lesson_saved", height=120)
    if READ.now() == 0:
        say("There is no link into these rooms in it.")
    elif READ.now():
        say("«n» more steps do not fit into one link. Nothing was added.", n=READ.now())


def _read_again(text: str) -> None:
    """For callbacks: every numbered link into our rooms; anything else in it says nothing."""
    found = tuple(Stop(_title(title), *where) for title, link, _line in STOP.findall(text) if (where := read(link)))
    all_of_them = (*mine(), *found)
    keep(all_of_them)
    READ.keep(None if (found and fits(all_of_them)) or not text.strip() else len(found))


def exported(lesson: Lesson) -> str:
    """The lesson as a file that could lie in assets/lessons."""
    stops = [f"{at}. [{stop.title}]({stop.link}) {stop.line}".rstrip() for at, stop in enumerate(lesson.stops, 1)]
    return f"# {lesson.title}\n\n{lesson.about}\n\n" + "\n".join(stops) + "\n"


def _listed(lesson: Lesson, at: int, stop: Stop) -> None:
    _way(lesson, at, f"{at}. {plain(stop.title)}")
    st.markdown(plain(stop.line))


def _editable(lesson: Lesson, at: int, stop: Stop) -> None:
    key = f"stop_{at}_of_{len(lesson.stops)}_{hash(lesson.stops) % 10**8}"  # another list, other boxes

    def named() -> None:
        keep(tuple(replace(s, title=_title(address.shown(key))) if s is stop else s for s in lesson.stops))

    st.text_input(
        unmarked(_("Title of step «n»"), n=at),
        stop.title,
        TITLE,
        key=key,
        on_change=named,
        label_visibility="collapsed",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        _way(lesson, at, f"{at}. {_(_entry(stop).title)}")
        swapped = [*lesson.stops]
        if at > 1:
            swapped[at - 2 : at] = swapped[at - 2 : at][::-1]
            st.button(_("Earlier"), key=f"{key}_up", on_click=partial(keep, tuple(swapped)))
        rest = tuple(s for s in lesson.stops if s is not stop)
        st.button(_("Remove"), key=f"{key}_out", on_click=partial(keep, rest))


# ---- on the way ----


def bar() -> None:
    """Above a page that is a step of a lesson: where one is, what to look for, back and on."""
    lesson, at = named(address.passing("lesson")), address.passing("stop")
    if lesson is None or at is None or at > len(lesson.stops):
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="lesson"):
        place = filled(_("«at» of «of»"), at=at, of=len(lesson.stops))
        stop = lesson.stops[at - 1]
        st.markdown(f"**{plain(lesson.title)}** · {place} · {plain(stop.line or stop.title)}", width="stretch")
        if at > 1:
            with st.container(key="lesson_back", width="content"):
                _way(lesson, at - 1, _("Previous"))
        with st.container(key="lesson_next", width="content"):
            if at < len(lesson.stops):
                _way(lesson, at + 1, _("Next step →"))
            else:
                st.page_link("pages/lesson.py", label=_("The end"), query_params={"name": lesson.name})


def _way(lesson: Lesson, at: int, label: str) -> None:
    stop = lesson.stops[at - 1]
    said = {**dict(stop.query), "lesson": lesson.name, "stop": str(at)}
    st.page_link(frame.path_of(_entry(stop)), label=label, query_params=said)


def _entry(stop: Stop) -> frame.Entry:
    return next(entry for entry in frame.entries() if frame.topic_of(entry.file) == stop.topic)
