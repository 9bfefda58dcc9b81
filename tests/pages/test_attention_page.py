"""The attention page: what it shows is core's, and what the link says is what it shows."""

import numpy as np
import pytest

from core.lab import head, subject
from core.lab import text as sentence
from core.topics.attention import heat
from core.whatif import Change
from tests.pages.opening import address, come_back, lower, open_page, picture, words

READING = sentence.read(sentence.SENTENCE)
PAGE = "06_attention"


def shown(**query):
    return picture(open_page(PAGE, **query), "picture")


@pytest.mark.parametrize("step", head.STEPS)
def test_every_step_holds_the_trace_at_every_temperature(step):
    meta, arrays = picture(open_page(PAGE, step=step, layer="4", head="4"), "tour")
    assert meta["quantity"] == step
    frames = head.frames(head.Demo(sentence.of(READING), 4, 4), step)
    wanted = lower(frames.values) if meta["packed"] else frames.values
    np.testing.assert_array_equal(arrays["values"].reshape(frames.values.shape), wanted)
    assert meta["rows"] == sentence.names(READING.tokens)


def test_the_map_holds_the_weights_at_every_temperature_whatever_the_step():
    meta, arrays = shown(step="z", layer="4", head="4")
    frames = head.frames(head.Demo(sentence.of(READING), 4, 4), "weights")
    np.testing.assert_array_equal(arrays["values"].reshape(frames.values.shape), lower(frames.values))
    np.testing.assert_array_equal(arrays["entropy"], frames.entropy)
    assert (meta["quantity"], meta["signature"]) == ("weights", True)


def test_the_next_word_moves_with_the_temperature():
    """In one batch, and as one pass at that temperature says it; a cut is in it at every stop."""
    app = open_page(PAGE, layer="4", head="4", cell="13,9", cut="keep")
    meta, arrays = picture(app, "next")
    (slider,) = (picture(app, name)[0]["slider"] for name in ("picture",))
    assert (meta["slider"]["name"], meta["slider"]["hidden"], meta["slider"]["together"]) == ("temperature", True, True)
    assert slider["together"]
    assert slider["stops"] == meta["slider"]["stops"]
    said = heat.said(head.Demo(sentence.of(READING), 4, 4), (13, 9), False)
    assert [sentence.called(id) for id in said.ids] == meta["names"]
    for stop in (0, 30, 48):
        change = Change(temperature=slider["stops"][stop], head=(4, 4), cut=(4, 4, 13, 9))
        wanted = subject.chances(sentence.of(READING), change, said.ids)
        np.testing.assert_allclose(arrays["values"][stop], wanted, atol=1e-4)
        assert f"= {wanted[0]:.3f}" in meta["captions"][stop]


@pytest.mark.parametrize(("guess", "opening"), [("other", "Right."), ("less", "Not quite."), ("?", "")])
def test_the_first_guess_asks_what_the_temperature_does(guess, opening):
    text = words(open_page(PAGE, hot=guess, depth="idea")).replace("\\", "")
    assert (f"**{opening}**" in text) == bool(opening)
    change = Change(temperature=10.0, head=(5, 1))
    found = subject.outlook(sentence.of(READING), change, 28533)
    assert found.words[0].token == "Sam"
    assert f"{found.asked.p:.1%}" in text


def test_a_head_that_matters_little_is_no_surprise():
    assert "**Right.**" in words(open_page(PAGE, layer="4", head="3", hot="same"))


def test_the_tour_starts_at_the_first_step_and_writes_a_number_out():
    app = open_page(PAGE, depth="idea")
    assert picture(app, "tour")[0]["quantity"] == "scores"
    assert picture(app, "tour")[0]["state"] == {"cell": [13, 3]}, "the strongest link of the last word"
    found = head.head_of(head.Demo(sentence.of(READING)))
    assert f"= {found.scores[13, 3]:.3f}" in "".join(one.value for one in app.latex)
    next(b for b in app.button if b.key == "step_on").click().run()
    assert picture(app, "tour")[0]["quantity"] == "scaled"
    assert app.query_params["step"] in ("scaled", ["scaled"])
    next(b for b in app.button if b.key == "step_back").click().run()
    assert picture(app, "tour")[0]["quantity"] == "scores"
    assert next(b for b in app.button if b.key == "step_back").disabled


def test_both_ways_to_cut_stand_side_by_side():
    app = open_page(PAGE, depth="idea", surer="?")
    for way, sam in (("share", 0.981), ("keep", 0.323)):
        meta, arrays = picture(app, f"way_{way}")
        assert arrays["values"][0, meta["names"].index("Sam")] == pytest.approx(sam, abs=1e-3)
        assert arrays["ghost"][meta["names"].index("Amy")] == pytest.approx(0.986, abs=1e-3)
    rows = picture(app, "ways")[1]["values"][0]
    np.testing.assert_allclose(rows.sum(-1), [1, 1, 1 - rows[0, 3]], atol=1e-5)


