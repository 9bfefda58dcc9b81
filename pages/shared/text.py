"""Words on the screen. Code is written in English; assets/text/zh.toml holds the Chinese.

Prose has holes for numbers, «name», because no number that core can compute is typed into a text. Whatever fills a
hole is escaped: a visitor's words are never taken for Markdown, LaTeX or HTML.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import streamlit as st

from pages.shared import address

TEXT = Path(__file__).parents[2] / "assets" / "text"
LANGUAGES = {"en": "English", "zh": "中文"}  # each in its own
ROWS = re.compile(r"^<!-- rows: (.+) -->\n", re.M)
MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>$~:&^=/@\"'])")


def lang() -> str:
    """The visitor's language, as `speak` set it when the run began; before that the browser's."""
    return st.session_state.get("_lang") or browser_language()


def speak() -> None:
    """The language of this run: the address says it, else this session, else the browser. Nothing is written yet: the
    address still belongs to the page that is left."""
    st.session_state["_lang"] = address.said("lang") or browser_language()


def browser_language() -> str:
    return "zh" if (st.context.locale or "").lower().startswith("zh") else "en"


def _(english: str) -> str:
    return english if lang() == "en" else labels(lang()).get(english, english)


def N_(english: str) -> str:
    """Marks English that is translated where it is shown, so that the tests find it."""
    return english


def plain(text: str) -> str:
    """Text as text: every sign that Markdown, LaTeX or HTML could take for its own is escaped."""
    text = " ".join(text.split())
    return MARKDOWN.sub(lambda m: "&lt;" if m[0] == "<" else "&amp;" if m[0] == "&" else "\\" + m[0], text)


def filled(template: str, **values: object) -> str:
    """The template with its «holes» filled; texts are escaped, everything else is written as it is."""
    return re.sub(r"«(\w+)»", lambda m: plain(str(values[m[1]])), template)


def unmarked(template: str, **values: object) -> str:
    """The template with its «holes» filled as they are, for what reads no Markdown: alternative texts, spoken labels."""
    return re.sub(r"«(\w+)»", lambda m: str(values[m[1]]), template)


def say(english: str, **values: object) -> None:
    """One translated line of Markdown with «holes»."""
    st.markdown(filled(_(english), **values))


def prose(page: str, section: str, **values: object) -> None:
    """A section of the page's text in the visitor's language."""
    st.markdown(filled(sections(lang(), page)[section], **values))


@cache
def labels(language: str) -> dict[str, str]:
    """English -> the language: what all pages share, then what single pages say."""
    files = [TEXT / f"{language}.toml", *sorted((TEXT / language).glob("*.toml"))]
    return {english: said for path in files for english, said in tomllib.loads(path.read_text("utf8")).items()}


@cache
def sections(language: str, page: str) -> dict[str, str]:
    """The parts of assets/text/<language>/<page>.md, each under a `<!-- name -->` line. What a part teaches of the
    curriculum (`<!-- rows: ... -->`) is for tests/test_rows.py, and for nobody's screen."""
    text = ROWS.sub("", (TEXT / language / f"{page}.md").read_text("utf8"))
    parts = re.split(r"^<!-- (\w+) -->$", text, flags=re.M)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
