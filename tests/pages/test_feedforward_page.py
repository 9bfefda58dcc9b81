"""The FFN page: what it shows is core's, what the link says is what it shows, and no answer stands before its guess."""

import numpy as np
import pytest

from core.lab import text as sentence
from core.topics.feedforward import alone, bends, neuron, recorded
from core.topics.feedforward import volume as ffn_volume
from pages.parts.feedforward.found import GALLERY
from pages.parts.feedforward.room import EXAMPLES, START, TWIN
from tests.pages.opening import address, come_back, open_page, picture, words

PAGE = "12_feedforward"
STORY = sentence.of(sentence.read(sentence.SENTENCE))


def of(text, layer=5, index=559):
    return neuron.Demo(sentence.of(sentence.read(text)), layer, index)


def close(shown, made):
    np.testing.assert_allclose(shown.reshape(np.shape(made)), made, rtol=1e-5, atol=1e-5)


def test_the_signature_holds_every_frame():
    meta, arrays = picture(open_page(PAGE, depth="idea"), "neuron")
    here, found = neuron.inside(of(START)), neuron.turned(of(START))
    close(arrays["probs"], found.probs)
    close(arrays["here"], here.value)
    close(arrays["there"], neuron.inside(of(TWIN)).value)
    what = sentence.id_of("what")
    close(arrays["twin"], neuron.twin(of(TWIN), (found.ids[found.asked], what), neuron.FACTORS))
    assert meta["beside"] == ["·ed", "what"], "the twin has a likeliest word of its own"
    close(arrays["factors"], neuron.FACTORS)
    assert meta["signature"]
    assert len(meta["slider"]["stops"]) == 61
    assert meta["candidates"][meta["asked"]] == "·ed"
    values = [gauge["value"] for gauge in meta["gauges"]]
    assert values == pytest.approx([here.gate[-1], here.value[-1], found.push])
    assert [gauge["moves"] for gauge in meta["gauges"]] == [False, False, True]


def test_the_bare_address_is_bare_and_the_idea_has_two_sliders():
    app = open_page(PAGE, depth="idea")
    assert not app.exception
    assert set(app.query_params) <= {"lang"}
    assert "SiLU}(x)" not in words(app)


def test_no_answer_stands_before_its_guess():
    said = words(open_page(PAGE, depth="idea"))
    assert "0.008" not in said.replace("\\", "")
    assert "0.945" not in said.replace("\\", "")
    assert "In one sentence:** guess first" in said
    told = words(open_page(PAGE, depth="idea", ffn_mute="half", ffn_halve="40")).replace("\\", "")
    assert "Not quite.** Sharing the work between two would leave half. Here it is 0.008 of 0.998" in told
    assert "Not quite.** True: many neurons work on this answer." in told
    assert "between two attentions each word" in told


@pytest.mark.parametrize(
    ("text", "layer", "index", "answer"),
    [(START, 5, 559, "little"), ("She ran as", 2, 363, "half"), ("Once upon", 5, 709, "all")],
)
def test_the_guess_is_about_the_neuron_that_is_shown(text, layer, index, answer):
    app = open_page(PAGE, ffn_text=text, ffn_block=str(layer), ffn_neuron=str(index), ffn_mute=answer)
    found = neuron.muted(of(text, layer, index))
    said = words(app).replace("\\", "")
    assert f"**Right.** Muted, it leaves {found.after:.3f} of {found.answer.p:.3f}" in said


def test_a_link_restores_everything():
    link = dict(ffn_text="She ran as", ffn_twin="She ran to", ffn_block="2", ffn_neuron="363", ffn_factor="0")
    app = open_page(PAGE, **link)
    meta, arrays = picture(app, "neuron")
    assert meta["names"] == [["<s>", "She", "ran", "as"], ["<s>", "She", "ran", "to"]]
    assert meta["slider"]["at"] == neuron.FACTORS.index(0.0)
    close(arrays["probs"], neuron.turned(of("She ran as", 2, 363)).probs)
    assert {k: app.query_params[k] for k in link} == link