def test_no_answer_stands_before_its_guess():
    app = open_page(PAGE, depth="idea")
    assert not [b for b in app.button if b.key and b.key.startswith("link_")]
    assert "way_share" not in "".join(e.proto.id for e in app.get("bidi_component"))
    app = open_page(PAGE, depth="idea", ranking="true")
    assert "Of 3,744 links, 3 decide" in words(app).replace("\\", "")
    first = next(b for b in app.button if b.key == "link_0")
    assert "5\\.1" in first.label
    first.click().run()
    assert picture(app, "picture")[0]["cut"]["cell"] == [13, 3]


def test_a_link_of_another_head_opens_it_in_the_map_and_in_both_ways():
    app = open_page(PAGE, ranking="true")
    next(b for b in app.button if b.key == "link_2").click().run()
    assert (app.query_params["layer"], app.query_params["head"]) in (("4", "4"), (["4"], ["4"]))
    assert "in head 4\\.4:" in words(app)


@pytest.mark.parametrize(
    ("query", "demo"),
    [
        (dict(scaling="false"), dict(scaling=False)),
        (dict(mask="false"), dict(mask=False)),
        (dict(scope="all"), dict(everywhere=True)),
        (dict(layer="0", head="3"), dict(layer=0, head=3)),
    ],
)
def test_every_switch_reaches_the_picture(query, demo):
    values = shown(**query)[1]["values"]
    frames = head.frames(head.Demo(sentence.of(READING), **demo), "weights").values
    np.testing.assert_allclose(values.reshape(frames.shape), frames, atol=1e-6)
    assert not np.allclose(frames, head.frames(head.Demo(sentence.of(READING)), "weights").values)


def test_a_link_restores_everything():
    app = open_page(PAGE, words="The cat sat on the mat.", layer="3", temperature="0.5", cell="5,2", cut="share")
    meta, _ = picture(app, "picture")
    assert app.text_input(key="words").value == "The cat sat on the mat."
    assert meta["slider"]["stops"][meta["slider"]["at"]] == pytest.approx(0.5109)
    assert meta["state"] == {"cell": [5, 2]}
    assert app.query_params["cell"] == "5,2"


def test_the_bare_address_is_bare_and_opens_at_softmax():
    app = open_page(PAGE, depth="idea")
    meta, _ = picture(app, "picture")
    assert (meta["quantity"], meta["slider"]["name"], meta["signature"]) == ("weights", "temperature", True)
    assert len(meta["slider"]["stops"]) >= 43
    assert set(app.query_params) <= {"lang"}


def test_a_cut_row_shares_unless_the_visitor_says_it_stays():
    for query, amy, sam in (
        ({}, 0.0, 0.981),
        ({"cut": "share"}, 0.0, 0.981),
        ({"cut": "keep"}, 0.028, 0.323),
        ({"cut": "look"}, 0.986, 0.0),
    ):
        meta, arrays = picture(open_page(PAGE, cell="13,3", **query), "next")
        assert meta["names"][0] == "Amy", "the answer stays where it was, so that its fall is seen"
        assert arrays["ghost"][0] == pytest.approx(0.986, abs=1e-3)
        now = arrays["values"][24]
        assert (now[0], now[meta["names"].index("Sam")]) == pytest.approx((amy, sam), abs=1e-3)


@pytest.mark.parametrize(("cut", "share"), [("keep", False), ("share", True)])
def test_a_cut_row_is_shown_as_the_model_has_it(cut, share):
    meta, arrays = picture(open_page(PAGE, layer="4", head="4", cell="13,3", cut=cut), "picture")
    assert meta["cut"]["cell"] == [13, 3]
    for temperature, row in [(1.0, arrays["cut"][24]), (0.1, arrays["cut"][0]), (10.0, arrays["cut"][48])]:
        change = Change(temperature=temperature, head=(4, 4), cut=(4, 4, 13, 3), share=share)
        weights = subject.run(sentence.of(READING), change, ("block4.weights",))["block4.weights"].value
        np.testing.assert_allclose(row, weights[4, 13], atol=1e-5)
    assert ("cutEntropy" in arrays) == share
    if share:
        row = arrays["cut"][24].astype(float)
        assert arrays["cutEntropy"][24] == pytest.approx(-(row[row > 0] * np.log2(row[row > 0])).sum(), abs=1e-4)


def test_only_a_link_that_is_allowed_is_cut():
    app = open_page(PAGE, cell="3,10")
    assert picture(app, "picture")[0]["cut"] is None
    assert "There is nothing to cut" in words(app)
    app = open_page(PAGE, cell="0,0", cut="share")  # the first token's only key: nothing is left of its row
    assert picture(app, "picture")[1]["cut"].max() == 0
    assert np.isfinite(picture(app, "next")[1]["values"]).all()


def test_the_answer_is_among_the_bars_even_when_it_has_fallen():
    meta, _ = picture(open_page(PAGE, cell="13,3"), "next")
    assert meta["marked"] == meta["names"].index("Amy")


