"""load(folder): a Hugging Face style checkpoint, `config.json` + safetensors, into core's own model.

Nothing in the folder is ever executed: configs are JSON, weights are safetensors. Pickle files are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from core.config import ModelConfig
from core.model import Decoder

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle")
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)

# Core's name -> the checkpoint's name, or that name and the columns to cut from it.
LLAMA_BLOCK = {
    "norm1": "input_layernorm",
    "attn.q": "self_attn.q_proj",
    "attn.k": "self_attn.k_proj",
    "attn.v": "self_attn.v_proj",
    "attn.o": "self_attn.o_proj",
    "attn.q_norm": "self_attn.q_norm",
    "attn.k_norm": "self_attn.k_norm",
    "norm2": "post_attention_layernorm",
    "ffn.gate": "mlp.gate_proj",
    "ffn.up": "mlp.up_proj",
    "ffn.down": "mlp.down_proj",
}
GPT2_BLOCK = {
    "norm1": "ln_1",
    "attn.q": "attn.c_attn",
    "attn.k": "attn.c_attn",
    "attn.v": "attn.c_attn",
    "attn.o": "attn.c_proj",
    "norm2": "ln_2",
    "ffn.up": "mlp.c_fc",
    "ffn.down": "mlp.c_proj",
}
# Experts: Mixtral has names of its own, Qwen3 those of its dense networks.
EXPERT = re.compile(r"ffn\.experts\.(\d+)\.(gate|up|down)")
MIXTRAL = {"gate": "w1", "up": "w3", "down": "w2"}
QKV = ("attn.q", "attn.k", "attn.v")
# Tensors that carry no weights: GPT-2's stored masks, RoPE's stored frequencies.
EXTRA = re.compile(
    r"h\.(\d+)\.attn\.(?:masked_)?bias|layers\.(\d+)\.self_attn\.rotary_emb\.inv_freq|rotary_emb\.inv_freq"
)


def load(folder: str | Path) -> Decoder:
    """Build the model that `config.json` describes and fill it from `model.safetensors`, one file or shards.

    Weights of any float type become float32. Raises FileNotFoundError for a missing file, and ValueError, naming the
    tensor, for one that is missing, misshapen, surplus or not a float; for a config that core cannot compute; and for
    a folder that has only pickle files. Tensors that carry no weights are ignored (attn.bias, rotary_emb.inv_freq).
    """
    folder = Path(folder)
    model = empty(read_config(folder))
    stored = _Stored(_files(folder))
    with torch.no_grad():
        filled = {name: _fill(model.config, name, slot, stored) for name, slot in model.state_dict().items()}
    _refuse_surplus(model.config, stored, filled["embed.weight"])
    model.load_state_dict(filled, assign=True)
    return model.requires_grad_(False).eval()


def read_config(folder: Path) -> ModelConfig:
    path = Path(folder) / "config.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: a checkpoint is a folder with config.json and model.safetensors")
    return ModelConfig.from_hf(_json(path))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf8"))
    except (ValueError, RecursionError) as error:  # also a number too long for Python, and nesting without end
        raise ValueError(f"{path} is not JSON: {error}") from error


def empty(config: ModelConfig) -> Decoder:
    """The model without numbers, on the meta device: every shape, no memory."""
    try:
        with torch.device("meta"):
            return Decoder(config)
    except RuntimeError as error:  # a size beyond what can be counted
        raise ValueError(f"no model can have these sizes: {error}") from error


class _Stored:
    """Every tensor in the files, under its name without `transformer.` or `model.`."""

    def __init__(self, files: list[Path]) -> None:
        self.where: dict[str, tuple[Path, str]] = {}
        self.used: set[str] = set()
        for path in files:
            with _open(path) as file:
                for full in file.keys():  # noqa: SIM118  # not a dict
                    name = full.removeprefix("transformer.").removeprefix("model.")
                    if name in self.where:
                        raise ValueError(f"tensor {full} is stored twice")
                    self.where[name] = (path, full)

    def read(self, name: str) -> Tensor:
        path, full = self.where[name]
        self.used.add(name)
        with _open(path) as file:
            tensor: Tensor = file.get_tensor(full)
        if tensor.dtype not in FLOATS:
            kinds = ", ".join(str(kind).removeprefix("torch.") for kind in FLOATS)
            raise ValueError(f"tensor {full} is {str(tensor.dtype).removeprefix('torch.')}; supported: {kinds}")
        return tensor.float()


def _open(path: Path) -> Any:
    try:
        return safe_open(path, framework="pt")
    except SafetensorError as error:
        raise ValueError(f"{path} is not a safetensors file: {error}") from error


def _files(folder: Path) -> list[Path]:
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if single.is_file():
        return [single]
    if index.is_file():
        return list(_shards(folder, index))
    if pickles := sorted(p.name for pattern in PICKLES for p in folder.glob(pattern)):
        raise ValueError(
            f"{pickles[0]} is a pickle file, and opening a pickle can run any program hidden in it: "
            "convert it to model.safetensors first"
        )
    raise FileNotFoundError(f"{single} is missing")


def _shards(folder: Path, index: Path) -> Iterator[Path]:
    try:
        names = sorted(set(_json(index)["weight_map"].values()))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{index} has no weight_map from tensors to files") from error
    for name in names:
        named = isinstance(name, str) and Path(name).name == name and name.endswith(".safetensors") and len(name) < 256
        if not named:
            raise ValueError(f"{index} names {name!r}, which is not a safetensors file of this folder")
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder / name} is missing, but {index.name} names it")
        yield folder / name


def _source(config: ModelConfig, name: str) -> tuple[str, Callable[[Tensor], Tensor]]:
    """Where the checkpoint keeps core's tensor `name`, and what has to be done to it."""
    gpt2 = config.family == "gpt2"
    if not name.startswith("blocks."):
        own = {"embed": "wte", "pos_embed": "wpe", "norm": "ln_f"} if gpt2 else {"embed": "embed_tokens"}
        part, kind = name.rsplit(".", 1)
        return f"{(own | {'head': 'lm_head'}).get(part, part)}.{kind}", _same
    _, layer, rest = name.split(".", 2)
    part, kind = rest.rsplit(".", 1)
    if not gpt2:
        return f"layers.{layer}.{_llama_part(config, part)}.{kind}", _same
    return f"h.{layer}.{GPT2_BLOCK[part]}.{kind}", _gpt2_layout(config, part, kind)