@pytest.mark.parametrize(
    "junk",
    [
        dict(ffn_text="", ffn_twin="", ffn_block="99", ffn_neuron="-1", ffn_factor="x"),
        dict(ffn_text="你好 <b>🙂</b> مرحبا", ffn_twin="x" * 1501, ffn_neuron="768", ffn_factor="1e9"),
        dict(words="Hi", ffn_word="99", ffn_mix="7", ffn_found="6.1", ffn_bench="?", ffn_loud="9"),
        dict(ffn_bench="fit", ffn_units="65", ffn_fitted="sin", ffn_scattered="maybe"),
        dict(ffn_bench="small", ffn_turn="361"),
        dict(ffn_bench="dead", ffn_bias="nan", words="🙂"),
        dict(ffn_bench="width", ffn_width="0", ffn_volume="-3"),
    ],
)
def test_junk_in_the_link_gives_a_working_page(junk):
    app = open_page(PAGE, **junk)
    assert not app.exception
    assert picture(app, "neuron")[1]["probs"].shape == (61, 6)


def test_a_visitors_words_are_no_markdown():
    app = open_page(PAGE, ffn_text="He said *stop* <b>$x$</b> jump", words="One **bold** <i>word</i>")
    said = words(app)
    assert "<i>" not in said
    assert "<b>" not in said


def test_examples_put_sentence_twin_and_neuron_in_place():
    app = open_page(PAGE, ffn_factor="0", ffn_mute="half")
    app.button(key="ffn_example_2").click().run()
    text, twin, (layer, index) = list(EXAMPLES.values())[2]
    meta, arrays = picture(app, "neuron")
    close(arrays["probs"], neuron.turned(of(text, layer, index)).probs)
    assert meta["names"][1] == list(of(twin).text.tokens)
    assert address(app) == dict(ffn_text=text, ffn_twin=twin, ffn_block=str(layer), ffn_neuron=str(index))
    assert app.segmented_control(key="ffn_mute_choice").value is None, "another question"


def test_every_word_alone():
    meta, arrays = picture(open_page(PAGE, ffn_word="4", ffn_block="3"), "alone")
    found = alone.changed(alone.Demo(STORY, 3, 4))
    close(arrays["values"], np.concatenate([found.ffn, found.attention], 1))
    assert meta["state"] == {"token": 4}
    assert len(meta["slider"]["stops"]) == 49
    assert "differ by 0.0" in words(open_page(PAGE)).replace("\\", "")


@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_tells_of_each_neuron(name):
    app = open_page(PAGE, ffn_found=name)
    meta, arrays = picture(app, "contexts")
    found = recorded.gallery()[name]
    close(arrays["values"], np.concatenate([context.values for context in found.contexts])[None])
    assert [strip["names"] for strip in meta["strips"]] == [list(context.tokens) for context in found.contexts]
    without = neuron.muted(of(GALLERY[name][1], found.layer, found.neuron))
    said = words(app).replace("\\", "")
    assert f"goes from {without.answer.p:.3f} to **{without.after:.3f}**" in said
    app.button(key="ffn_put").click().run()
    close(picture(app, "neuron")[1]["probs"], neuron.turned(of(GALLERY[name][1], found.layer, found.neuron)).probs)


def test_firing_is_not_deciding_and_is_not_pushing():
    upon = neuron.muted(of("Once upon", 5, 709))
    assert upon.after == pytest.approx(upon.answer.p, abs=1e-3)
    comma = sentence.read("One day, a").ids[3]
    with_it, without = neuron.twin(of('Tom said, "Yes', 5, 528), (comma,), (1.0, 0.0))[:, 0]
    assert without > with_it + 0.1


