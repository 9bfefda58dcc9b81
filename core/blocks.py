"""One block of a decoder: attention, then the feed-forward network, each added to the residual stream."""

from __future__ import annotations

from torch import Tensor, nn

from core.config import ModelConfig
from core.feedforward import FFNS
from core.heads import SelfAttention
from core.moe import Mixture
from core.norms import NORMS
from core.trace import SILENT, Quantity, Trace

RESID_PRE = Quantity("resid_pre", "query d_model", r"x", "The residual stream as it enters the block.")
NORM1 = Quantity("norm1", "query d_model", r"\mathrm{norm}(x)", "The stream, brought to one size for attention.")
RESID_MID = Quantity("resid_mid", "query d_model", r"x + \mathrm{attn}", "What attention found is added to the stream.")
NORM2 = Quantity("norm2", "query d_model", r"\mathrm{norm}(x)", "The stream, brought to one size for the FFN.")
RESID_POST = Quantity("resid_post", "query d_model", r"x + \mathrm{ffn}", "What the FFN made is added to the stream.")


class DecoderBlock(nn.Module):
    """Pre-norm: x + attn(norm x), then x + ffn(norm x) (Xiong et al. 2020, arXiv 2002.04745, fig. 1b)."""

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        """layer: which block this is; only some may have experts."""
        super().__init__()
        norm = NORMS[config.norm]
        self.norm1 = norm(config.d_model, config.norm_eps)
        self.attn = SelfAttention(config)
        self.norm2 = norm(config.d_model, config.norm_eps)
        experts = config.moe is not None and layer in config.moe.layers
        self.ffn = Mixture(config) if experts else FFNS[config.ffn](config)

    def forward(
        self,
        x: Tensor,
        turn: Tensor | None,
        allowed: Tensor | None,
        *,
        past: tuple[Tensor, Tensor] | None = None,
        trace: Trace = SILENT,
    ) -> Tensor:
        """x: (query, d_model); turn, allowed and past as SelfAttention takes them. Returns the shape of x."""
        x = trace(RESID_PRE, x)
        x = trace(RESID_MID, x + self.attn(trace(NORM1, self.norm1(x)), turn, allowed, past=past, trace=trace))
        return self.finish(x, trace=trace)

    def finish(self, x: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """The second half of the block: x + ffn(norm x)."""
        return trace(RESID_POST, x + self.ffn(trace(NORM2, self.norm2(x)), trace=trace))
