"""A browser that has not yet heard of the last change sends the address from before it, with whatever it says next."""

import time

import pytest
from streamlit.runtime.scriptrunner import RerunData, RerunException

from pages.shared import address
from tests.pages.opening import open_page

SAID = {"temperature": "0.5109", "layer": "3", "words": "The dog ran to the park"}


def said(app, word):
    found = app.query_params.get(word)
    return found[0] if isinstance(found, list) else found


@pytest.fixture
def app():
    opened = open_page("06_attention", depth="idea", **SAID)
    assert {word: said(opened, word) for word in SAID} == SAID
    return opened


def late(app):
    """The next message comes with the address as it was."""
    for word, text in SAID.items():
        app.query_params[word] = text
    app.run()
    assert not app.exception


def test_a_sentence_outlives_an_address_that_does_not_know_it(app):
    app.text_input(key="words").input("Amy saw a cat").run()
    late(app)
    assert (said(app, "words"), app.text_input(key="words").value) == ("Amy saw a cat", "Amy saw a cat")
    assert said(app, "layer") == "3", "what was not changed"


def test_so_does_all_that_an_example_sets_and_takes_back(app):
    app.button(key="example_1").click().run()
    chosen = {word: said(app, word) for word in SAID}
    assert chosen["temperature"] is None
    assert chosen["words"] not in (None, SAID["words"])
    late(app)
    assert {word: said(app, word) for word in SAID} == chosen


def test_what_an_address_says_that_nobody_left_counts(app):
    app.text_input(key="words").input("Amy saw a cat").run()
    app.query_params["words"] = "The boy had a ball"
    app.run()
    assert app.text_input(key="words").value == "The boy had a ball"


def test_later_it_is_no_address_that_was_on_its_way(app, monkeypatch):
    app.text_input(key="words").input("Amy saw a cat").run()
    then = time.monotonic() + address.ON_ITS_WAY
    monkeypatch.setattr(address.time, "monotonic", lambda: then)
    late(app)
    assert app.text_input(key="words").value == SAID["words"]


def test_what_a_hand_did_is_done_though_more_is_heard_while_it_is_done():
    done, heard = [], [RerunException(RerunData()), RerunException(RerunData())]

    @address.whole
    def callback(value):
        if heard:
            raise heard.pop()
        done.append(value)

    with pytest.raises(RerunException):
        callback(3)
    assert done == [3]
