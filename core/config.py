"""ModelConfig: everything that decides the shape of a model, read from a Hugging Face `config.json` or written by hand.

The reader follows the `configuration_*.py` modules of Hugging Face transformers: key names, and the default of a key
that is absent. What it cannot represent it refuses by name, so that a wrong number never looks like a right one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Norm = Literal["layernorm", "rmsnorm"]
Position = Literal["learned", "rope"]
Ffn = Literal["gelu_tanh", "gelu", "swiglu"]

RUNS = (
    "gpt2",
    "llama",
    "mistral",
    "qwen2",
    "qwen3",
    "mixtral",
    "qwen3_moe",
)  # core.model computes these; the others are only counted
LARGEST = 10**9  # no size in a real model comes near; keeps every product of sizes far from trouble
MOST_LAYERS = 10_000
SLIDING = 4096  # the window of Mistral and Qwen where the key is absent


@dataclass(frozen=True)
class Moe:
    """Mixture of experts: which layers have it, and how wide its experts are."""

    n_experts: int
    n_active: int  # experts a token is sent to
    d_expert: int
    layers: tuple[int, ...]  # the other layers keep a dense feed-forward network of width d_ff
    n_shared: int = 0  # experts of the same width that every token passes through
    router_bias: bool = False  # moves the choice of experts, not their gates
    renormalise: bool = True  # the gates of the chosen experts are made to add up to one

    def __post_init__(self) -> None:  # a config cut to a few experts may keep its family's larger number
        object.__setattr__(self, "n_active", min(self.n_active, self.n_experts))


@dataclass(frozen=True)
class Mla:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): the ranks and the three head widths."""

    q_rank: int | None
    kv_rank: int
    d_nope: int
    d_rope: int
    d_v: int


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and parts of a Transformer. Widths in numbers, `context` in tokens.

    `head_dim` is a field of its own: d_model / n_heads is only its usual value (Qwen3-0.6B: 1024 / 16 = 64, but 128).
    Raises ValueError where the parts do not fit together.
    """

    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int
    vocab_size: int
    context: int
    n_kv_heads: int = 0  # 0: as many as query heads
    head_dim: int = 0  # 0: d_model / n_heads
    norm: Norm = "rmsnorm"
    norm_eps: float = 1e-6
    position: Position = "rope"
    rope_theta: float = 10_000.0
    ffn: Ffn = "swiglu"
    qkv_bias: bool = False
    out_bias: bool = False
    ffn_bias: bool = False
    qk_norm: bool = False
    tied: bool = False
    window: int | None = None  # attention reaches this many tokens back, itself included; None: all
    moe: Moe | None = None
    mla: Mla | None = None
    n_segments: int = 0  # BERT's token types
    embed_norm: bool = False
    pooler: bool = False
    final_norm: bool = True
    family: str = "llama"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_kv_heads", self.n_kv_heads or self.n_heads)
        heads, width = ("n_head", "n_embd") if self.family == "gpt2" else ("num_attention_heads", "hidden_size")
        if not self.head_dim:
            said = f"{heads} {self.n_heads} does not divide {width} {self.d_model}"
            _require(self.d_model % self.n_heads == 0, said)
            object.__setattr__(self, "head_dim", self.d_model // self.n_heads)
        _require(
            self.mla is not None or self.n_heads % self.n_kv_heads == 0,
            f"num_key_value_heads {self.n_kv_heads} does not divide {heads} {self.n_heads}",
        )
        if self.position == "rope" and self.mla is None:
            _require(self.head_dim % 2 == 0, f"RoPE turns pairs of numbers, so head_dim {self.head_dim} must be even")

    @property
    def group(self) -> int:
        """Query heads that share one key/value head."""
        return self.n_heads // self.n_kv_heads

    @classmethod
    def from_hf(cls, config: Mapping[str, Any], *, forward: bool = True) -> ModelConfig:
        """Read a Hugging Face `config.json`: the older form (`rope_theta`) and the newer (`rope_parameters`).

        forward: also refuse values that change the forward pass and that core.model does not compute. A page that
        only counts parameters passes False. Families outside RUNS are only counted, so nothing is refused for them.
        Raises ValueError naming the key, its value and what is supported. Keys it does not know are ignored.
        """
        if not isinstance(config, Mapping):
            raise ValueError("a model's config is a JSON object with a model_type")
        family = config.get("model_type")
        if not isinstance(family, str) or family not in FAMILIES:
            raise ValueError(f"model_type {_short(family)} is not supported; supported: {', '.join(FAMILIES)}")
        reader = _Reader(config, check=forward and family in RUNS)
        return cls(**FAMILIES[family](reader), family=family)


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


def _short(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, int) and abs(value) >= 10**80:
        return "a number of more than 80 digits"
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"


class _Reader:
    """Reads typed values out of a config, and says which key is at fault."""

    def __init__(self, config: Mapping[str, Any], check: bool) -> None:
        self.config, self.check = config, check

    def size(self, key: str, default: int, most: int = LARGEST) -> int:
        return self.optional(key, default, most)  # type: ignore[return-value]  # the default is a number

    def optional(self, key: str, default: int | None = None, most: int = LARGEST) -> int | None:
        value = self.config.get(key)
        value = default if value is None else value
        if value is None:
            return None
        whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
        if not whole or not 1 <= value <= most:
            raise ValueError(f"{key} is {_short(value)}, but must be a whole number from 1 to {most:,}")
        return int(value)

    def count(self, key: str, default: int) -> int:
        """As `size`, but zero is a value too."""
        return 0 if self.config.get(key) == 0 else self.size(key, default)

    def number(self, key: str, default: float) -> float:
        value = self.config.get(key)
        value = default if value is None else value
        real = isinstance(value, int | float) and not isinstance(value, bool)
        if not real or not 0 < value <= 1e300:  # false for NaN, and a huge whole number is never made a float
            raise ValueError(f"{key} is {_short(value)}, but must be a positive number")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self.config.get(key)
        value = default if value is None else value
        if not isinstance(value, bool):
            raise ValueError(f"{key} is {_short(value)}, but must be true or false")
        return value

    def numbers(self, key: str) -> frozenset[int]:
        """A list of whole numbers, such as layers; absent or null: none."""
        value = self.config.get(key)
        listed = [] if value is None else value
        if not isinstance(listed, list | tuple) or not all(type(i) is int for i in listed):
            raise ValueError(f"{key} is {_short(value)}, but must be a list of whole numbers")
        return frozenset(listed)

    def only(self, key: str, supported: tuple[Any, ...], default: Any = None, *, always: bool = False) -> None:
        """Refuse a value that would change the forward pass; always: also where only parameters are counted."""
        value = self.config.get(key, default)
        if (self.check or always) and not any(value == one and type(value) is type(one) for one in supported):
            raise ValueError(f"{key} {_short(value)} is not supported; supported: {', '.join(map(str, supported))}")

    def rope_theta(self, default: float = 10_000.0) -> float:
        """Both forms; every other way to set the angles (linear, dynamic, yarn, llama3 ...) is refused.

        As in transformers, a rope_scaling stands for the whole of rope_parameters, and theta in it before rope_theta.
        """
        tables = {}
        for where in ("rope_parameters", "rope_scaling"):
            table = self.config.get(where)
            tables[where] = table = {} if table is None else table
            if not isinstance(table, Mapping):
                raise ValueError(f"{where} is {_short(table)}, but must be an object")
            if self.check:
                _Reader(table, True).plain_rope(where)
        self.only("partial_rotary_factor", (None, 1, 1.0))
        top = self.number("rope_theta", default)
        return _Reader(tables["rope_scaling"] or tables["rope_parameters"], self.check).number("rope_theta", top)

    def plain_rope(self, where: str) -> None:
        """Refuse what turns the angles in any other way."""
        if any(isinstance(value, Mapping) for value in self.config.values()):
            raise ValueError(f"{where} per layer type is not supported; supported: one table for all layers")
        kind = self.config.get("rope_type", self.config.get("type", "default"))
        if kind != "default":
            raise ValueError(f"{where}: rope_type {_short(kind)} is not supported; supported: default")
        self.only("partial_rotary_factor", (None, 1, 1.0))

    def full_attention(self, context: int, n_layers: int) -> int | None:
        """Refuse sliding windows inside the context, and layers of other kinds.

        Returns the window that is left, at least the context: longer texts would feel it. None: no window.
        """
        if not self.check:
            return None
        kinds = self.config.get("layer_types")
        listed = kinds if isinstance(kinds, list | tuple) else ()
        for kind in listed:
            if kind != "full_attention":
                raise ValueError(f"layer_types {_short(kind)} is not supported; supported: full_attention")
        if kinds is not None and len(listed) != n_layers:
            raise ValueError(f"layer_types is {_short(kinds)}, but must be a list with one entry a layer, {n_layers}")
        qwen = str(self.config.get("model_type")).startswith("qwen")
        if qwen and not self.flag("use_sliding_window", False):
            return None
        absent = "sliding_window" not in self.config
        window = SLIDING if qwen and absent else self.optional("sliding_window")
        if window is not None and window < context:
            raise ValueError(
                f"sliding_window {window} is not supported; supported: none, or at least the context {context}"
            )
        return window


def _gpt2(read: _Reader) -> dict[str, Any]:
    d_model = read.size("n_embd", read.optional("hidden_size") or 768)
    read.only("activation_function", ("gelu_new", "gelu_pytorch_tanh", "gelu_fast"), "gelu_new")
    read.only("is_causal", (True, None), True)
    read.only("scale_attn_weights", (True,), True)
    read.only("scale_attn_by_inverse_layer_idx", (False,), False)
    read.only("add_cross_attention", (False,), False, always=True)
    return dict(
        d_model=d_model,
        n_layers=read.size("n_layer", read.optional("num_hidden_layers") or 12, MOST_LAYERS),
        n_heads=read.size("n_head", read.optional("num_attention_heads") or 12),
        d_ff=read.optional("n_inner") or 4 * d_model,
        vocab_size=read.size("vocab_size", 50257),
        context=read.size("n_positions", read.optional("max_position_embeddings") or 1024),  # n_ctx never sized a table
        norm="layernorm",
        norm_eps=read.number("layer_norm_epsilon", 1e-5),
        position="learned",
        ffn="gelu_tanh",
        qkv_bias=True,
        out_bias=True,
        ffn_bias=True,
        tied=read.flag("tie_word_embeddings", True),
    )


def _llama_like(read: _Reader, **default: Any) -> dict[str, Any]:
    """What Llama and its relatives share; `default` holds where a family differs."""
    default = dict(d_ff=11008, layers=32, heads=32, kv=None, head_dim=None, vocab=32000, context=2048) | default
    context = read.size("max_position_embeddings", default["context"])
    n_heads = read.size("num_attention_heads", default["heads"])
    stated = "num_key_value_heads" in read.config
    read.only("hidden_act", ("silu", "swish"), "silu")
    n_layers = read.size("num_hidden_layers", default["layers"], MOST_LAYERS)
    read.only("is_causal", (True, None), True)
    window = read.full_attention(context, n_layers)
    return dict(
        d_model=read.size("hidden_size", default.get("d_model", 4096)),
        n_layers=n_layers,
        n_heads=n_heads,
        n_kv_heads=read.optional("num_key_value_heads", None if stated else default["kv"]) or n_heads,
        head_dim=read.optional("head_dim", None if "head_dim" in read.config else default["head_dim"]) or 0,
        d_ff=read.size("intermediate_size", default["d_ff"]),
        vocab_size=read.size("vocab_size", default["vocab"]),
        context=context,
        norm_eps=read.number("rms_norm_eps", default.get("eps", 1e-6)),
        rope_theta=read.rope_theta(default.get("theta", 10_000.0)),
        tied=read.flag("tie_word_embeddings", False),
        window=window,
    )


def _llama(read: _Reader) -> dict[str, Any]:
    bias = read.flag("attention_bias", False)
    # transformers' Llama has no window at all: the key is only looked at to refuse what its author may have meant
    parts = dict(qkv_bias=bias, out_bias=bias, ffn_bias=read.flag("mlp_bias", False), window=None)
    return _llama_like(read) | parts


def _mistral(read: _Reader) -> dict[str, Any]:
    fields = _llama_like(read, d_ff=14336, kv=8, context=131072)
    # core.model refuses texts longer than the window, which is where it would matter.
    absent = "sliding_window" not in read.config
    return fields | dict(window=SLIDING if absent else read.optional("sliding_window"))


def _qwen2(read: _Reader) -> dict[str, Any]:
    return _llama_like(read, d_ff=22016, kv=32, vocab=151936, context=32768) | dict(qkv_bias=True)


def _qwen3(read: _Reader) -> dict[str, Any]:
    bias = read.flag("attention_bias", False)
    fields = _llama_like(read, d_ff=22016, kv=32, head_dim=128, vocab=151936, context=32768)
    return fields | dict(qk_norm=True, qkv_bias=bias, out_bias=bias)


def _mixtral(read: _Reader) -> dict[str, Any]:
    fields = _llama_like(read, d_ff=14336, kv=8, context=131072, eps=1e-5, theta=1e6)
    moe = Moe(
        n_experts=read.size("num_local_experts", read.optional("num_experts") or 8),
        n_active=read.size("num_experts_per_tok", 2),
        d_expert=fields["d_ff"],
        layers=tuple(range(fields["n_layers"])),
    )
    return fields | dict(moe=moe)


def _qwen3_moe(read: _Reader) -> dict[str, Any]:
    bias = read.flag("attention_bias", False)
    fields = _llama_like(read, d_model=2048, d_ff=6144, layers=24, kv=4, vocab=151936, context=32768)
    step, dense = read.size("decoder_sparse_step", 1), read.numbers("mlp_only_layers")
    if 0 in (read.config.get("num_experts"), read.config.get("num_local_experts")):
        return fields | dict(qk_norm=True, qkv_bias=bias, out_bias=bias)
    moe = Moe(
        n_experts=read.size("num_experts", read.optional("num_local_experts") or 128),
        n_active=read.size("num_experts_per_tok", 8),
        d_expert=read.size("moe_intermediate_size", 768),
        layers=tuple(i for i in range(fields["n_layers"]) if i not in dense and (i + 1) % step == 0),
        renormalise=read.flag("norm_topk_prob", False),
    )
    return fields | dict(qk_norm=True, qkv_bias=bias, out_bias=bias, moe=moe)


def _deepseek_v3(read: _Reader) -> dict[str, Any]:
    bias = read.flag("attention_bias", False)
    fields = _llama_like(
        read, d_model=7168, d_ff=18432, layers=61, heads=128, kv=128, vocab=129280, context=4096, head_dim=64
    )
    low = read.config.get("q_lora_rank", 0) is None  # by get: what is asked for goes into a link
    mla = Mla(
        q_rank=None if low else read.size("q_lora_rank", 1536),
        kv_rank=read.size("kv_lora_rank", 512),
        d_nope=read.size("qk_nope_head_dim", 128),
        d_rope=read.size("qk_rope_head_dim", 64),
        d_v=read.size("v_head_dim", 128),
    )
    first = read.count("first_k_dense_replace", 3)  # transformers builds experts from here on, whatever moe_layer_freq
    moe = Moe(
        n_experts=read.size("n_routed_experts", read.optional("num_local_experts") or 256),
        n_active=read.size("num_experts_per_tok", 8),
        d_expert=read.size("moe_intermediate_size", 2048),
        layers=tuple(i for i in range(fields["n_layers"]) if i >= first),
        n_shared=read.count("n_shared_experts", 1),
        router_bias=True,
    )
    return fields | dict(mla=mla, moe=moe, qkv_bias=bias, out_bias=bias, head_dim=mla.d_rope)


def _bert(read: _Reader) -> dict[str, Any]:
    read.only("add_cross_attention", (False, None), False, always=True)
    read.only("position_embedding_type", ("absolute", None), "absolute", always=True)
    return dict(
        d_model=read.size("hidden_size", 768),
        n_layers=read.size("num_hidden_layers", 12, MOST_LAYERS),
        n_heads=read.size("num_attention_heads", 12),
        d_ff=read.size("intermediate_size", 3072),
        vocab_size=read.size("vocab_size", 30522),
        context=read.size("max_position_embeddings", 512),
        norm="layernorm",
        norm_eps=read.number("layer_norm_eps", 1e-12),
        position="learned",
        ffn="gelu",
        qkv_bias=True,
        out_bias=True,
        ffn_bias=True,
        tied=True,
        n_segments=read.count("type_vocab_size", 2),
        embed_norm=True,
        pooler=True,
        final_norm=False,
    )


FAMILIES: dict[str, Callable[[_Reader], dict[str, Any]]] = {
    "gpt2": _gpt2,
    "llama": _llama,
    "mistral": _mistral,
    "qwen2": _qwen2,
    "qwen3": _qwen3,
    "mixtral": _mixtral,
    "qwen3_moe": _qwen3_moe,
    "deepseek_v3": _deepseek_v3,
    "bert": _bert,
}
