"""The page on order and position: what it shows is core's, and what the link says is what it shows."""

import numpy as np
import pytest

from core.lab import subject
from core.lab import text as sentence
from core.nets import places
from core.topics.position import place_losses as wo
from core.topics.position import schemes as po
from core.topics.position import shuffle as sh
from core.whatif import Change
from pages.parts.position.shuffle import power
from pages.shared.pictures import live
from tests.pages.opening import address, come_back, lower, open_page, picture, words

READING = sentence.read(sentence.SENTENCE)
PAGE = "09_position"


def same(shown, wanted):
    np.testing.assert_allclose(shown.reshape(wanted.shape), wanted, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("query", "demo"),
    [
        ({}, {}),
        (dict(places="on"), dict(rotation=True)),
        (dict(future="on"), dict(mask=True)),
        (dict(places="on", future="on", shuffle_seed="4"), dict(rotation=True, mask=True, seed=4)),
    ],
)
def test_the_signature_holds_every_order_under_its_settings(query, demo):
    app = open_page(PAGE, **query)
    meta, arrays = picture(app, "shuffled")
    found = sh.shuffled(sh.Demo(sentence.of(READING), **demo))
    np.testing.assert_array_equal(arrays["places"].reshape(found.places.shape), found.places)
    np.testing.assert_allclose(arrays["outputs"].reshape(found.outputs.shape), found.outputs, atol=1e-5)
    np.testing.assert_allclose(arrays["changed"].reshape(found.changed.shape), found.changed, atol=1e-6)
    assert meta["signature"]
    assert (meta["slider"]["name"], len(meta["slider"]["stops"])) == ("shuffle", 49)
    assert meta["tokens"] == list(READING.tokens)
    assert meta["captions"][20].startswith(f"{found.pairs[20]} of 78 pairs")
    assert meta["captions"][48].endswith(f"{found.best[48].token} {found.best[48].p:.2f}")


def test_how_often_another_word_follows_is_counted():
    text = words(open_page(PAGE, places="on", future="on", shuffle_seed="2"))
    best = sh.shuffled(sh.Demo(sentence.of(READING), True, True, 2)).best
    other = sum(word.token != "Amy" for word in best)
    assert 0 < other < 49
    assert f"in {other} of the 49 orders" in text


@pytest.mark.parametrize(("choice", "opening"), [("travel", "Right."), ("same", "Not quite."), ("?", "")])
def test_the_prediction_is_answered_by_core(choice, opening):
    text = words(open_page(PAGE, shuffled=choice)).replace("\\", "")
    assert (f"**{opening}**" in text) == bool(opening)
    off = sh.shuffled(sh.Demo(sentence.of(READING))).errors.max()
    assert off < 1e-5
    assert power(float(off)) in text


@pytest.mark.parametrize("state", [{"places": "on"}, {"future": "on"}, {"places": "on", "future": "on"}])
def test_the_guess_says_of_which_setting_it_asks(state):
    bare, other = words(open_page(PAGE, shuffled="?")), words(open_page(PAGE, shuffled="?", **state))
    asked, said = "Guess first: no positions, no mask", "Watch a card"
    assert asked in bare
    assert said in bare
    assert asked not in other, "the picture shows another setting"
    assert said not in other
    assert "switch positions and mask off, then shuffle" in other


@pytest.mark.parametrize(("d", "n"), [(8, 16), (64, 128)])
def test_the_table_of_sinusoids(d, n):
    meta, arrays = picture(open_page(PAGE, pe_width=str(d), pe_length=str(n)), "sinusoids")
    np.testing.assert_allclose(arrays["values"].reshape(49, n, d), po.tables(n, d), atol=1e-3)
    assert f"{po.wavelengths(d, po.BASES[40])[-1]:,.0f} on the right" in meta["captions"][40]


def test_waves_and_clock_move_together():
    app = open_page(PAGE, look_at="waves", pe_width="16", pe_place="30", pe_pair="all")
    rows = po.table_by_numpy(len(po.PLACES), 16)[:, :8]
    meta, arrays = picture(app, "waves")
    same(arrays["values"], rows.T)
    clock, hands = picture(app, "clock")
    same(hands["moving"], rows.reshape(-1, 4, 2))
    assert meta["slider"]["at"] == clock["slider"]["at"] == 30
    assert meta["slider"]["together"]
    assert clock["slider"]["together"]
    assert clock["slider"]["hidden"]
    one = picture(open_page(PAGE, look_at="waves", pe_width="16", pe_pair="2"), "waves")[1]
    same(one["values"], rows.T[4:6])


