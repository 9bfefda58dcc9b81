"""The theory page: what it shows is core's, nothing is told before its guess, and a link restores it."""

import numpy as np
import pytest

from core.nets import line as nets
from core.topics.theory import copies as cp
from core.topics.theory import line as ln
from tests.pages.opening import address, labels, open_page, picture, words

PAGE = "17_theory"
GUESSED = dict(copies="few", other="more", given_one="step")
SKY = cp.Demo(cp.read(cp.CLAIM))


def bare(app):
    return words(app).replace("\\", "")


def test_the_lines_and_the_bars_are_cores_and_move_together():
    app, found = open_page(PAGE, sky_k="6", **GUESSED), cp.run(SKY)
    assert not app.exception
    meta, arrays = picture(app, "sky")
    np.testing.assert_allclose(arrays["values"].reshape(3, 49), found.p.T, rtol=1e-6)
    assert meta["signature"]
    assert len(meta["slider"]["stops"]) == 49
    assert meta["slider"]["at"] == 6
    assert meta["captions"][4] == "4 × “The sky is green.” · then “The sky is …”: green (green 46.7%)"
    other, bars = picture(app, "sky_next")
    np.testing.assert_allclose(bars["values"].reshape(found.probs.shape), found.probs, rtol=1e-6)
    assert other["slider"]["name"] == meta["slider"]["name"]
    assert "**0** of 15,191,712 changed" in bare(app)


def test_before_the_guess_a_line_is_drawn_as_far_as_it_was_written():
    _meta, arrays = picture(open_page(PAGE), "sky")
    values = arrays["values"].reshape(49, 2, 49)
    for stop in (0, 5, 48):
        assert np.isfinite(values[stop]).sum() == 2 * (stop + 1)
    np.testing.assert_allclose(values[48], cp.run(SKY).p.T[:2], rtol=1e-6)


def test_nothing_is_told_before_it_is_guessed():
    app, found = open_page(PAGE), cp.run(SKY)
    told = bare(app)
    for p in (found.p[4, 0], found.p[4, 2], found.p[6, 0]):
        assert f"{p:.1%}" not in told
    with pytest.raises(AssertionError):
        picture(app, "sky_heads")
    assert "in-context learning" not in told
    assert "guess first" in told
    assert "copies what followed" not in told.split("Looks right")[0]
    assert "the same line" not in told
    assert "one step from" not in told
    assert not any("gradient" in caption for caption in picture(app, "given")[0]["captions"])
    with pytest.raises(AssertionError):
        picture(app, "given_ways")


@pytest.mark.parametrize("guess", ["one", "few", "many", "never", "?"])
def test_every_guess_is_told_the_truth(guess):
    said = bare(open_page(PAGE, copies=guess))
    found = cp.run(SKY)
    assert f"After 4 it is the likeliest word, {found.p[4, 0]:.1%}" in said
    assert ("**Right.**" in said) == (guess == "few")


@pytest.mark.parametrize("guess", ["less", "more", "own", "?"])
def test_every_guess_about_the_dog_is_told_the_truth(guess):
    said, found = bare(open_page(PAGE, copies="?", other=guess)), cp.run(SKY)
    assert f"“The dog is” → “green” {found.p[4, 2]:.1%}, “The sky is” {found.p[4, 0]:.1%}" in said
    assert "20 false sentences" in said
    assert "In one sentence:** what a model picks up" in said


def test_another_sentence_asks_anew_and_is_read():
    app = open_page(PAGE, **GUESSED)
    app.text_input(key="sky_claim").set_value("The grass is turquoise.").run()
    assert not app.exception
    assert app.session_state["_guesses"]["theory"].get("copies") is None
    said = bare(app)
    assert "The last word is 4 tokens, tur ·qu ·o ·ise: the first, “tur”, is followed." in said
    found = cp.run(cp.Demo(cp.read("The grass is turquoise.")))
    assert f"A copy has 8 tokens and the model reads 256 at once: {found.copies} copies fit." in said
    assert len(picture(app, "sky")[0]["slider"]["stops"]) == found.copies + 1
    assert address(app)["sky_claim"] == "The grass is turquoise."


