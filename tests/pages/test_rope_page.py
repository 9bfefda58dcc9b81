"""The RoPE page: what it shows is core's, and what the link says is what it shows."""

import numpy as np
import pytest

from core.lab import text as sentence
from core.topics.rope import clocks, long_losses, stretching
from pages.shared.pictures import live
from tests.pages.opening import address, come_back, open_page, picture, words

READING = sentence.read(sentence.SENTENCE)
PAGE = "10_rope"
DEMO = clocks.Demo(sentence.of(READING), 2, 0, 13, 12)


def close(shown, made):
    np.testing.assert_allclose(shown.reshape(np.shape(made)), made, rtol=1e-5, atol=1e-5)


def test_the_clock_faces_hold_every_frame():
    meta, arrays = picture(open_page(PAGE), "clocks")
    found = clocks.clocks(DEMO)
    for name in ("q", "k", "parts", "scores"):
        close(arrays[name], getattr(found, name))
    assert meta["signature"]
    assert len(meta["slider"]["stops"]) >= 43
    assert (meta["names"], meta["places"]) == (["to", "ball"], [13, 12])
    assert meta["theta"][1] == pytest.approx(10_000 ** (-1 / 24))


def test_the_bare_address_is_bare_and_nothing_fails():
    app = open_page(PAGE, depth="idea")
    assert not app.exception
    assert set(app.query_params) <= {"lang"}


def test_the_idea_is_two_clock_faces_one_arrow_and_a_guess():
    app = open_page(PAGE, depth="idea", rope_way="91")
    assert picture(app, "clocks")[0]["pairs"] is False, "the small clocks wait"
    assert picture(open_page(PAGE, depth="idea", rope_pair="2"), "clocks")[0]["pairs"] is True
    meta, arrays = picture(app, "one_pair")
    turned = clocks.turning(float(clocks.meeting(DEMO).theta[5]))
    way = clocks.DIRECTIONS.index(91)
    close(arrays["moving"], turned.moving.reshape(len(clocks.POSITIONS), -1, 2, 2)[:, way])
    assert len(meta["slider"]["stops"]) == len(arrays["moving"].reshape(-1, 4))
    assert set(state(app)) == {"clocks", "one_pair", "rope_guess"}
    assert "rotate_half" not in words(app)
    assert picture(open_page(PAGE, depth="idea", rope_lab="head"), "morph"), "a link to a bench opens it"


def test_the_law_is_one_sentence_at_the_idea_and_waits_for_the_guess():
    told = "only their distance"
    assert told not in words(open_page(PAGE, depth="idea")).split("In one sentence")[0]
    assert told in words(open_page(PAGE, depth="idea", rope_freeze="turns"))


def test_the_line_says_which_words_meet_in_which_head():
    (label,) = [box.proto.popover.label for box in open_page(PAGE, rope_q="7", layer="4").get("popover")][1:]
    assert label.replace("\\", "") == f"“{READING.tokens[7]}” asks, “ball” answers · block 4 · head 0"


def test_a_link_restores_everything():
    link = dict(layer="4", head="4", rope_q="7", rope_k="3", rope_move="m", rope_pair="11", rope_shift="40")
    app = open_page(PAGE, **link)
    meta, arrays = picture(app, "clocks")
    close(arrays["scores"], clocks.clocks(clocks.Demo(sentence.of(READING), 4, 4, 7, 3)).scores)
    assert meta["state"] == {"move": "m", "pair": 11}
    assert meta["slider"]["at"] == 40
    assert meta["places"] == [7, 3]
    assert {k: app.query_params[k] for k in link} == link


@pytest.mark.parametrize(
    "junk",
    [
        dict(rope_q="99", rope_k="-1", rope_pair="x", rope_shift="1e9", rope_move="up", rope_lab="?"),
        dict(rope_lab="pairing", rope_x="1 2", rope_four="nan", rope_pairing="thirds"),
        dict(rope_lab="head", rope_side="v", rope_part="7", words="Hi"),
        dict(rope_lab="where", rope_v="maybe", words="你好 <b>🙂</b> مرحبا"),
        dict(rope_guess="-5", rope_loss="perhaps", rope_base="0", rope_s="inf", rope_fix="2.49", rope_q="²"),
    ],
)
def test_junk_in_the_link_gives_a_working_page(junk):
    app = open_page(PAGE, **junk)
    assert not app.exception
    assert picture(app, "clocks")[1]["scores"].shape == (3, 64)


