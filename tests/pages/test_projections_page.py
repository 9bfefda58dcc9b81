"""The page on linear layers: what it shows is core's, and what the link says is what it shows."""

import numpy as np
import pytest

from core.lab import subject
from core.lab import text as sentence
from core.topics.projections import linear as ln
from core.topics.projections import product
from core.topics.projections import query as pj
from tests.pages.opening import address, come_back, open_page, picture, words

READING = sentence.read(sentence.SENTENCE)
DEMO = pj.Demo(sentence.of(READING))
PAGE = "04_projections"
KEYS = (
    *(
        "proj_layer",
        "proj_head",
        "turn_q",
        "two_keys",
        "proj",
        "proj_cell",
        "proj_sum",
        "proj_lab",
        "arrow_q",
        "arrow_k",
    ),
    *("arrow_long", "weight_of", "weight_at", "map_a", "map_play", "stack_depth", "stack_seed", "proj_shapes", "n_in"),
    *("wish", "small_sum", "small_cell", "with_bias", "proj_unit", "proj_tokens", "library_t", "tag_data"),
)
LABS = ("arrows", "weight", "map", "stack", "alone", "shapes", "cost", "library")


def plain(app):
    return words(app).replace("\\", "")


@pytest.mark.parametrize(("layer", "head"), [(4, 4), (2, 1)])
def test_the_signature_shows_the_turned_query(layer, head):
    app, turn = (
        open_page(PAGE, proj_layer=str(layer), proj_head=str(head), two_keys="?"),
        pj.turn(pj.Demo(sentence.of(READING), layer, head)),
    )
    meta, arrays = picture(app, "turning")
    assert (meta["quantity"], len(meta["slider"]["stops"])) == ("turned_q", len(pj.ANGLES))
    np.testing.assert_allclose(arrays["points"], turn.keys, rtol=1e-6)
    np.testing.assert_allclose(arrays["sizes"], turn.shares, rtol=1e-6)
    along = arrays["moving"][:, 0] / np.linalg.norm(arrays["moving"][:, 0], axis=1, keepdims=True)
    np.testing.assert_allclose(along, turn.query / turn.length, atol=1e-5)
    assert len(meta["captions"]) == len(pj.ANGLES)


def test_the_signature_is_a_library_that_is_asked_softly():
    app = open_page(PAGE, depth="idea", wish="3")
    meta, arrays = picture(app, "wish")
    slider = meta["slider"]
    assert meta["signature"]
    assert (len(slider["stops"]), slider["stops"][slider["at"]], slider["together"]) == (49, 3, True)
    keys = np.array([[1, 1, 0, 0.5, 0], [1, 0, 1, 0, 0], [0, 1, 0, 0, 1]])
    for stop, table in zip(slider["stops"], arrays["values"], strict=True):
        np.testing.assert_allclose(table, np.vstack([[1, stop, 0, 0, 0], keys]), atol=1e-4)
    meta, arrays = picture(app, "wish_shares")
    scores = arrays["beside"][:, :, 0]
    np.testing.assert_allclose(scores, np.array([[1 + w, 1, w] for w in slider["stops"]]), atol=1e-4)
    np.testing.assert_allclose(arrays["values"], np.exp(scores) / np.exp(scores).sum(1, keepdims=True), atol=1e-5)
    assert meta["slider"]["hidden"]
    for deep in ("turned_shares", "made_q", "arrows"):
        with pytest.raises(AssertionError, match="no picture"):
            picture(app, deep)


@pytest.mark.parametrize(("guess", "opening"), [("soup", "Right."), ("inside", "Not quite."), ("first", "Not quite.")])
def test_the_book_that_comes_second_is_the_look_up_s(guess, opening):
    text = plain(open_page(PAGE, second_book=guess))
    assert f"**{opening}**" in text
    assert f"{np.exp(3) / (np.exp(4) + np.exp(1) + np.exp(3)):.1%}" in text


