"""The ledger: what it shows is core's, any config.json gets a sentence, and the link says what is shown."""

import json

import numpy as np
import pytest

from core import costs, presets
from core.counting import parameters, total
from tests.pages.opening import address, come_back, open_page, picture, words

PAGE = "14_ledger"
QWEN = presets.presets()["qwen3-8b"].config
MINE = {
    "model_type": "llama", "hidden_size": 512, "num_hidden_layers": 3, "num_attention_heads": 8, "vocab_size": 1000,
    "num_key_value_heads": 2, "intermediate_size": 1024, "rope_theta": 10000.0, "torch_dtype": "bfloat16",
}  # fmt: skip
TOTAL = 2 * 1000 * 512 + 512 + 3 * (2 * 512 * 512 + 2 * 512 * 128 + 3 * 512 * 1024 + 2 * 512)


def text(app):
    return words(app).replace("\\", "")


def pasted(config, **query):
    app = open_page(PAGE, preset="config", **query)
    app.text_area(key="pasted").set_value(config if isinstance(config, str) else json.dumps(config)).run()
    return app


# ---- the signature ----


def test_the_bars_are_the_weights_and_the_cache_at_every_length():
    meta, arrays = picture(open_page(PAGE), "balance_bars")
    found = costs.conversation(costs.Talk(QWEN))
    assert meta["signature"]
    assert meta["slider"]["stops"] == list(found.stops)
    assert len(found.stops) >= 43
    assert 111_094 in meta["slider"]["stops"]
    np.testing.assert_array_equal(arrays["values"][:, 0, 0], 2 * 8_190_735_360)
    np.testing.assert_array_equal(arrays["values"][:, 1, 1:], found.cache.numpy())
    at = meta["slider"]["stops"].index(111_094)
    assert meta["captions"][at].endswith("As much as the weights!")
    assert arrays["values"][at, 1].sum() == pytest.approx(arrays["values"][at, 0].sum(), rel=1e-5)


@pytest.mark.parametrize(
    ("query", "talk"),
    [
        (dict(readers="16"), costs.Talk(QWEN, 16)),
        (dict(weights_in="int4", cache_in="fp8"), costs.Talk(QWEN, 1, "int4", "fp8")),
        (dict(preset="deepseek-v3", readers="256"), costs.Talk(presets.presets()["deepseek-v3"].config, 256)),
        (dict(preset="mistral-7b"), costs.Talk(presets.presets()["mistral-7b"].config)),
        (dict(preset="bert-base"), costs.Talk(presets.presets()["bert-base"].config)),
    ],
)
def test_every_control_reaches_the_bars(query, talk):
    values = picture(open_page(PAGE, **query), "balance_bars")[1]["values"]
    np.testing.assert_array_equal(values[:, 1, 1:], costs.conversation(talk).cache.numpy())
    assert values[0, 0, 0] == float(talk.weights)
    sharing = picture(open_page(PAGE, sharing="true", **query), "sharing_bars")[1]["values"]
    np.testing.assert_array_equal(sharing[:, 1:, 1], costs.conversation(talk).variants.numpy())


def test_a_link_restores_the_length_and_junk_does_no_harm():
    app = open_page(PAGE, text_length="111094", balance="5")
    meta, _ = picture(app, "balance_bars")
    assert meta["slider"]["stops"][meta["slider"]["at"]] == 111_094
    assert "**Right.**" in text(app)
    assert "30.5 GiB together" in text(app)
    junk = dict.fromkeys(
        (
            "preset",
            "readers",
            "weights_in",
            "cache_in",
            "text_length",
            "device",
            "book",
            "f_width",
            "config",
            "balance",
        ),
        "٣<b>",
    )
    app = open_page(PAGE, **junk)
    assert not app.exception
    assert picture(app, "balance_bars")[0]["slider"]["stops"]


