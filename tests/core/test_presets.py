"""Presets against modules of transformers on the meta device; foreign config.json of every kind, and its short form."""

import json
import random

import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, OpenAIGPTConfig, OpenAIGPTLMHeadModel

from core import costs, presets
from core.config import FAMILIES
from core.counting import total

ALL = presets.presets()


@pytest.mark.parametrize("id", ALL)
def test_a_preset_equals_a_real_module_on_the_meta_device(id):
    values = presets.raw(id)
    kind = values.pop("model_type")
    keep = {k: v for k, v in values.items() if k in presets.COUNTED}
    with torch.device("meta"):
        if kind == "openai-gpt":
            model = OpenAIGPTLMHeadModel(OpenAIGPTConfig(**keep))
        else:
            theirs = AutoConfig.for_model(kind, **keep)
            model = (AutoModel if kind == "bert" else AutoModelForCausalLM).from_config(theirs)
    found = sum({p: p.numel() for p in model.parameters()}.values())
    found += sum(b.numel() for name, b in model.named_buffers() if name.endswith("e_score_correction_bias"))
    assert total(ALL[id].config) == found == ALL[id].published


def test_a_preset_says_where_it_comes_from():
    assert all(one.source.startswith("https://") and one.name and one.printed for one in ALL.values())
    assert set(presets.SUPPORTED) == set(FAMILIES)
    assert {one.config.family for one in ALL.values()} == set(FAMILIES), "each family is shown by a preset"


HOSTILE = [
    ("", "json"),
    ("hello", "json"),
    ("{", "json"),
    (b"\xff\xfe\x00", "json"),
    ("[1, 2]", "object"),
    ("null", "object"),
    ('"model_type"', "object"),
    ("[" * 100_000, "deep"),
    ("[" * 41 + "]" * 41, "deep"),
    ("[" * 40 + "]" * 40, "object"),
    ("[{}, {}]" * 50, "json"),
    ('{"a":' * 500 + "1" + "}" * 500, "deep"),
    ('{"model_type": "llama", "hidden_size": ' + "9" * 6000 + "}", "json"),
    ("{" + " " * 10_000_000 + "}", "long"),
    (b"0" * 10_000_000, "long"),
    ("{}", "nameless"),
    ('{"model_type": null}', "nameless"),
    ('{"model_type": ["llama"]}', "nameless"),
    ('{"model_type": "t5"}', "family"),
    ('{"model_type": "' + "x" * 10_000 + '"}', "family"),
    ('{"model_type": "llama", "hidden_size": -1}', "value"),
    ('{"model_type": "llama", "hidden_size": "4096"}', "value"),
    ('{"model_type": "llama", "hidden_size": true}', "value"),
    ('{"model_type": "llama", "hidden_size": NaN}', "value"),
    ('{"model_type": "llama", "hidden_size": 1e400}', "value"),
    ('{"model_type": "llama", "num_hidden_layers": 1000000000}', "value"),
    ('{"model_type": "llama", "num_attention_heads": 7}', "value"),
    ('{"model_type": "llama", "vocab_size": {"a": 1}}', "value"),
    ('{"model_type": "llama", "rope_parameters": 3}', "value"),
    ('{"model_type": "qwen3_moe", "mlp_only_layers": {"0": 1}}', "value"),
    ('{"model_type": "bert", "add_cross_attention": true}', "value"),
]


@pytest.mark.parametrize(("text", "reason"), HOSTILE, ids=lambda x: str(x)[:30])
def test_a_hostile_text_is_refused_for_its_reason(text, reason):
    with pytest.raises(presets.Unreadable) as refused:
        presets.read(presets.parse(text))
    assert refused.value.reason == reason
    assert len(refused.value.detail) < 300


