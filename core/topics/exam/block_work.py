"""The multiplications of one block, as an exercise: an answer and the steps to it."""

from __future__ import annotations

from dataclasses import dataclass

from core.config import ModelConfig
from core.costs import STEPS, Work, forward

ASKED = ((512, 768, 8), (1024, 512, 8), (2048, 1024, 16), (256, 4096, 32))  # tokens, width, heads


@dataclass(frozen=True)
class Flops:
    """One forward pass of one block with an FFN four times as wide, without softmax, norms and biases. A multiplication
    and an addition are two."""

    projections: int
    pairs: int
    ffn: int

    @property
    def total(self) -> int:
        return self.projections + self.pairs + self.ffn


def flops(n: int, d: int, heads: int) -> Flops:
    """Of n tokens through a block of width d."""
    config = ModelConfig(d_model=d, n_layers=1, n_heads=heads, d_ff=4 * d, vocab_size=1, ffn="gelu", context=n)
    parts = dict(zip(STEPS, forward(Work(config), texts=(n,))[0].tolist(), strict=True))
    return Flops(int(parts["projections"]), int(parts["scores"] + parts["mixture"]), int(parts["ffn"]))
