"""What a picture says of itself to who presents it: which guess it waits for, and whether it reads the sentence."""

import pytest

from core.lab import text as sentence
from pages.shared import frame
from pages.shared.pictures import live
from tests.pages.opening import open_page

FILES = [entry.file for entry in frame.entries()]
# Where what is read can be seen in no number: it moves only with the hand, or the text is spoken of beside it.
STILL = {"parts_next"}
OTHER = "Tom was very thirsty. He wanted to"
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


@pytest.mark.parametrize("file", FILES)
def test_a_picture_names_the_guess_it_waits_for_and_says_whether_it_reads_the_sentence(file):
    before = open_page(file)
    guesses = {one.id: "?" for one in asked(before)}
    after, other = (open_page(file, words=words, **guesses) for words in (sentence.SENTENCE, OTHER))
    assert not after.exception
    waits(before, after)
    reads(after, other)


def waits(before, after):
    shut, free = pictures(before).keys(), pictures(after).keys()
    opened = {key for app in (before, after) for one in asked(app) for key in one.opens}
    assert free - shut <= opened, "a link to it would ask everything"
    assert not shut & opened, "it does not wait"


def reads(app, other):
    one, two = pictures(app), pictures(other)
    same = {key for key in one if one[key] == two.get(key)}
    wordless = {key for key, (told, _arrays) in one.items() if told["wordless"]}
    assert wordless - MEASURED <= same, "it reads it"
    assert (same & below_the_sentence(app)) - wordless <= STILL