def test_why_another_word_is_written_is_told_after_the_guess():
    at, after = pj.flip(DEMO), pj.onward(DEMO)
    frame = pj.ANGLES.index(at.angle)
    later = after.later[0, :, 1]
    assert "Why “" not in plain(open_page(PAGE, depth="idea"))
    text = plain(open_page(PAGE, depth="idea", turned_word="Amy"))
    assert f"writes “{at.word}” there ({at.p:.1%}), not “Amy”" in text
    assert "Why “Sam”, when it asks for “Amy”?" in text
    assert f"head 5.1 then looks at “Amy” with {later[0, 3]:.0%}" in text
    assert f"looks at “Amy” with {later[frame, 3]:.0%} only" in text
    assert later[0, 3] == pytest.approx(subject.untouched(DEMO.text)["block5.weights"].value[1, -1, 3], abs=1e-5)
    assert "Right." in plain(open_page(PAGE, turned_word="Sam"))
    assert "decides nothing alone" in plain(open_page(PAGE, words="Tom was very thirsty. He wanted to"))


def test_what_stands_beside_moves_with_it():
    app, turn, after = open_page(PAGE, two_keys="?"), pj.turn(DEMO), pj.onward(DEMO)
    lead = picture(app, "turning")[0]["slider"]
    meta, arrays = picture(app, "turned_next")
    assert (meta["slider"]["name"], meta["slider"]["together"], meta["slider"]["hidden"]) == (lead["name"], True, True)
    np.testing.assert_allclose(arrays["values"], after.p, rtol=1e-6)
    meta, arrays = picture(app, "turned_shares")
    assert meta["names"] == sentence.names(READING.tokens)
    np.testing.assert_allclose(arrays["values"], turn.shares, rtol=1e-6)


def test_a_link_restores_everything():
    app = open_page(PAGE, words="The cat sat on the mat.", turn_q="300", proj="v", proj_cell="2,7", proj_sum="144")
    slider = picture(app, "turning")[0]["slider"]
    assert slider["stops"][slider["at"]] == 300
    meta, arrays = picture(app, "product")
    assert (meta["name"], meta["state"]) == ("V", {"cell": [2, 7]})
    assert meta["slider"]["stops"][meta["slider"]["at"]] == 144
    reading = sentence.read("The cat sat on the mat.")
    made = product.product(pj.Demo(sentence.of(reading)), "v")
    np.testing.assert_allclose(arrays["partial"], made.partial, rtol=1e-5)
    assert app.query_params["proj_cell"] == "2,7"


def test_the_bare_address_is_bare():
    assert set(open_page(PAGE, depth="idea").query_params) <= {"lang"}


@pytest.mark.parametrize("which", pj.MAPS)
def test_the_product_is_the_model_s(which):
    made, (meta, arrays) = product.product(DEMO, which), picture(open_page(PAGE, proj=which), "product")
    for name in ("x", "w", "partial"):
        np.testing.assert_allclose(arrays[name], getattr(made, name), rtol=1e-5, atol=1e-6)
    assert meta["rows"] == sentence.names(READING.tokens)


def test_a_number_of_the_product_is_written_out():
    app = open_page(PAGE, proj="k", proj_cell="3,5")
    formula = next(m.value for m in app.latex if "K_{3,5}" in m.value)
    value = float(product.product(DEMO, "k").y[3, 5])
    assert f"{value:.3f}".rstrip("0").lstrip("-") in formula
    _, arrays = picture(app, "made_k")
    assert arrays["values"].shape[1:] == (16, 3), "the largest products, one a line"
    _, arrays = picture(open_page(PAGE), "made_small")
    assert arrays["values"].shape[1:] == (4, 3)


@pytest.mark.parametrize(
    ("choice", "opening"), [("near", "Right."), ("same", "Not quite."), ("far", "Not quite."), ("?", "")]
)
def test_the_prediction_is_answered_by_core(choice, opening):
    text, found = plain(open_page(PAGE, two_keys=choice)), pj.pair(DEMO)
    assert f"{found.turned:.3f}" in text
    assert f"{found.weights[1]:.1%}" in text
    assert (f"**{opening}**" in text) == bool(opening)


