"""The masks page: what it shows is core's, the link restores it, and nothing a visitor types breaks it."""

import numpy as np
import pytest

from core.lab import head as oh
from core.lab import story_losses
from core.lab import text as sentence
from core.lab.memory import MEMORY
from core.nets import dates as ed
from core.nets import dates_task
from core.topics.masks import gradients, in_numpy, padding, patterns, reach
from core.whatif import Change
from tests.pages.opening import address, come_back, open_page, picture, words

READING = sentence.read(sentence.SENTENCE)
PAGE, N = "07_masks", len(READING.ids)


def demo(kind="window", size=N, layer=5, head=1, paint=None):
    return patterns.Demo(sentence.of(READING), layer, head, kind, size, paint or patterns.Paint())


def text(app):
    return words(app).replace("\\", "")


def test_the_first_screen_is_the_reach_of_a_word_and_what_it_does():
    app = open_page(PAGE, mask_reach="-997", depth="idea")
    found = patterns.frames(demo("reach", 0))
    meta, arrays = picture(app, "sight")
    np.testing.assert_allclose(arrays["values"], found.weights, atol=1e-6)
    np.testing.assert_array_equal(arrays["shut"], found.shut)
    assert (meta["signature"], meta["slider"]["name"], meta["slider"]["at"]) == (True, "mask_reach", 2)
    assert meta["slider"]["stops"] == list(patterns.stops("reach", N))
    bars, moving = picture(app, "sight_next")
    np.testing.assert_allclose(moving["values"], found.probs, atol=1e-6)
    assert bars["slider"]["stops"] == meta["slider"]["stops"]
    assert bars["slider"]["together"]
    assert meta["slider"]["together"]
    for at, size in enumerate(meta["slider"]["stops"]):
        assert bars["captions"][at].endswith(f"{reach.loss(int(size)):.2f}")
        assert f"= {found.probs[at, 0]:.3f}" in bars["captions"][at]
    bare = picture(open_page(PAGE, depth="idea"), "sight")[0]["slider"]
    assert bare["stops"][bare["at"]] == reach.CAUSAL


def test_the_bare_address_opens_at_the_causal_mask():
    app = open_page(PAGE, depth="idea")
    meta, arrays = picture(app, "masked")
    slider = meta["slider"]
    assert (meta["paint"], slider["name"]) == (True, "mask_window")
    assert slider["stops"][slider["at"]] == N
    assert slider["stops"] == list(range(1, N + 1))
    np.testing.assert_allclose(arrays["values"], patterns.frames(demo()).weights, atol=1e-6)
    assert set(app.query_params) <= {"lang"}
    assert "No leak." in text(app)
    assert "every gradient" in text(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("kind", "size"), [("window", 11), ("global", 3), ("prefix", 6), ("padding", 2)])
def test_map_and_next_word_are_cores_and_move_together(kind, size, lang):
    link = {"mask_kind": kind, f"mask_{kind}": str(size), "layer": "4", "head": "4", "lang": lang}
    app = open_page(PAGE, **link)
    found = patterns.frames(demo(kind, size, 4, 4))
    meta, arrays = picture(app, "masked")
    np.testing.assert_allclose(arrays["values"], found.weights, atol=1e-6)
    np.testing.assert_array_equal(arrays["shut"], found.shut)
    assert len(meta["captions"]) == len(found.shut)
    assert str(int((~found.shut[0]).sum())) in meta["captions"][0]
    bars, moving = picture(app, "masked_next")
    np.testing.assert_allclose(moving["values"], found.probs, atol=1e-6)
    np.testing.assert_allclose(moving["ghost"], found.before, atol=1e-6)
    assert bars["slider"]["name"] == meta["slider"]["name"]
    assert bars["slider"]["together"]
    assert meta["slider"]["together"]
    assert bars["slider"]["stops"] == meta["slider"]["stops"]
    assert meta["slider"]["stops"][meta["slider"]["at"]] == size


@pytest.mark.parametrize(
    ("link", "lit"), [({"mask_kind": "prefix", "mask_prefix": "3"}, True), ({"mask_window": "3"}, False)]
)
def test_the_lamp_is_autograds(link, lit):
    app = open_page(PAGE, **link)
    assert ("● **Leak.**" in text(app)) == lit
    if lit:
        found = gradients.influence(demo("prefix", 3), each_block=False)
        assert f"{found.leaks[0]} of {int(found.forbidden.sum())} forbidden" in text(app)