def test_a_long_text_has_its_next_word_at_the_chosen_temperature():
    words_of = "One day the dog ran to the park with a ball. " * 8
    meta, arrays = picture(open_page(PAGE, words=words_of, temperature="0.1"), "next")
    assert "slider" not in meta
    assert len(arrays["values"]) == 1


def test_what_ifs_say_what_they_cost():
    text = words(open_page(PAGE, scaling="false"))
    assert "Mean loss on 6 short stories" in text.replace("\\", "")


@pytest.mark.parametrize(("choice", "opening"), [("share", "Right."), ("same", "Not quite."), ("?", "")])
def test_the_prediction_is_answered_by_core(choice, opening):
    text = words(open_page(PAGE, surer=choice)).replace("\\", "")
    assert "“Sam” with 98.1%" in text
    assert "with 32.3%" in text
    assert (f"**{opening}**" in text) == bool(opening)


def test_in_another_head_the_other_way_is_surer():
    text = words(open_page(PAGE, surer="keep", layer="4", head="4", cell="13,9")).replace("\\", "")
    assert "**Right.** If the row stays, it says “Sam” with 46.2%" in text


def test_a_link_that_nobody_needs_makes_no_difference():
    text = words(open_page(PAGE, surer="same", layer="0", head="0", cell="13,13")).replace("\\", "")
    assert "**Right.** Hardly a difference: “Amy” with 98.6%, “Amy” with 98.6%" in text


def test_the_random_source_is_labelled_random_and_snaps():
    app = open_page(PAGE, source="random", scaling="false", d_k="512")
    meta, arrays = picture(app, "picture")
    assert "random" in words(app)
    assert meta["slider"]["name"] == "d_k"
    assert arrays["values"][-1].max(-1).mean() > 0.9
    scaled = picture(open_page(PAGE, source="random", d_k="512"), "picture")[1]["values"]
    assert scaled[-1].max(-1).mean() < 0.5


def test_the_hand_source_computes_what_is_typed():
    app = open_page(
        PAGE, source="hand", hand_q="1 0\n0 1", hand_k="2 0\n0 0", hand_v="1\n3", scaling="false", step="scores"
    )
    np.testing.assert_array_equal(picture(app, "tour")[1]["values"][0], [[2, 0], [0, 0]])
    app = open_page(PAGE, source="hand", hand_q="1 0 7\n0 1", step="scores")
    assert "needs rows of equally many numbers" in words(app)
    app = open_page(PAGE, source="hand", hand_q="1 0\n0 1", step="scores")
    assert "do not fit" in app.warning[0].value


def test_the_line_that_stops_is_run_and_so_is_the_right_one():
    said = words(open_page(PAGE, at="common-mistakes")).replace("\\", "")
    assert "“axes don't match array”" in said, "NumPy's own words"
    assert "out comes (2, 10, 64), from −2.985 to 2.830" in said


CHOICES = {
    "layer": "4", "head": "4", "temperature": "0.5109", "scope": "all", "scaling": "false", "cell": "13,3",
    "cut": "keep", "words": "Sam and Amy played in the park. Amy threw the ball to",
}  # fmt: skip


@pytest.mark.parametrize(
    "choices",
    [CHOICES, {"step": "z", "zcell": "5,7", "mask": "false"}, {"source": "random", "d_k": "512", "seed": "3"}],
)
def test_every_choice_survives_leaving_and_coming_back(choices):
    app = open_page(PAGE, **choices)
    before = picture(app, "picture")
    told = address(app)
    assert told | {"temperature": "0.5109"} == choices | {"temperature": "0.5109"}
    come_back(app, PAGE, away="08_heads")
    assert address(app) == told
    after = picture(app, "picture")
    for part in ("slider", "state", "cut", "quantity", "row"):
        assert after[0][part] == before[0][part], part
    np.testing.assert_array_equal(after[1]["values"], before[1]["values"])


@pytest.mark.parametrize(("step", "column"), [("weights", 13), ("scaled", 11), ("scores", 3), ("z", 7)])
def test_what_a_number_is_made_of_fits_beside_the_picture(step, column):
    """Sixteen terms at most, one a line, and the chosen one among them however small it is."""
    word = "zcell" if step == "z" else "origin"
    app = open_page(PAGE, step=step, **{word: f"13,{column}"})
    _meta, arrays = picture(app, f"made_{step}")
    assert arrays["values"].shape[-2] == (16 if step == "scores" else 14)
    if step in ("weights", "scaled"):
        found = head.head_of(head.Demo(sentence.of(READING)))
        at = column  # all fourteen are shown
        assert arrays["values"][..., at, -1] == pytest.approx(getattr(found, step)[13, column], abs=1e-5)
    assert ("Under the sum: the 16 largest of its 48 products" in words(app)) is (step == "scores")


def test_a_link_is_cut_in_its_own_text_alone():
    app = open_page(PAGE, cell="9,3")
    assert address(app)["cell"] == "9,3"
    app.text_input(key="words").set_value("The cat sat on the mat and it was very warm").run()
    assert not app.exception
    assert "cell" not in address(app)
