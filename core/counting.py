"""Counting a model: parameters, as rows of (name, formula, number), without building it."""

from __future__ import annotations

from dataclasses import dataclass

from core.config import Mla, ModelConfig


@dataclass(frozen=True)
class Row:
    """One part of a model. part: the group it belongs to; formula: LaTeX; each: the number for one; times: how many."""

    part: str
    name: str
    formula: str
    each: int
    times: int = 1

    @property
    def value(self) -> int:
        return self.each * self.times


def total(config: ModelConfig) -> int:
    """The exact number of parameters; a tied head is counted once, in the embedding."""
    return sum(row.value for row in parameters(config))


def parameters(config: ModelConfig) -> list[Row]:
    """Every tensor of the model, in the order of the forward pass."""
    return [*_before(config), *_attention(config), *_feedforward(config), *_norms(config), *_after(config)]


def _before(c: ModelConfig) -> list[Row]:
    rows = [Row("embedding", "embedding", r"Vd", c.vocab_size * c.d_model)]
    if c.position == "learned":
        rows.append(Row("embedding", "positions", r"Td", c.context * c.d_model))
    if c.n_segments:
        rows.append(Row("embedding", "segments", f"{c.n_segments}d", c.n_segments * c.d_model))
    if c.embed_norm:
        rows.append(Row("norms", "embedding norm", _norm_formula(c), _norm(c)))
    return rows


def _linear(part: str, name: str, formula: str, out: str, n_in: int, n_out: int, bias: bool, times: int) -> list[Row]:
    """out: LaTeX of n_out, which is what a bias costs."""
    rows = [Row(part, name, formula, n_in * n_out, times)]
    return [*rows, Row(part, f"{name} bias", out, n_out, times)] if bias else rows


def _attention(c: ModelConfig) -> list[Row]:
    if c.mla:
        return _latent_attention(c, c.mla)
    width, kv = c.n_heads * c.head_dim, c.n_kv_heads * c.head_dim
    rows = []
    for name, n_out, out in (("q", width, r"h\,d_h"), ("k", kv, r"h_{kv}d_h"), ("v", kv, r"h_{kv}d_h")):
        rows += _linear("attention", name, rf"d\,{out}", out, c.d_model, n_out, c.qkv_bias, c.n_layers)
    rows += _linear("attention", "o", r"h\,d_h\,d", "d", width, c.d_model, c.out_bias, c.n_layers)
    if c.qk_norm:
        rows.append(Row("attention", "QK-norm", r"2d_h", 2 * c.head_dim, c.n_layers))
    return rows


def _latent_attention(c: ModelConfig, m: Mla) -> list[Row]:
    """Queries and, above all, keys and values through a narrow latent (DeepSeek-V3 technical report, sec. 2.1.1)."""
    d, h, n = c.d_model, c.n_heads, c.n_layers
    wide = h * (m.d_nope + m.d_rope)
    rows: list[Row] = []
    if m.q_rank:
        rows += _linear("attention", "q down", r"d\,r_q", "r_q", d, m.q_rank, c.qkv_bias, n)
        rows += [Row("attention", "q norm", r"r_q", m.q_rank, n)]
        rows += [Row("attention", "q up", r"r_q h(d_n+d_r)", m.q_rank * wide, n)]
    else:
        rows += [Row("attention", "q", r"d\,h(d_n+d_r)", d * wide, n)]
    latent = r"r_{kv}+d_r"
    rows += _linear("attention", "kv down", f"d({latent})", latent, d, m.kv_rank + m.d_rope, c.qkv_bias, n)
    rows += [
        Row("attention", "kv norm", r"r_{kv}", m.kv_rank, n),
        Row("attention", "kv up", r"r_{kv}h(d_n+d_v)", m.kv_rank * h * (m.d_nope + m.d_v), n),
    ]
    return rows + _linear("attention", "o", r"h\,d_v\,d", "d", h * m.d_v, d, c.out_bias, n)


def _feedforward(c: ModelConfig) -> list[Row]:
    sparse = len(c.moe.layers) if c.moe else 0
    rows = _ffn(c, "ffn", "", c.d_ff, c.n_layers - sparse)
    if c.moe and sparse:
        moe = c.moe
        rows.append(Row("router", "router", r"d\,E", c.d_model * moe.n_experts, sparse))
        if moe.router_bias:
            rows.append(Row("router", "router bias", r"E", moe.n_experts, sparse))
        rows += _ffn(c, "experts", "expert ", moe.d_expert, sparse * moe.n_experts)
        rows += _ffn(c, "experts", "shared expert ", moe.d_expert, sparse * moe.n_shared)
    return rows