def test_the_answer_is_not_given_away_before_the_guess():
    assert [m.value for m in open_page(PAGE).metric] == ["?"]
    assert [m.value for m in open_page(PAGE, balance="?").metric] == ["111,094 tokens"]
    assert [m.value for m in open_page(PAGE, text_length="111094").metric] == ["111,094 tokens"], "found by hand"
    assert "It is later" in text(open_page(PAGE, balance="3"))
    assert "The right order, one power of ten off" in text(open_page(PAGE, balance="4"))
    assert "It is sooner" in text(open_page(PAGE, balance="6", preset="gpt2")), "less than a tenth of a million"
    windowed = open_page(PAGE, preset="mistral-7b", balance="5")
    assert "looks back 4,096 tokens" in text(windowed)
    assert "Drag there" not in text(windowed)
    assert [m.value for m in windowed.metric] == ["never"]


@pytest.mark.parametrize("depth", ["idea", "all"])
@pytest.mark.parametrize("guess", [{}, {"balance": "5"}])
def test_what_a_token_leaves_is_not_told_above_the_question_that_asks_for_it(depth, guess):
    shown = text(open_page(PAGE, depth=depth, **guess))
    assert "144 KiB" not in shown
    assert "147,456" not in shown
    below = text(open_page(PAGE, depth=depth, at="what-one-token-leaves-written-out", **guess)).split("Check yourself")[
        1
    ]
    assert "= **147,456 bytes**, 144 KiB" in below, "a link to what stands deeper opens it"


def test_the_idea_is_one_model_one_slider_and_two_books():
    app = open_page(PAGE, depth="idea")
    for key in ("balance_bars", "f_bar", "f_map", "work_curves"):
        assert picture(app, key)
    assert "In one sentence" in text(app)
    assert "Which f makes" not in text(open_page(PAGE, depth="idea", book="training")), "a link to a book opens it"
    assert picture(open_page(PAGE, depth="idea", book="training"), "states_bars")


@pytest.mark.parametrize(
    ("preset", "line"), [("gpt2", "GPT-2 (124M) · batch 16"), ("own", "sizes of my own · batch 16")]
)
def test_the_line_says_what_is_set(preset, line):
    app = open_page(PAGE, preset=preset, readers="16", cache_in="fp8", device="a100")
    (label,) = [box.proto.popover.label.replace("\\", "") for box in app.get("popover")]
    assert label == f"{line} · weights bf16 · cache fp8 · A100"


# ---- the books ----


def test_the_f_slider_finds_the_8b_and_the_map_follows():
    app = open_page(PAGE, f_width="12288")
    bar, values = picture(app, "f_bar")
    at = bar["slider"]["at"]
    assert bar["slider"]["stops"][at] == 12288
    assert values["values"][at].sum() == bar["mark"]["at"] == 8_190_735_360
    assert "That is it" in bar["captions"][at]
    wide = bar["slider"]["stops"].index(14336)
    assert values["values"][wide].sum() == 9_096_705_024
    meta, leaves = picture(app, "f_map")
    assert sorted(leaves["values"][at]) == sorted(row.value for row in parameters(QWEN))
    np.testing.assert_array_equal(leaves["values"].sum(1), values["values"].sum((1, 2)))
    assert meta["slider"]["hidden"]
    start = picture(open_page(PAGE), "f_bar")[0]["slider"]
    assert start["stops"][start["at"]] == 14336


def test_the_table_adds_up_for_a_model_and_for_a_block():
    assert "**8,190,735,360**" in text(open_page(PAGE))
    block = open_page(PAGE, ledger_of="block")
    assert "**192,946,432**" in text(block)
    assert picture(block, "ledger_bar")[1]["values"].sum() == 192_946_432


def test_experts_are_split_into_met_and_idle():
    app = open_page(PAGE, preset="mixtral-8x7b")
    assert picture(app, "active_bar")[1]["values"].ravel().tolist() == [12_879_925_248, 46_702_792_704 - 12_879_925_248]
    assert "12,748,853,248" in text(app)


