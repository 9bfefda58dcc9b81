"""Every formula of the ledger is evaluated from its text, and is the number that stands beside it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from core import costs
from core.config import Mla, ModelConfig, Moe
from core.counting import Row, encoder_decoder, parameters, relative_encoder_decoder, vision
from core.presets import presets
from pages.parts.ledger import conversation, work
from pages.parts.ledger.models import Model
from pages.parts.ledger.parameters import PARTS
from tests.core.arithmetic import evaluate

SMALL = ModelConfig(
    d_model=24, n_layers=5, n_heads=6, d_ff=70, vocab_size=101, context=33, n_kv_heads=2, head_dim=10,
    qkv_bias=True, out_bias=True, ffn_bias=True, qk_norm=True,
)  # fmt: skip
MOE = Moe(n_experts=7, n_active=2, d_expert=11, layers=(1, 3, 4), n_shared=1, router_bias=True)
MLA = Mla(q_rank=9, kv_rank=8, d_nope=7, d_rope=4, d_v=5)
CONFIGS = {id: preset.config for id, preset in presets().items()} | {
    "all biases": SMALL,
    "no biases": replace(SMALL, qkv_bias=False, out_bias=False, ffn_bias=False, qk_norm=False, tied=True),
    "layernorm": replace(SMALL, norm="layernorm", position="learned", ffn="gelu_tanh", embed_norm=True, n_segments=3),
    "experts": replace(SMALL, moe=MOE),
    "latent": replace(SMALL, mla=MLA, moe=replace(MOE, n_shared=0, router_bias=False)),
    "latent, wide queries": replace(SMALL, mla=replace(MLA, q_rank=None), qkv_bias=False, pooler=True),
}


def symbols(c: ModelConfig) -> dict[str, int]:
    """What the letters of the ledger's legend stand for."""
    of = {"V": c.vocab_size, "T": c.context, "d": c.d_model, "L": c.n_layers, "h": c.n_heads, "h_{kv}": c.n_kv_heads,
          "d_h": c.head_dim, "f": c.d_ff}  # fmt: skip
    if c.moe:
        of |= {"E": c.moe.n_experts, "f_e": c.moe.d_expert}
    if c.mla:
        of |= {"r_{kv}": c.mla.kv_rank, "d_n": c.mla.d_nope, "d_r": c.mla.d_rope, "d_v": c.mla.d_v}
        of |= {"r_q": c.mla.q_rank} if c.mla.q_rank else {}
    return of


def test_the_evaluator_reads_what_a_reader_reads():
    of = {"d": 3, "h": 5, "h_{kv}": 2, "d_h": 7}
    for formula, value in {
        "d^2+d": 12, r"d\,h_{kv}d_h": 42, "2dh+h-d": 32, r"h(d+d_h)": 50, r"\tfrac{d(d+1)}{2}": 6, r"2\cdot 3.5": 7,
        "d^{2}h": 45,
    }.items():  # fmt: skip
        assert evaluate(formula, of) == value
    for nonsense in ("b", "d+", "(d", "d)", r"\frac{1}", "2^x"):
        with pytest.raises((ValueError, IndexError)):
            evaluate(nonsense, of)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_tensor_costs_what_its_formula_says(name):
    config = CONFIGS[name]
    rows = [*parameters(config), *costs.layer(config)]
    assert {row.name: evaluate(row.formula, symbols(config)) for row in rows} == {row.name: row.each for row in rows}


@pytest.mark.parametrize("attention_bias", [True, False])
def test_every_row_of_the_model_of_2017(attention_bias):
    rows: list[Row] = encoder_decoder(24, 70, 5, 101, attention_bias=attention_bias)
    of = {"d": 24, "f": 70, "V": 101}
    assert [evaluate(row.formula, of) for row in rows] == [row.each for row in rows]


@pytest.mark.parametrize("name", CONFIGS)
def test_every_tensor_belongs_to_a_part_that_the_ledger_shows(name):
    assert {row.part for row in parameters(CONFIGS[name])} <= set(PARTS)


def test_published_models_of_another_kind_are_written_out_too():
    """T5 and ViT: no stack of decoder blocks, but parts of the same kinds, and formulas that are their numbers."""
    t5, vit = relative_encoder_decoder(24, 70, 5, 6, 101, 9), vision(24, 70, 5, 56, 7, 11)
    of = {"d": 24, "f": 70, "V": 101, "b": 9, "h": 6, "p": 7, "c": 3, "T": 65, "k": 11}
    for rows in (t5, vit):
        assert [evaluate(row.formula, of) for row in rows] == [row.each for row in rows]
    assert [row.name for row in vit][:3] == ["patches", "class token", "positions"]
    body = {"embedding", "attention", "ffn", "norms"}
    assert {row.part for row in t5} == {row.part for row in encoder_decoder(24, 70, 5, 101)} == body
    assert {row.part for row in vit} == body | {"head"}


