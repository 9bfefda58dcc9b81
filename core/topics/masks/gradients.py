"""The leak detector: by autograd, which input can reach which output. It never looks at the mask.

A gradient that is not zero proves a leak: move that input a little and that output moves. Where every path through the
model is closed, autograd hands back exactly zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.model import Decoder
from core.topics.masks.patterns import PAINTABLE, Demo, forbidden
from core.trace import Quantity, to_numpy
from core.watch import overhear
from core.whatif import WhatIf

INFLUENCE = Quantity(
    "influence",
    "query key",
    r"\left\lVert \partial z_i / \partial x_j \right\rVert",
    "How far the score of the next word at one place moves with the input at another.",
)


@dataclass(frozen=True)
class Influence:
    """What each output depends on. values: (frame, row, key) gradient norms, a frame each number of blocks in `depths`;
    rows: the places whose outputs were followed; forbidden: (row, key); leaks: (frame,) how many forbidden ones are
    not exactly zero."""

    values: np.ndarray
    depths: tuple[int, ...]
    rows: tuple[int, ...]
    forbidden: np.ndarray
    leaks: tuple[int, ...]

    @property
    def worst(self) -> tuple[int, int] | None:
        """(row, key): the largest forbidden gradient after all blocks; None if there is no leak."""
        if not self.leaks[-1]:
            return None
        row, key = np.unravel_index(int(np.where(self.forbidden, self.values[-1], -1).argmax()), self.forbidden.shape)
        return int(row), int(key)


FOLLOWED = 4  # rows of a text too long to be painted, where only whole patterns can leak: the first row among them


def influence(demo: Demo, each_block: bool = True) -> Influence:
    """Gradients of the likeliest next word's score at every place with respect to every input embedding.

    The mask is not looked at: autograd runs back through the real model. A path that is closed everywhere gives
    exactly zero. each_block: also read out after one block, two, ..., as leaks travel from block to block.
    """
    n, model = len(demo.text), subject.model(demo.text.subject)
    rows = torch.linspace(0, n - 1, n if n <= PAINTABLE else FOLLOWED).round().long()
    depths = tuple(range(1, model.config.n_layers + 1)) if each_block else (model.config.n_layers,)
    start: list[Tensor] = []
    reached: list[Tensor] = []

    def leaf(x: Tensor) -> Tensor:
        start.append(x.detach().requires_grad_())
        return start[0]

    edits = [("embed", leaf), ("block*.allowed", lambda _: demo.mask), ("block*.resid_post", overhear(reached))]
    model.stream(torch.tensor(demo.text.ids), trace=WhatIf(edits))
    values = []
    for depth in depths:
        scores = _scores(model, reached[depth - 1][rows])
        seeds = torch.eye(len(rows))
        (slope,) = torch.autograd.grad(scores, start[0], seeds, retain_graph=True, is_grads_batched=True)
        values.append(slope.norm(dim=-1))
    found = torch.stack(values)
    size = demo.size if demo.kind == "padding" else 0
    never = forbidden(demo.kind, n, size)[rows]
    if size:  # what stands at padding is thrown away
        never = never & (rows >= size)[:, None]
    leaks = tuple(int(x) for x in ((found != 0) & never).sum((1, 2)))
    return Influence(to_numpy(found), depths, tuple(rows.tolist()), to_numpy(never), leaks)


def _scores(model: Decoder, x: Tensor) -> Tensor:
    """x: (row, d_model). The score of the likeliest next token at each place, (row,)."""
    table = model.embed.weight if model.head is None else model.head.weight
    x = model.norm(x)
    with torch.no_grad():
        best = (x @ table.mT).argmax(-1)
    return (x * table[best]).sum(-1)


def reach(size: int, n_layers: int) -> int:
    """How many tokens back a window reaches through n_layers blocks, itself included: each block adds size - 1."""
    return 1 + n_layers * (size - 1)
