"""What a picture says of itself to who presents it: which guess it waits for, and whether it reads the sentence."""

from functools import cache

import pytest

from core.lab import text as sentence
from pages.shared import frame
from pages.shared.pictures import live
from tests.pages.opening import open_page

FILES = [entry.file for entry in frame.entries()]
# Where what is read can be seen in no number: it moves only with the hand, or the text is spoken of beside it.
STILL = {"13_model": {"parts_next"}}
MEASURED = {"clocks"}  # milliseconds: other ones every time


def asked(app):
    return [prediction for prediction, _values in app.session_state["_asked_here"].values()]


def pictures(app):
    """key -> (meta, arrays as bytes), in the order of the page."""
    found = {}
    for element in app.get("bidi_component"):
        meta, arrays = live.unpack(element.proto.bytes)
        told = {word: said for word, said in meta.items() if word not in ("id", "heard", "state")}
        found[meta["key"]] = told, {name: values.tobytes() for name, values in arrays.items()}
    return found


def below_the_sentence(app):
    """The keys of the pictures that stand below the box of the sentence."""
    keys, below = set(), False
    for element in app.main:
        below = below or getattr(element, "key", None) == "words"
        if below and element.type == "bidi_component":
            keys.add(live.unpack(element.proto.bytes)[0]["key"])
    return keys


@cache
def guessed(file, words=sentence.SENTENCE):
    """The page once everything has been guessed."""
    before = open_page(file)
    after = open_page(file, words=words, **{one.id: "?" for one in asked(before)})
    assert not after.exception
    return before, after


@pytest.mark.parametrize("file", FILES)
def test_a_guess_names_the_pictures_that_wait_for_it(file):
    before, after = (pictures(app).keys() for app in guessed(file))
    opened = {key for app in guessed(file) for one in asked(app) for key in one.opens}
    assert after - before <= opened, "a link to it would ask everything"
    assert not before & opened, "it does not wait"


@pytest.mark.parametrize("file", FILES)
def test_a_picture_that_reads_no_sentence_says_so(file):
    _before, app = guessed(file)
    one, other = pictures(app), pictures(guessed(file, "Tom was very thirsty. He wanted to")[1])
    same = {key for key in one if one[key] == other.get(key)}
    wordless = {key for key, (told, _arrays) in one.items() if told["wordless"]}
    assert wordless - MEASURED <= same, "it reads it"
    assert (same & below_the_sentence(app)) - wordless <= STILL.get(file, set())