def at_work(c: ModelConfig, n: int) -> dict[str, float | Fraction]:
    """The same for a text of n tokens; P: weights that a token is multiplied with, counted from the ledger's rows."""
    rows = {row.name: row for row in parameters(c)}
    matrices = {"attn": 0, "ffn": 0}
    for row in rows.values():
        if "bias" in row.name or "norm" in row.name.lower():
            continue
        active = Fraction(c.moe.n_active, c.moe.n_experts) if c.moe and row.name.startswith("expert ") else 1
        if row.part == "attention":
            matrices["attn"] += row.value
        elif row.part in ("ffn", "experts", "router"):
            matrices["ffn"] += row.value * active
    every = sum(matrices.values()) + c.vocab_size * c.d_model * (not c.pooler)
    seen = sum(min(i, c.window) for i in range(1, n + 1)) if c.window else 0
    return symbols(c) | {
        "n": n, "P_{attn}": matrices["attn"], "P_{ffn}": matrices["ffn"], "P": every, r"\sum_{i\le n}\min(i,w)": seen,
    }  # fmt: skip


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", CONFIGS)
def test_every_step_of_a_pass_costs_what_its_formula_says(name, masked):
    demo, texts = costs.Work(CONFIGS[name], masked), (64, 4096, 16384)
    found = costs.forward(demo, texts=texts)
    for n, row in zip(texts, found.tolist(), strict=True):
        of = at_work(CONFIGS[name], n)
        for unit, each in (("flops", 1), ("mac", 2)):
            formulas = work._formulas(demo, unit)
            assert list(formulas) == list(costs.STEPS)
            for step, value in zip(costs.STEPS, row, strict=True):
                if value:  # an encoder has no head
                    assert evaluate(formulas[step], of) * each == value, (step, unit, n)


@pytest.mark.parametrize("name", [name for name, config in CONFIGS.items() if not config.mla])
def test_the_whole_pass_is_one_formula(name):
    """Heads of one width for all; latent attention has two, and its own formulas a step."""
    found = costs.forward(costs.Work(CONFIGS[name]), texts=(64, 4096)).sum(-1)
    for n, value in zip((64, 4096), found.tolist(), strict=True):
        assert evaluate(costs.FLOPS.formula.removeprefix("F = "), at_work(CONFIGS[name], n)) == value


@pytest.mark.parametrize("name", [name for name, config in CONFIGS.items() if not config.mla])
def test_the_cache_is_its_formula(name):
    """Latent attention keeps other numbers, and says so by the formula under the bars: the next test."""
    talk = costs.Talk(CONFIGS[name], readers=3, cache_in="fp8")
    of = symbols(CONFIGS[name]) | {"b": 3, r"\text{bytes}": costs.PRECISIONS["fp8"]}
    for length in (1, 1000):
        formula = costs.CACHE.formula.removeprefix("M_{KV} = ")
        assert evaluate(formula, of | {"n": length}) == talk.cache(length)


@pytest.mark.parametrize("name", CONFIGS)
def test_what_a_token_leaves_is_written_out_with_the_models_own_numbers(name, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(conversation.st, "latex", said.append)
    monkeypatch.setattr(conversation, "say", lambda *_, **__: None)
    config = CONFIGS[name]
    talk = costs.Talk(config, cache_in="int4")
    conversation.written(Model("x", config), talk)
    letters, numbers = said[0].split("=")
    of = symbols(config) | {r"\text{bytes}": costs.PRECISIONS["int4"]}
    assert evaluate(letters, of) == evaluate(numbers, {}) == talk.token


def test_the_memory_of_training_is_its_formula():
    demo = costs.Training(SMALL)
    formula = costs.TRAINING.formula.removeprefix("M = ")
    states = costs.training(demo)
    whole = sum(row.value for row in parameters(SMALL))
    for row in states.tolist():
        of = {"N": whole, r"\text{bytes}": 1, r"\text{activations}": row[-1]}
        assert evaluate(formula, of) == sum(row)


def test_a_tensor_is_the_product_of_its_sizes():
    """N, over the real tensors of a model on the meta device."""
    import torch

    from core.checkpoint import empty

    assert costs.PARAMETERS.formula == r"N = \sum_{\text{tensors}} \prod_i n_i"
    model = empty(SMALL)
    sizes = [torch.tensor(p.shape).prod().item() for p in model.parameters()]
    assert sum(sizes) == sum(costs.by_part(SMALL).values())
