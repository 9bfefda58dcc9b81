"""The softmax lab: what it shows is core's, and what the link says is what it shows."""

import numpy as np
import pytest

from core.lab import head as onehead
from core.lab import text as sentence
from core.topics.softmax import lab
from pages.parts.softmax import bench as parts
from tests.pages.opening import address, come_back, open_page, picture, words

READING = sentence.read(sentence.SENTENCE)
PAGE = "05_softmax"


def row_of_the_model(layer, head, query):
    head = onehead.head_of(onehead.Demo(sentence.of(READING), layer, head))
    return tuple(float(x) for x in head.scaled[query, : query + 1])


def typed(text, **query):
    return open_page(PAGE, scores_of="typed", scores=text, **query)


def same(shown, wanted):
    np.testing.assert_allclose(shown.reshape(wanted.shape), wanted, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("query", "where"),
    [({}, (5, 1, 13)), (dict(layer="4", head="4", row_of="9"), (4, 4, 9)), (dict(row_of="1"), (5, 1, 1))],
)
def test_the_signature_holds_a_row_of_the_model_at_every_temperature(query, where):
    app = open_page(PAGE, scores_of="model", **query)
    meta, arrays = picture(app, "shares")
    found = lab.heated(row_of_the_model(*where))
    same(arrays["beside"], found.steps[:, :2].swapaxes(1, 2))
    same(picture(app, "model_shares")[1]["values"], found.shares)
    same(arrays["values"], found.shares)
    same(arrays["ghost"], found.shares[24])
    assert meta["signature"]
    assert (meta["slider"]["name"], len(meta["slider"]["stops"]), meta["slider"]["together"]) == (
        "temperature",
        49,
        True,
    )
    assert [name.split(" ", 1)[1] for name in meta["names"]] == sentence.names(READING.tokens)[: where[2] + 1]
    assert f"{found.entropy[7]:.2f}" in meta["captions"][7]


@pytest.mark.parametrize("text", ["2 1 0.1", "1000, 1000.1, 1000.2", "−3；2、5", "2 2 0"])
def test_typed_scores_reach_every_picture(text):
    row = parts.read_scores(text)
    found = lab.heated(row)
    app = typed(text)
    same(picture(app, "shares")[1]["values"], found.shares)
    same(picture(app, "slopes")[1]["values"], found.slopes)
    same(picture(app, "steps")[1]["values"], found.steps)
    same(picture(app, "added")[1]["values"], lab.added(row))
    same(picture(app, "formats")[1]["values"], lab.in_format(row, "fp32"))


def test_closer_pictures():
    row = (2.1, -0.5, 1.3, 0.8)
    app = typed("2.1 -0.5 1.3 0.8", closer="mix")
    meta, arrays = picture(app, "mix")
    same(arrays["mixed"], lab.mixed(row))
    same(arrays["shares"], lab.heated(row).shares)
    assert meta["slider"]["together"]
    app = typed("2.1 -0.5 1.3 0.8", closer="triangle")
    meta, arrays = picture(app, "triangle")
    same(arrays["moving"], lab.triangle(row).points)
    assert meta["names"] == ["2.1", "1.3", "0.8"]
    assert "three largest alone" in words(app)
    assert "needs three scores" in words(typed("1 2", closer="triangle"))


@pytest.mark.parametrize(("text", "says"), [("2 2 0", "2 scores share the maximum"), ("2 1 0", "takes all")])
def test_the_limit_is_told(text, says):
    assert says in words(typed(text, closer="mix"))


@pytest.mark.parametrize("form", lab.FORMATS)
def test_the_number_format_reaches_the_picture(form):
    app = open_page(PAGE, scores_of="model", float_format=form)
    meta, arrays = picture(app, "formats")
    row = row_of_the_model(5, 1, 13)
    frames = lab.in_format(row, form)
    same(arrays["values"], frames)
    assert np.isnan(frames[-1, 2]).any()
    assert "NaN" in meta["captions"][-1]
    assert arrays["values"].dtype == (np.float64 if form == "fp64" else np.float32), "1e300 must not arrive as infinity"


def test_a_link_restores_everything():
    app = open_page(
        PAGE,
        scores_of="model",
        words="The cat sat on the mat.",
        temperature="0.5",
        row_of="4",
        slope="1,2",
        score="3,0",
        add_c="40",
        largest="100",
        float_format="bf16",
        printed="four",
        closer="steps",
    )
    for key in ("shares", "slopes", "steps"):
        slider = picture(app, key)[0]["slider"]
        assert slider["stops"][slider["at"]] == pytest.approx(0.5)
    assert picture(app, "slopes")[0]["state"] == {"cell": [1, 2]}
    assert picture(app, "steps")[0]["state"] == {"cell": [3, 0]}
    for key, value in (("added", 40), ("formats", 100)):
        slider = picture(app, key)[0]["slider"]
        assert slider["stops"][slider["at"]] == value
    same(picture(app, "printed")[1]["ghost"], np.array(lab.CLAIMS["four"].row))
    assert picture(app, "shares")[0]["names"][-1].endswith(sentence.read("The cat sat on the mat.").tokens[4])
    assert app.query_params["slope"] == "1,2"


