"""What models cost: against real modules, PyTorch's own FLOP counter and autograd, published numbers, and arithmetic."""

import itertools
import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache

from core import costs
from core.config import ModelConfig
from core.counting import encoder_decoder, parameters, total
from core.presets import presets
from core.trace import Trace

CONFIG = {id: preset.config for id, preset in presets().items()}
QWEN, V3 = CONFIG["qwen3-8b"], CONFIG["deepseek-v3"]
SMALL = dict(hidden_size=64, num_hidden_layers=3, num_attention_heads=4, intermediate_size=96, vocab_size=101)
MLA = dict(q_lora_rank=24, kv_lora_rank=16, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=12)
FAMILIES = [
    dict(model_type="gpt2", n_embd=64, n_layer=3, n_head=4, vocab_size=101),
    dict(model_type="llama", **SMALL, num_key_value_heads=2, head_dim=24),
    dict(model_type="mistral", **SMALL, num_key_value_heads=1, sliding_window=None),
    dict(model_type="qwen2", **SMALL, num_key_value_heads=4),
    dict(model_type="qwen3", **SMALL, num_key_value_heads=2, head_dim=20),
]


def real(config, device="cpu"):
    options = {k: v for k, v in config.items() if k != "model_type"}
    theirs = AutoConfig.for_model(config["model_type"], **options, attn_implementation="eager")
    with torch.device(device):
        return AutoModelForCausalLM.from_config(theirs).eval()


# ---- parameters ----


@pytest.mark.parametrize("id", CONFIG)
def test_the_parts_add_up_to_the_published_total(id):
    assert sum(costs.by_part(CONFIG[id]).values()) == presets()[id].published


def test_one_layer_of_qwen3_8b_as_published():
    rows = {row.name: row.value for row in costs.layer(QWEN)}
    assert rows == dict(q=16_777_216, k=4_194_304, v=4_194_304, o=16_777_216, gate=50_331_648, up=50_331_648,
                        down=50_331_648, norm=8_192) | {"QK-norm": 256}  # fmt: skip
    assert costs.blocks(QWEN) == 6_946_071_552


@pytest.mark.parametrize(
    ("id", "layer"),
    [("llama-2-70b", 855_654_400), ("mixtral-8x7b", 1_451_270_144), ("deepseek-v3", 11_507_286_272), ("gpt3-175b", 1_812_099_072)],
)  # fmt: skip
def test_other_layers_as_published(id, layer):
    assert sum(row.value for row in costs.layer(CONFIG[id])) == layer


def test_active_parameters_as_published():
    assert costs.active(CONFIG["mixtral-8x7b"]) == 12_879_925_248
    assert costs.active(V3) == 37_552_297_472
    assert costs.active(V3) - costs.looked_up(V3) == 36_625_618_432  # its README says 36.7B
    assert costs.active(QWEN) == total(QWEN)
    assert costs.looked_up(CONFIG["gpt2"]) == 1024 * 768, "a tied embedding is multiplied with, as the head"


def test_the_share_of_the_ffn_in_known_models():
    published = {"gpt2": 45.5, "bert-base": 51.8, "gpt2-xl": 63.1, "llama-2-7b": 64.2, "gpt3-175b": 66.4,
                 "qwen3-8b": 66.4, "llama-3-8b": 70.2, "llama-2-70b": 81.7, "mixtral-8x7b": 96.6}  # fmt: skip
    assert {id: round(100 * costs.ffn(CONFIG[id]) / total(CONFIG[id]), 1) for id in published} == published


def test_the_estimate_and_its_error_in_known_models():
    published = {"gpt2": -0.1, "gpt3-175b": 0.0, "llama-2-7b": -0.5, "llama-2-70b": -5.9, "llama-3-8b": -7.7,
                 "qwen3-8b": 4.3, "qwen3-0.6b": -20.0}  # fmt: skip
    found = {id: 100 * (costs.estimate(CONFIG[id]) / costs.blocks(CONFIG[id]) - 1) for id in published}
    assert {id: round(x, 1) + 0.0 for id, x in found.items()} == published


