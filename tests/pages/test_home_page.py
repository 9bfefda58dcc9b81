"""Home: what is veiled, cut, found and written says the same as the address; the first sentence needs no torch."""

import subprocess
import sys

import numpy as np
import pytest

from core.lab import outcomes, subject
from core.lab import text as sentence
from core.topics.home import chase, flow, writing
from core.whatif import Change
from tests.pages.opening import address, come_back, open_page, picture, words

PAGE = "01_home"
FIRST = sentence.of(sentence.read(sentence.SENTENCE))
CUT = ",".join(map(str, outcomes.LINK))
THREE = [(5, 1, 13, 3), (1, 2, 9, 1), (4, 4, 13, 9)]


def said(app):
    return words(app).replace("\\", "") + "\n" + "\n".join(title.value.replace("\\", "") for title in app.title)


def test_the_first_sentence_is_read_from_the_recording_without_torch():
    code = "import sys; from core.topics.home.flow import first, flow; flow(first()); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    assert flow.first() == FIRST, "and it is the very text that any page reads"


def test_before_the_guess_nothing_tells_the_answer():
    app = open_page(PAGE)
    meta = picture(app, "map")[0]
    assert meta["veiled"]
    assert meta["said"] == [{"lens": [], "next": [], "before": None}]
    assert meta["links"] == []
    assert "98.6%" not in said(app)
    assert not [b.key for b in app.button if b.key in ("cut_it", "write_on", "hunt_it")]


@pytest.mark.parametrize(
    ("guess", "blank"), [("Sam", "~~Sam~~ :violet[Amy]"), ("Amy", "to :violet[Amy]"), ("?", "to :violet[Amy]")]
)
def test_the_blank_is_filled_and_the_answer_stands_in_large_figures(guess, blank):
    app = open_page(PAGE, guess=guess)
    assert blank in said(app)
    assert ":violet[Amy] 98.6%" in said(app)
    assert picture(app, "map")[0]["links"][0] | {"weight": 0} == dict(
        block=5, head=1, query=13, key=3, weight=0, cut=False
    )
    app.button(key="guess_again").click().run()
    assert picture(app, "map")[0]["veiled"]


def test_a_cut_link_shows_before_and_after_and_survives_leaving_and_coming_back():
    chosen = dict(map_block="2", map_head="4", link=CUT)
    app = open_page(PAGE, **chosen, guess="Sam")
    cut = flow.compute(FIRST, Change(cut=outcomes.LINK, share=True))
    for again in (app, come_back(app, PAGE, away="14_ledger"), open_page(PAGE, **address(app), guess="?")):
        assert address(again) == chosen
        meta, arrays = picture(again, "map")
        assert meta["state"] == {"block": 2, "head": 4}
        assert meta["links"][0]["cut"]
        now, before = meta["said"][0]["next"], meta["said"][0]["before"]
        assert now[0]["token"] == cut.words[0].token == "Sam"
        assert now[-1]["token"] == "Amy", "the fallen answer is among the bars"
        assert before[-1] == pytest.approx(flow.first() and flow.recorded().words[0].p)
        np.testing.assert_allclose(arrays["next_logits"].max(), cut.trace["next_logits"].value.max(), rtol=1e-3)
        assert ":violet[Sam] 98.1%" in said(again)
        assert "Amy 98.6% → **0.0%**. This link decides." in said(again)


def test_the_hunt_for_all_links_ends_with_what_they_do():
    app = open_page(PAGE, guess="Amy")
    assert "you have found" not in said(app), "not counted before one is cut"
    app.button(key="cut_it").click().run()
    assert "**3 of the links decide; you have found 1.**" in said(app)
    for n, link in enumerate(THREE[1:], 2):
        cut = {"map": {"cut": list(link)}}
        app.button(key="put_back").click().run()
        app.query_params["link"] = ",".join(map(str, link))
        app.run()
        if n < 3:
            assert f"you have found {n}" in said(app), cut
    told = said(app)
    assert "**All found: 3 of the links decide.**" in told
    order = [told.index(f"Block {block}, head") for block in (1, 4, 5)]
    assert order == sorted(order), "in the order in which the model comes to them"
    assert (
        "“to” takes 84% of what it reads from “Amy”. What it takes speaks for “Amy” louder than for any other of the 32,000"
        in told
    )
    assert "“Sam 2” takes 83% of what it reads from “Sam 1”. That is not yet the answer" in told


def test_a_link_that_does_not_decide_is_not_found():
    app = open_page(PAGE, guess="Amy", link="0,0,5,2")
    assert "The answer hardly minds." in said(app)
    assert "you have found" not in said(app)


@pytest.mark.parametrize("junk", ["1", "9,9,9,9", "5,1,3,13", "5,1,99,3", "a,b,c,d", "5,1,13"])
def test_a_link_that_is_none_cuts_nothing(junk):
    app = open_page(PAGE, guess="Amy", link=junk)
    assert not app.exception
    assert address(app) == {}
    assert ":violet[Amy] 98.6%" in said(app)


