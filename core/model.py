"""A whole decoder, put together from the parts that a ModelConfig names."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from core.attention import allowed_pairs
from core.blocks import DecoderBlock
from core.config import RUNS, ModelConfig
from core.embeddings import EMBED, IDS, POS_EMBED, Table
from core.norms import NORMS
from core.rope import angles
from core.trace import SILENT, Quantity, Trace

NORM_FINAL = Quantity(
    "norm_final", "query d_model", r"\mathrm{norm}(x)", "The stream, ready to be compared with words."
)
LOGITS = Quantity("logits", "query vocab", r"xW_U", "One score for every token of the vocabulary.")
PROBS = Quantity("probs", "query vocab", r"\mathrm{softmax}(xW_U)", "How likely each token is to come next.")
NEXT_LOGITS = Quantity("next_logits", "vocab", r"x_TW_U", "The scores for the token that follows the text.")
NEXT_PROBS = Quantity(
    "next_probs", "vocab", r"\mathrm{softmax}(x_TW_U)", "How likely each token is to follow the text."
)


class Decoder(nn.Module):
    """GPT-2, Llama, Mistral, Mixtral, Qwen2 or Qwen3, dense or with experts: the same frame with other parts.

    Raises ValueError for a config that it can count but not compute.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        if config.family not in RUNS:
            can = ", ".join(RUNS)
            raise ValueError(f"model_type {config.family!r} can be counted but not computed; supported: {can}")
        self.config = config
        self.embed = Table(config.vocab_size, config.d_model)
        self.pos_embed = Table(config.context, config.d_model) if config.position == "learned" else None
        self.blocks = nn.ModuleList(DecoderBlock(config, i) for i in range(config.n_layers))
        self.norm = NORMS[config.norm](config.d_model, config.norm_eps)
        self.head = None if config.tied else nn.Linear(config.d_model, config.vocab_size, bias=False)

    @torch.inference_mode()
    def __call__(self, ids: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """ids: (token,) whole numbers below vocab_size. Returns logits (token, vocab), float32.

        Records every tensor of the pass: `embed`, `block0.weights`, ..., `logits`, `probs`.
        Raises ValueError for ids of another shape, an id outside the table, or a text too long for the model.
        """
        logits: Tensor = super().__call__(self._checked(ids), trace=trace)
        return logits

    def forward(self, ids: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """As __call__, but with gradients and without checks; axes may stand before the token if nothing is traced."""
        x = self.stream(ids, trace=trace)
        return self.read_out(x, trace=trace)

    def stream(self, ids: Tensor, *, until: int | None = None, trace: Trace = SILENT) -> Tensor:
        """ids: (token,). Returns the residual stream after the last block, or after `until` blocks, (token, d_model)."""
        x = trace(EMBED, self.embed(trace(IDS, ids.clone())))
        if self.pos_embed is not None:
            x = x + trace(POS_EMBED, self.pos_embed.weight[: ids.shape[-1]])
        turn, allowed = self.surroundings(ids.shape[-1], trace=trace)
        for i, block in enumerate(self.blocks[:until]):
            with trace.inside(f"block{i}"):
                x = block(x, turn, allowed, trace=trace)
        return x

    def surroundings(self, n: int, *, trace: Trace = SILENT) -> tuple[Tensor | None, Tensor]:
        """What every block needs to know of n positions: RoPE's angles (n, d_head / 2) or None, and the mask (n, n)."""
        config = self.config
        turn = angles(n, config.head_dim, config.rope_theta, trace=trace) if config.position == "rope" else None
        return turn, allowed_pairs("window" if config.window else "causal", n, config.window)

    def read_out(self, x: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """x: (token, d_model), the stream after the last block. Returns logits (token, vocab)."""
        table = self.embed.weight if self.head is None else self.head.weight
        logits = trace(LOGITS, trace(NORM_FINAL, self.norm(x)) @ table.mT)
        trace.later(PROBS, lambda: logits.softmax(-1))
        return logits

    def predict(self, x: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """x: (token, d_model), the stream after the last block. Returns the next token's logits (vocab,).

        What a page needs, at a fraction of the cost: the head is the widest matrix of a small model.
        """
        table = self.embed.weight if self.head is None else self.head.weight
        logits = trace(NEXT_LOGITS, self.norm(x[..., -1, :]) @ table.mT)
        trace(NEXT_PROBS, logits.softmax(-1))
        return logits

    def _checked(self, ids: Tensor) -> Tensor:
        try:
            ids = torch.as_tensor(ids)
        except (ValueError, TypeError, RuntimeError) as error:
            raise ValueError(f"ids must be a row of whole numbers, shape (T,): {error}") from error
        whole = not (ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool)
        if ids.ndim != 1 or not len(ids) or not whole:
            raise ValueError(f"ids must be a row of whole numbers, shape (T,), not {tuple(ids.shape)} of {ids.dtype}")
        ids = ids.long()  # unsigned numbers too, such as token files hold
        if not 0 <= int(ids.min()) <= int(ids.max()) < self.config.vocab_size:
            raise ValueError(f"ids must lie in 0 to {self.config.vocab_size - 1}, the rows of the embedding table")
        longest = self.config.context if self.config.position == "learned" else self.config.window
        if longest and len(ids) > longest:
            raise ValueError(f"{len(ids)} tokens do not fit: this model reaches {longest}")
        return ids
