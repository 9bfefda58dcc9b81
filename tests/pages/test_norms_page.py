"""Norms: what the page shows is core's, and what the link says is what it shows."""

import numpy as np
import pytest

from core.lab import text as sentence
from core.topics.norms import contributions, loudness, readings, vectors
from pages.parts.norms import loudness as parts
from tests.pages.opening import address, come_back, open_page, picture, words

PAGE = "11_norms"
TEXT = sentence.of(sentence.read(sentence.SENTENCE))
OTHER = "Tom was very thirsty. He wanted to"


@pytest.mark.parametrize(
    ("query", "demo", "at"),
    [
        ({}, loudness.Demo(TEXT), 30),
        (
            {"station": "1", "times": "0.1", "words": OTHER, "depth": "idea"},
            loudness.Demo(sentence.of(sentence.read(OTHER)), 1),
            15,
        ),
    ],
)
def test_the_stream_at_every_factor(query, demo, at):
    app = open_page(PAGE, **query)
    meta, arrays = picture(app, "stream")
    found = loudness.turned(demo)
    shape = found.sizes.shape
    for name in ("sizes", "writes", "lens", "sure"):
        np.testing.assert_allclose(arrays[name].reshape(shape), getattr(found, name), rtol=1e-5, atol=1e-7)
    assert (meta["signature"], meta["slider"]["name"], meta["slider"]["at"]) == (True, "times", at)
    assert len(meta["slider"]["stops"]) == 61
    assert meta["station"] == 2 * demo.station
    assert meta["state"] == {"station": demo.station}
    assert [meta["said"][i] for i in found.lens[30]][-1] == meta["answer"] == sentence.called(found.answer)
    assert meta["captions"][at].startswith(f"“{meta['answer']}” {found.probs[at, 0]:.1%}")
    np.testing.assert_allclose(picture(app, "louder_next")[1]["values"], found.probs, atol=1e-6)


@pytest.mark.parametrize(("guess", "opening"), [("gone", "Right."), ("stays", "Not quite."), ("?", "")])
def test_the_first_guess_asks_what_the_slider_shows(guess, opening):
    shown = words(open_page(PAGE, louder3=guess, depth="idea")).replace("\\", "")
    assert (f"**{opening}**" in shown) == bool(opening)
    found = loudness.turned(loudness.Demo(TEXT))
    assert f"{found.probs[30, 0]:.1%}" in shown
    assert f"“Amy”: {found.probs[45, 0]:.1%}" in shown
    assert "“his”" in shown
    assert ("For what is read you are right" in shown) == (guess == "stays")


@pytest.mark.parametrize(("station", "verdict"), [(0, "gone"), (3, "gone"), (6, "stays")])
def test_each_station_has_a_guess_of_its_own(station, verdict):
    shown = words(open_page(PAGE, station=str(station), depth="idea", **{f"louder{station}": verdict}))
    assert "**Right.**" in shown


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (0.986, 0.95, "stays"),
        (0.986, 0.9, "less"),
        (0.5, 0.24, "gone"),
        (0.5, 0.56, "more"),
        (0.042, 0.084, "more"),  # an unlikely answer that doubles does not stay
        (0.042, 0.025, "less"),
        (0.042, 0.045, "stays"),
    ],
)
def test_what_counts_as_a_change_goes_by_the_answer(before, after, verdict):
    assert parts._verdict(before, after) == verdict


def test_every_guess_of_the_page_says_that_it_is_one():
    app = open_page(PAGE)
    asked = [prediction.question for prediction, _values in app.session_state["_asked_here"].values()]
    assert len(asked) == 7
    assert [one for one in asked if not one.startswith("Guess first: ")] == []


def test_the_table_of_all_stations_waits_for_the_guess():
    app = open_page(PAGE, depth="idea")
    assert not [e for e in app.get("bidi_component") if "stations" in e.proto.id]
    app = open_page(PAGE, louder_last="stays", depth="idea")
    meta, arrays = picture(app, "stations")
    np.testing.assert_allclose(arrays["values"].reshape(7, 13), loudness.everywhere(TEXT), atol=1e-6)
    assert (meta["rows"][0], meta["rows"][3]) == ("embedding", "block 2")
    assert "**Right.**" in words(app)
    assert "In one sentence:** a norm" in words(app)


def test_arrows_add_up_to_the_difference_of_two_logits():
    sam = sentence.id_of("Sam")
    app = open_page(PAGE, against=str(sam), heads_of="11")
    found = contributions.bus(TEXT, sam)
    meta, arrays = picture(app, "bus")
    np.testing.assert_allclose(arrays["values"], found.parts, atol=1e-6)
    assert meta["names"][11] == "after the attention of block 5"
    assert (meta["told"][-1], meta["marked"], meta["ends"][1]) == ("Amy", "Amy", "for “Sam”")
    np.testing.assert_allclose(picture(app, "bus_heads")[1]["values"], contributions.heads(TEXT, 5, sam)[:6], atol=1e-6)
    shown = words(app).replace("\\", "")
    assert f"the attention of block 5: {found.parts[11]:+.2f}" in shown
    assert f"{found.whole:+.2f}" in shown
    no_heads = open_page(PAGE, heads_of="12")
    assert not [e for e in no_heads.get("bidi_component") if "bus_heads" in e.proto.id]


