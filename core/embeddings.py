"""From ids to vectors: the token's row of the table, and for some models a row for its position."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.trace import SILENT, Quantity, Trace

IDS = Quantity("ids", "query", r"t", "The tokenizer's number for each token.")
EMBED = Quantity("embed", "query d_model", r"E[t]", "Each token's own row of the embedding table.")
POS_EMBED = Quantity("pos_embed", "query d_model", r"P[m]", "Each position's own row of the position table.")

PRODUCT = Quantity(
    "embed_product",
    "query d_model",
    r"\mathrm{onehot}(t)\,E",
    "The same rows, made by multiplying with a one and zeros.",
)


class Table(nn.Module):
    """A table of vectors, one row an id. The numbers are learned; until they are loaded they mean nothing."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, width))

    def forward(self, ids: Tensor) -> Tensor:
        """ids: (...). Returns (..., width): a look-up, no multiplication."""
        return self.weight[ids]


def by_product(ids: Tensor, table: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """The look-up as a matrix product, which nobody runs: each id a row of zeros with a one in its place, times the table.

    ids: (query,), table: (vocab, d_model). Returns (query, d_model), the rows `table[ids]`.
    """
    one_hot = F.one_hot(ids, len(table)).to(table.dtype)
    return trace(PRODUCT, one_hot @ table)