def test_the_fitted_map_the_dot_products_and_the_learned_table():
    same(picture(open_page(PAGE, look_at="offset"), "offset")[1]["values"], po.offsets().fitted)
    meta, arrays = picture(open_page(PAGE, look_at="dots", pe_width="16", pe_base="100"), "dots")
    np.testing.assert_allclose(arrays["values"].reshape(49, 48, 48), po.dots(48, 16), atol=1e-2)
    assert meta["slider"]["stops"][meta["slider"]["at"]] == 100
    app = open_page(PAGE, look_at="learned", ask_place="64")
    same(picture(app, "learned")[1]["values"], places.alike())
    told = "IndexError: index 64 is out of bounds for dimension 0 with size 64"  # torch's own words
    assert told in [block.value for block in app.code]
    assert told not in [block.value for block in open_page(PAGE, look_at="learned", ask_place="63").code]


@pytest.mark.parametrize(
    ("query", "demo"),
    [
        ({}, {}),
        (dict(layer="2", head="3"), dict(layer=2, head=3)),
        (dict(same_word="same", scheme_step="weights"), dict(same=True)),
    ],
)
def test_five_schemes_side_by_side(query, demo):
    app = open_page(PAGE, **query)
    for scheme in po.SCHEMES:
        meta, arrays = picture(app, f"scheme_{scheme}")
        found = po.moved(po.Demo(sentence.of(READING), **demo), scheme)
        wanted = found.weights if "scheme_step" in query else found.scores
        same(arrays["values"], lower(wanted))
        assert meta["slider"]["together"]
        assert meta["slider"]["hidden"], "one slider moves all five"
        assert meta["slider"]["name"] == "starts_at"
    ruler, _arrays = picture(app, "along")
    assert ruler["tokens"] == ["to"] * 14 if demo.get("same") else list(READING.tokens)
    assert ruler["places"] == 64
    assert (ruler["slider"]["together"], ruler["slider"]["hidden"]) == (True, False)
    assert (ruler["slider"]["name"], ruler["slider"]["stops"]) == (meta["slider"]["name"], meta["slider"]["stops"])


def test_slopes():
    meta, arrays = picture(open_page(PAGE, slope_m="0.5"), "ramps")
    same(arrays["values"], lower(po.ramps(14)))
    assert meta["slider"]["stops"][meta["slider"]["at"]] == 0.5
    assert "every 1.4 places" in meta["captions"][meta["slider"]["at"]]


def test_what_position_is_worth():
    app = open_page(PAGE)
    now = subject.outlook(sentence.of(READING), Change(rotation=False))
    meta, arrays = picture(app, "still")
    untouched = subject.outlook(sentence.of(READING), Change()).asked
    assert meta["names"] == [*(word.token for word in now.words[:-1]), untouched.token]
    same(arrays["values"][0, :-1], np.array([word.p for word in now.words[:-1]], np.float32))
    assert arrays["ghost"][-1] == pytest.approx(untouched.p, rel=1e-5), "the word that falls is shown with its fall"
    assert f"{wo.story_loss(False, True):.2f}" in words(app)


def test_lengths():
    app = open_page(PAGE, letter="128", token_at="400", rope_loss="yes")
    for key, found, width, stop in (("letters", places.by_place(), 9, 128), ("long_stories", wo.by_place(), 33, 400)):
        meta, arrays = picture(app, key)
        smoothed = wo.smooth(found, width, 64 if key == "letters" else 256)
        same(arrays["values"], smoothed)
        at = meta["slider"]["at"]
        assert meta["slider"]["stops"][at] == stop
        assert f"{smoothed[-1][stop - 1]:.2f}" in meta["captions"][at]


def test_the_curve_that_the_next_room_asks_for_is_not_told_before():
    app = open_page(PAGE)
    assert not {"letters", "long_stories"} & set(state(app))
    assert "hardly rises" not in words(app)
    app.switch_page("pages/10_rope.py").run()
    app.button(key="rope_show").click().run()
    app.switch_page(f"pages/{PAGE}.py").run()
    assert {"letters", "long_stories"} <= set(state(app)), "drawn there, shown here"
    app = open_page(PAGE)
    app.button(key="show_past").click().run()
    assert {"letters", "long_stories"} <= set(state(app))


def test_the_idea_is_the_shuffle_a_table_and_three_schemes():
    app = open_page(PAGE, depth="idea", layer="4", same_word="same")
    assert set(state(app)) == {"shuffled", "sinusoids", "along", "scheme_sinusoidal", "scheme_learned", "scheme_alibi"}
    found = po.moved(po.Demo(sentence.of(READING), layer=4, same=True), "alibi")
    same(picture(app, "scheme_alibi")[1]["values"], lower(found.scores))
    assert "waves" in state(open_page(PAGE, depth="idea", look_at="waves")), "a link to a view opens it"


def test_the_line_says_what_the_model_is_told_of_order():
    app = open_page(PAGE, places="on", shuffle_seed="3")
    label = app.get("popover")[-1].proto.popover.label.replace("\\", "")
    assert label == "positions: rotation, as trained · mask: off · shuffle no. 3"


