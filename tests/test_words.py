"""One word for one thing: every text on the screen, English and Chinese, against the glossaries."""

import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from pages.shared import frame
from pages.shared.text import labels
from tests import spoken
from tests.pages.opening import open_page, words

ASSETS = Path(__file__).parents[1] / "assets"
LANGUAGES = ("en", "zh")
NOT_PROSE = re.compile(r"```.*?```|`[^`]*`|\$[^$]*\$|<!--.*?-->|(?<=«)\w+(?=»)", re.S)  # code, formulas, names of holes


def glossary(language):
    return tomllib.loads((ASSETS / "glossary" / f"{language}.toml").read_text("utf8"))


def terms(language):
    return {id: term for id, term in glossary(language).items() if isinstance(term, dict)}


def label_files():
    return [ASSETS / "text" / "zh.toml", *sorted((ASSETS / "text" / "zh").glob("*.toml"))]


@cache
def texts(language):
    """(where, text) of everything a visitor can read."""
    found = [
        (f"{path.name}:{at}", line)
        for path in sorted((ASSETS / "text" / language).glob("*.md"))
        for at, line in enumerate(NOT_PROSE.sub("", path.read_text("utf8")).split("\n"), 1)
    ]
    found += [
        (f"lessons/{path.name}", re.sub(r"\]\([^)]*\)", "]", line))
        for path in sorted((ASSETS / "lessons" / language).glob("*.md"))
        for line in path.read_text("utf8").split("\n")
    ]
    if language == "en":
        said = [("label", label) for label in sorted(spoken.everything())]
    else:
        said = [(path.name, line) for path in label_files() for line in tomllib.loads(path.read_text("utf8")).values()]
    said += [("glossary", term["says"]) for term in terms(language).values()]
    return found + [(where, NOT_PROSE.sub("", text)) for where, text in said]


def test_both_glossaries_explain_the_same_words():
    english, chinese = terms("en"), terms("zh")
    assert list(english) == list(chinese)
    for id, term in chinese.items():
        assert term["english"] == english[id]["word"], id
        assert term.get("rooms") == english[id].get("rooms"), id


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_is_explained_in_one_sentence(language):
    for id, term in terms(language).items():
        assert term["says"].endswith(". 。"[0 if language == "en" else 2]), id
        assert len(term["says"]) <= 110, id


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_with_two_meanings_has_one_in_each_room(language):
    rooms = {frame.topic_of(entry.file) for entry in frame.entries()}
    held = defaultdict(list)
    for id, term in terms(language).items():
        where = term.get("rooms", sorted(rooms))
        assert set(where) <= rooms, id
        held[term["word"].lower()] += where
    assert [word for word, where in held.items() if len(where) != len(set(where))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_the_glossary_is_used(language):
    every = "\n".join(text for where, text in texts(language) if where != "glossary").lower()
    code = "".join(path.read_text("utf8") for path in (ASSETS / "text" / language).glob("*.md")).lower()
    tensors = " ".join(re.findall(r'Quantity\(\s*"(\w+)"', "".join(p.read_text("utf8") for p in spoken.files())))
    seen = every + code + tensors
    assert [term["word"] for term in terms(language).values() if term["word"].lower() not in seen] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_uses_a_word_that_means_something_else(language):
    never = [*glossary(language)["never"], *(p for term in terms(language).values() for p in term.get("never", []))]
    assert len(never) > 5
    found = [(p, where, text[:120]) for p in never for where, text in texts(language) if re.search(p, text)]
    assert found == []


def test_no_label_is_translated_twice():
    said = defaultdict(list)
    for path in label_files():
        for english in tomllib.loads(path.read_text("utf8")):
            said[english].append(path.name)
    assert {english: names for english, names in said.items() if len(names) > 1} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_home_explains_every_word(language):
    shown = words(open_page("01_home", lang=language, at="all-words-one-sentence-each"))
    for term in terms(language).values():
        english = "" if term.get("english", term["word"]) == term["word"] else f" · {term['english']}"
        assert f"| {term['word']}{english} | {term['says']} |" in shown


def test_no_sign_needs_an_emoji_font():
    """Where none is installed an emoji is an empty box. What a visitor or an example types is another matter."""
    emoji = re.compile("[\U0001f300-\U0001faff\U0001f000-\U0001f2ff\u2705\u274c]")
    for english, chinese in labels("zh").items():
        assert not emoji.search(english + chinese), english
