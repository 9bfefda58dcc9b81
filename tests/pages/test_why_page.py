"""The page on why attention: what it shows is core's, what the link says is what it shows, and no text breaks it."""

import numpy as np
import pytest

from core import counting
from core.lab import head as oh
from core.lab import subject
from core.lab import text as sentence
from core.topics.why import recurrence as rec
from core.topics.why import window as rc
from pages.shared.headings import slug
from tests.pages.opening import address, come_back, open_page, picture, words

PAGE = "02_why"
READING = sentence.read(sentence.SENTENCE)
KEYS = ("reach", "hops", "race", "fading", "bucket", "bill")


def stand(app, key):
    slider = picture(app, key)[0]["slider"]
    return slider["stops"][slider["at"]]


def said(app):
    return words(app).replace("\\", "")


def test_the_signature_holds_every_window():
    meta, arrays = picture(open_page(PAGE), "reach")
    found = rc.run(rc.Demo(sentence.of(READING)))
    assert meta["signature"]
    assert meta["windows"] == meta["slider"]["stops"] == list(range(1, 15))
    assert meta["tokens"] == list(READING.tokens)
    np.testing.assert_array_equal(arrays["values"], found.p)
    np.testing.assert_allclose(arrays["best"], [word.p for word in found.best])
    assert meta["best"] == [word.token for word in found.best]
    assert [meta["names"][i] for i in meta["top"]] == meta["best"]
    assert [i + 1 for i, right in enumerate(meta["right"]) if right] == [11, 12, 13, 14]


def test_the_answer_is_told_after_a_guess_or_a_find_and_not_before():
    told = "Out of reach is as good as never read"
    assert told not in said(open_page(PAGE))
    assert stand(open_page(PAGE), "reach") < 11
    for query in (dict(sight="5"), dict(sight="?"), dict(reach="11")):
        text = said(open_page(PAGE, **query))
        assert told in text
        assert "With 10 tokens in reach, “Amy” has 0.9%" in text
        assert "has 99.1%" in text


@pytest.mark.parametrize(
    ("guess", "sentence_", "opening"),
    [
        ("5", "From “Sam” on the model says “Sam”, with 88.4%", "Not quite."),
        ("11", "With 10 tokens “Amy” has 0.9%, with 11 it has 99.1%", "Right."),
        ("14", "It takes less: “Amy” is there with 11 tokens", "Not quite."),
        ("?", "It takes 11 tokens, back to “Amy”", ""),
    ],
)
def test_every_guess_is_answered_by_core(guess, sentence_, opening):
    text = said(open_page(PAGE, sight=guess))
    assert sentence_ in text
    assert (f"**{opening}**" in text) == bool(opening)


def test_where_the_last_word_is_enough_the_page_says_so():
    text = said(open_page(PAGE, words="Once upon a", sight="1"))
    assert "**Right.** The last word alone is enough: “time”" in text
    assert "what it needs stands right before" in text


@pytest.mark.parametrize(
    ("query", "key", "value"),
    [
        (dict(reach="9"), "reach", 9),
        (dict(hop="7"), "hops", 7),
        (dict(race="3"), "race", 3),
        (dict(rnn_radius="0.6"), "fading", 0.6),
        (dict(rnn_state="30", rnn_bucket="true"), "bucket", 30),
        (dict(bill_n="100"), "bill", 100),
    ],
)
def test_a_link_restores_every_slider(query, key, value):
    assert stand(open_page(PAGE, **query), key) == value


def test_hops_are_counted_for_the_two_words():
    app = open_page(PAGE, hop="13")
    meta, arrays = picture(app, "hops")
    np.testing.assert_array_equal(arrays["hops"], [rec.hops(d) for d in range(1, 14)])
    for lane, kind in enumerate(rec.KINDS):
        for d in (1, 6, 13):
            way = rec.way(kind, d)
            np.testing.assert_array_equal(arrays[f"way{lane}"][d - 1][: len(way)], way)
    assert meta["told"][12] == ["13 hops", "4 hops", "1 hop"]
    assert "From “<s>” to “to” it is 13 along the belt, 4 through" in said(app).replace("&lt;", "<")


