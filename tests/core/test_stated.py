"""What core states outright, sizes, defaults, limits and names, against where each comes from."""

from __future__ import annotations

import io
import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from core import costs, tokenizer
from core.attention import SCORES, Z, allowed_pairs, attention
from core.checkpoint import load
from core.config import Mla, ModelConfig, Moe
from core.counting import encoder_decoder, parameters
from core.embeddings import EMBED
from core.lab import text as sentence
from core.positions import alibi_slopes, sinusoids, wave_speeds
from core.rope import frequencies
from core.softmax import entropy, softmax, temperatures
from core.trace import Quantity, Trace
from core.watch import Watch, line
from core.whatif import Change

SMALL = ModelConfig(d_model=8, n_layers=3, n_heads=2, d_ff=12, vocab_size=10, context=7, norm="layernorm",
                    qkv_bias=True, out_bias=True, ffn_bias=True, qk_norm=True, position="learned")  # fmt: skip


# ---- what a tensor is called, and how its shape is written ----


def test_a_shape_is_written_with_its_axes():
    trace = Trace()
    trace(SCORES, torch.zeros(6, 14, 13))
    assert trace["scores"].shape == "head 6 × query 14 × key 13"


def test_a_file_with_anything_but_numbers_is_refused():
    file = io.BytesIO()
    np.savez(file, about=np.array('[{"name": "x", "quantity": {"name": "x", "axes": "key", "formula": "", "says": ""},'
                                  ' "labels": {}}]'), x=np.array([{"a": 1}], dtype=object))  # fmt: skip
    file.seek(0)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        _ = Trace.load(file)["x"].value


def test_a_label_counts_before_the_first_size_and_only_on_its_own_axis():
    trace = Trace(key=["a", "b"])
    trace(EMBED, torch.zeros(3, 4))
    with pytest.raises(ValueError, match="axis key has size 3, expected 2"):
        trace(SCORES, torch.zeros(1, 3, 3))
    with trace.inside("b", key=["x", "y", "z"]):
        trace(SCORES, torch.zeros(1, 3, 3))
    assert trace["b.scores"].labels["key"] == ["x", "y", "z"]
    assert trace.labels == {"key": ["a", "b"]}


def test_half_precision_is_widened_and_nothing_else():
    trace = Trace()
    for kind in (torch.float16, torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool):
        with trace.inside(str(kind)):
            trace(Z, torch.ones(1, 1, 1).to(kind))
    kinds = [step.value.dtype.name for step in trace]
    assert kinds == ["float32", "float32", "float64", "int64", "uint8", "bool"]


def test_a_line_measures_what_is_finite():
    x = torch.tensor([[3.0, -torch.inf], [-4.0, torch.nan]])
    found = line("a", x)
    assert (found.name, found.shape, found.low, found.high, found.mean) == ("a", (2, 2), -4.0, 3.0, -0.5)
    assert found.rms == pytest.approx(math.sqrt(12.5))
    for nothing in (torch.full((2,), torch.nan), torch.ones(2, dtype=torch.int64), torch.ones(2, device="meta"),
                    torch.ones(2, dtype=torch.bool)):  # fmt: skip
        found = line("b", nothing)
        assert found.shape == (2,)
        assert all(math.isnan(x) for x in (found.rms, found.mean, found.low, found.high))


def test_a_watch_asks_in_every_scope_and_hands_on():
    watch, x = Watch(lambda name, value: (name, value.numel())), torch.ones(2, 3)
    with watch.inside("block0"):
        assert watch(SCORES, x) is x
        watch.later(Quantity("later", "key", "", ""), lambda: torch.ones(5))
    assert watch.seen == [("block0.scores", 6), ("block0.later", 5)]


# ---- masks, positions, softmax ----


def test_masks_by_hand():
    assert allowed_pairs("none", 2).tolist() == [[True, True], [True, True]]
    assert allowed_pairs("causal", 3, 2).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert allowed_pairs("window", 3, 2).tolist() == [[True, False, False], [True, True, False], [False, True, True]]