def test_flops_change_with_the_unit_the_mask_and_the_length():
    meta, arrays = picture(open_page(PAGE, book="work"), "work_curves")
    row = costs.forward(costs.Work(QWEN)).numpy()
    np.testing.assert_allclose(arrays["values"][0, 0], row[:, 0] + row[:, 4], rtol=1e-6)
    np.testing.assert_allclose(arrays["values"][0, 1], row[:, 1] + row[:, 3], rtol=1e-6)
    np.testing.assert_allclose(arrays["values"][0, 2], row.sum(1), rtol=1e-6)
    assert meta["marks"][0]["at"] == 23_552
    halves = picture(open_page(PAGE, book="work", work_unit="mac"), "work_curves")[1]["values"]
    np.testing.assert_allclose(2 * halves, arrays["values"], rtol=1e-6)
    masked = picture(open_page(PAGE, book="work", work_causal="true"), "work_curves")
    assert masked[0]["marks"][0]["at"] == pytest.approx(47_103)
    assert "n = 32,768" in text(open_page(PAGE, book="work", work_n="32768"))


def test_training_shows_every_state_and_the_days():
    app = open_page(PAGE, book="training")
    values = picture(app, "states_bars")[1]["values"]
    np.testing.assert_array_equal(values[:, 1], costs.training(costs.Training(QWEN, context=4096)).numpy())
    assert "2 + 2 + 4 + 4 + 4 = **16 bytes**: that is 8 times as much, 122 GiB" in text(app)
    other = open_page(PAGE, book="training", recipe="fp32", saving="true", flash="false")
    expected = costs.training(costs.Training(QWEN, "fp32", True, False, 4096)).numpy()
    np.testing.assert_array_equal(picture(other, "states_bars")[1]["values"][:, 1], expected)
    assert "that is 4 times" in text(other)
    assert "4.91 × 10²² FLOPs" in text(app)


def test_all_models_and_two_models():
    app = open_page(PAGE, book="every")
    meta, arrays = picture(app, "share_bars")
    assert len(meta["names"]) == len(presets.IDS)
    assert arrays["values"].ravel()[meta["names"].index("Qwen3-8B")] == pytest.approx(0.6636, abs=1e-4)
    for one in presets.presets().values():
        assert f"{one.published:,}" in text(app)
    for error in ("+4.3%", "−20.0%", "−5.9%", "−7.7%", "−0.5%", "63,082,496", "214,245,376"):
        assert error in text(app)
    pair = open_page(PAGE, book="versus", preset="gpt2", versus="bert-base")
    values = picture(pair, "versus_bars")[1]["values"][0]
    assert values.sum(1).tolist() == [124_439_808, 109_482_240]


# ---- any other model ----


def test_ones_own_sizes_reach_the_total():
    app = open_page(PAGE, preset="own", own_d="512", own_l="6", own_bias="false", own_v="32000", own_share="2")
    config = costs.widened(presets.read(MINE), 2048)
    assert config.d_model == 512
    expected = 32000 * 512 + 6 * (2 * 512 * 512 + 2 * 512 * 256 + 2 * 512 * 2048 + 4 * 512) + 2 * 512
    assert f"**{expected:,}**" in text(app)


def test_a_pasted_config_is_counted_and_stands_in_the_link():
    app = pasted(MINE)
    assert f"**{TOTAL:,}**" in text(app)
    link = app.query_params["config"]
    link = link[0] if isinstance(link, list) else link
    assert len(link) < 250
    again = open_page(PAGE, preset="config", config=link)
    assert f"**{TOTAL:,}**" in text(again)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("no JSON", "This is not JSON"),
        ("[" * 5000, "nested too deeply"),
        ("[]", "is one object"),
        ('{"model_type": "t5"}', "The model_type t5 is not one this ledger can count. It counts: gpt2, llama, mistral"),
        ("{}", "It has no model_type. These are counted: gpt2"),
        ('{"model_type": "<b>$x$</b>"}', "is not one this ledger can count"),
        (MINE | {"hidden_size": -4}, "hidden_size is -4, but must be a whole number"),
        (MINE | {"hidden_size": 10**40}, "hidden_size is"),
        ('{"model_type": "llama", "vocab_size": NaN}', "vocab_size is nan"),
        ("{" + " " * 300_000 + "}", "This file has 300,002 characters"),
    ],
    ids=lambda x: str(x)[:24],
)
def test_what_cannot_be_read_gets_a_sentence(config, said):
    app = pasted(config)
    assert not app.exception
    assert said in text(app)
    assert "**8,190,735,360**" in text(app), "the first preset meanwhile"