def test_the_race_and_its_price():
    app = open_page(PAGE, words="One two three. One two three.")
    n = len(sentence.read("One two three. One two three.").ids)
    np.testing.assert_allclose(picture(app, "race")[1]["shares"] / 255, rec.race(n), atol=0.002)
    text = said(app)
    assert f"{n} tokens, each with each, are {n * n} pairs" in text
    for name, numbers in (("steps", rec.steps(n)), ("numbers to keep", rec.kept(n, 288))):
        assert f"| {name} | " + " | ".join(f"{x:,}" for x in numbers) in text
    assert "| products, in millions | " + " | ".join(f"{x / 1e6:,.2f}" for x in rec.work(n, 288)) in text


@pytest.mark.parametrize(
    ("query", "demo"),
    [
        ({}, {}),
        (dict(rnn_times="2"), dict(times=2)),
        (dict(rnn_gate="0.5"), dict(keeps=0.5)),
        (dict(rnn_seed="3"), dict(seed=3)),
    ],
)
def test_the_lines_are_the_gradients_that_core_measured(query, demo):
    values = picture(open_page(PAGE, **query), "fading")[1]["values"]
    found = rec.fading(rec.Demo(sentence.of(READING), **demo))
    stop = rec.RADII.index(0.8)
    for line, expected in enumerate((found.rnn, found.gru)):
        np.testing.assert_allclose(values[stop, line], np.clip(expected[stop], 1e-30, 1e30), rtol=1e-4)
    np.testing.assert_allclose(values[stop, 2], found.attention, rtol=1e-4)
    np.testing.assert_allclose(values[stop, 3], found.trained, rtol=1e-3)


def test_the_trained_line_is_told_with_its_own_numbers():
    app = open_page(PAGE)
    line = rec.fading(rec.Demo(sentence.of(READING))).trained
    assert picture(app, "fading")[0]["captions"][0].endswith(f", trained {line[-1]:.2f}")
    assert f"it lies between {line[1:].min():.2f} and {line[1:].max():.2f} here" in said(app)


@pytest.mark.parametrize("measure", rec.MEASURES)
def test_the_bill_is_what_core_counts(measure):
    app = open_page(PAGE, bill=measure)
    meta, arrays = picture(app, "bill")
    assert meta["quantity"] == measure
    np.testing.assert_allclose(arrays["values"][0], rec.bill(288)[measure], rtol=1e-6)
    assert list(arrays["moving"]) == list(rec.LENGTHS)
    at = rec.LENGTHS.index(1000)
    numbers = {"steps": rec.steps(1000), "work": rec.work(1000, 288), "kept": rec.kept(1000, 288)}[measure]
    for number in numbers:
        assert f"{number:,}" in meta["captions"][at]


def test_depth_gaze_and_bucket_say_what_core_says():
    app = open_page(PAGE, rnn_bucket="true")
    text = said(app)
    blocks = sum(p.numel() for p in subject.model().blocks.parameters())
    assert f"6 have {blocks:,}" in text
    assert f"one has {blocks // 6:,}" in text
    assert counting.total(subject.model().config) > blocks
    for words_, key in ((sentence.SENTENCE, 3), ("Sam and Amy played in the park. Amy threw the ball to", 1)):
        reading = sentence.read(words_)
        assert f"{oh.head_of(oh.Demo(sentence.of(reading), 5, 1)).weights[-1, key]:.2f}" in text
    np.testing.assert_allclose(picture(app, "bucket")[1]["values"][:, 0], rec.recall(), rtol=1e-5, atol=1e-7)


def test_the_check_is_about_the_visitors_own_text():
    app = open_page(PAGE)
    assert "Your text has 14 tokens" in said(app)
    assert "105 pairs" in said(app)
    app.number_input(key="why_check").set_value(406).run()
    assert "**Right.** 1 + 2 + … + 28 = 28 · 29 / 2 = 406" in said(app)
    app.number_input(key="why_check").set_value(210).run()
    assert "**Not yet.**" in said(app)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "text", ["a", "Hi", "🦊 狐狸 <b>x</b> مرحبا | $x$ «n»", "Tom saw it. " * 100, "no space " + "x" * 200]
)
def test_no_text_breaks_it(text, language):
    app = open_page(PAGE, words=text, lang=language, reach="200", hop="200", race="200", sight="200")
    assert not app.exception
    shown = picture(app, "reach")[0]
    assert shown["windows"][-1] == len(sentence.read(text).ids)
    assert "<b>" not in words(app)