MOVES = (("one", "six_one", "0.50"), ("shift", "six_shift", "0"), ("scale", "six_scale", "1.00"))


@pytest.mark.parametrize(("move", "slider", "rest"), MOVES)
def test_six_numbers(move, slider, rest):
    app = open_page(PAGE, six_move=move, six="2 -1 0.5 3 1 7", six_bar="2", notices="rms")
    x = (2.0, -1.0, 0.5, 3.0, 1.0, 7.0)
    found = vectors.moved(x, move, 2)
    meta, arrays = picture(app, "vector")
    want = np.stack([found.x, found.layer, found.rms], 1)
    np.testing.assert_allclose(arrays["values"].reshape(want.shape), want, atol=1e-6)
    at = meta["slider"]["at"]
    assert (meta["slider"]["name"], meta["slider"]["shown"][at]) == (slider, rest)
    assert meta["marked"] == (2 if move == "one" else None)
    assert f"mean {np.mean(x):.2f} · spread {np.std(x):.2f}" in meta["captions"][at]
    assert "**Right.**" in words(app)


@pytest.mark.parametrize("typed", ["1 2 3", "<b>", "1 2 3 4 5 nan", "1 2 3 4 5 6 7", "9999 1 1 1 1 1"])
def test_what_is_not_six_numbers_is_said_to_be_so(typed):
    app = open_page(PAGE, six=typed)
    assert not app.exception
    assert "Type six numbers from" in words(app)
    np.testing.assert_allclose(picture(app, "vector")[1]["values"].reshape(-1, 3, 6)[0, 0, :3], vectors.SIX[:3])


def test_a_number_that_is_let_go_of_is_written_into_the_vector():
    app = open_page(PAGE, six="1 1 1 1 1 2", six_bar="0", six_one="4")
    assert picture(app, "vector")[0]["slider"]["shown"][picture(app, "vector")[0]["slider"]["at"]] == "4.00"


@pytest.mark.parametrize(("flat", "key"), [("rms", "rms"), ("layer", "layer")])
def test_two_dimensions(flat, key):
    found = vectors.flat(key).points
    np.testing.assert_allclose(
        picture(open_page(PAGE, flat=flat), "flat")[1]["points"].reshape(found.shape), found, atol=1e-6
    )


def test_eps_gain_and_one_number():
    app = open_page(PAGE, eps="0.001", gain="0", shrink="0.001")
    found = readings.loosened(TEXT)
    meta, arrays = picture(app, "loosened")
    np.testing.assert_allclose(arrays["values"], found.probs, atol=1e-6)
    assert meta["captions"][meta["slider"]["at"]].startswith(f"“Amy” {found.probs[30, 0]:.1%}")
    assert "3.82 2.31 0.80 3.07" not in words(app), "the mistakes are folded"
    undone = picture(app, "undone")[0]
    assert undone["captions"][0].startswith("off by 0 for A, 10.80 for B")
    tiny = picture(app, "tiny")[0]
    assert tiny["captions"][tiny["slider"]["at"]] == "largest number: 1.0000 with √(σ² + ε), 1.3404 with σ + ε"
    shown = words(app).replace("\\", "")
    struck = readings.struck(TEXT)
    assert f"from {struck.calm:.1%} to {struck.p[0]:.1%}" in shown
    assert "4,032 numbers" in shown
    assert "3,744 of 15,191,712 parameters" in shown


FOLDS = (
    "number-by-number",
    "numbers-too-large-for-float16",
    "the-same-number-in-other-sentences",
    "which-numbers-are-pooled-together",
    "common-mistakes",
)


@pytest.mark.parametrize("fold", FOLDS)
def test_folds_open(fold):
    app = open_page(PAGE, at=fold)
    assert not app.exception
    shut = open_page(PAGE)
    assert len(words(app)) > len(words(shut))


@pytest.mark.parametrize("text", ["a", "😀 <b>*x*</b> $y$", "你好，世界", "word " * 3000])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_any_text(text, lang):
    app = open_page(PAGE, words=text, lang=lang, station="0", louder0="?", louder_last="?", notices="?", heads_of="3")
    assert not app.exception
    picture(app, "stream")
    picture(app, "struck")


def test_a_link_keeps_what_was_chosen():
    app = open_page(PAGE, station="5", times="0.1", six_move="scale")
    assert address(app) == {"station": "5", "times": "0.1", "six_move": "scale"}
    assert not address(open_page(PAGE, station="3", times="1.0"))
    assert address(come_back(app, PAGE)) == {"station": "5", "times": "0.1", "six_move": "scale"}
