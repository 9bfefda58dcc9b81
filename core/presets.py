"""Real models by name, and any other by its config.json: read from text that nobody has checked.

Each preset is a file in assets/data/presets: the values of the published `config.json`, its address, the exact total.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from core.assets import ASSETS
from core.config import FAMILIES, MOST_LAYERS, ModelConfig

FOLDER = ASSETS / "data" / "presets"
IDS = (
    "qwen3-8b",
    "qwen3-0.6b",
    "qwen2.5-7b",
    "llama-3-8b",
    "llama-2-7b",
    "llama-2-70b",
    "mistral-7b",
    "mixtral-8x7b",
    "qwen3-30b-a3b",
    "deepseek-v3",
    "gpt1",
    "gpt2",
    "gpt2-xl",
    "gpt3-175b",
    "bert-base",
)
SUPPORTED = tuple(FAMILIES)
LONGEST = 200_000  # characters; the longest real config.json is far below
DEEPEST = 40  # brackets inside brackets
COUNTED = (  # the keys that decide a cost; everything else is left out of the compact form
    "hidden_size", "n_embd", "num_hidden_layers", "n_layer", "num_attention_heads", "n_head", "num_key_value_heads",
    "head_dim", "intermediate_size", "n_inner", "vocab_size", "max_position_embeddings", "n_positions",
    "type_vocab_size", "tie_word_embeddings", "attention_bias", "mlp_bias", "sliding_window", "num_experts",
    "num_local_experts", "num_experts_per_tok", "moe_intermediate_size", "decoder_sparse_step", "mlp_only_layers",
    "n_routed_experts", "n_shared_experts", "first_k_dense_replace", "q_lora_rank", "kv_lora_rank",
    "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
)  # fmt: skip


@dataclass(frozen=True)
class Preset:
    """printed: the size as people write it; published: the exact number of parameters."""

    id: str
    name: str
    source: str
    printed: str
    published: int
    config: ModelConfig


@cache
def presets() -> dict[str, Preset]:
    """All presets in the order of the list."""
    return {id: _load(id) for id in IDS}


def _load(id: str) -> Preset:
    held = json.loads((FOLDER / f"{id}.json").read_text("utf8"))
    return Preset(id, held["name"], held["source"], held["printed"], held["published"], _config(held["config"]))


def raw(id: str) -> dict[str, Any]:
    """The preset's config.json values."""
    values: dict[str, Any] = json.loads((FOLDER / f"{id}.json").read_text("utf8"))["config"]
    return values


def _config(values: Mapping[str, Any]) -> ModelConfig:
    if values["model_type"] == "openai-gpt":  # GPT-1 is GPT-2 without its last norm, and with the norms after the parts
        return replace(ModelConfig.from_hf({**values, "model_type": "gpt2"}, forward=False), final_norm=False)
    return ModelConfig.from_hf(values, forward=False)


# ---- a config.json from outside ----


class Unreadable(ValueError):
    """Why a text is no usable config. reason: long, json, deep, object, nameless, family or value; detail: what it is about."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


def parse(text: str | bytes) -> dict[str, Any]:
    """The JSON object in a text. Raises Unreadable; never anything else, whatever the text is."""
    if len(text) > LONGEST:
        raise Unreadable("long", f"{len(text):,}")
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise Unreadable("json") from None
    if _depth(decoded) > DEEPEST:
        raise Unreadable("deep")
    try:
        values = json.loads(decoded)
    except ValueError:  # not JSON, or a number of more than 4,300 digits
        raise Unreadable("json") from None
    if not isinstance(values, dict):
        raise Unreadable("object")
    return values


def _depth(text: str) -> int:
    """The deepest nesting of brackets; brackets inside strings count too, which real configs do not have many of."""
    deepest = depth = 0
    for sign in text:
        if sign in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "]}":
            depth -= 1
    return deepest


def read(values: Mapping[str, Any]) -> ModelConfig:
    """A ModelConfig to be counted. Raises Unreadable: an unknown family, or a value that cannot be."""
    family = values.get("model_type")
    if not isinstance(family, str):
        raise Unreadable("nameless")
    if family not in FAMILIES:
        raise Unreadable("family", family[:40])
    try:
        return ModelConfig.from_hf(values, forward=False)
    except ValueError as error:
        raise Unreadable("value", str(error)) from None


# ---- small enough for a link ----


class _Watched(dict[str, Any]):
    """A config that remembers which of its keys were asked for."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.asked: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)


def compact(values: Mapping[str, Any]) -> str:
    """The keys that cost something in this family, in one word of letters, digits and ~ . _ -; raises as `read` does."""
    watched = _Watched(values)
    config = read(watched)
    asked = watched.asked if config.family == "mistral" else watched.asked - {"sliding_window"}  # elsewhere never used
    spelled = {key: _spell(values[key]) for key in COUNTED if key in values and key in asked}
    return "~".join([config.family, *(f"{key}.{text}" for key, text in spelled.items() if text)])


def _spell(value: Any) -> str:
    """Empty for what says nothing: an empty list, or a value of a kind that no counted key has."""
    if isinstance(value, list):
        layers = [i for i in value if type(i) is int and 0 <= i < MOST_LAYERS]
        return "l" + "-".join(map(str, layers)) if layers else ""
    if isinstance(value, float):
        value = int(value) if value == value // 1 else ""
    return json.dumps(value) if value is None or isinstance(value, int) else ""


def restore(text: str) -> dict[str, Any] | None:
    """What `compact` wrote, as far as the text is that; None for anything else."""
    family, *pairs = text.split("~")
    values: dict[str, Any] = {"model_type": family}
    for pair in pairs:
        key, _, spelled = pair.partition(".")
        value = _understood(spelled)
        if key not in COUNTED or value is _NOTHING:
            return None
        values[key] = value
    try:
        read(values)
    except Unreadable:
        return None
    return values


_NOTHING = object()
_WORDS = {"true": True, "false": False, "null": None}


def _understood(spelled: str) -> Any:
    if spelled in _WORDS:
        return _WORDS[spelled]
    if spelled[:1] == "l":
        found = [_whole(part) for part in spelled[1:].split("-")]
        return found if None not in found else _NOTHING
    number = _whole(spelled)
    return _NOTHING if number is None else number


def _whole(digits: str) -> int | None:
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 12 else None
