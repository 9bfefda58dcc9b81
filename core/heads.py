"""Many heads: one wide projection cut into heads, key/value heads shared by groups of query heads, and W_O."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from core.attention import K, Q, V, attention
from core.config import ModelConfig
from core.norms import RMSNorm
from core.rope import rotate
from core.trace import SILENT, Quantity, Trace

Q_NORM = Quantity("q_norm", "head query d_head", r"Q \leftarrow \mathrm{RMSNorm}(Q)", "Each query brought to one size.")
K_NORM = Quantity("k_norm", "kv_head key d_head", r"K \leftarrow \mathrm{RMSNorm}(K)", "Each key brought to one size.")
Q_ROT = Quantity("q_rot", "head query d_head", r"q_m \leftarrow R_m q_m", "Each query turned by its position.")
K_ROT = Quantity("k_rot", "kv_head key d_head", r"k_n \leftarrow R_n k_n", "Each key turned by its position.")
ATTN_OUT = Quantity(
    "attn_out",
    "query d_model",
    r"\mathrm{Concat}(Z_1,\dots,Z_H)\,W_O",
    "All heads side by side, mixed back into one vector.",
)


def split(x: Tensor, n_heads: int) -> Tensor:
    """(..., token, head * d_head) -> (..., head, token, d_head)."""
    return x.view(*x.shape[:-1], n_heads, -1).transpose(-3, -2)


def merge(z: Tensor) -> Tensor:
    """(..., head, token, d_head) -> (..., token, head * d_head)."""
    return z.transpose(-3, -2).flatten(-2)


def share(x: Tensor, group: int) -> Tensor:
    """(..., kv_head, token, d_head) -> (..., kv_head * group, token, d_head): each key/value head serves a group."""
    return x if group == 1 else x.repeat_interleave(group, dim=-3)


class SelfAttention(nn.Module):
    """Multi-head, multi-query (n_kv_heads = 1) or grouped-query attention (Ainslie et al. 2023, arXiv 2305.13245)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d, width, kv_width = config.d_model, config.n_heads * config.head_dim, config.n_kv_heads * config.head_dim
        self.n_heads, self.n_kv_heads, self.group = config.n_heads, config.n_kv_heads, config.group
        self.q = nn.Linear(d, width, bias=config.qkv_bias)
        self.k = nn.Linear(d, kv_width, bias=config.qkv_bias)
        self.v = nn.Linear(d, kv_width, bias=config.qkv_bias)
        self.o = nn.Linear(width, d, bias=config.out_bias)
        self.q_norm = RMSNorm(config.head_dim, config.norm_eps) if config.qk_norm else None
        self.k_norm = RMSNorm(config.head_dim, config.norm_eps) if config.qk_norm else None

    def forward(
        self,
        x: Tensor,
        turn: Tensor | None,
        allowed: Tensor | None,
        *,
        past: tuple[Tensor, Tensor] | None = None,
        trace: Trace = SILENT,
    ) -> Tensor:
        """x: (query, d_model); turn: RoPE's angles (query, d_head / 2) or None; allowed: (query, key) or None.

        past: the rotated keys and the values (kv_head, earlier, d_head) of tokens that were read before.
        Returns (query, d_model), to be added to the residual stream.
        """
        q, k = trace(Q, split(self.q(x), self.n_heads)), trace(K, split(self.k(x), self.n_kv_heads))
        v = trace(V, split(self.v(x), self.n_kv_heads))
        if self.q_norm is not None and self.k_norm is not None:
            q, k = trace(Q_NORM, self.q_norm(q)), trace(K_NORM, self.k_norm(k))
        if turn is not None:
            q, k = trace(Q_ROT, rotate(q, turn)), trace(K_ROT, rotate(k, turn))
        if past is not None:
            k, v = (
                torch.cat([p.expand(*new.shape[:-2], -1, -1), new], -2) for p, new in zip(past, (k, v), strict=True)
            )
        z = attention(q, share(k, self.group), share(v, self.group), allowed, trace=trace)
        return trace(ATTN_OUT, self.o(merge(z)))