def test_two_places_of_one_embedding_are_joined_once_the_guess_is_made():
    joined = [shape["name"] for shape in picture(open_page(PAGE, two_keys="same"), "turning")[0]["shapes"]]
    assert "one embedding" in joined
    assert "one embedding" not in [shape["name"] for shape in picture(open_page(PAGE), "turning")[0]["shapes"]]


def test_one_of_the_two_keys_that_the_guess_is_about_stays_away_until_it_is_made():
    app, pair, turn = open_page(PAGE), pj.pair(DEMO), pj.turn(DEMO)
    assert pair.weights[0] < pair.weights[1], "the second one is what the head asks for"
    rest = [i for i in range(14) if i != pair.first]
    meta, arrays = picture(app, "turning")
    np.testing.assert_allclose(arrays["points"], turn.keys[rest], rtol=1e-6)
    np.testing.assert_allclose(arrays["sizes"], turn.shares[:, rest], rtol=1e-6)
    meta, arrays = picture(app, "turned_shares")
    assert meta["names"] == [sentence.names(READING.tokens)[i] for i in rest]
    np.testing.assert_allclose(arrays["values"], turn.shares[:, rest], rtol=1e-6)
    assert "appears once you have guessed" in plain(app)
    other = open_page(PAGE, words="Tom ran.")
    assert picture(other, "turning")[1]["points"].shape[0] == len(sentence.read("Tom ran.").ids), (
        "asked of another text"
    )


def test_before_the_first_block_another_story_is_told():
    assert "no context has been mixed in" in plain(open_page(PAGE, two_keys="near", proj_layer="0"))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("lab", LABS)
def test_every_experiment_opens(lab, lang):
    app = open_page(PAGE, proj_lab=lab, lang=lang)
    assert not app.exception
    assert not app.error


def test_the_arrows_are_core_s_at_both_angles():
    meta, arrays = picture(open_page(PAGE, arrow_long="2", arrow_q="90", arrow_k="45"), "arrows")
    made = ln.arrows(2.0)
    np.testing.assert_allclose(arrays["moving"], made.tips, atol=1e-6)
    np.testing.assert_allclose(arrays["read0"], made.dot, atol=1e-6)
    assert meta["slider"]["stops"][meta["slider"]["at"]] == 90
    assert meta["state"] == {"arrow_k": 45}


def test_shapes_that_do_not_fit_are_answered_by_torch():
    app = open_page(PAGE, proj_lab="shapes", n_in="8", n_given="5")
    assert any("mat1 and mat2 shapes cannot be multiplied (10x5 and 8x3)" in c.value for c in app.code)
    app = open_page(PAGE, proj_lab="shapes", n_in="8", n_out="5", n_given="8", with_bias="true")
    assert "8 × 5 + 5 = **45**" in plain(app)


def test_the_price_has_two_units():
    assert "16,777,216" in plain(open_page(PAGE, proj_lab="cost"))
    assert "335,544,320" in plain(open_page(PAGE, proj_lab="cost", proj_unit="flops", proj_tokens="10"))


def test_a_matrix_from_the_link_is_the_matrix_drawn():
    _, arrays = picture(open_page(PAGE, proj_lab="map", map_a="0.0", map_b="1.0", map_c="1.0", map_d="0.0"), "map")
    np.testing.assert_allclose(arrays["shape1"], ln.deform(0, 1, 1, 0).circle, atol=1e-6)


def test_the_library_mixes_what_is_asked():
    app = open_page(PAGE, proj_lab="library", tag_python="false", tag_cooking="true", library_t="0.2")
    _, arrays = picture(app, "library")
    np.testing.assert_allclose(arrays["values"], ln.library((0, 1, 0, 0, 1)).shares, atol=1e-6)
    assert "0.51, 0.22, 0.27" in plain(app)


def test_the_check_is_right_for_the_score_of_the_trace():
    app = open_page(PAGE)
    score = float(product.arrays(DEMO)["scores"][-1, 2])
    assert "**Right.**" in words(app.number_input(key="check_score").set_value(round(score, 2)).run())
    assert "**Not yet.**" in words(app.number_input(key="check_score").set_value(-score).run())