def test_the_bare_address_is_bare():
    assert set(open_page(PAGE, depth="idea").query_params) <= {"lang"}


@pytest.mark.parametrize("junk", ["", "x", "1", "1 2 3 x", "nan 1", "1e9 2", "inf 2", "1 " * 17, "<b>1</b> 2"])
def test_what_is_no_row_gives_an_example_and_a_sentence(junk):
    app = typed(junk)
    assert not app.exception
    same(picture(app, "shares")[1]["values"], lab.heated((2.0, 1.0, 0.1)).shares)
    if junk:
        assert "2 to 16 numbers" in words(app)


@pytest.mark.parametrize(
    "query",
    [
        dict(row_of="99", slope="50,1", score="9,9", temperature="-3", add_c="x", largest="nan", printed="z"),
        dict(row_of="0", slope="1", closer="?", float_format="int8", scores_of="?", temperature="1e99"),
        dict(words="🙂", row_of="1", layer="77"),
    ],
)
def test_junk_in_the_link_does_no_harm(query):
    app = open_page(PAGE, **query)
    assert not app.exception
    assert picture(app, "shares")[0]["signature"]


def test_a_long_row_keeps_its_sixteen_largest():
    text = "The cat sat on the mat. " * 6
    app = open_page(PAGE, scores_of="model", words=text.strip(), layer="0", head="3")
    meta, arrays = picture(app, "shares")
    assert arrays["values"].shape == (49, 16)
    reading = sentence.read(text.strip())
    weights = onehead.head_of(onehead.Demo(sentence.of(reading), 0, 3)).weights[-1]
    kept = np.sort(np.argsort(-weights, kind="stable")[:16])
    np.testing.assert_allclose(arrays["values"][24], weights[kept] / weights[kept].sum(), atol=1e-5)
    assert f"{1 - weights[kept].sum():.1%}" in words(app).replace("\\", "")
    assert meta["names"][0].split(" ", 1)[1] == sentence.names(reading.tokens)[kept[0]]


@pytest.mark.parametrize(("choice", "opening"), [("same", "Right."), ("grow", "Not quite."), ("?", "")])
def test_the_prediction_is_answered_by_core(choice, opening):
    text = words(open_page(PAGE, add100=choice)).replace("\\", "")
    assert "largest change" in text
    assert (f"**{opening}**" in text) == bool(opening)


@pytest.mark.parametrize("name", lab.CLAIMS)
def test_printed_examples_are_judged_on_the_page(name):
    app = open_page(PAGE, printed=name)
    arrays = picture(app, "printed")[1]
    verdict = lab.judge(lab.CLAIMS[name])
    same(arrays["values"], np.array(verdict.shares))
    assert ("**Right**" if verdict.right else "**Wrong**") in words(app)
    assert (name == "cold") == ("7.6 times, within rounding" in words(app).replace("\\", "")), "0.84 / 0.11"
    assert (name == "cold") == ("only 2.75 times the third" in words(app).replace("\\", "")), "0.11 / 0.04"
    app = open_page(PAGE, printed=name, scores_of="model")
    app.button(key="bench").click().run()
    assert "scores_of" not in app.query_params
    same(picture(app, "shares")[1]["values"], lab.heated(lab.CLAIMS[name].scores).shares)


def test_the_written_numbers_are_those_of_the_picture():
    app = typed("2 1 0.1", slope="0,1", score="4,1")
    formulas = "\n".join(block.value for block in app.latex)
    p = lab.run(lab.Demo((2.0, 1.0, 0.1)))["shares"].value
    assert f"= {p[1]:.3f}" in formulas
    assert f"= {-p[0] * p[1]:.3f}" in formulas
    assert "11.2125" in picture(app, "steps")[0]["captions"][24]


def test_the_last_word_is_asked_until_another_is_chosen():
    app = open_page(PAGE)
    app.text_input(key="words").set_value("Amy saw a big red ball and a very small dog near the old house of").run()
    reading = sentence.read(app.text_input(key="words").value)
    assert app.selectbox(key="row_of_choice").value == len(reading.tokens) - 1
    app.selectbox(key="row_of_choice").set_value(3).run()
    assert app.query_params["row_of"] in ("3", ["3"])