@pytest.mark.parametrize("seed", range(40))
def test_whatever_stands_in_a_config_it_is_read_or_refused(seed):
    rng = random.Random(seed)
    strange = [
        0,
        -1,
        1,
        2,
        7.5,
        4096.0,
        1e300,
        float("nan"),
        float("inf"),
        10**30,
        None,
        True,
        "8",
        [],
        [1, "a"],
        {},
        [[0]],
    ]
    for family in FAMILIES:
        values = {"model_type": family} | {
            k: rng.choice(strange) for k in rng.sample(presets.COUNTED, rng.randint(1, 8))
        }
        try:
            config = presets.read(values)
        except presets.Unreadable:
            continue
        assert total(config) > 0
        back = presets.restore(presets.compact(values))
        assert back is not None
        assert total(presets.read(back)) == total(config)
        talk = costs.Talk(config)
        costs.run(costs.Demo(talk, costs.Work(config), costs.Training(config)))


@pytest.mark.parametrize("id", [id for id in ALL if id != "gpt1"])
def test_the_short_form_costs_the_same_and_fits_into_a_link(id):
    values = presets.raw(id)
    small = presets.compact(values)
    assert len(small) < 600
    assert all(sign.isalnum() or sign in "~._-" for sign in small)
    again = presets.read(presets.restore(small))
    assert total(again) == ALL[id].published
    assert costs.kept(again) == costs.kept(ALL[id].config)
    assert costs.active(again) == costs.active(ALL[id].config)
    assert (again.context, again.window) == (ALL[id].config.context, ALL[id].config.window)


def test_lists_and_nulls_survive_the_short_form():
    values = {"model_type": "qwen3_moe", "mlp_only_layers": [0, 5], "num_key_value_heads": None, "head_dim": 64}
    again = presets.restore(presets.compact(values))
    assert again == values
    assert json.loads(json.dumps(again)) == values
    plain = {"model_type": "deepseek_v3", "q_lora_rank": None}
    assert total(presets.read(presets.restore(presets.compact(plain)))) == total(presets.read(plain))


@pytest.mark.parametrize(
    "text", ["", "~", "llama~", "llama~x.1", "llama~hidden_size.-4", "t5", "llama~hidden_size.1e9", "llama~hidden_size",
             "llama~hidden_size.99999999999999999999", "qwen3_moe~mlp_only_layers.l", "llama~num_attention_heads.7",
             "llama~hidden_size.٣"],
)  # fmt: skip
def test_a_damaged_link_is_no_config(text):
    assert presets.restore(text) is None


def test_brackets_that_were_closed_do_not_count():
    """Shallow lists first, then one of 41: too deep; closing and opening again is not."""
    shut = "[" + "[],{}," * 30
    with pytest.raises(presets.Unreadable) as refused:
        presets.parse(shut + "[" * 40 + "]" * 40 + "]")
    assert refused.value.reason == "deep"
    with pytest.raises(presets.Unreadable) as refused:
        presets.parse(shut + "[" * 39 + "]" * 39 + "]")
    assert refused.value.reason == "object"


def test_a_window_is_told_of_the_family_that_has_one():
    sizes = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4, vocab_size=100)
    for family in ("mistral", "llama", "qwen2", "qwen3"):
        told = presets.compact(sizes | {"model_type": family, "sliding_window": 128})
        assert ("sliding_window.128" in told) == (family == "mistral")
        assert told.startswith(f"{family}~")
        assert presets.restore(told)["hidden_size"] == 64


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "3"), (True, "true"), (None, "null"), (4.0, "4"), (4.5, ""), ("x", ""), ([], ""), ([0, 2, 9999], "l0-2-9999"),
        ([10_000, -1, 1.0, True], ""), ([1, "a", 3], "l1-3"), ({}, ""),
    ],
)  # fmt: skip
def test_how_a_value_is_spelled(value, said):
    assert presets._spell(value) == said
    if said:
        assert presets._understood(said) == (value if not isinstance(value, list) else [v for v in value if v != "a"])


@pytest.mark.parametrize("text", ["", "l", "l1-", "1.5", "-1", "1234567890123", "²", "True", "l1-x"])
def test_what_is_no_value(text):
    assert presets._understood(text) is presets._NOTHING


def test_twelve_digits_are_a_number():
    assert presets._understood("123456789012") == 123_456_789_012
    assert presets.restore("llama~foo.3") is None
    assert presets.restore("t5~hidden_size.64") is None
