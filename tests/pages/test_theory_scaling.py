"""Scaling and the family on the theory page: what is shown is core's, nothing is told before its guess, links restore."""

import base64
import json

import numpy as np
import pyarrow as pa
import pytest

from core.nets import scaling as own
from core.topics.theory import family as fm
from core.topics.theory import scaling as sc
from tests.pages.opening import address, open_page, picture, words

PAGE = "17_theory"
GUESSED = dict(budget="middle", tokens_each="20")


def charts(app):
    """The rows of every Altair chart, in the order of the page: one list a chart."""
    return [
        [row for held in element.proto.datasets for row in pa.ipc.open_stream(held.data.data).read_all().to_pylist()]
        for element in app.get("vega_lite_chart")
    ]


def chart(app, field):
    """The one chart whose rows have this field."""
    (found,) = [rows for rows in charts(app) if any(row.get(field) is not None for row in rows)]
    return found


def test_the_race_is_cores():
    meta, arrays = picture(open_page(PAGE, depth="idea", **GUESSED), "race")
    race = sc.race()
    np.testing.assert_allclose(arrays["values"].reshape(9, -1)[:7], race.losses, rtol=1e-6)
    assert len(meta["slider"]["stops"]) >= 43
    stop = 30
    best = race.best[stop]
    assert meta["captions"][stop].startswith(f"best: N = {race.sizes[best]:,}, D = ")
    assert f"loss {race.losses[best, stop]:.2f} · the largest" in meta["captions"][stop]


def test_nothing_is_told_before_it_is_guessed():
    app = open_page(PAGE)
    assert not app.exception
    meta, arrays = picture(app, "race")
    assert set(arrays["values"].flatten().tolist()) == {np.float32(own.floor()), np.float32(own.alone())}
    assert not meta.get("captions")
    meta, arrays = picture(app, "valley")
    assert np.isnan(arrays["values"]).all()
    assert not meta.get("captions")
    assert "does not follow" not in words(app)
    with pytest.raises(AssertionError, match="no picture race_split"):
        picture(app, "race_split")
    told = words(open_page(PAGE, **GUESSED))
    assert "does not follow" in told
    assert "Not quite." in told


def test_the_split_is_that_of_the_best():
    _meta, arrays = picture(open_page(PAGE, **GUESSED), "race_split")
    race = sc.race()
    n, d, _largest = arrays["values"].reshape(3, -1)
    np.testing.assert_allclose(n, [race.sizes[i] for i in race.best])
    np.testing.assert_allclose(6 * n * d, race.budgets, rtol=1e-5)


def test_the_answers_are_what_the_options_say():
    race, stop = sc.race(), sc.near(1e11)
    assert 0 < race.best[stop] < len(race.sizes) - 1
    assert round(sc.split(sc.PRINTED, sc.GOPHER).ratio, -1) == 90
    assert "«" not in words(open_page(PAGE, budget="smallest", tokens_each="2"))


def test_the_valley_is_cores_at_every_budget():
    meta, arrays = picture(open_page(PAGE, **GUESSED), "valley")
    np.testing.assert_allclose(arrays["values"].reshape(65, 2, -1), sc.valleys(), rtol=1e-6)
    found = sc.split(sc.REFIT, float(sc.BUDGETS[10]))
    assert f"D/N = {found.ratio:.0f}, loss {found.loss:.3f}" in meta["captions"][10]


def test_the_law_shows_every_net_and_what_the_pressed_one_writes():
    app = open_page(PAGE, scale_net="5", **GUESSED)
    points = [row for row in chart(app, "over") if row.get("loss")]
    assert [row["n"] for row in points] == [net.parameters for net in own.nets()]
    np.testing.assert_allclose([row["over"] for row in points], [net.losses[-1] - own.floor() for net in own.nets()])
    assert [row["now"] for row in points].index(True) == 5
    shown = "\n".join(code.value for code in app.code)
    assert own.nets()[5].writes[0].replace("\n", "↵") in shown


@pytest.mark.parametrize(("said", "constants"), [({}, sc.PRINTED), ({"constants": "refit"}, sc.REFIT)])
def test_the_surface_waits_in_its_fold_and_is_that_of_the_constants_chosen(said, constants):
    assert not open_page(PAGE, **GUESSED).get("plotly_chart")
    app = open_page(PAGE, at="turn-it-loss-over-parameters-and-tokens", **said)
    (chart,) = app.get("plotly_chart")
    spec = json.loads(chart.proto.spec)
    assert [one["type"] for one in spec["data"]] == ["surface", "scatter3d"]
    valley = np.frombuffer(base64.b64decode(spec["data"][1]["z"]["bdata"]), spec["data"][1]["z"]["dtype"])
    np.testing.assert_allclose(valley, sc.surface(constants).valley[2] + 0.02, rtol=1e-6)


@pytest.mark.parametrize("branch", fm.BRANCHES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_branch_has_its_mask_its_input_and_its_count(branch, lang):
    app = open_page(PAGE, branch=branch, lang=lang)
    assert not app.exception
    _meta, arrays = picture(app, "branch_mask")
    np.testing.assert_array_equal(arrays["values"][0], fm.mask(branch))
    assert f"{fm.parameters(branch):,}" in words(app)
    assert "«" not in words(app)
    if branch == "vision":
        np.testing.assert_allclose(picture(app, "patches")[1]["values"], fm.cut_image(), atol=1e-3)


def test_the_tree_marks_what_was_never_confirmed_and_a_telephone_names_fewer():
    deep = chart(open_page(PAGE), "lane")
    assert {"GPT-4?", "BERT", "ViT"} <= {row["name"] for row in deep if row.get("name")}
    narrow = {row["name"] for row in deep if row.get("narrow")}
    assert {"BERT", "GPT-3", "DeepSeek-V3"} <= narrow
    assert not {"GPT-4?", "Mixtral", "Llama 2", "Flash-2", "Chinchilla"} & narrow, "they lay on one another"
    sizes = {row["name"]: row["size"] for row in deep if row.get("name")}
    assert "unconfirmed" in sizes["GPT-4?"]
    assert sizes["GPT-3"] == "174,604,259,328"


def test_trends_are_cores():
    found = [rows for rows in charts(open_page(PAGE)) if any("sure" in row for row in rows)]
    for field, rows in zip(("layers", "size", "context"), found, strict=True):
        assert {row["id"]: row["value"] for row in rows} == {one.id: getattr(one, field) for one in fm.trends()}
        unsure = {row["id"] for row in rows if row["sure"] is False}
        assert unsure == (set() if field == "context" else {"gpt4"})


def test_a_link_restores_everything():
    link = dict(scale_c="10.5", scale_net="6", published_c="19", branch="vision", constants="refit")
    app = open_page(PAGE, at="turn-it-loss-over-parameters-and-tokens", **link)
    meta = picture(app, "race")[0]
    near = min(meta["slider"]["stops"], key=lambda stop: abs(stop - 10.5))
    assert meta["slider"]["stops"][meta["slider"]["at"]] == near
    assert {word: said for word, said in address(app).items() if word in link} == link | {"scale_c": f"{near:g}"}
    assert picture(app, "valley")[0]["slider"]["at"] == 8


def test_every_date_stands_in_a_table_too():
    said = words(open_page(PAGE, at="all-dates-and-sizes"))
    assert "| 2022-05 | Flash | " in said
    assert said.count("| arXiv ") == sum("." in event.paper for event in fm.EVENTS)
