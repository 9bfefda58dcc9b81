"""The feed-forward network: every token on its own, up to a wider space and back."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from core.config import ModelConfig
from core.trace import SILENT, Quantity, Trace

FFN_PRE = Quantity("ffn_pre", "query d_ff", r"xW_1 + b_1", "Each token's vector, spread over the wider space.")
FFN_GATE = Quantity("ffn_gate", "query d_ff", r"xW_g", "How far each gate would open.")
FFN_UP = Quantity("ffn_up", "query d_ff", r"xW_u", "What would pass through each gate.")
FFN_ACT = Quantity(
    "ffn_act",
    "query d_ff",
    r"h = \sigma(xW_1 + b_1) \;\text{or}\; \sigma(xW_g) \odot xW_u",
    "What is left after the bend: this enters the last map.",
)
FFN_OUT = Quantity("ffn_out", "query d_model", r"hW_2", "Back to the width of the residual stream.")


class Gelu(nn.Module):
    """W_2 gelu(W_1 x), gelu by the tanh formula (Hendrycks and Gimpel 2016, arXiv 1606.08415), as in GPT-2."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.d_model, config.d_ff, bias=config.ffn_bias)
        self.down = nn.Linear(config.d_ff, config.d_model, bias=config.ffn_bias)

    def forward(self, x: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """x: (query, d_model). Returns the same shape."""
        hidden = trace(FFN_ACT, F.gelu(trace(FFN_PRE, self.up(x)), approximate="tanh"))
        return trace(FFN_OUT, self.down(hidden))


class SwiGlu(nn.Module):
    """W_down (silu(W_gate x) * W_up x) (Shazeer 2020, arXiv 2002.05202, eq. 6)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate = nn.Linear(config.d_model, config.d_ff, bias=config.ffn_bias)
        self.up = nn.Linear(config.d_model, config.d_ff, bias=config.ffn_bias)
        self.down = nn.Linear(config.d_ff, config.d_model, bias=config.ffn_bias)

    def forward(self, x: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """x: (query, d_model). Returns the same shape."""
        gate, up = trace(FFN_GATE, self.gate(x)), trace(FFN_UP, self.up(x))
        return trace(FFN_OUT, self.down(trace(FFN_ACT, F.silu(gate) * up)))


FFNS = {"gelu_tanh": Gelu, "swiglu": SwiGlu}


class Relu(nn.Module):
    """W_2 relu(W_1 x) (Vaswani et al. 2017, arXiv 1706.03762, eq. 2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.d_model, config.d_ff, bias=config.ffn_bias)
        self.down = nn.Linear(config.d_ff, config.d_model, bias=config.ffn_bias)

    def forward(self, x: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """x: (query, d_model). Returns the same shape."""
        return trace(FFN_OUT, self.down(trace(FFN_ACT, F.relu(trace(FFN_PRE, self.up(x))))))