def test_attention_divides_by_the_root_and_by_nothing_else_unless_told():
    q, k, v = torch.randn(3, 2, 4, 9, generator=torch.Generator().manual_seed(0))
    expected = (q @ k.mT / 3).softmax(-1) @ v
    torch.testing.assert_close(attention(q, k, v), expected)
    torch.testing.assert_close(attention(q, k, v, temperature=2.0, scaling=False), (q @ k.mT / 2).softmax(-1) @ v)
    shut = torch.tensor([[True] * 4] * 3 + [[False] * 4])
    assert attention(q, k, v, shut)[:, 3].eq(0).all()
    torch.testing.assert_close(attention(q, k, v, shut)[:, :3], expected[:, :3])


def test_the_base_is_10000_unless_told():
    assert frequencies(4).tolist() == pytest.approx([1.0, 0.01])
    assert wave_speeds(4).tolist() == pytest.approx([1.0, 0.01])
    assert sinusoids(3, 4)[2].tolist() == pytest.approx([math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)])
    assert sinusoids(1, 2, 7.0, first=5).tolist() == [[pytest.approx(math.sin(5)), pytest.approx(math.cos(5))]]


@pytest.mark.parametrize("width", [0, 1, 3, -2])
def test_widths_that_are_no_pairs_are_refused(width):
    with pytest.raises(ValueError, match=f"must be even, not {width}"):
        wave_speeds(width)


def test_slopes_for_any_number_of_heads_as_published():
    assert alibi_slopes(8).tolist() == [2.0**-k for k in range(1, 9)]
    assert alibi_slopes(1).tolist() == [2.0**-8]
    assert alibi_slopes(6).tolist() == [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-1, 2.0**-3]


def test_temperatures_are_24_to_a_decade():
    stops = temperatures()
    assert len(stops) == 49
    assert (stops[0], stops[24], stops[48]) == (0.1, 1.0, 10.0)
    assert stops[25] == round(10 ** (1 / 24), 4)
    assert temperatures(1) == [0.1, 1.0, 10.0]


def test_the_entropy_of_certainty_is_none():
    assert entropy(torch.tensor([1.0, 0.0, 0.0])) == 0
    assert entropy(torch.tensor([0.25] * 4)) == 2
    assert softmax(torch.tensor([0.0, math.log(3)])).tolist() == pytest.approx([0.25, 0.75])


def test_a_change_that_is_not_asked_for_is_none():
    assert Change().edits(48) == []
    assert type(Change().trace(48)) is Trace
    assert [name for name, _ in Change(scaling=False, rotation=False, mask=False).edits(4)] == [
        "angles", "pos_embed", "block*.scaled", "block*.allowed",
    ]  # fmt: skip
    assert [name for name, _ in Change(temperature=2.0, muted=((1, 0),), window=2).edits(4)] == [
        "block*.scaled", "block*.allowed", "block1.z",
    ]  # fmt: skip
    assert [name for name, _ in Change(temperature=2.0, head=(3, 1)).edits(4)] == ["block3.scaled"]
    assert [name for name, _ in Change(cut=(2, 0, 1, 0), share=True).edits(4)] == ["block2.masked", "block2.weights"]
    assert [name for name, _ in Change(cut=(2, 0, 1, 0)).edits(4)] == ["block2.weights"]


# ---- texts ----


def test_a_text_that_just_fits_is_not_cut():
    text = "the " * 254 + "the"
    exact = sentence.read(text)
    assert (len(exact.ids), exact.notes, exact.text) == (256, (), text)
    longer = sentence.read(text + " the")
    assert (len(longer.ids), longer.notes) == (256, ("cut",))
    assert tokenizer.clean("x" * 50, 50) == ("x" * 50, ())
    assert tokenizer.as_typed("aaaa", "x", 4) == tokenizer.Typed("aaaa")
    assert len(tokenizer.as_typed("a" * 3000, "x").text) == 2000


def test_signs_for_what_cannot_be_seen():
    shown = {"\n": "↵", "\r": "␍", "\t": "⇥", " ": "␣", "\x7f": "␡", "\x00": "␀", "\x1b": "␛", "\x1f": "␟", "!": "!"}
    for sign, seen in shown.items():
        assert tokenizer.visible(sign.encode()) == seen
    for hidden in ("\ufe00", "\ufe0f", "\u200b", "\u00a0", "\x80"):
        assert tokenizer.visible(hidden.encode()) == f"⟨U+{ord(hidden):04X}⟩"
    for plain in ("\ufdff", "\ufe10", "é", "_"):
        assert tokenizer.visible(b"a" + plain.encode()) == "a" + plain
    assert tokenizer.visible("\u0301".encode()) == "◌\u0301"
    assert tokenizer.visible("a\u0301".encode()) == "a\u0301"