def test_all_neurons_in_a_row_after_the_guess():
    app = open_page(PAGE, ffn_halve="0")
    _meta, arrays = picture(app, "halve")
    assert arrays["values"][0, 0, 0] == pytest.approx(0.945, abs=1e-3)
    assert arrays["values"][0, 0].min() > 2 * arrays["values"][0, 2].max() * 0.9
    assert "It is **0**" in words(app).replace("\\", "")


def test_the_benches():
    meta, arrays = picture(open_page(PAGE, ffn_gate="-2"), "bends")
    close(
        arrays["values"], np.stack([bends.curve(name).values for name in ("relu", "gelu", "gelu_tanh", "silu")])[None]
    )
    assert bends.XS[meta["slider"]["at"]] == -2
    assert picture(open_page(PAGE), "swapped")[1]["values"][0] == pytest.approx(
        [recorded.bend_losses()[n] for n in ("silu", "hardswish", "gelu", "relu", "none", "relu2", "up", "gate")]
    )
    meta, arrays = picture(open_page(PAGE, ffn_bench="fit", ffn_units="9", ffn_fitted="silu"), "fit")
    close(arrays["values"][:, 1], bends.fitted("silu").fits)
    assert len(meta["slider"]["stops"]) == 64
    assert "9 units" in meta["captions"][meta["slider"]["at"]]
    close(picture(open_page(PAGE, ffn_bench="small"), "small")[1]["values"], bends.small().after)
    close(picture(open_page(PAGE, ffn_bench="dead"), "dead")[1]["values"][0, 1], bends.dead(STORY).dead)
    width = open_page(PAGE, ffn_bench="width")
    assert "BLEU 26.2" in picture(width, "width")[0]["captions"][-1]
    assert "150,994,944" in words(width)


def test_a_whole_ffn_turned():
    app = open_page(PAGE, ffn_loud="3", ffn_volume="0.56")
    found = ffn_volume.turned(ffn_volume.Demo(STORY, 3))
    close(picture(app, "loud")[1]["values"], found.probs)
    close(picture(app, "loud_loss")[1]["values"], recorded.volume_losses()[3])
    assert "is at 56%" in words(app).replace("\\", "")


def test_check_yourself_and_the_mistakes():
    app = open_page(PAGE, depth="idea")
    (box,) = [one for one in app.number_input if one.key == "ffn_check"]
    box.set_value(float(neuron.inside(of(START)).value[-1])).run()
    assert "**Right.**" in words(app)
    said = words(open_page(PAGE, at="common-mistakes")).replace("\\", "")
    for number in (
        "0 of them halve p(Amy)",
        "0.945",
        "207 of 207",
        "25.4",
        "26.2",
        "150,994,944",
        "176,160,768",
        "82%",
    ):
        assert number in said, number


def test_the_page_is_as_it_was_left():
    app = open_page(PAGE, ffn_text="She ran as", ffn_block="2", ffn_neuron="363")
    assert picture(come_back(app, PAGE), "neuron")[0]["names"][0] == ["<s>", "She", "ran", "as"]


def test_the_gallery_names_a_neuron_only_when_it_is_asked():
    app = open_page(PAGE, depth="idea", ffn_found="2.363")
    assert app.selectbox(key="ffn_found_choice").options[0] == "neuron 2.363"
    assert "very, so, too, as" not in words(app)
    assert "132 of 148" not in words(app)
    assert "very, so, too, as" in words(open_page(PAGE, depth="idea", ffn_found="2.363", at="fires-2-363"))


def test_another_neuron_is_another_question_with_a_twin_of_its_own():
    app = open_page(PAGE, ffn_mute="half", ffn_found="2.363")
    app.button(key="ffn_put").click().run()
    assert app.segmented_control(key="ffn_mute_choice").value is None
    assert address(app)["ffn_twin"] == "She ran to"


def test_who_does_not_know_is_not_told_that_he_was_right():
    said = words(open_page(PAGE, depth="idea", ffn_halve="?")).replace("\\", "")
    assert "0: the neuron that is missed most, 0.569, leaves 0.945" in said
    assert "True: many" not in said
