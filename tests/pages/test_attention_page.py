"""The attention page: what it shows is core's, and what the link says is what it shows."""

import numpy as np
import pytest

from core.lab import head, subject
from core.lab import text as sentence
from core.whatif import Change
from tests.pages.opening import address, come_back, lower, open_page, picture, words

READING = sentence.read(sentence.SENTENCE)
PAGE = "06_attention"


def shown(**query):
    return picture(open_page(PAGE, **query), "picture")


@pytest.mark.parametrize("step", head.STEPS)
def test_the_picture_holds_the_trace_at_every_temperature(step):
    meta, arrays = shown(step=step, layer="4", head="4")
    assert meta["quantity"] == step
    frames = head.frames(head.Demo(sentence.of(READING), 4, 4), step)
    wanted = lower(frames.values) if meta["packed"] else frames.values
    np.testing.assert_array_equal(arrays["values"].reshape(frames.values.shape), wanted)
    assert meta["rows"] == sentence.names(READING.tokens)
    if step == "weights":
        np.testing.assert_array_equal(arrays["entropy"], frames.entropy)


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
    app = open_page(PAGE)
    meta, _ = picture(app, "picture")
    assert (meta["quantity"], meta["slider"]["name"], meta["signature"]) == ("weights", "temperature", True)
    assert len(meta["slider"]["stops"]) >= 43
    assert set(app.query_params) <= {"lang"}


def test_cutting_shows_both_models():
    meta, arrays = picture(open_page(PAGE, cell="13,3"), "next")
    assert meta["names"][0] == "Sam"
    assert arrays["values"][0, 0] == pytest.approx(0.323, abs=1e-3)
    amy = meta["names"].index("Amy")
    assert arrays["ghost"][amy] == pytest.approx(0.986, abs=1e-3)
    meta, arrays = picture(open_page(PAGE, cell="13,3", cut="share"), "next")
    assert arrays["values"][0, 0] == pytest.approx(0.981, abs=1e-3)
    meta, arrays = picture(open_page(PAGE, cell="13,3", cut="look"), "next")
    assert meta["names"][0] == "Amy"
    assert "ghost" not in arrays


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
    meta, _ = picture(open_page(PAGE, cell="13,3", cut="share"), "next")
    assert "Amy" in meta["names"]
    assert meta["marked"] == meta["names"].index("Amy")


def test_what_ifs_say_what_they_cost():
    text = words(open_page(PAGE, scaling="false"))
    assert "Mean loss on 6 short stories" in text.replace("\\", "")


@pytest.mark.parametrize(("choice", "opening"), [("few", "Right."), ("most", "Not quite."), ("?", "")])
def test_the_prediction_is_answered_by_core(choice, opening):
    text = words(open_page(PAGE, links=choice)).replace("\\", "")
    assert "3,744" in text
    assert (f"**{opening}**" in text) == bool(opening)


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
    np.testing.assert_array_equal(picture(app, "picture")[1]["values"][0], [[2, 0], [0, 0]])
    app = open_page(PAGE, source="hand", hand_q="1 0 7\n0 1", step="scores")
    assert "needs rows of equally many numbers" in words(app)
    app = open_page(PAGE, source="hand", hand_q="1 0\n0 1", step="scores")
    assert "do not fit" in app.warning[0].value


def test_the_line_that_stops_is_run_and_so_is_the_right_one():
    said = words(open_page(PAGE)).replace("\\", "")
    assert "“axes don't match array”" in said, "NumPy's own words"
    assert "out comes (2, 10, 64), from −2.985 to 2.830" in said


CHOICES = {
    "layer": "4", "head": "4", "temperature": "0.5109", "scope": "all", "scaling": "false", "cell": "13,3",
    "cut": "share", "words": "Sam and Amy played in the park. Amy threw the ball to",
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
    word = "zcell" if step == "z" else "cell"
    app = open_page(PAGE, step=step, cut="look", **{word: f"13,{column}"})
    _meta, arrays = picture(app, f"made_{step}")
    assert arrays["values"].shape[-2] == (16 if step == "scores" else 14)
    if step in ("weights", "scaled"):
        found = head.head_of(head.Demo(sentence.of(READING)))
        at = column  # all fourteen are shown
        assert arrays["values"][..., at, -1] == pytest.approx(getattr(found, step)[13, column], abs=1e-5)
    assert ("Under the sum: the 16 largest of its 48 products" in words(app)) is (step == "scores")