@pytest.mark.parametrize("book", ["parts", "work", "training", "versus", "every"])
def test_enormous_sizes_break_nothing(book):
    giant = MINE | {"hidden_size": 10**9, "vocab_size": 10**9, "intermediate_size": 10**9, "num_hidden_layers": 10_000}
    app = pasted(giant, book=book)
    assert not app.exception
    assert picture(app, "balance_bars")[1]["values"].max() < np.inf


def test_a_config_too_long_for_a_link_says_so_and_is_still_counted():
    long = {"model_type": "qwen3_moe", "num_hidden_layers": 2000, "mlp_only_layers": list(range(1000, 2000))}
    app = pasted(long)
    assert "too long for a link" in text(app)
    assert f"**{total(presets.read(long)):,}**" in text(app)
    assert "config" not in app.query_params


def test_chinese_has_every_mistake_filled():
    app = open_page(PAGE, lang="zh")
    assert not app.exception
    assert "«" not in text(app)
    assert "14,336" in text(app)


@pytest.mark.parametrize(
    ("book", "number"), [("parts", "cache"), ("parts", "parameters"), ("work", "flops"), ("training", "training")]
)
def test_the_code_of_each_number_is_shown(book, number):
    shown = [block.value for block in open_page(PAGE, book=book, at=f"code-{number}").code]
    assert any(f"trace({number.upper()}" in code for code in shown)


def test_a_config_too_long_for_a_link_does_not_leave_another_in_it():
    """A link that is copied now would show the config before."""
    app = pasted(MINE)
    assert "config" in address(app)
    long = {"model_type": "qwen3_moe", "num_hidden_layers": 2000, "mlp_only_layers": list(range(1000, 2000))}
    app.text_area(key="pasted").set_value(json.dumps(long)).run()
    assert "config" not in address(app)
    assert f"**{total(presets.read(long)):,}**" in text(app)
    come_back(app, PAGE, away="08_heads")
    assert f"**{total(presets.read(long)):,}**" in text(app), "it stays with the visit"


def test_a_width_belongs_to_its_model():
    app = open_page(PAGE, f_width="12032")
    assert address(app)["f_width"] == "12032"
    app.selectbox(key="preset_choice").set_value("llama-3-8b").run()
    assert "f_width" not in address(app)


CHOICES = {"preset": "llama-3-8b", "text_length": "1024", "readers": "16", "weights_in": "fp8", "cache_in": "fp32",
           "device": "a100", "sharing": "true"}  # fmt: skip
BOOKS = (
    {"book": "parts", "ledger_of": "block", "f_width": "12000"},
    {"book": "work", "work_n": "1024", "work_unit": "mac", "work_causal": "true"},
    {"book": "training", "recipe": "fp32", "saving": "true", "flash": "false", "step_tokens": "1024", "train_d": "300",
     "fleet": "64", "train_on": "h200"},
    {"book": "versus", "versus": "deepseek-v3"},
)  # fmt: skip


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book["book"])
def test_every_choice_survives_leaving_and_coming_back(book):
    app = open_page(PAGE, **CHOICES, **book)
    before, told = picture(app, "balance_bars"), address(app)
    assert set(told) == set(CHOICES) | set(book) - {"book" if book["book"] == "parts" else ""}
    assert told["text_length"] == "1024" or abs(int(told["text_length"]) - 1024) < 100, "a stop beside it"
    come_back(app, PAGE, away="08_heads")
    assert address(app) == told
    after = picture(app, "balance_bars")
    assert after[0]["slider"]["at"] == before[0]["slider"]["at"]
    np.testing.assert_array_equal(after[1]["values"], before[1]["values"])
