"""What load(folder) accepts, and what it refuses by name."""

import json
import pickle
import re

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.checkpoint import load
from tests.core import families

IDS = torch.tensor([3, 17, 3, 0, 60])


@pytest.fixture
def saved(tmp_path):
    """A folder as transformers writes it, and its logits."""

    def make(name, **options):
        theirs = families.make(name)
        with torch.no_grad():
            return families.save(theirs, tmp_path / "model", **options), theirs(IDS[None]).logits[0]

    return make


def rewrite(folder, change):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors = change(tensors) or tensors
    path.unlink()
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


def edit_config(folder, **values):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize("name", ["gpt2", "qwen3", "llama, MQA, tied, wide heads"])
@pytest.mark.parametrize("prefix", ["", "model.", "transformer."])
def test_prefixes_may_be_absent_or_there(saved, name, prefix):
    folder, expected = saved(name)

    def rename(tensors):
        bare = {re.sub(r"^(model|transformer)\.", "", n): t for n, t in tensors.items()}
        return {n if n.startswith("lm_head") else prefix + n: t for n, t in bare.items()}

    rewrite(folder, rename)
    torch.testing.assert_close(load(folder)(IDS), expected, rtol=1e-4, atol=1e-4)


def test_shards_are_read_through_their_index(saved):
    folder, expected = saved("llama, GQA, biases, base", max_shard_size="20KB")
    assert len(list(folder.glob("*.safetensors"))) > 2
    torch.testing.assert_close(load(folder)(IDS), expected, rtol=1e-4, atol=1e-4)
    shard = next(folder.glob("*.safetensors"))
    shard.unlink()
    with pytest.raises(FileNotFoundError, match=shard.name):
        load(folder)


@pytest.mark.parametrize("name", ["../evil.safetensors", "/etc/passwd", "weights.bin", 7, "x" * 300 + ".safetensors"])
def test_an_index_may_only_name_files_beside_it(saved, name):
    folder, _ = saved("llama")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"norm.weight": name}}))
    with pytest.raises(ValueError, match="not a safetensors file of this folder"):
        load(folder)


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_known_extras_are_ignored(saved, name):
    folder, expected = saved(name)
    extra = {"h.0.attn.bias": torch.ones(1, 1, 4, 4), "h.0.attn.masked_bias": torch.tensor(-1e4)}
    extra |= {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(3)}
    rewrite(folder, lambda tensors: tensors | extra)
    torch.testing.assert_close(load(folder)(IDS), expected, rtol=1e-4, atol=1e-4)


def test_a_tied_head_may_be_stored_if_it_equals_the_table(saved):
    folder, expected = saved("gpt2")
    rewrite(folder, lambda tensors: tensors | {"lm_head.weight": tensors["transformer.wte.weight"].clone()})
    torch.testing.assert_close(load(folder)(IDS), expected, rtol=1e-4, atol=1e-4)
    rewrite(folder, lambda tensors: tensors | {"lm_head.weight": tensors["transformer.wte.weight"] + 1})
    with pytest.raises(ValueError, match=r"lm_head\.weight differs"):
        load(folder)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_every_float_becomes_float32(saved, dtype):
    folder, _ = saved("qwen2")
    rewrite(folder, lambda tensors: {n: t.to(dtype) for n, t in tensors.items()})
    model = load(folder)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert not any(p.requires_grad for p in model.parameters())


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("llama", lambda t: {n: x for n, x in t.items() if "1.mlp.up" not in n}, r"layers\.1\.mlp\.up_proj\.weight is"),
        ("llama", lambda t: {n: x for n, x in t.items() if "lm_head" not in n}, r"lm_head\.weight is missing"),
        ("llama", lambda t: t | {"model.norm.weight": torch.ones(23)}, r"norm\.weight gives \(23,\)"),
        ("gpt2", lambda t: t | {"transformer.h.2.attn.c_attn.bias": torch.ones(71)}, r"c_attn\.bias has shape \(71,\)"),
        ("gpt2", lambda t: t | {"transformer.h.0.mlp.c_fc.weight": torch.ones(96, 24)}, r"c_fc\.weight gives"),
        ("llama", lambda t: t | {"model.layers.0.self_attn.q_proj.bias": torch.ones(24)}, r"q_proj\.bias is surplus"),
        ("llama", lambda t: t | {"model.layers.3.mlp.up_proj.weight": torch.ones(40, 24)}, r"layers\.3\..* is surplus"),
        ("gpt2", lambda t: t | {"transformer.h.3.attn.c_attn.bias": torch.ones(72)}, r"h\.3\..* is surplus"),
        ("gpt2", lambda t: t | {"h.99.attn.bias": torch.ones(1, 1, 4, 4)}, r"h\.99\.attn\.bias is surplus"),
        ("llama", lambda t: t | {"foo.attn.bias": torch.ones(4)}, r"foo\.attn\.bias is surplus"),
        ("llama", lambda t: t | {"norm.weight": torch.ones(24)}, r"norm\.weight is stored twice"),
        ("llama", lambda t: t | {"model.norm.weight": torch.ones(24).to(torch.int8)}, r"norm\.weight is int8"),
    ],
)
def test_tensors_that_do_not_fit_are_named(saved, name, change, complaint):
    folder, _ = saved(name)
    rewrite(folder, change)
    with pytest.raises(ValueError, match=complaint):
        load(folder)


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("[" * 200_000, "config.json is not JSON"),
        ('{"model_type": "llama", "hidden_size": ' + "9" * 5000 + "}", "config.json is not JSON"),
        (
            '{"model_type": "llama", "hidden_size": 1000000000, "num_attention_heads": 1000000000, "head_dim": 128}',
            "these sizes|missing",
        ),
    ],
)
def test_a_hostile_config_is_refused_in_words(saved, written, complaint):
    folder, _ = saved("llama")
    (folder / "config.json").write_text(written)
    with pytest.raises(ValueError, match=complaint):
        load(folder)


