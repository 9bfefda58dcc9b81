"""The words of all pages, each in one sentence. tests/test_words.py holds every text to them."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from functools import cache

import streamlit as st

from pages.shared import headings
from pages.shared.text import TEXT, _, lang


@dataclass(frozen=True)
class Term:
    """word: in the visitor's language; english: the same in English; says: one sentence; rooms: where the word has this
    meaning, none for everywhere ("rank" is one thing in a table of merges, another of a matrix)."""

    word: str
    english: str
    says: str
    rooms: tuple[str, ...] = ()


@cache
def terms(language: str) -> dict[str, Term]:
    """Every term by its id, the same ids in every language."""
    held = tomllib.loads((TEXT.parent / "glossary" / f"{language}.toml").read_text("utf8"))
    return {
        id: Term(term["word"], str(term.get("english", term["word"])), term["says"], tuple(term.get("rooms", ())))
        for id, term in held.items()
        if isinstance(term, dict)
    }


def book(language: str) -> bytes:
    """What a browser needs to explain a word where it stands: the word in small letters -> its meanings, each as written,
    its sentence, its rooms."""
    said: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {}
    for term in terms(language).values():
        said.setdefault(term.word.lower(), []).append((term.word, term.says, term.rooms))
    return json.dumps(said, ensure_ascii=False).encode()


def show() -> None:
    """All of them as a table, folded away; beside a translated word stands the English one."""
    found = terms(lang()).values()

    def inside() -> None:
        names = [f"{t.word} · {t.english}" if t.word != t.english else t.word for t in found]
        rows = [f"| {name} | {term.says} |" for name, term in zip(names, found, strict=True)]
        st.markdown(f"| {_('word')} | {_('in one sentence')} |\n|---|---|\n" + "\n".join(rows))

    headings.fold("All words, one sentence each", inside, len(found))