def test_the_law_is_written_with_its_numbers():
    text = words(open_page(PAGE, layer="4", head="4", rope_k="9", rope_freeze="?"))
    law = clocks.law(clocks.Demo(sentence.of(READING), 4, 4, 13, 9))
    for number in (law.recorded, law.turned, law.relative, law.spun):
        assert f"{number:.6f}".replace("-", "−") in text
    wrong = words(open_page(PAGE, layer="4", head="4", rope_k="9", at="common-mistakes"))
    assert f"{law.wrong:.4f}" in wrong.replace("\\", "").replace("−", "-")


@pytest.mark.parametrize(("choice", "opening"), [("stays", "Right."), ("less", "Not quite."), ("?", "")])
def test_the_prediction_is_answered(choice, opening):
    text = words(open_page(PAGE, rope_freeze=choice))
    assert ("**Right.**" in text, "**Not quite.**" in text) == (opening == "Right.", opening == "Not quite.")


def test_one_pair():
    meta, arrays = picture(open_page(PAGE, rope_m="7", rope_way="91", rope_pair="2"), "one_pair")
    close(arrays["moving"], clocks.turning(float(clocks.meeting(DEMO).theta[2])).moving)
    assert meta["slider"]["at"] == 7
    assert meta["state"] == {"rope_way": 91}


def test_a_whole_head():
    app = open_page(PAGE, rope_lab="head", rope_side="k", rope_part="1")
    meta, arrays = picture(app, "morph")
    close(arrays["values"], clocks.morph(DEMO, "k").values)
    assert meta["slider"]["at"] == 48
    close(picture(app, "table_cos")[1]["values"], clocks.cos_sin(DEMO.text, 16)[0][None])
    close(picture(app, "table_sin")[1]["values"], clocks.cos_sin(DEMO.text, 16)[1][None])
    stripes = picture(app, "stripes")[1]["values"][0]
    assert stripes[5, 3] == pytest.approx(stripes[9, 7], abs=1e-4)


@pytest.mark.parametrize("pairing", ["halves", "adjacent"])
def test_four_numbers(pairing):
    app = open_page(PAGE, rope_lab="pairing", rope_pairing=pairing, rope_x="2 0 -1 5", rope_four="9")
    meta, arrays = picture(app, "four")
    close(arrays["values"], clocks.four((2.0, 0.0, -1.0, 5.0), pairing))
    assert meta["slider"]["at"] == 9


def test_v_turned_by_mistake():
    calm = picture(open_page(PAGE, rope_lab="where"), "rope_next")[0]["names"]
    app = open_page(PAGE, rope_lab="where", rope_v="true")
    wrong = clocks.values_turned(sentence.of(READING))
    assert calm[0] == "Amy"
    names = picture(app, "rope_next")[0]["names"]
    assert names[:9] == [word.token for word in wrong.words][:9]
    assert "Amy" in names, "the untouched model's word is there, to see how far it falls"
    shares = np.array([82_944] * 4 + [1152]) / 332_928
    close(picture(app, "rope_cost")[1]["values"], shares[None])
    assert "82,944" in words(app).replace("\\", "")


def test_the_end_of_the_loss_stays_hidden_until_it_is_guessed():
    values = picture(open_page(PAGE, rope_guess="7"), "rope_guess")[1]["values"]
    plain = long_losses.curves().values[0, 0]
    close(values[0, 0, :8], plain[:8])
    assert np.isnan(values[:, 0, 8:]).all()
    app = open_page(PAGE, rope_guess="7", rope_loss="yes")
    meta, arrays = picture(app, "rope_guess")
    close(arrays["values"][0, 0], plain)
    assert arrays["values"][meta["slider"]["at"], 1, -1] == pytest.approx(7)
    assert f"**{plain[-1]:.1f}**" in words(app).replace("\\", "")