def test_the_idea_is_three_scores_two_handles_and_a_real_row():
    app = open_page(PAGE, depth="idea")
    meta, arrays = picture(app, "shares")
    found = lab.heated((2.0, 1.0, 0.1))
    same(arrays["values"], found.shares)
    same(arrays["beside"], found.steps[:, :2].swapaxes(1, 2))
    assert meta["captions"][24 - 7] == f"largest share {np.exp(4) / (np.exp(4) + np.exp(2) + np.exp(0.2)):.3f}"
    same(picture(app, "model_shares")[1]["values"], lab.heated(row_of_the_model(5, 1, 13)).shares)
    for shown in ("added", "dragged"):
        picture(app, shown)
    for deep in ("slopes", "steps", "formats", "printed"):
        with pytest.raises(AssertionError, match="no picture"):
            picture(app, deep)


@pytest.mark.parametrize(
    ("row", "right"), [("2 1 0.1", "more"), ("2 2 0", "more"), ("0 0 0 0", "same"), ("22 0", "same"), ("9 0", "same")]
)
def test_half_the_temperature_is_answered_by_the_row_itself(row, right):
    z = np.array(parts.read_scores(row))
    before, after = (float((np.exp(z / t) / np.exp(z / t).sum()).max()) for t in (1, 0.5))
    for guess in ("less", "same", "more", "all"):
        text = words(typed(row, halved=guess)).replace("\\", "")
        assert ("**Right.**" in text) == (guess == right or (guess == "all" and after > 0.9995))
        assert f"{before:.3f}" in text
        assert f"{after:.3f}" in text


def test_what_the_slider_shows_is_not_said_before_the_guess():
    assert "takes all; to the right" not in words(open_page(PAGE))
    assert "takes all; to the right" in words(open_page(PAGE, halved="?"))


def test_the_row_of_the_model_is_brought_to_the_first_picture_and_back():
    app = open_page(PAGE)
    app.button(key="bench_row").click().run()
    same(picture(app, "shares")[1]["values"], lab.heated(row_of_the_model(5, 1, 13)).shares)
    app.button(key="type_scores").click().run()
    same(picture(app, "shares")[1]["values"], lab.heated((2.0, 1.0, 0.1)).shares)


@pytest.mark.parametrize(("score", "text"), [(0.001, "0.001"), (-0.0042, "−0.0042"), (2.0, "2"), (10.0611, "10.06")])
def test_a_small_score_is_not_written_as_zero(score, text):
    assert parts.written(score) == text


CHOICES = dict(
    scores="3 2 1 -1",
    temperature="0.25",
    slope="1,2",
    score="3,1",
    drag="2",
    drag_to="3.87",
    add_c="40",
    largest="100",
    float_format="bf16",
    printed="four",
)


def state(app):
    """What the pictures say of themselves: the cells, the stops of their sliders, the example."""
    found = {}
    for key in ("shares", "slopes", "dragged", "added", "formats", "steps"):
        meta = picture(app, key)[0]
        found[key] = (meta["slider"]["stops"][meta["slider"]["at"]], meta["state"])
    return found | {"printed": picture(app, "printed")[0]["names"], "row": picture(app, "shares")[0]["names"]}


def test_every_choice_survives_leaving_and_coming_back():
    app = open_page(PAGE, **CHOICES)
    assert address(app) == CHOICES
    before = state(app)
    assert before["shares"][0] == pytest.approx(0.25, abs=1e-3)
    assert before["slopes"][1] == {"cell": [1, 2]}
    assert before["dragged"] == (3.87, {"bar": 2})
    assert (before["added"][0], before["formats"][0]) == (40, 100)
    assert before["row"] == ["3", "2", "1", "−1"]
    app = come_back(app, PAGE)
    assert not app.exception
    assert state(app) == before
    assert address(app) == CHOICES
    assert state(open_page(PAGE, **address(app))) == before
    assert address(come_back(typed("2 1 0.1", closer="mix"), PAGE))["closer"] == "mix"


def test_a_bar_is_dragged_and_another_row_begins_anew():
    app = typed("2 1 0.1", drag="1")
    meta, arrays = picture(app, "dragged")
    found = lab.dragged((2.0, 1.0, 0.1), 1)
    same(arrays["values"], found.shares)
    assert (meta["grab"], meta["marked"], meta["state"]) == (True, 1, {"bar": 1})
    assert meta["slider"]["stops"][meta["slider"]["at"]] == 1.0
    same(arrays["ghost"], lab.run(lab.Demo((2.0, 1.0, 0.1)))["shares"].value)
    app = typed("2 1 0.1", drag="1", drag_to="4")
    app.text_input(key="scores").set_value("1 5 2").run()
    meta = picture(app, "dragged")[0]
    assert meta["slider"]["stops"][meta["slider"]["at"]] == 5
    assert "drag_to" not in app.query_params


def test_the_reason_waits_for_the_guess():
    assert "Adding $c$ multiplies" not in words(open_page(PAGE))
    assert "Adding $c$ multiplies" in words(open_page(PAGE, add100="?"))
