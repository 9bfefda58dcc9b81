"""From ids to vectors: the token's row of the table, and for some models a row for its position."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from core.trace import Quantity

IDS = Quantity("ids", "query", r"t", "The tokenizer's number for each token.")
EMBED = Quantity("embed", "query d_model", r"E[t]", "Each token's own row of the embedding table.")
POS_EMBED = Quantity("pos_embed", "query d_model", r"P[m]", "Each position's own row of the position table.")


class Table(nn.Module):
    """A table of vectors, one row an id. The numbers are learned; until they are loaded they mean nothing."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, width))

    def forward(self, ids: Tensor) -> Tensor:
        """ids: (...). Returns (..., width): a look-up, no multiplication."""
        return self.weight[ids]