def _ffn(c: ModelConfig, part: str, prefix: str, width: int, times: int) -> list[Row]:
    if not times:
        return []
    rows: list[Row] = []
    f = "f_e" if prefix else "f"
    for name in ("gate", "up") if c.ffn == "swiglu" else ("up",):
        rows += _linear(part, prefix + name, rf"d\,{f}", f, c.d_model, width, c.ffn_bias, times)
    return rows + _linear(part, prefix + "down", rf"{f}\,d", "d", width, c.d_model, c.ffn_bias, times)


def _norm(c: ModelConfig) -> int:
    return c.d_model * (2 if c.norm == "layernorm" else 1)


def _norm_formula(c: ModelConfig) -> str:
    return r"2d" if c.norm == "layernorm" else r"d"


def _norms(c: ModelConfig) -> list[Row]:
    return [Row("norms", "norm", _norm_formula(c), _norm(c), 2 * c.n_layers)]


def _after(c: ModelConfig) -> list[Row]:
    rows = [Row("norms", "final norm", _norm_formula(c), _norm(c))] if c.final_norm else []
    if c.pooler:
        rows.append(Row("pooler", "pooler", r"d^2+d", c.d_model * c.d_model + c.d_model))
    if not c.tied:
        rows.append(Row("head", "head", r"Vd", c.vocab_size * c.d_model))
    return rows


def encoder_decoder(
    d_model: int, d_ff: int, n_layers: int, vocab_size: int, *, attention_bias: bool = True
) -> list[Row]:
    """The Transformer of 2017 (arXiv 1706.03762, sec. 3): n_layers encoder and as many decoder blocks, one shared table.

    attention_bias: the paper's formulas have none, most code has; tensor2tensor, which made the paper's models, has not.
    """
    d, f, n = d_model, d_ff, n_layers
    attention = 4 * d * d + (4 * d if attention_bias else 0)
    return [
        Row("embedding", "embedding", r"Vd", vocab_size * d),
        Row("attention", "self-attention", r"4d^2+4d" if attention_bias else r"4d^2", attention, 2 * n),
        Row("attention", "cross-attention", r"4d^2+4d" if attention_bias else r"4d^2", attention, n),
        Row("ffn", "FFN", r"2df+f+d", 2 * d * f + f + d, 2 * n),
        Row("norms", "norm", r"2d", 2 * d, 5 * n),
    ]


def relative_encoder_decoder(
    d_model: int, d_ff: int, n_layers: int, n_heads: int, vocab_size: int, buckets: int = 32
) -> list[Row]:
    """T5 (Raffel et al. 2019, arXiv 1910.10683, sec. 2.1): no biases, norms without shift, and no table of positions:
    a number for every head and bucket of distances, once for the encoder and once for the decoder."""
    d, n = d_model, n_layers
    return [
        Row("embedding", "embedding", r"Vd", vocab_size * d),
        Row("embedding", "positions", r"bh", buckets * n_heads, 2),
        Row("attention", "self-attention", r"4d^2", 4 * d * d, 2 * n),
        Row("attention", "cross-attention", r"4d^2", 4 * d * d, n),
        Row("ffn", "FFN", r"2df", 2 * d * d_ff, 2 * n),
        Row("norms", "norm", r"d", d, 5 * n),
        Row("norms", "final norm", r"d", d, 2),
    ]


def vision(
    d_model: int, d_ff: int, n_layers: int, image: int, patch: int, classes: int, channels: int = 3
) -> list[Row]:
    """ViT (Dosovitskiy et al. 2020, arXiv 2010.11929, sec. 3.1): square patches, a class token, learned positions."""
    d, f, n, places = d_model, d_ff, n_layers, (image // patch) ** 2 + 1
    return [
        Row("embedding", "patches", r"p^2c\,d+d", patch * patch * channels * d + d),
        Row("embedding", "class token", r"d", d),
        Row("embedding", "positions", r"Td", places * d),
        Row("attention", "self-attention", r"4d^2+4d", 4 * d * d + 4 * d, n),
        Row("ffn", "FFN", r"2df+f+d", 2 * d * f + f + d, n),
        Row("norms", "norm", r"2d", 2 * d, 2 * n),
        Row("norms", "final norm", r"2d", 2 * d),
        Row("head", "head", r"dk+k", d * classes + classes),
    ]