def test_the_link_restores_a_painting():
    paint = patterns.Paint(frozenset({(7, 9)}), frozenset({(13, 3)}))
    app = open_page(PAGE, mask_paint=patterns.spell(paint), mask_travel="true", mask_depth="2")
    shut = picture(app, "masked")[1]["shut"][0]
    assert (shut[7, 9], shut[13, 3]) == (0, 1)
    assert "● **Leak.**" in text(app)
    meta, arrays = picture(app, "gradients")
    found = gradients.influence(demo(paint=paint))
    np.testing.assert_allclose(arrays["values"], found.values, rtol=1e-3, atol=1e-5)
    assert meta["slider"]["at"] == 1
    assert meta["point"] == [list(found.worst)]
    app.button(key="wash").click().run()
    assert "mask_paint" not in app.query_params
    assert "No leak." in text(app)


def test_one_click_takes_the_mask_off_and_puts_it_back():
    app = open_page(PAGE, mask_window="3")
    app.button(key="mask_off").click().run()
    meta, arrays = picture(app, "masked")
    assert (meta["slider"]["name"], meta["slider"]["at"]) == ("mask_prefix", N - 1)
    assert not arrays["shut"][-1].any()
    assert "● **Leak.**" in text(app)
    app.button(key="mask_reset").click().run()
    assert not {"mask_kind", "mask_prefix", "mask_window"} & set(app.query_params)


def test_a_release_runs_no_pass_and_another_head_follows_no_gradients():
    open_page(PAGE, mask_kind="global", mask_global="9")
    passes = MEMORY.held(patterns.frames)
    open_page(PAGE, mask_kind="global", mask_global="8")
    assert MEMORY.held(patterns.frames) == passes > 0
    followed = MEMORY.held(gradients.influence)
    open_page(PAGE, mask_kind="global", mask_global="8", layer="1", head="3")
    assert MEMORY.held(gradients.influence) == followed > 0


def test_of_a_long_text_the_batch_takes_the_beginning():
    app = open_page(PAGE, words="the cat sat " * 100)
    assert picture(app, "ragged")[1]["values"].shape == (3, 24, 24)
    assert "the first 24 tokens are in the batch" in text(app)


def test_the_mask_itself_can_be_shown():
    _meta, arrays = picture(open_page(PAGE, mask_shows="added"), "masked")
    np.testing.assert_array_equal(arrays["values"][-1], np.triu(np.full((N, N), -np.inf), 1))


@pytest.mark.parametrize(("choice", "right"), [("rises", True), ("falls", False), ("?", False)])
def test_the_prediction_is_answered_by_the_model(choice, right):
    shown = text(open_page(PAGE, unmasked=choice))
    assert ("**Right.**" in shown) == right
    before, after = story_losses.loss(Change()), story_losses.loss(Change(mask=False))
    assert after > before
    assert f"{before:.2f} to {after:.2f}" in shown


@pytest.mark.parametrize("name", ["right", "late", "early", "billion", "half", "sense", "safe"])
def test_every_slip_is_one_click_with_its_consequence(name):
    from pages.parts.masks.recipes import SLIPS

    recipe = SLIPS[name][1]
    app = open_page(PAGE)
    app.button(key=f"slip_{name}").click().run()
    meta, arrays = picture(app, "cooked")
    scaled = oh.head_of(oh.Demo(sentence.of(READING))).scaled
    np.testing.assert_allclose(arrays["values"], in_numpy.sweep(scaled, recipe)[0], atol=1e-6)
    assert meta["slider"]["stops"][meta["slider"]["at"]] == recipe.diagonal
    assert in_numpy.code_of(recipe) in [block.value for block in app.code]
    shown = text(app)
    found = in_numpy.outcome(sentence.of(READING), recipe)
    assert ("Softmax of nothing is 0/0" in shown) == bool(found.broken[0])
    assert ("**nothing**" in shown) == (found.word is None)
    assert ("to the future." in shown) == (name in ("late", "billion", "sense"))
    assert ("Every query sees itself" in shown) == (name == "right")
    assert ("−1e9 has become −∞" in shown) == (name == "half")


@pytest.mark.parametrize(("side", "mask"), [("left", True), ("left", False), ("right", False)])
def test_the_batch_is_cores(side, mask):
    app = open_page(PAGE, pad_side=side, pad_mask=str(mask).lower())
    every = (sentence.SENTENCE, "Anna is a girl. Tom is a", "Tom was very thirsty. He wanted to")
    texts = tuple(sentence.of(sentence.read(t)) for t in every)
    found = padding.padded(padding.Batch(texts, side=side, mask=mask))
    np.testing.assert_allclose(picture(app, "ragged")[1]["values"], found.weights, atol=1e-3)
    for leaked, p in zip(found.leaked, found.p, strict=True):
        assert f"**{leaked:.1%}**" in text(app)
        assert f"{p:.3f}" in text(app)