def _llama_part(config: ModelConfig, part: str) -> str:
    mixture, names = ("block_sparse_moe", MIXTRAL) if config.family == "mixtral" else ("mlp", {})
    if part == "ffn.router":
        return f"{mixture}.gate"
    if expert := EXPERT.fullmatch(part):
        return f"{mixture}.experts.{expert[1]}.{names.get(expert[2], f'{expert[2]}_proj')}"
    return LLAMA_BLOCK[part]


def _same(tensor: Tensor) -> Tensor:
    return tensor


def _gpt2_layout(config: ModelConfig, part: str, kind: str) -> Callable[[Tensor], Tensor]:
    """GPT-2 stores its maps as (in, out), and W_Q, W_K, W_V in one."""

    def convert(tensor: Tensor) -> Tensor:
        if part in QKV:
            if tensor.shape[-1] != 3 * config.d_model:
                raise ValueError(f"has shape {tuple(tensor.shape)}, expected {3 * config.d_model} columns")
            tensor = tensor.chunk(3, dim=-1)[QKV.index(part)]
        turned = kind == "weight" and not part.startswith("norm")
        return tensor.T.contiguous() if turned and tensor.ndim == 2 else tensor.contiguous()

    return convert


def _fill(config: ModelConfig, name: str, slot: Tensor, stored: _Stored) -> Tensor:
    source, convert = _source(config, name)
    if source not in stored.where:
        raise ValueError(f"tensor {source} is missing from the checkpoint")
    try:
        tensor = convert(stored.read(source))
    except ValueError as error:
        raise ValueError(f"tensor {source} {error}" if str(error).startswith("has shape") else str(error)) from error
    if tensor.shape != slot.shape:
        raise ValueError(f"tensor {source} gives {tuple(tensor.shape)} for {name}, expected {tuple(slot.shape)}")
    return tensor


def _refuse_surplus(config: ModelConfig, stored: _Stored, table: Tensor) -> None:
    for name in sorted(stored.where.keys() - stored.used):
        extra = EXTRA.fullmatch(name)
        if extra and int(extra[1] or extra[2] or 0) < config.n_layers:
            continue
        if name == "lm_head.weight" and config.tied:
            head = stored.read(name)
            if head.shape == table.shape and torch.equal(head, table):
                continue
            raise ValueError("tensor lm_head.weight differs from the embedding table, but the config ties the two")
        raise ValueError(f"tensor {stored.where[name][1]} is surplus: this config has no place for it")
