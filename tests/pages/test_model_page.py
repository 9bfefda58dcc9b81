"""The model page: what it shows is core's, and what the link says is what it shows."""

import numpy as np
import pytest

from core.lab import text as sentence
from core.topics.model import assemble, details, parts, repair, walk
from pages.shared.pictures import live
from tests.pages.opening import address, come_back, open_page, picture, words

READING = sentence.read(sentence.SENTENCE)
PAGE = "13_model"


def plain(app):
    return words(app).replace("\\", "")


def repaired(fault, suspect):
    return repair.run(repair.Demo(sentence.of(READING), fault, suspect))


@pytest.mark.parametrize("wire", ["skip1", "mask", "merge"])
def test_a_broken_wire_is_shown_in_three_pictures_that_move_together(wire):
    app = open_page(PAGE, wire=wire)
    found = repaired(wire, wire)
    meta, arrays = picture(app, "wires")
    np.testing.assert_allclose(arrays["values"], found.size, rtol=1e-6)
    np.testing.assert_allclose(arrays["ghost"], found.healthy, rtol=1e-6)
    assert meta["state"]["row"] == found.lines.index(repair.WIRES[wire][0])
    np.testing.assert_allclose(picture(app, "next")[1]["values"], found.p, rtol=1e-6)
    np.testing.assert_allclose(
        picture(app, "readers")[1]["values"].reshape(found.weights.shape), found.weights, atol=1e-6
    )
    dials = [picture(app, key)[0]["slider"] for key in ("wires", "next", "readers")]
    assert [(d["name"], d["together"], len(d["stops"])) for d in dials] == [("fix", True, 49)] * 3
    assert [d["hidden"] for d in dials] == [False, True, True]
    assert meta["signature"]
    assert repair.WIRES[wire][1] not in [block.value for block in app.code], "it would answer the question"
    app = open_page(PAGE, wire=wire, symptom="?")
    assert repair.WIRES[wire][1] in [block.value for block in app.code]


def test_the_block_is_seen_working_first_and_is_torn_only_by_the_finger():
    meta, arrays = picture(open_page(PAGE, depth="idea"), "wires")
    found = repaired("skip1", "skip1")
    assert meta["slider"]["stops"][meta["slider"]["at"]] == 1.0
    assert [row[0] for row in meta["rows"]] == list(parts.LINES), "a block in seven lines"
    here = [found.lines.index(line) for line in parts.LINES]
    np.testing.assert_allclose(arrays["values"], found.size[:, here], rtol=1e-6)
    assert meta["arcs"] == [[0, 3], [3, 6]]
    whole, _ = picture(open_page(PAGE, depth="idea", wire="mask"), "wires")
    assert len(whole["rows"]) == len(found.lines), "a link to a line that the seven leave out shows them all"


def test_a_patient_tells_nothing_before_the_slider_moves():
    app = open_page(PAGE, patient="3", suspect=repair.PATIENTS[2])
    assert "Found" not in plain(app)
    assert picture(app, "ill_wires")[0]["cut"] is None


@pytest.mark.parametrize("on", [(), ("residual",), ("residual", "norms", "ffn"), ("norms", "attention"), parts.PARTS])
def test_the_parts_that_are_switched_on_are_those_of_the_address(on):
    app = open_page(PAGE, depth="idea", **({"parts_on": ",".join(on)} if on else {}))
    on = on or ("residual",)
    found = parts.run(sentence.of(READING), on)
    meta, arrays = picture(app, "parts_block")
    assert bool(meta["arcs"]) == ("residual" in on)
    for row, name, size in zip(meta["rows"], parts.LINES, found.size, strict=True):
        shown = arrays["values"][0, parts.LINES.index(name)]
        assert np.isnan(shown) if row[1] == "off" else shown == pytest.approx(size, rel=1e-6)
    off = {row[0] for row in meta["rows"] if row[1] == "off"}
    assert off == {row[0] for row in meta["rows"] if row[6]}, "on a telephone the mark is drawn where the bar would be"
    assert off == {
        line
        for part, lines in (("norms", ("norm1", "norm2")), ("attention", ("attn_out",)), ("ffn", ("ffn_out",)))
        for line in lines
        if part not in on
    }
    assert picture(app, "parts_next")[0]["names"] == [word.token for word in found.words[:6]]
    assert ("All four together" in plain(app)) == (len(on) == 4)


def test_a_patient_is_found_by_its_wire_and_by_no_other():
    ill = repair.PATIENTS[2]
    app = open_page(PAGE, patient="3", suspect=ill, compare="true", put="1")
    np.testing.assert_allclose(picture(app, "ill_wires")[1]["values"], repaired(ill, ill).away, atol=1e-6)
    assert "Found" in plain(app)
    app = open_page(PAGE, patient="3", suspect="scale", put="0.5")
    assert "this line was right" in plain(app)
    assert np.ptp(picture(app, "ill_next")[1]["values"], axis=0).max() == 0


