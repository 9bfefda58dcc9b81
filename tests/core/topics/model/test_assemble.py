"""Blocks put together from parts: against torch's own layers, and counted by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from transformers import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import Qwen3DecoderLayer, Qwen3RotaryEmbedding

from core.lab import text
from core.topics.model import assemble as asm

IDS = text.read(text.SENTENCE).ids


@pytest.mark.parametrize("name", ["2017", "bert", "gpt2"])
@pytest.mark.parametrize("seed", [0, 3])
def test_a_classic_block_is_torchs_encoder_layer(name, seed):
    demo = asm.Demo(IDS, asm.PRESETS[name], 32, 4, seed)
    assert asm.run(demo).gap < 1e-5
    block = asm.drawn(demo.parts, 32, seed)
    act = {"relu": nn.ReLU(), "gelu": nn.GELU("tanh")}[demo.parts.ffn]
    theirs = nn.TransformerEncoderLayer(32, 8, 128, 0.0, act, batch_first=True, norm_first=demo.parts.order == "pre")
    with torch.no_grad():
        for ours, name in (
            (block.attn.o, "self_attn.out_proj"),
            (block.ffn.up, "linear1"),
            (block.ffn.down, "linear2"),
        ):
            theirs.get_submodule(name).weight.copy_(ours.weight)
            theirs.get_submodule(name).bias.zero_()
        theirs.self_attn.in_proj_weight.copy_(torch.cat([getattr(block.attn, n).weight for n in "qkv"]))
        theirs.self_attn.in_proj_bias.zero_()
        x = torch.randn(3, 9, 32)
        mask = nn.Transformer.generate_square_subsequent_mask(9) if demo.parts.causal else None
        allowed = torch.tril(torch.ones(9, 9)).bool() if demo.parts.causal else None
        torch.testing.assert_close(block(x, None, allowed), theirs(x, mask), atol=1e-5, rtol=1e-5)


def test_a_qwen3_block_is_transformers_own():
    parts = asm.PRESETS["qwen3"]
    block = asm.drawn(parts, 64, 1)
    config = Qwen3Config(
        hidden_size=64, intermediate_size=block.ffn.up.out_features, num_attention_heads=8, num_key_value_heads=2,
        head_dim=8, rms_norm_eps=1e-5, attention_bias=False, num_hidden_layers=1, rope_theta=10_000.0,
    )  # fmt: skip
    config._attn_implementation = "eager"
    theirs = Qwen3DecoderLayer(config, 0).eval()
    names = {"self_attn.q_proj": "attn.q", "self_attn.k_proj": "attn.k", "self_attn.v_proj": "attn.v",
             "self_attn.o_proj": "attn.o", "mlp.gate_proj": "ffn.gate", "mlp.up_proj": "ffn.up",
             "mlp.down_proj": "ffn.down"}  # fmt: skip
    with torch.no_grad():
        for name, ours in names.items():
            theirs.get_submodule(name).weight.copy_(block.get_submodule(ours).weight)
        demo = asm.Demo(IDS, parts, 64, 2, 1)
        x, (turn, allowed) = asm.words(demo), asm.around(demo)
        place = torch.arange(len(IDS))[None]
        mask = torch.zeros(len(IDS), len(IDS)).masked_fill(~allowed, -torch.inf)[None, None]
        made = theirs(x, attention_mask=mask, position_embeddings=Qwen3RotaryEmbedding(config)(x, place))
        made = made[0] if isinstance(made, tuple) else made
        torch.testing.assert_close(block(x, turn, allowed), made, atol=2e-5, rtol=1e-4)


def test_every_part_changes_what_comes_out_and_no_shape():
    base = asm.Demo(IDS)
    first = asm.run(base)
    changes = [dict(order="pre"), dict(norm="rmsnorm"), dict(ffn="gelu"), dict(ffn="swiglu"), dict(kv_heads=2),
               dict(kv_heads=1), dict(position="rope"), dict(qk_norm=True), dict(residual=False), dict(causal=True)]  # fmt: skip
    for change in changes:
        other = asm.run(replace(base, parts=replace(base.parts, **change)))
        assert other.shape == first.shape == (2, len(IDS), 64)
        assert (other.low, other.high) != (first.low, first.high), change
    bare = asm.run(replace(base, parts=replace(base.parts, bias=False)))
    assert first.parameters - bare.parameters == 4 * 64 + 256 + 64
    for setting in (dict(batch=4), dict(d_model=128)):
        assert asm.run(replace(base, **setting)).shape != first.shape


def test_parameters_of_the_block_with_dropout():
    assert asm.parameters(asm.PRESETS["gpt2"], 512, 2048) == 3_152_384
    layer = nn.TransformerEncoderLayer(512, 8, 2048, 0.1, norm_first=True)
    assert sum(p.numel() for p in layer.parameters()) == 3_152_384


def test_words_are_the_same_vector_wherever_they_stand_and_positions_are_the_papers():
    demo = asm.Demo(IDS, asm.PRESETS["llama"], 64, 3, 2)
    x = asm.words(demo)
    sam = [i for i, token in enumerate(text.read(text.SENTENCE).tokens) if token == "Sam"]
    torch.testing.assert_close(x[0, sam[0]], x[0, sam[1]])
    for row in x[1:]:
        torch.testing.assert_close(row.sort(0).values, x[0].sort(0).values)
    table = asm.sinusoids(20, 32).numpy()
    for position in (0, 7, 19):
        for i in range(16):
            angle = position / 10_000 ** (2 * i / 32)
            assert table[position, 2 * i] == pytest.approx(np.sin(angle), abs=1e-5)
            assert table[position, 2 * i + 1] == pytest.approx(np.cos(angle), abs=1e-5)


def test_a_stack_is_one_texts_whatever_the_batch():
    demo = asm.Demo(IDS, asm.PRESETS["gpt2"], 64, 1, 4)
    one, two = (asm.stack(replace(demo, batch=batch)) for batch in (1, 2))
    assert one.likeness.shape == two.likeness.shape == (len(asm.DEPTHS), len(IDS), len(IDS))
    np.testing.assert_array_equal(one.likeness, two.likeness)


def test_the_stack_is_blocks_on_blocks():
    demo = asm.Demo(IDS, asm.PRESETS["gpt2"], 64, 1, 4)
    found = asm.stack(demo)
    x = asm.words(demo)[0]
    turn, allowed = asm.around(demo)
    for depth in (1, 2):
        x = asm.drawn(demo.parts, 64, 4000 + depth)(x, turn, allowed)
    cosine = F.cosine_similarity(x[:, None], x[None], dim=-1).numpy()
    np.testing.assert_allclose(found.likeness[2], cosine, atol=1e-5)
    n = len(IDS)
    assert found.mean[2] == pytest.approx((cosine.sum() - n) / (n * n - n), abs=1e-5)
    assert found.rms[2] == pytest.approx(np.sqrt((x.numpy() ** 2).mean()), rel=1e-5)
    one = asm.stack(asm.Demo(IDS[:1]))
    assert one.likeness.shape == (25, 1, 1)
    assert (one.mean == 1).all()


def test_the_printed_formula_and_the_right_one():
    demo = asm.Demo(IDS)
    x = asm.words(replace(demo, batch=1))[0]
    block = asm.drawn(asm.Parts(), 64, 1)
    layer = asm.in_torch(block)
    with torch.no_grad():
        right = layer(x[None])[0]
        heads, _ = layer.self_attn(x[None], x[None], x[None])
        middle = F.layer_norm(x + heads[0], (64,))
        printed = layer.linear2(F.relu(layer.linear1(middle))) + heads[0]
    torch.testing.assert_close(asm.right_layer(block, x), right, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(asm.wrong_layer(block, x), printed, atol=1e-5, rtol=1e-5)
    found = asm.compare(demo)
    assert found.gap == pytest.approx(float((right - printed).abs().max()), rel=1e-4)
    assert found.relative == pytest.approx(float((right - printed).norm() / right.norm()), rel=1e-4)
    np.testing.assert_allclose(
        found.spread, np.stack([printed.std(1, correction=0), right.std(1, correction=0)]), rtol=1e-4
    )
    np.testing.assert_allclose(found.rms[1, 1:], 1, atol=1e-4)


def test_what_the_presets_are_made_of():
    """As their papers and model cards say."""
    parts = asm.PRESETS
    assert (parts["2017"].order, parts["2017"].norm, parts["2017"].ffn, parts["2017"].position) == (
        "post", "layernorm", "relu", "sinusoid"
    )  # fmt: skip
    assert parts["bert"] == replace(parts["2017"], ffn="gelu")
    assert parts["gpt2"] == asm.Parts(order="pre", ffn="gelu", causal=True)
    llama = asm.Parts(order="pre", norm="rmsnorm", ffn="swiglu", position="rope", causal=True, bias=False)
    assert parts["llama"] == llama
    assert parts["qwen3"] == replace(llama, kv_heads=2, qk_norm=True)
    assert [parts[name].kv_heads for name in ("2017", "bert", "gpt2", "llama")] == [8] * 4


def test_a_gated_network_is_two_thirds_as_wide():
    assert asm.config_of(asm.Parts(), 64).d_ff == asm.config_of(asm.Parts(ffn="gelu"), 64).d_ff == 256
    assert asm.config_of(asm.Parts(ffn="swiglu"), 64).d_ff == 170
    assert asm.config_of(asm.Parts(ffn="swiglu"), 64, 100).d_ff == 100
    made = asm.config_of(asm.PRESETS["qwen3"], 64)
    assert (made.n_heads, made.n_kv_heads, made.context, made.norm_eps, made.n_layers) == (8, 2, 256, 1e-5, 1)


def test_places_are_added_where_they_are_sines_and_turned_where_they_turn():
    demo = asm.Demo(IDS, asm.Parts(), 64, 2, 5)
    turned = replace(demo, parts=asm.Parts(position="rope"))
    np.testing.assert_allclose(asm.words(demo) - asm.words(turned), asm.sinusoids(14, 64).expand(2, -1, -1), atol=1e-6)
    assert asm.around(demo) == (None, None)
    turn, allowed = asm.around(replace(turned, parts=replace(turned.parts, causal=True)))
    assert turn.shape == (14, 4)
    np.testing.assert_array_equal(allowed, np.tri(14, dtype=bool))
    assert asm.words(replace(demo, batch=4)).shape == (4, 14, 64)


def test_only_what_torch_has_is_compared_with_torch():
    classic = asm.Parts()
    assert all(
        asm.can_torch(p) for p in (classic, replace(classic, order="pre"), replace(classic, ffn="gelu", causal=True))
    )
    for other in (dict(ffn="swiglu"), dict(norm="rmsnorm"), dict(kv_heads=2), dict(position="rope"), dict(qk_norm=True),
                  dict(residual=False), dict(bias=False)):  # fmt: skip
        assert not asm.can_torch(replace(classic, **other)), other
        assert asm.run(asm.Demo(IDS, replace(classic, **other))).gap is None
    found = asm.run(asm.Demo(IDS))
    assert found.parameters == sum(p.numel() for p in nn.TransformerEncoderLayer(64, 8, 256).parameters())
    assert found.low < 0 < found.high
    out = asm.drawn(classic, 64, 0)(asm.words(asm.Demo(IDS)), None, None)
    assert (found.low, found.high) == pytest.approx((float(out.min()), float(out.max())))


def test_weights_keep_the_size_of_what_they_are_given():
    block = asm.drawn(asm.PRESETS["llama"], 128, 3)
    for module in block.modules():
        if isinstance(module, nn.Linear):
            assert float(module.weight.std()) == pytest.approx(module.weight.shape[1] ** -0.5, rel=0.05)
    for module in asm.drawn(asm.Parts(), 64, 3).modules():
        if isinstance(module, nn.Linear):
            assert not module.bias.any()


def test_the_picture_of_likeness_shows_forty_tokens():
    long = tuple(range(3, 53))
    found = asm.stack(asm.Demo(long, asm.PRESETS["llama"], 32))
    assert found.likeness.shape == (25, 40, 40)
    assert found.mean.shape == found.rms.shape == (25,)
    first = asm.words(asm.Demo(long, asm.PRESETS["llama"], 32))[0]
    cosine = F.cosine_similarity(first[:, None], first[None], dim=-1).numpy()
    np.testing.assert_allclose(found.likeness[0], cosine[:40, :40], atol=1e-5)
    assert found.mean[0] == pytest.approx((cosine.sum() - 50) / (50 * 49), abs=1e-5)
