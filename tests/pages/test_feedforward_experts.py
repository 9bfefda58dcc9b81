"""The sections on experts of the page on FFNs: what they show is core's, and no answer stands before its guess."""

import json

import numpy as np
import pytest

from core.lab import text as sentence
from core.nets import mixture as net
from core.topics.feedforward import machines, needed
from core.topics.feedforward import mixture as toy
from tests.pages.opening import address, open_page, picture, words

PAGE = "12_feedforward"
TEXT = sentence.of(sentence.read(sentence.SENTENCE))
GUESSED = dict(ffn_need="set", moe_balance="most", depth="all")


@pytest.fixture(scope="module")
def whole():
    """The page with both guesses made."""
    return open_page(PAGE, **GUESSED)


def test_the_loss_waits_for_its_guess():
    app = open_page(PAGE, depth="idea")
    for key in ("ffn_kept", "ffn_grains", "moe_loads_left"):
        with pytest.raises(AssertionError):
            picture(app, key)
    half = f"{needed.losses()[1, 24]:.2f}"
    assert half not in words(app).replace("\\", "")
    app = open_page(PAGE, depth="idea", ffn_need="both")
    assert "Not quite" in words(app)
    assert half in words(app).replace("\\", "")
    assert picture(app, "ffn_kept")
    with pytest.raises(AssertionError):
        picture(app, "ffn_grains")


def test_49_stops_move_the_losses_and_the_next_word(whole):
    meta, arrays = picture(whole, "ffn_kept")
    assert len(meta["slider"]["stops"]) == 49
    np.testing.assert_allclose(arrays["values"][0], needed.losses(), rtol=1e-6)
    assert arrays["moving"].tolist() == meta["slider"]["stops"] == [16.0 * i for i in range(49)]
    assert meta["captions"][24].startswith("384 neurons: each its own 1.1")
    beside, bars = picture(whole, "ffn_kept_word")
    assert beside["slider"]["hidden"]
    assert beside["slider"]["stops"] == meta["slider"]["stops"]
    np.testing.assert_allclose(bars["values"], needed.run(TEXT).p[:, :, 0].T, atol=1e-6)
    np.testing.assert_allclose(picture(whole, "ffn_grains")[1]["values"][0][:2], needed.grains(), rtol=1e-6)


def test_loads_are_those_of_the_runs_and_the_other_run_is_chosen(whole):
    for kind, side in (("none", "left"), ("aux", "right")):
        meta, arrays = picture(whole, f"moe_loads_{side}")
        np.testing.assert_allclose(arrays["values"], net.loads(kind)[0, :, 1], atol=1e-6)
        assert len(meta["slider"]["stops"]) == len(net.STOPS) >= 43
    app = open_page(PAGE, **GUESSED, moe_with="bias", moe_step="600")
    meta, arrays = picture(app, "moe_loads_right")
    np.testing.assert_allclose(arrays["values"], net.loads("bias")[0, :, 1], atol=1e-6)
    assert meta["slider"]["at"] == len(net.STOPS) - 1


def test_seats_hold_what_came(whole):
    for kind in net.SHIPPED:
        meta, arrays = picture(whole, f"moe_seats_{kind}")
        found = toy.rationed(kind)
        np.testing.assert_array_equal(arrays["values"][..., 0], found.seated)
        assert (arrays["values"].sum(-1) == arrays["values"][0].sum(-1)).all(), "letters neither come nor vanish"
        assert len(meta["slider"]["stops"]) >= 43
        assert (found.seated <= found.places[:, None]).all()


def test_letters_stand_on_the_ground_of_their_expert(whole):
    for kind, app in (("aux", whole), ("none", open_page(PAGE, **GUESSED, moe_kind="none"))):
        meta, arrays = picture(app, "moe_letters")
        assert ["".join(strip["names"]).replace("␣", " ") for strip in meta["strips"]] == [sentence.SENTENCE] * 2
        np.testing.assert_array_equal(arrays["values"], toy.routing(kind, sentence.SENTENCE).experts.reshape(1, -1))
        assert all(len(set(grounds)) == net.EXPERTS for grounds in meta["fills"].values()), "each expert has its own"
    (chart,) = whole.get("plotly_chart")
    flow = json.loads(chart.proto.spec)["data"][0]
    assert (flow["type"], sum(flow["link"]["value"])) == ("sankey", len(sentence.SENTENCE))
    assert "Bands from" in chart.proto.alt


def test_a_press_moves_an_expert_to_the_next_machine():
    app = open_page(PAGE, depth="all")
    before = machines.traffic(machines.Demo(sentence.SENTENCE))
    assert f"**{before.crossing} of {before.moves}**" in words(app)
    app.button(key="moe_home_7").click().run()
    assert address(app)["moe_homes"] == "0,0,1,1,2,2,3,0"
    after = machines.traffic(machines.Demo(sentence.SENTENCE, (0, 0, 1, 1, 2, 2, 3, 0)))
    _meta, arrays = picture(app, "moe_work")
    np.testing.assert_array_equal(arrays["values"].reshape(4, 2).sum(-1), after.work)
    app.button(key="moe_best").click().run()
    best = machines.traffic(machines.Demo(sentence.SENTENCE, machines.best(sentence.SENTENCE)))
    assert f"**{best.crossing} of {best.moves}**" in words(app)
    assert best.crossing < before.crossing
    app.button(key="moe_again").click().run()
    assert "moe_homes" not in address(app)


def test_products_are_timed_when_asked():
    app = open_page(PAGE, depth="all")
    assert " ms |" not in words(app)
    app.button(key="moe_time").click().run()
    assert not app.exception
    assert words(app).count(" ms |") == 3 * len(machines.CROWDS)


@pytest.mark.parametrize(
    "junk",
    [
        dict(moe_homes="9,9,9,9,9,9,9,9", moe_step="-3", moe_seats="nan", ffn_kept="1e9", moe_with="x"),
        dict(words="你好 😀", moe_homes="0,0,0,0,0,0,0,0", moe_kind="none", lang="zh"),
        dict(words="<b>$x$ `a` [b](c) *d* _e_ :red[f]", moe_homes="1"),
        dict(words="a"),
        dict(words="the cat and the dog " * 150),
    ],
)
def test_any_text_and_any_link_gives_a_page(junk):
    app = open_page(PAGE, **GUESSED | junk)
    assert not app.exception
    assert picture(app, "moe_work")


def test_the_routers_size_is_counted_and_not_a_saying():
    said = words(open_page(PAGE, depth="all")).replace("\\", "")
    assert f"{8 * 4096:,} numbers a block in Mixtral-8x7B v0.1, {256 * 7168:,} in DeepSeek-V3" in said


def test_what_balancing_gains_is_the_difference_of_two_rows_of_its_table():
    said = words(open_page(PAGE, depth="all", moe_balance="?")).replace("\\", "")
    rows = {
        row[1].strip(): float(row[2])
        for row in (line.split("|") for line in said.splitlines())
        if len(row) == 5 and "–" in row[3]
    }
    gain = rows["no balancing"] - rows["balancing loss × 0.1"]
    assert f"gains little: {gain:.3f} nats" in said
