"""Home: the map, the one link, and the sentence say the same as the address; the first sentence needs no torch."""

import subprocess
import sys

import numpy as np
import pytest

from core.lab import outcomes
from core.lab import text as sentence
from core.topics.home import flow
from core.whatif import Change
from tests.pages.opening import address, come_back, open_page, picture, words

PAGE = "01_home"
FIRST = sentence.of(sentence.read(sentence.SENTENCE))


def said(app):
    return words(app).replace("\\", "")


def test_the_first_sentence_is_read_from_the_recording_without_torch():
    code = "import sys; from core.topics.home.flow import first, flow; flow(first()); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    assert flow.first() == FIRST, "and it is the very text that any page reads"


def test_a_link_into_the_map_survives_leaving_and_coming_back():
    chosen = dict(map_block="2", map_head="4", link="1")
    app = open_page(PAGE, **chosen, guess="Sam")
    cut = flow.compute(FIRST, Change(cut=outcomes.LINK, share=True))
    for again in (app, come_back(app, PAGE, away="14_ledger"), open_page(PAGE, **address(app), guess="?")):
        assert address(again) == chosen
        meta, arrays = picture(again, "map")
        assert meta["state"] == {"block": 2, "head": 4}
        assert meta["link"]["cut"]
        assert meta["next"][0]["token"] == cut.words[0].token == "Sam"
        np.testing.assert_allclose(arrays["next_logits"].max(), cut.trace["next_logits"].value.max(), rtol=1e-3)
        assert "the model says Sam, with 98.1%" in said(again)
    assert "**Not quite.**" in said(app), "the guess stays with the session"


def test_every_choice_survives_leaving_and_coming_back():
    chosen = dict(words="Tom was very thirsty. He wanted to", map_block="0", map_head="3")
    app = open_page(PAGE, **chosen)
    for again in (app, come_back(app, PAGE, away="14_ledger"), open_page(PAGE, **address(app))):
        assert address(again) == chosen
        meta = picture(again, "map")[0]
        assert meta["state"] == {"block": 0, "head": 3}
        assert meta["tokens"] == list(sentence.read(chosen["words"]).tokens)
        assert chosen["words"] in said(again)
        assert again.text_input(key="words").value == chosen["words"]


def test_the_lit_link_belongs_to_the_first_sentence():
    app = open_page(PAGE, link="1", words=sentence.TWIN)
    assert picture(app, "map")[0]["link"] is None
    assert address(app) == {"words": sentence.TWIN}
    app.button(key="back").click().run()
    assert address(app) == {}


@pytest.mark.parametrize("said_words", ["", "  ", f" {sentence.SENTENCE} "])
def test_what_is_read_as_the_first_sentence_is_the_first_sentence(said_words):
    app = open_page(PAGE, words=said_words)
    assert "Which word comes next?" in said(app)
    assert picture(app, "map")[0]["tokens"] == list(FIRST.tokens)


@pytest.mark.parametrize("junk", ["99", "-1", "x", "1.5", "6"])
def test_a_block_that_is_none_is_the_one_with_the_link(junk):
    app = open_page(PAGE, map_block=junk, map_head=junk, link=junk, guess="Amy")
    assert picture(app, "map")[0]["state"] == {"block": outcomes.LINK[0], "head": outcomes.LINK[1]}
    assert address(app) == {}


def test_the_other_links_are_not_counted_before_the_visitor_counts_them():
    app = open_page(PAGE, guess="Amy")
    assert "Find them" in said(app)
    assert f"{outcomes.outcomes().cells:,}" not in said(app)


def test_a_callback_can_open_another_page():
    app = open_page(PAGE, guess="Amy", map_block="1")
    app.session_state["_wanted"] = "14_ledger"
    app.run()
    assert not app.exception
    assert "The ledger" in app.title[0].value
    assert not address(app)