def test_only_the_first_three_ids_are_special():
    found = tokenizer.named([(0, "<unk>"), (2, "</s>"), (3, "<0x00>"), (259, "▁▁")])
    assert [(piece.kind, piece.data) for piece in found] == [
        ("special", b"<unk>"), ("special", b"</s>"), ("plain", b"\0"), ("plain", b"  "),
    ]  # fmt: skip
    assert [(piece.start, piece.end) for piece in found] == [(0, 5), (5, 9), (9, 10), (10, 12)]


def test_sixty_are_found_unless_more_are_asked_for():
    assert len(tokenizer.find("a", "gpt2")[1]) == 60
    assert tokenizer.size("words") == len(tokenizer.word_list()) + 1


# ---- the ledger ----


def names(config):
    return [(row.part, row.name, row.times) for row in parameters(config)]


def test_every_row_has_its_name_its_part_and_its_number_of_copies():
    assert names(SMALL) == [
        ("embedding", "embedding", 1), ("embedding", "positions", 1),
        *((("attention", f"{one}{bias}", 3)) for one in "qkvo" for bias in ("", " bias")), ("attention", "QK-norm", 3),
        *((("ffn", f"{one}{bias}", 3)) for one in ("gate", "up", "down") for bias in ("", " bias")),
        ("norms", "norm", 6), ("norms", "final norm", 1), ("head", "head", 1),
    ]  # fmt: skip
    moe = Moe(n_experts=5, n_active=2, d_expert=4, layers=(1, 2), n_shared=3, router_bias=True)
    latent = replace(SMALL, moe=moe, mla=Mla(6, 4, 2, 2, 3), qkv_bias=False, out_bias=False, ffn_bias=False, tied=True,
                     position="rope", n_segments=2, embed_norm=True, pooler=True, final_norm=False)  # fmt: skip
    assert names(latent) == [
        ("embedding", "embedding", 1), ("embedding", "segments", 1), ("norms", "embedding norm", 1),
        *(("attention", name, 3) for name in ("q down", "q norm", "q up", "kv down", "kv norm", "kv up", "o")),
        ("ffn", "gate", 1), ("ffn", "up", 1), ("ffn", "down", 1), ("router", "router", 2), ("router", "router bias", 2),
        *(("experts", f"expert {name}", 10) for name in ("gate", "up", "down")),
        *(("experts", f"shared expert {name}", 6) for name in ("gate", "up", "down")),
        ("norms", "norm", 6), ("pooler", "pooler", 1),
    ]  # fmt: skip


def test_the_rows_of_2017():
    rows = encoder_decoder(8, 12, 3, 10)
    assert [(row.part, row.name, row.times) for row in rows] == [
        ("embedding", "embedding", 1), ("attention", "self-attention", 6), ("attention", "cross-attention", 3),
        ("ffn", "FFN", 6), ("norms", "norm", 15),
    ]  # fmt: skip


def test_devices_are_as_on_their_data_sheets():
    """GB, GB/s and dense bf16 TFLOPS, from NVIDIA's data sheets of the RTX 4090, A100 SXM, H100 SXM and H200."""
    sheets = {"rtx4090": ("RTX 4090", 24, 1008, 165.2), "a100": ("A100 80 GB", 80, 2039, 312),
              "h100": ("H100 80 GB", 80, 3350, 989), "h200": ("H200 141 GB", 141, 4800, 989)}  # fmt: skip
    found = {id: (d.name, d.memory / 2**30, d.bandwidth / 1e9, d.speed / 1e12) for id, d in costs.DEVICES.items()}
    assert found == sheets