@pytest.mark.parametrize(("choice", "opening"), [("answer", "Right."), ("shape", "Not quite."), ("?", "")])
def test_the_prediction_is_answered_by_core(choice, opening):
    text = plain(open_page(PAGE, symptom=choice))
    assert str(len(repair.WIRES)) in text
    assert (f"**{opening}**" in text) == bool(opening)


def test_a_link_restores_everything_and_the_bare_address_is_bare():
    app = open_page(PAGE, wire="norm2", fix="0.5", words="Tom had a red ball.")
    meta, _ = picture(app, "wires")
    assert meta["slider"]["stops"][meta["slider"]["at"]] == pytest.approx(0.5)
    assert app.text_input(key="words").value == "Tom had a red ball."
    assert set(open_page(PAGE, depth="idea").query_params) <= {"lang"}


@pytest.mark.parametrize("name", list(assemble.PRESETS))
def test_parts_in_the_link_reach_the_block(name):
    parts = assemble.PRESETS[name]
    query = dict(
        b_order=parts.order, b_norm=parts.norm, b_ffn=parts.ffn, b_kv=str(parts.kv_heads), b_place=parts.position
    )
    query |= dict(
        b_qknorm=str(parts.qk_norm).lower(), b_causal=str(parts.causal).lower(), b_bias=str(parts.bias).lower()
    )
    app = open_page(PAGE, b_batch="4", b_d="32", b_seed="2", **query)
    demo = assemble.Demo(READING.ids, parts, 32, 4, 2)
    expected = assemble.run(demo)
    _, arrays = picture(app, "block")
    sizes = [one.rms for one in expected.lines if one.name != "allowed"]
    np.testing.assert_allclose(arrays["values"][0], sizes, rtol=1e-5)
    np.testing.assert_allclose(
        picture(app, "likeness")[1]["values"].reshape(25, 14, 14), assemble.stack(demo).likeness, atol=1e-6
    )
    text = plain(app)
    assert f"{expected.parameters:,}" in text
    assert ("differs by at most" in text) == (expected.gap is not None)
    assert "random" in text


def test_a_name_sets_every_part():
    app = open_page(PAGE)
    app.button(key="as_qwen3").click().run()
    sizes = [
        one.rms
        for one in assemble.run(assemble.Demo(READING.ids, assemble.PRESETS["qwen3"])).lines
        if one.name != "allowed"
    ]
    np.testing.assert_allclose(picture(app, "block")[1]["values"][0], sizes, rtol=1e-5)


def test_without_the_residual_no_wire_skips():
    meta, _ = picture(open_page(PAGE, b_skip="false"), "block")
    assert meta["arcs"] == []
    assert not any(row[4] for row in meta["rows"])


def test_the_walk_shows_the_pass_line_by_line():
    app = open_page(PAGE, model_bench="walk", line="5")
    meta, arrays = picture(app, "walk")
    lines = {one.name: one for one in walk.decoder_only(sentence.of(READING))}
    assert meta["rows"][0][0] == "ids"
    scores = next(i for i, row in enumerate(meta["rows"]) if row[0] == "scores")
    assert meta["rows"][scores][2] == "6 × 14 × 14"
    assert arrays["values"][0, scores] == pytest.approx(lines["block0.scores"].rms, rel=1e-5)
    assert meta["slider"]["at"] == 5
    assert "(2, 14, 32,000)" in plain(app)


def test_encoder_and_decoder_meet_in_cross_attention():
    app = open_page(PAGE, model_bench="walk", family="both", walk_date="5 Mar 2021", sublayers="scf")
    (left, _), (right, _) = picture(app, "walk"), picture(app, "walk_on")
    assert left["rows"][-1][:3] == right["rows"][0][:3] == ["memory", "norm(x)", "10 × 64"]
    names = [row[0] for row in right["rows"]]
    assert [0, names.index("cross.k")] in right["arcs"]
    assert right["rows"][names.index("cross.scores")][2] == "2 × 11 × 10"
    assert "**Right.**" in plain(app)
    meta, _ = picture(open_page(PAGE, model_bench="walk", family="encoder"), "walk")
    assert not any("cross" in row[0] for row in meta["rows"])