@pytest.mark.parametrize("block", [0, 1])
def test_the_dates_are_written_by_the_trained_model(block):
    app = open_page(PAGE, date="21st Nov 1989", date_block=str(block), date_head="1", date_step="3", date_cell="4,2")
    found = ed.unfold(ed.Demo("21st Nov 1989"), block, 1)
    meta, arrays = picture(app, "date_cross")
    np.testing.assert_allclose(arrays["values"], found.cross, atol=1e-6)
    np.testing.assert_array_equal(arrays["shut"], found.cross_shut)
    assert (meta["rows"], meta["columns"]) == (list(found.written), list(found.source))
    assert (meta["slider"]["at"], meta["state"]) == (2, {"cell": [4, 2]})
    np.testing.assert_allclose(picture(app, "date_decoder")[1]["values"], found.decoder, atol=1e-6)
    np.testing.assert_allclose(picture(app, "date_encoder")[1]["values"][0], found.encoder, atol=1e-6)
    np.testing.assert_allclose(picture(app, "date_next")[1]["values"], found.probs, atol=1e-6)
    assert "**1989-11-21**. Right." in text(app)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Nothing was left to read"),
        ("🙂🙂", "This model has never seen"),
        ("a" * 100, "signs at most"),
        ("31 February 2020", "no date as the model learned them"),
        ("<script>alert(1)</script> 5 May 2020", "has never seen"),
        ("مارس", "Nothing was left"),
    ],
)
def test_a_date_that_is_none_is_told_so(typed, said):
    app = open_page(PAGE, date=typed)
    assert not app.exception
    assert said in text(app)
    assert len(picture(app, "date_cross")[1]["values"]) == dates_task.LENGTH


@pytest.mark.parametrize("typed", ["a", "Sam", "🙂 你好 <b>x</b>", "the cat sat " * 100, "שלום עולם"])
def test_any_sentence_works(typed):
    app = open_page(PAGE, words=typed, mask_kind="padding", mask_padding="1")
    assert not app.exception
    reading = sentence.read(typed)
    meta, _ = picture(app, "masked")
    assert meta["rows"] == sentence.names(reading.tokens)
    assert meta["paint"] == (len(reading.ids) <= patterns.PAINTABLE)


def test_junk_in_the_link_is_left_out():
    junk = dict.fromkeys(
        ["mask_kind", "mask_window", "mask_paint", "mask_shows", "mask_k", "mask_true", "mask_fill", "mask_float"],
        "<x>",
    )
    more = dict.fromkeys(
        ["mask_reach", "pad_side", "date_block", "date_head", "date_step", "date_cell", "unmasked", "mask_depth"],
        "99,99",
    )
    app = open_page(PAGE, **junk, **more, mask_travel="true", layer="77", head="x")
    assert not app.exception
    assert picture(app, "masked")[0]["slider"]["at"] == N - 1
    assert "No leak." in text(app)


def test_the_check_is_about_the_visitors_own_window():
    app = open_page(PAGE, mask_window="3")
    assert "sliding window of 3 tokens" in text(app)
    app.number_input(key="mask_check").set_value(13).run()
    assert "**Right.** 1 + 6 × (3 − 1) = 13" in text(app)


CHOICES = {
    "layer": "4", "head": "4", "mask_reach": "3", "mask_kind": "global", "mask_global": "8", "mask_shows": "added", "mask_paint": "3-10-6",
    "mask_travel": "true", "mask_depth": "2", "mask_true": "keep", "mask_fill": "1e9", "mask_float": "float16",
    "mask_k": "0", "pad_side": "right", "pad_mask": "false", "date": "21st Nov 1989", "date_block": "1",
    "date_head": "1", "date_step": "4", "date_cell": "3,2",
}  # fmt: skip


def test_every_choice_survives_leaving_and_coming_back():
    app = open_page(PAGE, **CHOICES)
    before = _state(app)
    assert address(app) == CHOICES
    come_back(app, PAGE, away="08_heads")
    assert address(app) == CHOICES
    assert _state(app) == before
    assert before["date_cross"] == (3, {"cell": [3, 2]})


def _state(app):
    """What the pictures show: where their sliders stand, and their cells."""
    found = {}
    for key in (
        "sight",
        "sight_next",
        "masked",
        "masked_next",
        "gradients",
        "cooked",
        "date_cross",
        "date_next",
        "date_decoder",
    ):
        meta = picture(app, key)[0]
        found[key] = (meta["slider"]["at"], meta["state"])
    return found