@pytest.mark.parametrize("id", ["qwen3-8b", "gpt2", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3", "bert-base"])
def test_every_stop_of_f_is_a_real_count(id):
    found = costs.at_every_width(CONFIG[id])
    assert len(found.stops) >= 43
    assert costs.width(CONFIG[id]) in found.stops
    for i in (0, 17, len(found.stops) - 1):
        rows = parameters(costs.widened(CONFIG[id], found.stops[i]))
        assert [int(x) for x in found.values[i]] == [row.value for row in rows]
        assert [row.name for row in found.rows] == [row.name for row in rows]


def test_the_8b_appears_when_f_is_right():
    found = costs.at_every_width(QWEN)
    totals = dict(zip(found.stops, found.values.sum(1).long().tolist(), strict=True))
    assert (totals[12288], totals[14336]) == (8_190_735_360, 9_096_705_024)


def test_the_transformer_of_2017_equals_torch():
    d, f, n, words = 32, 80, 2, 50
    model = nn.Transformer(d, 4, n, n, f, device="meta")
    theirs = (
        sum(p.numel() for p in model.parameters()) - 4 * d + words * d
    )  # theirs has two final norms that it had not
    assert sum(row.value for row in encoder_decoder(d, f, n, words)) == theirs
    assert sum(row.value for row in encoder_decoder(512, 2048, 6, 37_000)) == 63_082_496
    assert sum(row.value for row in encoder_decoder(1024, 4096, 6, 37_000, attention_bias=False)) == 214_171_648


# ---- the cache ----


@pytest.mark.parametrize("config", FAMILIES, ids=lambda c: c["model_type"])
def test_a_real_cache_has_this_many_numbers(config):
    cache = DynamicCache()
    with torch.no_grad():
        real(config)(torch.zeros(2, 7, dtype=torch.long), past_key_values=cache, use_cache=True)
    kept = sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers)
    talk = costs.Talk(ModelConfig.from_hf(config), readers=2, cache_in="fp32")
    assert float(talk.cache(7)) == 4 * kept


def test_bytes_a_token_as_published():
    published = {"qwen3-8b": 147_456, "qwen3-0.6b": 114_688, "llama-2-7b": 524_288, "llama-2-70b": 327_680,
                 "llama-3-8b": 131_072, "mistral-7b": 131_072, "mixtral-8x7b": 131_072, "gpt2": 36_864,
                 "gpt2-xl": 307_200, "gpt3-175b": 4_718_592, "gpt1": 36_864, "deepseek-v3": 70_272}  # fmt: skip
    assert {id: int(costs.Talk(CONFIG[id]).token) for id in published} == published
    assert 2 * costs.variants(V3)["mha"] == 4_997_120
    assert 2 * costs.variants(QWEN)["mha"] == 576 * 1024


def test_the_cache_is_as_large_as_the_weights_at_111094_tokens():
    talk = costs.Talk(QWEN)
    assert talk.even() == 111_094 == math.ceil(2 * 8_190_735_360 / 147_456)
    assert talk.cache(111_093) < talk.weights <= talk.cache(111_094)
    shared = costs.Talk(QWEN, readers=16, weights_in="int4", cache_in="fp8")
    assert shared.even() == math.ceil(8_190_735_360 / 2 / (16 * 73_728))


@pytest.mark.parametrize("id", CONFIG)
@pytest.mark.parametrize("setting", [{}, dict(readers=64, cache_in="fp8"), dict(readers=2, weights_in="fp32")])
def test_every_frame_is_the_product(id, setting):
    talk = costs.Talk(CONFIG[id], **setting)
    found = costs.conversation(talk)
    assert 43 <= len(found.stops) <= 90
    assert sorted(set(found.stops)) == list(found.stops)
    for i in (0, 20, len(found.stops) - 1):
        assert float(found.cache[i].sum()) == float(talk.cache(found.stops[i]))
        mine = costs.kind(CONFIG[id])
        names = list(costs.variants(CONFIG[id]))
        assert float(found.variants[i, names.index(mine)]) == float(talk.cache(found.stops[i]))
    even = talk.even()
    assert even is None or even in found.stops


@pytest.mark.parametrize("id", CONFIG)
def test_every_preset_s_slider_goes_beyond_its_break_even_in_any_precision(id):
    for weights, cache in itertools.product(costs.PRECISIONS, repeat=2):
        talk = costs.Talk(CONFIG[id], weights_in=weights, cache_in=cache)
        even, stops = talk.even(), costs.lengths(talk)
        assert even is None or (even in stops and stops[-1] > even), (weights, cache)


def test_a_cache_of_next_to_nothing_makes_no_endless_slider():
    """DeepSeek-V3 with two numbers a layer and token: as much as its weights after 40 billion tokens."""
    talk = costs.Talk(replace(V3, mla=replace(V3.mla, kv_rank=1, d_rope=1)), weights_in="fp32", cache_in="int4")
    stops = costs.lengths(talk)
    assert talk.even() > 4e10
    assert 2**27 < stops[-1] < 2**28
    assert len(stops) == 4 * (28 - 7), "four to an octave, from 128 tokens"


def test_a_sliding_window_stops_the_cache():
    mistral = CONFIG["mistral-7b"]
    alone = costs.Talk(mistral)
    assert alone.even() is None
    assert alone.cache(4096) == alone.cache(10**6)
    assert costs.Talk(mistral, readers=32).even() == math.ceil(2 * total(mistral) / 32 / 131_072)


def test_tokens_per_second_is_the_bandwidth_over_what_is_read():
    h100 = costs.DEVICES["h100"]
    talk = costs.Talk(QWEN, readers=8)
    read = 2 * (8_190_735_360 - 622_329_856) + 8 * 1000 * 147_456  # the embedding is only looked up
    assert costs.tokens_per_second(talk, 1000, h100) == pytest.approx(8 * 3.35e12 / read)
    alone = 37_552_297_472 - 129_280 * 7168
    assert costs.tokens_per_second(costs.Talk(V3), 0, h100) == pytest.approx(3.35e12 / (2 * alone))
    gpt = CONFIG["gpt2"]  # its head is the embedding, which is read
    assert costs.read_by_step(gpt, 1) == total(gpt) - 1024 * 768


def test_a_batch_meets_more_experts_than_one_text():
    torch.manual_seed(0)
    drawn = torch.rand(4000, 64, 256).topk(8).indices  # 64 tokens choose 8 of 256 experts at random
    met = torch.zeros(4000, 256).scatter_(1, drawn.flatten(1), 1.0).sum(1).mean()
    assert costs.experts_met(V3, 64) == pytest.approx(float(met), rel=2e-3)
    assert costs.experts_met(V3, 1) == pytest.approx(8)
    everything = total(V3) - 129_280 * 7168
    assert costs.read_by_step(V3, 10_000) == pytest.approx(everything)


# ---- FLOPs ----


@pytest.mark.parametrize("config", FAMILIES, ids=lambda c: c["model_type"])
def test_products_equal_pytorchs_own_flop_counter(config):
    """Counted while a real model runs; it counts products alone, no softmax."""
    n = 9
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        real(config)(torch.zeros(1, n, dtype=torch.long))
    row = costs.forward(costs.Work(ModelConfig.from_hf(config)), texts=(n,))[0]
    ours = row.sum() - row[costs.STEPS.index("softmax")]
    rotation = 0 if config["model_type"] == "gpt2" else 2 * n * ModelConfig.from_hf(config).head_dim // 2
    assert counter.get_total_flops() == pytest.approx(float(ours) + rotation, abs=rotation)


@pytest.mark.parametrize("config", FAMILIES, ids=lambda c: c["model_type"])
def test_cells_are_those_of_the_attention_matrices_of_a_real_model(config):
    with torch.no_grad():
        maps = real(config)(torch.zeros(1, 9, dtype=torch.long), output_attentions=True).attentions
    one, every = costs.cells(ModelConfig.from_hf(config), 9)
    assert (one, every) == (maps[0][0, 0].numel(), sum(layer.numel() for layer in maps))


def test_experts_cost_what_a_token_meets():
    moe = dict(model_type="mixtral", **SMALL, num_key_value_heads=2, num_local_experts=5, num_experts_per_tok=2)
    row = costs.forward(costs.Work(ModelConfig.from_hf(moe)), texts=(10,))[0]
    assert row[costs.STEPS.index("ffn")] == 2 * 10 * 3 * (64 * 5 + 2 * 3 * 64 * 96)


def test_the_steps_of_attention_by_hand():
    row = dict(zip(costs.STEPS, costs.forward(costs.Work(QWEN), texts=(1000,))[0].tolist(), strict=True))
    assert row["scores"] == row["mixture"] == 2 * 1000**2 * 4096 * 36
    assert row["softmax"] == 3 * 1000**2 * 32 * 36
    assert row["projections"] == 2 * 1000 * 41_943_040 * 36
    assert row["head"] == 2 * 1000 * 622_329_856
    masked = costs.forward(costs.Work(QWEN, masked=True), texts=(1000,))[0].tolist()
    assert masked[1] == 2 * 1000 * 1001 / 2 * 4096 * 36
    assert masked[0] == row["projections"]


def test_latent_attention_is_counted_over_its_own_widths():
    row = costs.forward(costs.Work(V3), texts=(10,))[0].tolist()
    assert row[1:4:2] == [2 * 100 * 128 * 192 * 61, 2 * 100 * 128 * 128 * 61]


def test_the_curves_cross_at_6_d_for_a_classic_block():
    for id, d in (("gpt2", 768), ("gpt3-175b", 12288)):
        assert costs.crossover(costs.Work(CONFIG[id])) == 6 * d
    assert costs.crossover(costs.Work(QWEN)) == 23_552
    for causal in (False, True):
        cross = costs.crossover(costs.Work(QWEN, causal))
        row = costs.forward(costs.Work(QWEN, causal), texts=(round(cross),))[0].tolist()
        assert row[0] + row[4] == pytest.approx(row[1] + row[3], rel=1e-4)


@pytest.mark.parametrize(("window", "n"), [(4096, 100), (4096, 4096), (4096, 9000), (7, 50), (1, 30)])
def test_a_window_limits_the_pairs_that_are_counted(window, n):
    work = costs.Work(replace(CONFIG["mistral-7b"], window=window), masked=True)
    i, j = torch.arange(n)[:, None], torch.arange(n)
    allowed = ((j <= i) & (i - j < window)).sum()
    assert work.pairs(torch.tensor([float(n)], dtype=torch.float64)).tolist() == [float(allowed)]


def test_under_a_window_the_curves_may_never_cross():
    assert costs.crossover(costs.Work(CONFIG["mistral-7b"], masked=True)) is None
    wide = costs.Work(replace(CONFIG["mistral-7b"], window=30_000), masked=True)
    cross = costs.crossover(wide)
    assert cross > 30_000
    row = costs.forward(wide, texts=(round(cross),))[0].tolist()
    assert row[0] + row[4] == pytest.approx(row[1] + row[3], rel=1e-4)


def test_an_encoder_has_no_mask():
    bert = CONFIG["bert-base"]
    free, masked = (costs.forward(costs.Work(bert, on)) for on in (False, True))
    assert torch.equal(free, masked)
    assert costs.crossover(costs.Work(bert, True)) == costs.crossover(costs.Work(bert))


def test_six_n_d():
    assert costs.training_flops(CONFIG["gpt3-175b"], 300 * 10**9) == pytest.approx(
        3.14e23, rel=0.01
    )  # its paper: 3.14e23
    assert costs.training_flops(QWEN, 10) == 60 * 8_190_735_360
    a100 = costs.DEVICES["a100"]
    assert costs.days(312e12 * 0.4 * 86400 * 7, 1, a100) == pytest.approx(7)
    assert costs.days(312e12 * 0.5 * 86400 * 7, 10, a100, used=0.5) == pytest.approx(0.7)


# ---- training ----


def test_states_of_training_by_hand():
    row = costs.training(costs.Training(QWEN))[0].tolist()
    n = 8_190_735_360
    assert row[:5] == [2 * n, 2 * n, 4 * n, 4 * n, 4 * n]
    assert sum(row[:5]) / 2**30 == pytest.approx(122.05, abs=0.01)
    assert costs.training(costs.Training(QWEN, "fp32"))[0, :5].sum() == 16 * n
    assert costs.training(costs.Training(QWEN, "adam8"))[0, :5].sum() == 10 * n


def kept_by_autograd(make, *inputs):
    """How many different numbers autograd holds for the way back, parameters apart."""
    held, own = {}, {id(p) for p in make.parameters()}

    def keep(x):
        if id(x) not in own and x.untyped_storage().data_ptr() not in {
            p.untyped_storage().data_ptr() for p in make.parameters()
        }:
            held[x.untyped_storage().data_ptr()] = x
        return x

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        out = make(*inputs)
    return sum(x.untyped_storage().nbytes() // x.element_size() for x in held.values()), out


class Block(nn.Module):
    """A pre-norm block written with PyTorch's own parts, eager attention, no rotation."""

    def __init__(self, d, h, kv, dh, f, gated):
        super().__init__()
        self.h, self.kv, self.dh, self.gated = h, kv, dh, gated
        self.one, self.two = nn.RMSNorm(d, elementwise_affine=False), nn.RMSNorm(d, elementwise_affine=False)
        sizes = dict(q=(d, h * dh), k=(d, kv * dh), v=(d, kv * dh), o=(h * dh, d), up=(d, f), down=(f, d), gate=(d, f))
        self.maps = nn.ModuleDict({name: nn.Linear(*size, bias=False) for name, size in sizes.items()})

    def forward(self, x):
        n, m = x.shape[0], self.maps
        y = self.one(x)
        q, k, v = (m[name](y).view(n, -1, self.dh).transpose(0, 1) for name in "qkv")
        weights = (q @ k.mT).softmax(-1)
        x = x + m["o"]((weights @ v).transpose(0, 1).reshape(n, -1))
        y = self.two(x)
        act = F.silu(m["gate"](y)) * m["up"](y) if self.gated else F.gelu(m["up"](y))
        return x + m["down"](act)


@pytest.mark.parametrize("gated", [True, False])
def test_activations_equal_what_autograd_keeps(gated):
    d, h, dh, f, n = 64, 4, 20, 96, 32
    block = Block(d, h, h, dh, f, gated)
    found, _ = kept_by_autograd(block, torch.randn(n, d, requires_grad=True))
    config = ModelConfig(d, 1, h, f, 10, n, head_dim=dh, ffn="swiglu" if gated else "gelu")
    ours = n * costs.remembered(config, flash=False, context=n)
    assert found == pytest.approx(ours, rel=0.01), "autograd also keeps one number a row for each norm"


def test_what_a_block_remembers_by_hand():
    qwen = 4 * 4096 + (32 + 2 * 8) * 128 + 32 * 128 + (32 + 8) * 128 + 4 * 12288
    assert costs.remembered(QWEN, flash=True, context=1) == qwen
    mixtral = 4 * 4096 + (32 + 2 * 8) * 128 + 32 * 128 + 4 * 2 * 14336
    assert costs.remembered(CONFIG["mixtral-8x7b"], flash=True, context=1) == mixtral
    latent = 4 * 7168 + 2 * 1536 + 2 * 512 + 128 * (192 + 192 + 128 + 128) + 4 * 9 * 2048
    assert costs.remembered(V3, flash=True, context=1) == latent


def test_checkpointing_and_flash_save_what_they_say():
    c = CONFIG["gpt2"]
    plain, flash = (costs.remembered(c, flash=x, context=1024) for x in (False, True))
    assert plain - flash == 12 * 1024
    at = costs.AT_ONCE.index(1024)
    full = costs.training(costs.Training(c))[at, -1]
    saved = costs.training(costs.Training(c, checkpointing=True))[at, -1]
    assert full == 2 * 1024 * (12 * flash + 768)
    assert saved == 2 * 1024 * (12 * 768 + flash + 768)


def test_the_record_holds_every_frame():
    demo = costs.Demo(costs.Talk(V3, 4), costs.Work(QWEN, True), costs.Training(CONFIG["gpt2"], "sgd"))
    trace = costs.run(demo)
    assert isinstance(trace, Trace)
    assert [step.name for step in trace] == [
        "model.parameters",
        "conversation.cache",
        "text.flops",
        "training.training",
    ]
    assert trace["training.training"].value.shape == (len(costs.AT_ONCE), 6)