@pytest.mark.parametrize("text", ["a", "你好，世界 🙂", "<b>bold</b> $x$", "مرحبا بالعالم", "word " * 300])
def test_any_sentence_gives_a_working_page(text):
    for lab in ("weight", "alone"):
        app = open_page(PAGE, words=text, two_keys="?", proj_lab=lab)
        assert not app.exception
        assert not app.error


def test_junk_in_the_link_gives_the_page_as_it_opens():
    junk = dict.fromkeys(KEYS, "-1,<x>")
    for lab in LABS:
        app = open_page(PAGE, **{**junk, "proj_lab": lab})
        assert not app.exception
    slider = picture(app, "turning")[0]["slider"]
    assert slider["at"] == 0
    assert picture(app, "wish")[0]["slider"]["at"] == 12


def test_a_text_that_repeats_nothing_is_asked_about_the_sentence_we_start_with():
    assert f"stands twice in “{sentence.SENTENCE}”" in plain(open_page(PAGE, words="Tom ran."))
    assert "stands here more than once" in plain(open_page(PAGE))


def test_what_is_said_of_likeness_fits_who_is_asked_for():
    text, said = "the the the the", {}
    reading = sentence.read(text)
    for layer in range(6):
        for head in range(6):
            found = pj.alike(pj.Demo(sentence.of(reading), layer, head))
            last = len(reading.ids) - 1
            said[
                "both fall together"
                if found.asked == found.token
                else "the most weight to itself"
                if found.asked == last
                else "decide what fits together, not the meaning"
            ] = (layer, head)
    assert len(said) == 3
    for phrase, (layer, head) in said.items():
        assert phrase in plain(open_page(PAGE, words=text, proj_layer=str(layer), proj_head=str(head)))


CHOSEN = dict(
    words="The dog saw the cat. The cat ran",
    proj_layer="2",
    proj_head="3",
    turn_q="300",
    proj="v",
    proj_cell="2,7",
    proj_sum="144",
    wish="2.5",
    small_cell="0,2",
    small_sum="3",
)
TRIED = {
    "arrows": dict(arrow_q="90", arrow_k="45", arrow_long="2"),
    "weight": dict(weight_of="v", weight_at="0.25"),
    "map": dict(map_a="0.5", map_b="-1", map_c="1", map_d="0", map_play="20"),
    "stack": dict(stack_depth="5", stack_seed="2"),
    "shapes": dict(n_in="8", n_out="5", n_given="8", with_bias="true"),
    "cost": dict(proj_unit="flops", proj_tokens="10"),
    "library": dict(tag_python="false", tag_cooking="true", library_t="0.1957"),
}
STANDS = {"arrows": 90, "weight": 0.25, "map": 20, "stack": 5, "library": 0.1957}


@pytest.mark.parametrize("lab", TRIED)
def test_every_choice_survives_leaving_and_coming_back(lab):
    chosen = CHOSEN | TRIED[lab] | ({} if lab == "arrows" else {"proj_lab": lab})
    app = open_page(PAGE, **chosen, two_keys="far")
    for again in (app, come_back(app, PAGE), open_page(PAGE, **address(app))):
        assert not again.exception
        assert address(again) == chosen
        keys = dict(turning=300, product=144, wish=2.5, product_small=3) | ({lab: STANDS[lab]} if lab in STANDS else {})
        for key, stand in keys.items():
            slider = picture(again, key)[0]["slider"]
            assert slider["stops"][slider["at"]] == pytest.approx(stand, rel=1e-3)
        assert picture(again, "product")[0]["state"] == {"cell": [2, 7]}
        assert again.text_input(key="words").value == chosen["words"]
        assert "times column 7" in plain(again)
    assert picture(again, "turning")[1]["points"].shape[0] < picture(app, "turning")[1]["points"].shape[0], "a guess"


def test_one_layer_has_no_place_for_a_bend():
    assert "no place for a bend" in plain(open_page(PAGE, proj_lab="stack", stack_depth="1"))
    assert "no matrix can do what the bend does" in plain(open_page(PAGE, proj_lab="stack", stack_depth="2"))