def test_a_model_at_its_true_size():
    app = open_page(PAGE, model_bench="size", m_tokens="256")
    meta, arrays = picture(app, "weights_of")
    shapes = {row[0]: row[2] for row in meta["rows"]}
    assert shapes["ffn.up.weight"] == "12,288 × 4,096"
    assert shapes["attn.q_norm.weight"] == "128"
    assert arrays["values"].shape[0] == len(meta["slider"]["stops"]) == 36
    tensors = {row[0]: row[2] for row in picture(app, "tensors_of")[0]["rows"]}
    assert tensors["scores"] == "32 × 256 × 256"
    assert "8,190,735,360" in plain(app)
    app = open_page(PAGE, model_bench="size", preset="deepseek-v3")
    assert address(app)["preset"] == "deepseek-v3", "the ledger's model is left alone"
    assert "The ledger can count this model" in plain(app)
    assert "DeepSeek" in str([w.options for w in app.get("button_group")])
    assert not [e for e in app.get("bidi_component") if "weights_of" in e.proto.id]
    app = open_page(PAGE, model_bench="size", preset="file **x**")
    assert "**x**" not in str([w.options for w in app.get("button_group")]), "a visitor's word is no Markdown"


def test_spot_the_bug_tells_after_the_guess():
    app = open_page(PAGE, model_bench="bug")
    assert not [e for e in app.get("bidi_component") if "spread" in e.proto.id]
    app = open_page(PAGE, model_bench="bug", spot="b")
    found = assemble.compare(assemble.Demo(READING.ids))
    np.testing.assert_allclose(picture(app, "depths")[1]["values"].reshape(2, 25), found.rms, rtol=1e-5)
    assert "**Right.**" in plain(app)


def test_four_small_things_come_from_core():
    app = open_page(PAGE, model_bench="extras", epsilon="0.2")
    text, tied = plain(app), details.tied(sentence.of(READING))
    for number in (f"{tied.logit:.3f}", "9,216,000", "622,329,856", "3,152,384"):
        assert number in text
    found = details.smoothed(sentence.of(READING))
    _, arrays = picture(app, "smoothing")
    np.testing.assert_allclose(arrays["values"].reshape(51, 2, -1)[20, 1], found.loss[20], rtol=1e-5)
    np.testing.assert_allclose(
        picture(app, "dropout")[1]["values"].reshape(3, -1)[0],
        details.dropped(sentence.of(READING)).p.mean(0),
        atol=1e-5,
    )


JUNK = dict(
    wire="x",
    fix="nan",
    patient="99",
    suspect="9",
    put="9",
    parts_on="x",
    model_bench="?",
    b_kv="3",
    b_d="7",
    line="1e99",
    b_depth="-4",
)


@pytest.mark.parametrize("text", ["", "a", "🦊🦊", "你好，世界", "<script>alert(1)</script> **x** $y$", "w " * 400])
def test_any_text_and_any_junk_give_a_working_page(text):
    for bench in ("parts", "walk", "bug"):
        app = open_page(PAGE, words=text, spot="b", **JUNK | dict(model_bench=bench))
        assert not app.exception


@pytest.mark.parametrize("bench", ["parts", "walk", "size", "bug", "extras"])
def test_chinese_pages_work(bench):
    app = open_page(PAGE, lang="zh", model_bench=bench, symptom="answer", spot="?", family="both")
    assert not app.exception
    assert "病号" in str([w.label for w in app.get("button_group")]) or "病号" in words(app)


def test_the_numpy_encoder_shows_its_code_and_what_comes_out():
    app = open_page(PAGE, at="the-encoder-of-2017-in-numpy-with-its-ou")
    assert any("def attend" in block.value for block in app.code)
    assert "Out comes (2, 10, 64), all numbers between −2.985 and 2.830." in words(app).replace("\\", "")


SHOP = dict(patient="3", suspect="scale", put="0.5", compare="true", wire="norm2", fix="0.5", parts_on="residual,ffn")
BENCHES = [
    dict(
        b_order="pre", b_norm="rmsnorm", b_ffn="swiglu", b_kv="2", b_place="rope", b_batch="4", b_d="32", b_seed="2",
        b_skip="false", b_qknorm="true", b_causal="true", b_bias="false", b_depth="11",
    ),
    dict(model_bench="walk", family="both", walk_date="5 Mar 2021", line="9"),
    dict(model_bench="size", preset="gpt2", m_tokens="256", m_block="3"),
    dict(model_bench="bug"),
    dict(model_bench="extras", epsilon="0.2"),
]  # fmt: skip


def state(app):
    """Every picture's slider, state and words."""
    metas = [live.unpack(element.proto.bytes)[0] for element in app.get("bidi_component")]
    return {m["key"]: (m.get("slider") and m["slider"]["at"], m["state"], m.get("rows")) for m in metas}


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.get("model_bench", "parts"))
def test_every_choice_survives_leaving_and_coming_back(bench):
    asked = SHOP | bench
    app = open_page(PAGE, **asked)
    assert address(app) == asked
    before = state(app)
    rows = repair.lines(sentence.of(READING))
    assert before["wires"][:2] == (24, {"row": rows.index("norm2")})
    assert before["ill_wires"][:2] == (24, {"row": rows.index("scaled")})
    app = come_back(app, PAGE)
    assert not app.exception
    assert (state(app), address(app)) == (before, asked)
    assert state(open_page(PAGE, **asked)) == before