def test_any_sentence_is_hunted_through():
    text = sentence.of(sentence.read("Tom was very thirsty. He wanted to"))
    app = open_page(PAGE, words="Tom was very thirsty. He wanted to")
    assert ":violet[drink] 98.3%" in said(app)
    app.button(key="hunt_it").click().run()
    assert "**1 of the links decide" in said(app)
    link = picture(app, "map")[0]["links"][0]
    at = tuple(link[name] for name in ("block", "head", "query", "key"))
    assert at == (4, 3, 10, 5)
    assert chase.without(text, at).answer.p == pytest.approx(
        subject.outlook(text, Change(cut=at, share=True), subject.outlook(text).asked.id).asked.p
    )
    app.button(key="show_them").click().run()
    assert "from “·irst”. What it takes speaks for “drink” louder than for any other of" in said(app)


def test_where_no_single_link_decides_that_is_said():
    app = open_page(PAGE, words="Once upon a time there was a", hunt="true")
    assert "**No single link decides.**" in said(app)
    text = sentence.of(sentence.read("Once upon a time there was a"))
    least = min(
        subject.outlook(text, Change(cut=(layer, head, query, key), share=True), subject.outlook(text).asked.id).asked.p
        for layer, head in ((0, 2), (0, 3), (5, 5))
        for query in range(1, len(text))
        for key in range(query + 1)
    )
    assert f"keeps {least / subject.outlook(text).asked.p:.0%} of its chance" in said(app), (
        "each cut by a pass of its own"
    )


def test_how_far_an_answer_falls_is_said_truly():
    text = sentence.of(sentence.read("Tom dropped the glass and it"))
    for link, verdict in (
        ((4, 4, 6, 4), "The answer stays, but is less sure."),
        ((0, 0, 2, 1), "The answer hardly minds."),
    ):
        kept = subject.outlook(text, Change(cut=link, share=True), subject.outlook(text).asked.id).asked.p
        app = open_page(PAGE, words="Tom dropped the glass and it", hunt="true", link=",".join(map(str, link)))
        assert verdict in said(app)
        assert (kept / subject.outlook(text).asked.p > 0.9) == ("hardly" in verdict)


def test_of_a_long_text_only_the_last_row_is_cut_and_that_is_said():
    long = (
        "Once upon a time there was a little girl named Lily. She loved to play outside in the big green park with her"
    )
    assert "only the links of its last token were cut" in said(open_page(PAGE, words=long, hunt="true"))


def test_every_choice_survives_leaving_and_coming_back():
    chosen = dict(
        words="Tom was very thirsty. He wanted to",
        map_block="0",
        map_head="3",
        write="true",
        on="3",
        heat="0.8",
        roll="2",
    )
    app = open_page(PAGE, **chosen)
    for again in (app, come_back(app, PAGE, away="14_ledger"), open_page(PAGE, **address(app))):
        assert address(again) == chosen
        meta = picture(again, "map")[0]
        assert meta["state"] == {"block": 0, "head": 3}
        assert meta["slider"]["stops"][meta["slider"]["at"]] == 3
        read = list(sentence.read(chosen["words"]).tokens)
        assert meta["tokens"][: len(read)] == read
        assert meta["start"] == len(read)
        assert again.text_input(key="words").value == chosen["words"]


def test_what_is_written_is_what_the_model_says_step_by_step():
    app = open_page(PAGE, guess="Amy", write="true")
    meta = picture(app, "map")[0]
    told = writing.write(FIRST, 0.0, 0)
    assert len(meta["said"]) == len(meta["slider"]["stops"]) == writing.MOST + 1
    tokens = meta["tokens"][meta["start"] :]
    for i, (token, step) in enumerate(zip(tokens, meta["said"], strict=False)):
        assert step["next"][0]["token"] == token, "the likeliest is what is written"
        start = FIRST.ids + tuple(told.flow.trace["ids"].value.tolist()[len(FIRST) : len(FIRST) + i])
        if i in (0, 7):
            fresh = subject.outlook(sentence.Text(FIRST.subject, start, FIRST.tokens + tuple(tokens[:i])))
            assert step["next"][0]["p"] == pytest.approx(fresh.words[0].p, rel=1e-3), (
                "as from a pass over that text alone"
            )
    assert "Amy, and she caught it." in meta["captions"][7]


def test_the_lit_link_belongs_to_the_first_sentence():
    app = open_page(PAGE, words=sentence.TWIN, guess="Amy")
    assert picture(app, "map")[0]["links"] == []
    app.button(key="back").click().run()
    assert address(app) == {}
    app.button(key="twin").click().run()
    assert address(app) == {"words": sentence.TWIN}


@pytest.mark.parametrize("said_words", ["", "  ", f" {sentence.SENTENCE} "])
def test_what_is_read_as_the_first_sentence_is_the_first_sentence(said_words):
    app = open_page(PAGE, words=said_words)
    assert picture(app, "map")[0]["veiled"]
    assert picture(app, "map")[0]["tokens"] == list(FIRST.tokens)


@pytest.mark.parametrize("junk", ["99", "-1", "x", "1.5", "6"])
def test_a_block_that_is_none_is_the_one_with_the_link(junk):
    app = open_page(PAGE, map_block=junk, map_head=junk, link=junk, guess="Amy")
    assert picture(app, "map")[0]["state"] == {"block": outcomes.LINK[0], "head": outcomes.LINK[1]}
    assert address(app) == {}


def test_a_callback_can_open_another_page():
    app = open_page(PAGE, guess="Amy", map_block="1")
    app.session_state["_wanted"] = "14_ledger"
    app.run()
    assert not app.exception
    assert "The ledger" in app.title[0].value
    assert not address(app)
