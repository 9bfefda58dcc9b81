"""The walk: shapes and statistics against transformers and torch, and models at their true size."""

import pytest
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM

from core import presets
from core.lab import subject
from core.lab import text as sentence
from core.nets import dates as seq2seq
from core.nets import dates_task
from core.topics.model import walk

READING = sentence.read(sentence.SENTENCE)


def test_the_decoder_only_walk_is_transformers_hidden_states(theirs):
    with torch.no_grad():
        out = theirs(torch.tensor([READING.ids]), output_hidden_states=True, output_attentions=False)
    lines = {one.name: one for one in walk.decoder_only(sentence.of(READING))}
    for i, state in enumerate(out.hidden_states[:-1]):
        one = lines[f"block{i}.resid_pre"]
        assert one.shape == tuple(state.shape[1:])
        assert one.rms == pytest.approx(float(state.square().mean().sqrt()), rel=1e-4)
        assert (one.low, one.high) == pytest.approx((float(state.min()), float(state.max())), rel=1e-3)
        assert one.mean == pytest.approx(float(state.mean()), abs=1e-4)
    assert lines["logits"].rms == pytest.approx(float(out.logits.square().mean().sqrt()), rel=1e-4)
    assert lines["block0.masked"].low > -1e6, "minus infinity is no size"


def test_the_encoder_decoder_walk_is_torchs_layers():
    """The memory, by nn.TransformerEncoderLayer with the same weights; shapes by n and m."""
    text = "5 Mar 2021"
    lines = {one.name: one for one in walk.encoder_decoder(text)}
    model, n, m = seq2seq.model(), len(text), dates_task.LENGTH
    x = model.embed(torch.tensor(dates_task.ids(text))) + model.source_place.weight[:n]
    for i, block in enumerate(model.encoder):
        layer = nn.TransformerEncoderLayer(64, 2, 128, 0.0, nn.GELU("tanh"), batch_first=True, norm_first=True)
        state = {"self_attn.in_proj_weight": torch.cat([getattr(block.attn, k).weight for k in "qkv"]),
                 "self_attn.out_proj.weight": block.attn.o.weight, "linear1.weight": block.ffn.up.weight,
                 "linear2.weight": block.ffn.down.weight}  # fmt: skip
        state |= {f"norm{j}.{k}": getattr(getattr(block, f"norm{j}"), k) for j in (1, 2) for k in ("weight", "bias")}
        with torch.no_grad():
            layer.load_state_dict(layer.state_dict() | {k: torch.zeros_like(v) for k, v in layer.state_dict().items()
                                                        if k.endswith("bias")} | state)  # fmt: skip
            x = layer(x[None])[0]
        assert lines[f"enc{i}.out"].rms == pytest.approx(float(x.square().mean().sqrt()), rel=1e-4)
    assert lines["memory"].shape == (n, 64)
    assert lines["dec0.cross.scores"].shape == (2, m, n)
    assert lines["dec0.self.scores"].shape == (2, m, m)
    assert lines["dec1.out"].shape == (m, 64)
    order = list(lines)
    for side in ("enc0", "dec1"):
        at = order.index(f"{side}.ffn_pre")
        assert order[at : at + 3] == [f"{side}.ffn_pre", f"{side}.ffn_act", f"{side}.ffn_out"]
        assert lines[f"{side}.ffn_act"].low == pytest.approx(-0.17, abs=0.01), "GELU ends at -0.17"
        assert lines[f"{side}.ffn_pre"].low < -0.5
    assert order.index("memory") < order.index("written") < order.index("dec0.self.z") < order.index("dec0.cross.z")