def test_numbers_take_this_many_bytes():
    assert costs.PRECISIONS == {"fp32": 4, "bf16": 2, "fp8": 1, "int4": 0.5}
    assert costs.RECIPES == {"mixed": (2, 2, 4, 4, 4), "fp32": (4, 4, 0, 4, 4), "bf16": (2, 2, 0, 2, 2),
                             "adam8": (2, 2, 4, 1, 1), "sgd": (2, 2, 4, 0, 0)}  # fmt: skip
    assert costs.STATES == ("weights", "gradients", "master", "momentum", "variance", "activations")
    assert costs.STEPS == ("projections", "scores", "softmax", "mixture", "ffn", "head")
    assert tuple(2**k for k in range(9)) == costs.BATCHES


def test_stops_are_four_to_an_octave():
    assert (costs.TEXTS[0], costs.TEXTS[-1], len(costs.TEXTS)) == (64, 2**20, 57)
    assert (costs.AT_ONCE[0], costs.AT_ONCE[-1], len(costs.AT_ONCE)) == (128, 2**18, 45)
    assert costs.TEXTS[1] == round(64 * 2**0.25)
    stops = costs.lengths(costs.Talk(replace(SMALL, n_kv_heads=1)))
    assert stops[0] == 128 or costs.Talk(replace(SMALL, n_kv_heads=1)).even() < 128
    assert {128, 256, 2**20} <= set(stops) <= set(range(2**21))
    half = costs.widths(SMALL)
    assert (half[0], half[-1]) == (6, 18)
    assert 14 in half, "7/6 of its own width"


def test_what_a_talk_and_a_training_are_unless_told():
    talk = costs.Talk(SMALL)
    assert (talk.readers, talk.weights_in, talk.cache_in) == (1, "bf16", "bf16")
    assert not costs.Work(SMALL).masked
    training = costs.Training(SMALL)
    assert (training.recipe, training.checkpointing, training.flash, training.context) == ("mixed", False, True, 4096)
    assert costs.days(86400 * 4e14, 1, replace(costs.DEVICES["h100"], speed=1e15)) == pytest.approx(1.0)


def test_a_window_as_long_as_break_even_still_breaks_even():
    talk = costs.Talk(SMALL)
    even = talk.even()
    assert costs.Talk(replace(SMALL, window=even)).even() == even
    assert costs.Talk(replace(SMALL, window=even - 1)).even() is None


# ---- configs and checkpoints ----


def test_a_token_goes_to_no_more_experts_than_there_are():
    assert Moe(n_experts=2, n_active=8, d_expert=4, layers=(0,)).n_active == 2
    assert Moe(n_experts=8, n_active=2, d_expert=4, layers=(0,)).n_active == 2


@pytest.mark.parametrize("name", ["a.bin", "a.pt", "a.pth", "a.ckpt", "a.pkl", "a.pickle"])
def test_a_folder_of_pickles_is_refused_by_name(name, tmp_path):
    config = {"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
              "intermediate_size": 8, "vocab_size": 4}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors is missing"):
        load(tmp_path)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValueError, match=f"{name} is a pickle file"):
        load(tmp_path)


def test_a_config_written_by_hand_has_these_parts_unless_told():
    bare = ModelConfig(d_model=12, n_layers=1, n_heads=3, d_ff=5, vocab_size=7, context=9)
    assert asdict(bare) == dict(
        d_model=12, n_layers=1, n_heads=3, d_ff=5, vocab_size=7, context=9, n_kv_heads=3, head_dim=4, norm="rmsnorm",
        norm_eps=1e-6, position="rope", rope_theta=10_000.0, ffn="swiglu", qkv_bias=False, out_bias=False,
        ffn_bias=False, qk_norm=False, tied=False, window=None, moe=None, mla=None, n_segments=0, embed_norm=False,
        pooler=False, final_norm=True, family="llama",
    )  # fmt: skip
    assert replace(bare, n_heads=6, n_kv_heads=2, head_dim=2).group == 3
    assert not Moe(2, 1, 4, (0,)).router_bias
    assert Moe(2, 1, 4, (0,)).n_shared == 0


