"""Tiny random models of every family, made by Hugging Face transformers: the independent reference."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    MixtralConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen3Config,
    Qwen3MoeConfig,
)

from core.checkpoint import load
from core.model import Decoder

SMALL = dict(
    vocab_size=61,
    hidden_size=24,
    intermediate_size=40,
    num_hidden_layers=3,
    num_attention_heads=4,
    max_position_embeddings=64,
)
CONFIGS = {
    "gpt2": GPT2Config(vocab_size=61, n_positions=64, n_embd=24, n_layer=3, n_head=4),
    "gpt2, untied, n_inner": GPT2Config(
        vocab_size=61, n_positions=64, n_embd=24, n_layer=2, n_head=3, n_inner=50, tie_word_embeddings=False
    ),
    "llama": LlamaConfig(**SMALL, num_key_value_heads=4),
    "llama, GQA, biases, base": LlamaConfig(
        **SMALL,
        num_key_value_heads=2,
        attention_bias=True,
        mlp_bias=True,
        rope_parameters={"rope_theta": 500_000.0, "rope_type": "default"},
    ),
    "llama, MQA, tied, wide heads": LlamaConfig(**SMALL, num_key_value_heads=1, tie_word_embeddings=True, head_dim=10),
    "mistral": MistralConfig(**SMALL, num_key_value_heads=2, sliding_window=None),
    "mistral, window": MistralConfig(**SMALL, num_key_value_heads=2, sliding_window=64),
    "qwen2": Qwen2Config(**SMALL, num_key_value_heads=2),
    "qwen3": Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=16),
    "qwen3, biases, tied": Qwen3Config(
        **SMALL, num_key_value_heads=4, head_dim=8, attention_bias=True, tie_word_embeddings=True
    ),
    "mixtral": MixtralConfig(**SMALL, num_key_value_heads=2, num_local_experts=4),
    "qwen3_moe": Qwen3MoeConfig(
        **SMALL,
        num_key_value_heads=2,
        head_dim=8,
        num_experts=6,
        num_experts_per_tok=3,
        moe_intermediate_size=16,
        mlp_only_layers=[1],
    ),
    "qwen3_moe, shares of one, every second": Qwen3MoeConfig(
        **SMALL,
        num_key_value_heads=4,
        head_dim=6,
        num_experts=5,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        decoder_sparse_step=2,
        norm_topk_prob=True,
        tie_word_embeddings=True,
    ),
    "one layer, one head": LlamaConfig(
        **SMALL | dict(num_hidden_layers=1, num_attention_heads=1), num_key_value_heads=1, tie_word_embeddings=True
    ),
}


def make(name: str, seed: int = 0) -> PreTrainedModel:
    """Norms and biases are moved away from 1 and 0, so that ignoring one of them shows."""
    config = copy.deepcopy(CONFIGS[name])
    config._attn_implementation = "eager"
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config).float().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            around = 1.0 if parameter.ndim == 1 and float(parameter.std()) == 0 and float(parameter[0]) == 1 else 0.0
            parameter.copy_(around + torch.randn_like(parameter) * 0.3)
    return model


def save(model: PreTrainedModel, folder: Path, **options: object) -> Path:
    model.save_pretrained(folder, safe_serialization=True, **options)
    return folder


@dataclass(frozen=True)
class Pair:
    """One set of weights, three times: in transformers, in a folder with a tokenizer, and in core. Only read."""

    name: str
    theirs: PreTrainedModel
    folder: Path
    ours: Decoder


@cache
def _shelf() -> TemporaryDirectory[str]:
    """Kept until the process ends."""
    return TemporaryDirectory(prefix="families")


@cache
def pair(name: str) -> Pair:
    """Built once a session, whoever asks: every test that only reads a model reads the same one."""
    with torch.inference_mode(False):  # ordinary tensors, also for a test that takes no gradients but asks first
        theirs = make(name)
        folder = save(theirs, Path(_shelf().name) / str(list(CONFIGS).index(name)))
        tokenizer().save(str(folder / "tokenizer.json"))
        return Pair(name, theirs, folder, load(folder))


STORY = (
    "the cat and the dog sat on the mat. then the dog saw a red ball and ran to the cat! one day they left the park."
)


@cache
def tokenizer() -> Tokenizer:
    """61 pieces, so that every id is a row of every table above; `<s>` in front, as Llama's has it."""
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<unk>", "<s>", "</s>"]
    made.train_from_iterator([STORY], trainers.BpeTrainer(vocab_size=61, special_tokens=special, show_progress=False))
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return made