class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemExit('a pickle was opened')",))


def test_pickles_are_refused_unopened(saved):
    folder, _ = saved("llama")
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match=r"pytorch_model\.bin is a pickle file.*can run any program"):
        load(folder)
    (folder / "pytorch_model.bin").rename(folder / "model.safetensors")
    with pytest.raises(ValueError, match="not a safetensors file"):
        load(folder)


def test_what_is_not_there_is_named(tmp_path, saved):
    with pytest.raises(FileNotFoundError, match=r"config\.json is missing"):
        load(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ValueError, match=r"config\.json is not JSON"):
        load(tmp_path)
    folder, _ = saved("llama")
    (folder / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors is missing"):
        load(folder)


def test_code_beside_the_weights_is_not_run(saved):
    folder, _ = saved("llama")
    edit_config(folder, auto_map={"AutoModelForCausalLM": "evil.Model"})
    (folder / "evil.py").write_text("raise SystemExit('code was run')")
    load(folder)


def test_what_is_supported_is_told_by_plain_names(saved):
    folder, _ = saved("llama")
    rewrite(folder, lambda tensors: tensors | {"model.norm.weight": torch.ones(24).to(torch.int8)})
    with pytest.raises(ValueError, match=r"is int8; supported: [a-z0-9]+(, [a-z0-9]+)*$") as told:
        load(folder)
    named = set(str(told.value).split("supported: ")[1].split(", "))
    assert named == {"float16", "bfloat16", "float32", "float64"}


@pytest.mark.parametrize(("long", "error"), [(255, FileNotFoundError), (256, ValueError)])
def test_a_shard_s_name_is_one_that_a_file_can_have(saved, long, error):
    folder, _ = saved("llama")
    (folder / "model.safetensors").unlink()
    name = "a" * (long - len(".safetensors")) + ".safetensors"
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"x": name}}))
    with pytest.raises(error, match="missing" if error is FileNotFoundError else "not a safetensors file"):
        load(folder)


@pytest.mark.parametrize("written", ['{"weight_map": 3}', "[]", "{}"])
def test_an_index_without_a_map_is_refused(saved, written):
    folder, _ = saved("llama")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(written)
    with pytest.raises(ValueError, match="no weight_map"):
        load(folder)


@pytest.mark.parametrize("name", ["mixtral", "qwen3_moe"])
def test_experts_are_found_under_their_family_s_names(saved, name):
    folder, expected = saved(name)
    torch.testing.assert_close(load(folder)(IDS), expected, rtol=1e-3, atol=1e-3)
    rewrite(folder, lambda tensors: {n: t for n, t in tensors.items() if not n.endswith("gate.weight")})
    part = {"mixtral": "block_sparse_moe", "qwen3_moe": "mlp"}[name]
    with pytest.raises(ValueError, match=rf"layers\.\d\.{part}\.gate\.weight is missing"):
        load(folder)