def test_sizes_end_where_they_are_said_to_end():
    llama = dict(model_type="llama", num_attention_heads=1, vocab_size=1)
    for key, most in {"hidden_size": 10**9, "num_hidden_layers": 10_000, "vocab_size": 10**9}.items():
        assert ModelConfig.from_hf(llama | {key: most})
        for beyond in (most + 1, 0, -1, 1.5, True):
            with pytest.raises(ValueError, match=f"{key} is {beyond}, but must be a whole number from 1 to {most:,}"):
                ModelConfig.from_hf(llama | {key: beyond})
    assert ModelConfig.from_hf(llama | {"hidden_size": 1e1, "head_dim": 2}).d_model == 10
    for eps in (0, -1.0, math.inf, math.nan, 10**400, True, "1"):
        with pytest.raises(ValueError, match=r"rms_norm_eps is .* but must be a positive number"):
            ModelConfig.from_hf(llama | {"rms_norm_eps": eps})
    assert ModelConfig.from_hf(llama | {"rms_norm_eps": 1}).norm_eps == 1.0


def test_what_is_quoted_from_a_config_is_kept_short():
    def said(value):
        with pytest.raises(ValueError, match="is not supported") as caught:
            ModelConfig.from_hf({"model_type": value})
        return str(caught.value).split(" is not")[0].removeprefix("model_type ")

    assert said("x" * 78) == repr("x" * 78)
    assert said("x" * 79) == "'" + "x" * 79 + "…"
    assert said({"a": 1, "b": 2}) == "an object of 2"
    assert said([1]) == "a list of 1"
    assert said(10**79) == str(10**79)
    assert said(-(10**80)) == said(10**80) == "a number of more than 80 digits"


def test_windows_that_are_not_written_are_4096():
    sizes = dict(hidden_size=8, num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=4096)
    assert ModelConfig.from_hf(sizes | {"model_type": "mistral"}).window == 4096
    assert ModelConfig.from_hf(sizes | {"model_type": "qwen2"}).window is None
    assert ModelConfig.from_hf(sizes | {"model_type": "qwen2", "use_sliding_window": True}).window == 4096


@pytest.mark.parametrize("name", ["gpt2", "mistral, window"])
def test_a_text_may_be_as_long_as_the_table_or_the_window(pair, name):
    model = pair(name).ours
    assert model(torch.arange(64) % 61).shape == (64, 61)
    with pytest.raises(ValueError, match="65 tokens do not fit: this model reaches 64"):
        model(torch.zeros(65, dtype=torch.long))
    assert model(torch.tensor([0, 60])).shape == (2, 61)
    for beyond in (-1, 61):
        with pytest.raises(ValueError, match="ids must lie in 0 to 60"):
            model(torch.tensor([beyond]))


def test_stored_masks_belong_to_layers_that_are_there(pair, tmp_path):
    theirs = pair("gpt2").folder
    tensors = load_file(theirs / "model.safetensors")
    (tmp_path / "config.json").write_text((theirs / "config.json").read_text())
    mask = torch.ones(1, 1, 4, 4)
    save_file(tensors | {"h.2.attn.bias": mask, "h.0.attn.masked_bias": mask.clone()}, tmp_path / "model.safetensors")
    assert load(tmp_path).config.n_layers == 3
    save_file(tensors | {"h.3.attn.bias": mask}, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"tensor h\.3\.attn\.bias is surplus"):
        load(tmp_path)


def test_ways_to_share_keys_have_these_names():
    assert list(costs.variants(SMALL)) == ["mha", "mqa", "mla"]
    assert list(costs.variants(replace(SMALL, n_heads=4, n_kv_heads=2, head_dim=2))) == ["mha", "gqa", "mqa", "mla"]
    assert [costs.kind(replace(SMALL, n_heads=4, n_kv_heads=n, head_dim=2)) for n in (4, 2, 1)] == ["mha", "gqa", "mqa"]


@pytest.mark.parametrize("beyond", [-3, -1, 0, 1, 2, 50])
def test_pairs_cost_as_much_as_matrices_where_the_curves_are_said_to_cross(beyond):
    plain = costs.Work(SMALL, masked=True)
    even = (costs.crossover(plain) + 1) / 2  # pairs a token
    work = costs.Work(replace(SMALL, window=math.ceil(2 * even - 1) + beyond), masked=True)
    n = costs.crossover(work)
    assert float(work.pairs(torch.tensor(n, dtype=torch.float64))) == pytest.approx(even * n)
    assert costs.crossover(costs.Work(replace(SMALL, window=max(1, int(even))), masked=True)) is None
