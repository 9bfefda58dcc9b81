"""Where a question or a card leads: every address says words its room knows, and points at a heading that is there."""

import re
from pathlib import Path

import pytest

from core.assets import ASSETS
from core.lab import text as words_of
from core.topics.exam import cards, counted, named, questions, traced
from core.topics.exam.question import KINDS
from pages.shared.words import WORDS

PAGES = Path(__file__).parents[4] / "pages"
HEADING = re.compile(r"headings\.(?:section|fold)\(\s*\"([^\"]+)\"")
TEXTS = tuple(
    words_of.of(words_of.read(text))
    for text in (
        words_of.SENTENCE,
        "Tom was very thirsty. He wanted to",
        "One day, Lily went to the park and saw a dog",
    )
)


def headings():
    """Every heading of the pages, as a link names it: small letters and digits, hyphens between, forty signs."""
    code = "\n".join(path.read_text("utf8") for path in PAGES.rglob("*.py"))
    names = (re.sub("[^a-z0-9]+", "-", one.lower()).strip("-") for one in HEADING.findall(code))
    return {name[:40] for name in names}


@pytest.fixture(scope="module")
def asked():
    return [one for text in TEXTS for seed in (1, 2) for one in questions.every(text, seed).values()]


@pytest.fixture(scope="module")
def holes():
    """A section of the exam's text -> the names of what it leaves open."""
    parts = re.split(r"^<!-- (\w+) -->$", (ASSETS / "text/en/exam.md").read_text("utf8"), flags=re.M)
    return {name: set(re.findall("«(\\w+)»", body)) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def test_the_kinds_of_three_modules_are_all_there_are():
    makers = {kind.make.__module__ for kind in KINDS.values()}
    assert makers == {counted.__name__, named.__name__, traced.__name__}
    rooms = {re.sub(r"^\d+_", "", path.stem) for path in PAGES.glob("[0-9]*.py")}
    assert {one.room for one in (*KINDS.values(), *cards.CARDS.values())} <= rooms


def test_a_question_is_asked_in_every_kind(asked):
    assert {one.kind for one in asked} == set(KINDS)


def leads(room, state):
    """Each word is one of its room, and it can be read."""
    for word, said in state:
        assert word in WORDS, word
        assert room in (WORDS[word].pages or (room,)), (word, room)
        assert WORDS[word].read(said) is not None, (word, said)
    assert dict(state).get("at") in {None, *headings()}


def test_every_question_leads_somewhere(asked):
    for room, state in {(one.room, one.state) for one in asked}:
        leads(room, state)


def test_every_card_leads_somewhere():
    for card in cards.CARDS.values():
        leads(card.room, card.state)


def test_every_hole_of_a_question_is_filled(asked, holes):
    for one in asked:
        assert holes[f"ask_{one.kind}"] <= set(one.told) | {"answer"}, one.kind


def test_every_hole_of_a_card_is_filled(holes):
    for name in cards.CARDS:
        assert holes[f"card_{name}"] <= set(cards.facts(TEXTS[0], name)), name