def test_the_encoder_decoder_walk_shows_the_bend():
    lines = walk.encoder_decoder(dates_task.TEXT)
    order = [one.name for one in lines]
    model, seen = seq2seq.model(), {one.name: one for one in lines}
    for scope, block in (("enc1", model.encoder[1]), ("dec0", model.decoder[0])):
        first = order.index(f"{scope}.ffn_pre")
        assert order[first : first + 4] == [f"{scope}.{name}" for name in ("ffn_pre", "ffn_act", "ffn_out", "out")]
        heard = []
        hook = block.ffn.up.register_forward_hook(lambda _, __, made, heard=heard: heard.append(made))
        walk.encoder_decoder(dates_task.TEXT)
        hook.remove()
        wanted = nn.GELU("tanh")(heard[-1])
        assert seen[f"{scope}.ffn_act"].rms == pytest.approx(float(wanted.square().mean().sqrt()), rel=1e-5)
        assert seen[f"{scope}.ffn_act"].low == pytest.approx(float(wanted.min()), abs=1e-6)


def test_the_loop_as_printed_is_the_model(theirs):
    found = walk.loop(sentence.of(READING), 3)
    assert found.shape == (3, len(READING.ids), subject.model().config.vocab_size)
    assert found.gap < 1e-4
    ids = torch.tensor([READING.ids])
    with torch.no_grad():
        torch.testing.assert_close(walk.written_out(subject.model(), ids), theirs(ids).logits, atol=1e-3, rtol=1e-3)


def test_qwen3_8b_at_its_true_size():
    found = walk.sized("qwen3-8b", 14)
    assert found.parameters == 8_190_735_360
    shapes = dict(found.lines)
    assert len([name for name in shapes if name.endswith(".q_norm")]) == 36
    for i in range(36):
        assert shapes[f"block{i}.q"] == (32, 14, 128)
        assert shapes[f"block{i}.k"] == (8, 14, 128)
        assert shapes[f"block{i}.scores"] == (32, 14, 14)
        assert shapes[f"block{i}.ffn_act"] == (14, 12288)
        assert shapes[f"block{i}.masked"] == (32, 14, 14)
        assert shapes[f"block{i}.allowed"] == (14, 14)
    assert shapes["logits"] == (14, 151936)
    inside = "resid_pre norm1 q k v q_norm k_norm q_rot k_rot scores scaled allowed masked weights z attn_out resid_mid"
    every = [*inside.split(), "norm2", "ffn_gate", "ffn_up", "ffn_act", "ffn_out", "resid_post"]
    outside = ["ids", "embed", "angles", "norm_final", "logits", "probs"]
    assert sorted(shapes) == sorted([*outside, *(f"block{i}.{name}" for i in range(36) for name in every)])
    assert len(found.lines) == len(shapes) == 36 * 23 + 6


def test_a_table_of_positions_ends():
    assert dict(walk.sized("gpt2", 1024).lines)["pos_embed"] == (1024, 768)
    with pytest.raises(walk.TooLong, match=r"1,025 tokens do not fit.*1,024 rows"):
        walk.sized("gpt2", 1025)
    assert walk.sized("qwen3-0.6b", 50_000).lines, "a rotation does not end"


@pytest.mark.parametrize("id", ["qwen3-8b", "qwen3-0.6b", "mistral-7b", "gpt2"])
def test_weights_at_true_size_are_transformers_weights(id):
    raw = presets.raw(id)
    raw = raw.get("config", raw)
    with torch.device("meta"):
        options = {k: v for k, v in raw.items() if k != "model_type"}
        theirs = AutoModelForCausalLM.from_config(AutoConfig.for_model(raw["model_type"], **options))
    expected = sorted(p.numel() for p in theirs.parameters())
    found = walk.sized(id, 3)
    ours = sorted(torch.Size(shape).numel() for _name, shape in found.weights)
    assert sum(ours) == sum(expected) == presets.presets()[id].published
    if id != "gpt2":  # which keeps W_Q, W_K and W_V in one
        assert ours == expected


def test_every_preset_on_offer_has_its_published_total():
    for id in walk.runnable():
        if id not in ("llama-2-70b", "gpt3-175b"):  # seconds each; counting covers them
            assert walk.sized(id, 2).parameters == presets.presets()[id].published, id