@pytest.mark.parametrize(
    ("typed", "told"),
    [("green", "three words is the least"), ("🦄" * 100 + " is red.", "not one copy fits"), ("", "three words")],
)
def test_what_cannot_be_read_gives_way_to_the_example_and_says_so(typed, told):
    app = open_page(PAGE, sky_claim=typed) if typed else open_page(PAGE)
    if not typed:
        app.text_input(key="sky_claim").set_value("").run()
    assert not app.exception
    assert told in bare(app)
    np.testing.assert_allclose(picture(app, "sky_next")[1]["values"].reshape(-1, 6), cp.run(SKY).probs, rtol=1e-6)


def test_a_word_it_says_by_itself_needs_no_copy():
    said = bare(open_page(PAGE, sky_claim="The sky is blue.", copies="one"))
    assert "It says “blue” by itself, without a copy." in said
    assert "**Right.**" in said


def test_heads_are_shown_muted_once_it_is_guessed():
    app, found = open_page(PAGE, sky_muted="6", **GUESSED), cp.carriers(SKY)
    meta, arrays = picture(app, "sky_heads")
    np.testing.assert_allclose(arrays["values"].reshape(found.p.shape), found.p, rtol=1e-6)
    assert meta["slider"]["at"] == 6
    assert "| 0.5 | 5.5% | 4% |" in bare(app)


def test_layers_follow_the_points():
    points = ((0.5, 1.0), (-1.0, 0.3))
    app = open_page(PAGE, given_points=ln.spell(points), given_layers="3", **GUESSED)
    found = ln.run(points)
    meta, arrays = picture(app, "given")
    shown = arrays["values"].reshape(49, 2, len(ln.XS))
    np.testing.assert_allclose(shown[:, 0], found.hand, atol=1e-6)
    np.testing.assert_allclose(shown[7, 1], found.best, atol=1e-6)
    assert meta["state"]["points"] == "5,10;-10,3"
    assert meta["slider"]["at"] == 3
    _meta, arrays = picture(app, "given_ways")
    shown = arrays["values"].reshape(len(ln.LAMBDAS), 3, len(ln.XS))
    np.testing.assert_allclose(shown[:, 0], found.ridge, atol=1e-5)
    np.testing.assert_allclose(shown[0, 1:], [found.layer, found.reader], atol=1e-5)


def test_errors_are_told_as_they_were_recorded():
    said = bare(open_page(PAGE, **GUESSED))
    wide = nets.errors()["wide"]
    assert f"{wide[0, 15] / wide[1, 15]:.0f} times as far off" in said
    assert "2.27 for the slope and 0.97 for the height" in said


def test_a_link_restores_everything():
    link = dict(sky_claim="The sun is cold.", sky_other="The box", sky_k="7", given_points="5,10", given_lambda="1")
    app = open_page(PAGE, **link, given_one="step")
    assert {word: address(app)[word] for word in link} == link
    assert picture(app, "given_ways")[0]["slider"]["at"] == ln.LAMBDAS.index(1.0)


@pytest.mark.parametrize(
    "junk",
    [
        dict(
            sky_claim="你好", sky_other="<b>🙂</b>", sky_k="99", given_points="zz", given_layers="-1", given_lambda="0"
        ),
        dict(sky_claim="a b c d \x00 is ![x](y) *now*", sky_other="مرحبا", given_points="none"),
        dict(sky_claim="The $x$ is «said».", sky_other="«other»", given_points="20,20;-20,20"),
        dict(sky_claim="is is is", sky_other=" ", sky_muted="99"),
    ],
)
@pytest.mark.parametrize("guessed", [{}, GUESSED])
def test_any_text_and_any_address_give_a_page(junk, guessed):
    app = open_page(PAGE, **junk, **guessed)
    assert not app.exception
    assert not [label for label in labels(app) if "\\" in label]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_mistakes_say_what_was_proved_and_measured(lang):
    said = bare(open_page(PAGE, lang=lang, at="common-mistakes"))
    assert "«" not in said
    begin = {"en": "Turing complete, so", "zh": "图灵完备的，所以"}[lang]
    told = said[said.index(begin) :]
    assert " 68 " in told.split("D/N")[0], "steps read rightly with float16"
    assert " 93" in told.split("D/N")[0]
    assert " 18" in told.split("D/N")[0]
    assert "0.076" in told.split("D/N")[1]


def test_what_a_budget_reads_is_c_over_6n():
    app = open_page(PAGE)
    app.number_input(key="scale_tokens").set_value(1.4).run()
    assert "Right." in bare(app)
    app.number_input(key="scale_tokens").set_value(8.2).run()
    assert "C = 6ND" in bare(app)
    assert "Not yet." in bare(app)
