"""Tiny random models of every family, made by Hugging Face transformers: the independent reference."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen3Config,
)

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
    "qwen2": Qwen2Config(**SMALL, num_key_value_heads=2),
    "qwen3": Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=16),
    "qwen3, biases, tied": Qwen3Config(
        **SMALL, num_key_value_heads=4, head_dim=8, attention_bias=True, tie_word_embeddings=True
    ),
}


def make(name: str, seed: int = 0) -> PreTrainedModel:
    """Norms and biases are moved away from 1 and 0, so that ignoring one of them shows."""
    config = CONFIGS[name]
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
