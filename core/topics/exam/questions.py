"""Papers: five questions from a text, growing harder; the same text and number bring the same paper to everybody."""

from __future__ import annotations

import random

from core.lab.memory import kept
from core.lab.text import Text
from core.topics.exam import counted, named, traced
from core.topics.exam.question import KINDS, Kind, Question, Sheet

MANY = 5
MODULES = (counted, traced, named)  # each enters its kinds


def every(text: Text, seed: int) -> dict[str, Question]:
    """Every question that this text allows, by its kind."""
    sheet = Sheet(text)
    found = {name: kind.ask(sheet, seed) for name, kind in KINDS.items()}
    return {name: question for name, question in found.items() if question is not None}


def make(text: Text, seed: int) -> tuple[Question, ...]:
    """The paper of this number: at most MANY questions of different kinds, the easiest first.

    One of each level where the text allows it, else one of any other. No question tells the answer of another: where
    the tokens are counted, no other says how many they are. A kind is computed only when its turn comes.
    """
    return kept(_paper, text, seed)


def _paper(text: Text, seed: int) -> tuple[Question, ...]:
    rng, sheet, found = random.Random(f"paper {seed}"), Sheet(text), list[Question]()
    order = rng.sample(list(KINDS.values()), len(KINDS))
    for level in range(1, MANY + 1):
        question = _first(sorted(order, key=lambda kind: abs(kind.level - level)), sheet, seed, found)
        found += [question] if question else []
    return tuple(sorted(found, key=lambda question: question.level))


def _first(order: list[Kind], sheet: Sheet, seed: int, before: list[Question]) -> Question | None:
    """The first kind in this order that can be asked beside the others."""
    for kind in order:
        if kind.name in {question.kind for question in before}:
            continue
        question = kind.ask(sheet, seed)
        if question and not any(_tells(a, b) for one in before for a, b in ((one, question), (question, one))):
            return question
    return None


def _tells(one: Question, other: Question) -> bool:
    """Does one question print what another asks for, or are both of one room? (A paper wanders.)"""
    return (one.kind == "pieces" and "n" in other.told) or one.room == other.room