def test_angles_methods_and_repairs():
    app = open_page(PAGE, rope_base="1000000", rope_s="2", rope_fix="3.25", rope_loss="yes")
    meta, arrays = picture(app, "rope_turns")
    found = stretching.spectrum()
    close(arrays["values"][:, 0], found.turns)
    assert meta["captions"][0].startswith(f"{found.unseen[0]} pairs")
    assert "24 never finish" in meta["captions"][-1]
    follower, waves = picture(app, "rope_waves")
    close(waves["values"][:, 0], found.waves)
    for one, other in ((meta, follower), (picture(app, "rope_slow")[0], picture(app, "rope_far")[0])):
        assert (one["slider"]["hidden"], other["slider"]["hidden"]) == (False, True)
        assert (one["slider"]["name"], one["slider"]["at"]) == (other["slider"]["name"], other["slider"]["at"])
    close(picture(app, "rope_slow")[1]["values"], stretching.slowdowns())
    close(picture(app, "rope_far")[1]["values"][:, :6], stretching.far_angles(54)[1])
    meta, arrays = picture(app, "rope_fix")
    close(arrays["values"], long_losses.curves().values)
    assert meta["slider"]["stops"][meta["slider"]["at"]] == 3.25
    assert f"{long_losses.mean('yarn', 3.25, 512, 640):.2f}" in words(app)
    assert "40,890" in words(app).replace("\\", "")


def test_a_key_after_its_query_is_pointed_out():
    told = "The mask will hide this score"
    assert told in words(open_page(PAGE, rope_q="3", rope_k="9", rope_freeze="?"))
    assert told not in words(open_page(PAGE, rope_freeze="?"))


def test_chinese():
    text = words(open_page(PAGE, lang="zh", rope_lab="head"))
    assert "条纹" in text
    assert "弧度" in text


def test_one_click_opens_the_head_that_swings_least():
    found = clocks.swings(DEMO)
    layer, head = divmod(int(found.relative.argmin()), 6)
    app = open_page(PAGE).button(key=f"rope_see_{layer}_{head}").click().run()
    assert not app.exception
    demo = clocks.Demo(sentence.of(READING), layer, head, 13, 12)
    close(picture(app, "clocks")[1]["scores"], clocks.clocks(demo).scores)


CHOICES = dict(
    layer="4",
    head="3",
    rope_q="9",
    rope_k="4",
    rope_move="m",
    rope_shift="17",
    rope_pair="2",
    rope_guess="7",
    rope_loss="yes",
    rope_s="2.04",
    rope_fix="3.25",
    rope_base="100000",
)
BENCHES = [
    dict(rope_lab="pair", rope_m="11", rope_way="91"),
    dict(rope_lab="head", rope_side="k", rope_part="0.5"),
    dict(rope_lab="pairing", rope_pairing="adjacent", rope_four="9", rope_x="2 0 -1 5"),
    dict(rope_lab="where", rope_v="true"),
]


def state(app):
    """Every picture's slider, state and words."""
    metas = [live.unpack(element.proto.bytes)[0] for element in app.get("bidi_component")]
    return {
        meta["key"]: (meta.get("slider") and meta["slider"]["at"], meta["state"], meta.get("names")) for meta in metas
    }


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench["rope_lab"])
def test_every_choice_survives_leaving_and_coming_back(bench):
    asked = CHOICES | bench
    app = open_page(PAGE, **asked)
    told = {word: value for word, value in asked.items() if word != "rope_lab" or value != "pair"}
    snapped = {word: address(app).pop(word) for word in ("rope_s", "rope_base")}
    assert float(snapped["rope_s"]) == pytest.approx(2.04, rel=0.05)
    assert float(snapped["rope_base"]) == pytest.approx(100_000, rel=0.1)
    assert address(app) == told | snapped
    before, link = state(app), address(app)
    assert before["clocks"] == (17, {"move": "m", "pair": 2}, [READING.tokens[9], READING.tokens[4]])
    app = come_back(app, PAGE)
    assert not app.exception
    assert (state(app), address(app)) == (before, link)
    assert state(open_page(PAGE, **link)) == before


def test_a_model_that_does_not_turn_is_told_in_a_sentence(monkeypatch):
    def none(_demo):
        raise sentence.Cannot(clocks.NO_ROTATION)

    monkeypatch.setattr(clocks, "meeting", none)
    for lang, told in (("en", clocks.NO_ROTATION), ("zh", "这个模型没有旋转")):
        app = open_page(PAGE, lang=lang)
        assert not app.exception
        assert [told in box.value for box in app.warning] == [True]


def test_no_answer_stands_on_the_page_before_the_guess():
    app = open_page(PAGE)
    score = clocks.law(clocks.Demo(sentence.of(READING), 2, 0, 13, 12)).recorded
    assert f"{score:.6f}".replace("-", "−") not in words(app)
    assert "rope_fix" not in state(app), "it holds the curve that is to be drawn"
    app.button(key="rope_show").click().run()
    assert "rope_fix" in state(app)