def test_the_shortest_text_read_once():
    app = open_page(PAGE, words=".", rnn_times="1", hop="9")
    assert not app.exception
    assert (stand(app, "reach"), stand(app, "hops")) == (1, 1)
    assert picture(app, "fading")[1]["values"].shape == (51, 5, 2)


@pytest.mark.parametrize("junk", ["", "x", "-5", "nan", "1e999", "0x10", "9" * 50, "1,2"])
def test_junk_in_the_link_gives_a_working_page(junk):
    query = {key: junk for key in ("reach", "hop", "race", "rnn_radius", "rnn_state", "bill_n", "bill", "sight")}
    query["rnn_bucket"] = "true"
    app = open_page(PAGE, **query, rnn_times=junk, rnn_gate=junk, rnn_seed=junk)
    assert not app.exception
    assert len([key for key in KEYS if picture(app, key)]) == 6


def test_what_was_found_in_one_text_is_forgotten_in_the_next():
    app = open_page(PAGE, reach="12", hop="12", race="13", sight="11")
    app.text_input(key="words").set_value("Tom had a").run()
    assert not app.exception
    reading = sentence.read("Tom had a")
    assert stand(app, "reach") < rc.run(rc.Demo(sentence.of(reading))).needed, "the answer is not given away"
    assert stand(app, "hops") == len(reading.ids) - 1
    assert stand(app, "race") == 1
    assert "Not quite." not in said(app)
    assert "Right." not in said(app)


def test_a_place_nobody_chose_is_not_kept_for_the_next_text():
    app = open_page(PAGE)
    assert stand(app, "reach") == 5
    app.text_input(key="words").set_value("Once upon a").run()
    assert stand(app, "reach") == 1
    assert not {"reach", "hop", "race"} & set(app.query_params)


def test_examples_put_everything_back():
    app = open_page(PAGE, reach="12", sight="11")
    app.button(key="story_2").click().run()
    assert app.text_input(key="words").value.startswith("The cat slept")
    assert set(address(app)) <= {"words"}
    assert "Right." not in said(app)
    assert not app.exception


CHOSEN = dict(
    words="Tom saw a dog. The dog saw",
    reach="7",
    hop="4",
    race="3",
    rnn_times="2",
    rnn_gate="0.5",
    rnn_seed="3",
    rnn_radius="0.6",
    rnn_bucket="true",
    rnn_state="30",
    bill="kept",
    bill_n="1000",
)


def test_every_choice_survives_leaving_and_coming_back():
    app = open_page(PAGE, **CHOSEN, sight="5")
    for again in (app, come_back(app, PAGE), open_page(PAGE, **address(app))):
        assert address(again) == CHOSEN
        assert [stand(again, key) for key in KEYS] == [7, 4, 3, 0.6, 30, 1000]
        assert picture(again, "bill")[0]["quantity"] == "kept"
        assert picture(again, "reach")[0]["tokens"] == list(sentence.read(CHOSEN["words"]).tokens)
        assert again.text_input(key="words").value == CHOSEN["words"]
        assert "it is 4 along the belt" in said(again)
    assert "**Not quite.**" in said(app), "the guess stays with the session"


def test_the_code_is_named():
    app = open_page(PAGE, at=slug(f"code {rec.STATE.name}"))
    assert "Line " in said(app)
    assert "h @ recurrent.mT" in "\n".join(block.value for block in app.code)


def test_the_idea_knows_no_spectral_radius():
    app = open_page(PAGE, depth="idea", bill="kept")
    assert [key for key in KEYS if key not in ("fading", "bucket") and picture(app, key)] == [
        "reach",
        "hops",
        "race",
        "bill",
    ]
    for deep in ("fading", "bucket"):
        with pytest.raises(AssertionError, match="no picture"):
            picture(app, deep)
    assert "λ" not in said(app)
    assert picture(app, "bill")[0]["quantity"] == "kept", "what the link says is shown at either depth"


@pytest.mark.parametrize(("guess", "opening"), [("between", "Right."), ("10", "Not quite."), ("100", "Not quite.")])
def test_ten_times_the_text_is_answered_by_the_bill(guess, opening):
    d, times = 288, []
    for n in (1000, 10_000):
        times.append(2 * d * n * n + 4 * d * d * n)
    assert rec.work(1000, d)[2] == times[0], "scores and mixtures, and four matrices"
    text = said(open_page(PAGE, bill_guess=guess))
    assert f"**{opening}**" in text
    assert f"{times[1] / times[0]:.0f} times" in text