def test_a_link_restores_the_sliders():
    app = open_page(PAGE, words="The cat sat on the mat.", shuffle="17", pe_base="100", starts_at="9")
    assert picture(app, "shuffled")[0]["slider"]["at"] == 17
    assert picture(app, "sinusoids")[0]["slider"]["at"] == po.BASES.index(100)
    assert picture(app, "scheme_rope")[0]["slider"]["at"] == 9
    assert picture(app, "along")[0]["slider"]["at"] == 9
    assert picture(app, "shuffled")[0]["tokens"] == list(sentence.read("The cat sat on the mat.").tokens)


def test_the_bare_address_is_bare():
    assert set(open_page(PAGE, depth="idea").query_params) <= {"lang"}


@pytest.mark.parametrize(
    "query",
    [
        dict(shuffle="x", pe_base="nan", starts_at="-9", slope_m="1e99", ask_place="7", look_at="z", places="?"),
        dict(words="🙂", layer="9", shuffle_seed="77", pe_width="5", pe_length="0", letter="", token_at="a"),
        dict(words="a", shuffle="48", same_word="same", look_at="waves", pe_width="4", pe_pair="9"),
        dict(words="The cat sat. " * 90, places="on", shuffle="999", scheme_step="weights"),
        dict(words="<b>你好</b> مرحبا", future="on", look_at="learned", ask_place="99999999"),
    ],
)
def test_junk_in_the_link_does_no_harm(query):
    app = open_page(PAGE, **query)
    assert not app.exception
    assert picture(app, "shuffled")[0]["signature"]


def test_a_table_of_odd_width_stops_in_torchs_own_words():
    said = words(open_page(PAGE, at="common-mistakes")).replace("\\", "")
    assert "The expanded size of the tensor (3) must match the existing size (4)" in said


CHOICES = dict(
    places="on",
    future="on",
    shuffle="20",
    shuffle_seed="3",
    layer="4",
    head="3",
    same_word="same",
    scheme_step="weights",
    starts_at="7",
    slope_m="0.25",
    letter="100",
    token_at="320",
    rope_loss="yes",
)
VIEWS = [
    dict(pe_width="16", pe_length="32", pe_base="100"),
    dict(look_at="waves", pe_pair="all", pe_place="31"),
    dict(look_at="offset", pe_offset="9"),
    dict(look_at="learned", ask_place="64"),
]


def state(app):
    """Every picture's slider, state and words."""
    metas = [live.unpack(element.proto.bytes)[0] for element in app.get("bidi_component")]
    return {m["key"]: (m.get("slider") and m["slider"]["at"], m["state"], m.get("captions")) for m in metas}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.get("look_at", "table"))
def test_every_choice_survives_leaving_and_coming_back(view):
    asked = CHOICES | view
    app = open_page(PAGE, **asked)
    assert address(app) == asked
    before = state(app)
    assert before["shuffled"][0] == 20
    assert before["along"][0] == before["scheme_rope"][0] == 7
    app = come_back(app, PAGE)
    assert not app.exception
    assert (state(app), address(app)) == (before, asked)
    assert state(open_page(PAGE, **asked)) == before


def test_an_order_that_was_laid_is_where_the_slider_ends():
    own = (0, 3, 1, 2, *range(4, 14))
    app = open_page(PAGE, order=",".join(map(str, own)), shuffle="48", places="on", future="on")
    meta, arrays = picture(app, "shuffled")
    found = sh.shuffled(sh.Demo(sentence.of(READING), True, True, own=own))
    np.testing.assert_array_equal(arrays["places"].reshape(found.places.shape)[-1], own)
    assert meta["captions"][-1].startswith("2 of 78 pairs")
    assert f"{found.best[-1].token} {found.best[-1].p:.2f}" in meta["captions"][-1]
    assert meta["slider"]["at"] == 48
    assert address(come_back(app, PAGE))["order"] == ",".join(map(str, own))
    app = open_page(PAGE, order=",".join(map(str, own)), shuffle="48")
    app.text_input(key="words").set_value("Tom had a red ball.").run()
    assert "order" not in address(app), "another text has other cards"


@pytest.mark.parametrize("junk", ["1,0", "0,1", "0,1,1", "a", "0," + ",".join(map(str, range(13))), "-1"])
def test_what_is_no_order_is_none(junk):
    app = open_page(PAGE, order=junk)
    assert not app.exception
    assert "order" not in address(app)


def test_the_answer_waits_for_the_guess():
    told = "Attention alone does not know what order is"
    assert told not in words(open_page(PAGE))
    assert told in words(open_page(PAGE, shuffled="?"))
    assert "The mask alone tells something" in words(open_page(PAGE, future="on"))


def test_a_model_that_has_its_places_already_is_told_in_a_sentence(monkeypatch):
    def none(_demo, _scheme):
        raise sentence.Cannot(po.PLACED)

    monkeypatch.setattr(po, "moved", none)
    for lang, told in (("en", po.PLACED), ("zh", "这个模型在第一个块之前")):
        app = open_page(PAGE, lang=lang)
        assert not app.exception
        assert [told in box.value for box in app.warning] == [True]
