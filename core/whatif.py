"""What if? Interventions on a running model: every tensor that is recorded can be edited where it is recorded.

The maths is not touched and not repeated: a WhatIf stands where a Trace stands, changes a value as it passes, and
records what flows on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import torch
from torch import Tensor

from core.trace import WILD, Names, Quantity, Trace

Part = Callable[[Tensor], Tensor]
Edit = tuple[str, Part]  # the name of a tensor, * for any block; what becomes of it


class WhatIf(Trace):
    """A Trace that edits. `only=()` records nothing, and then axes may stand before the usual ones."""

    def __init__(self, edits: list[Edit], only: tuple[str, ...] | None = (), **labels: list[str]) -> None:
        super().__init__(only, **labels)
        self._edited = Names(pattern for pattern, _ in edits)
        self._exact: dict[str, list[tuple[int, Part]]] = {}
        self._wild: list[tuple[int, Part, Names]] = []
        for place, (pattern, change) in enumerate(edits):
            if WILD.search(pattern):
                self._wild.append((place, change, Names((pattern,))))
            else:
                self._exact.setdefault(pattern, []).append((place, change))

    def __call__(self, quantity: Quantity, value: Tensor) -> Tensor:
        name = self._scope + quantity.name
        if name in self._edited:
            for _, change in sorted(self._changes(name), key=itemgetter(0)):
                value = change(value)
        return super().__call__(quantity, value)

    def _changes(self, name: str) -> list[tuple[int, Part]]:
        """What the edits do to this tensor, each with its place among them."""
        return self._exact.get(name, []) + [(place, change) for place, change, names in self._wild if name in names]


@dataclass(frozen=True)
class Change:
    """One set of interventions, as a page offers it. The default changes nothing.

    rotation: positions are told, by RoPE or by a learned table. window: every token sees at most that many tokens back, itself included.
    temperature, in `head` (layer, head) or, where that is None, in all heads; cut: (layer, head, query, key), a
    weight set to zero while the rest of its row stays as it was or, with `share`, takes the freed weight over (as if
    the pair were forbidden); muted: (layer, head) whose output z becomes zero.
    """

    scaling: bool = True
    mask: bool = True
    rotation: bool = True
    window: int | None = None
    temperature: float = 1.0
    head: tuple[int, int] | None = None
    cut: tuple[int, int, int, int] | None = None
    share: bool = False
    muted: tuple[tuple[int, int], ...] = ()

    def edits(self, head_dim: int) -> list[Edit]:
        made: list[Edit] = []
        if not self.rotation:
            made += [("angles", torch.zeros_like), ("pos_embed", torch.zeros_like)]
        if not self.scaling:
            made.append(("block*.scaled", lambda s: s * math.sqrt(head_dim)))
        if self.temperature != 1.0:
            layer, head = self.head if self.head else ("*", None)
            made.append((f"block{layer}.scaled", partial(_heat, temperature=self.temperature, head=head)))
        if not self.mask:
            made.append(("block*.allowed", torch.ones_like))
        if self.window:
            made.append(("block*.allowed", partial(_near, window=self.window)))
        if self.cut:
            layer, head, query, key = self.cut
            where, number = ("masked", -torch.inf) if self.share else ("weights", 0.0)
            made.append((f"block{layer}.{where}", partial(_put, where=(head, query, key), number=number)))
            if self.share:
                made.append((f"block{layer}.weights", partial(_emptied, where=(head, query))))
        for layer, head in self.muted:
            made.append((f"block{layer}.z", partial(_put, where=(head, slice(None), slice(None)), number=0.0)))
        return made

    def trace(self, head_dim: int, only: tuple[str, ...] | None = (), **labels: list[str]) -> Trace:
        """A Trace to run the model with: a plain one if nothing is changed."""
        edits = self.edits(head_dim)
        return WhatIf(edits, only, **labels) if edits else Trace(only, **labels)


def _heat(scaled: Tensor, temperature: float, head: int | None) -> Tensor:
    if head is None:
        return scaled / temperature
    factor = torch.ones(scaled.shape[-3], 1, 1)
    factor[head] = temperature
    return scaled / factor


def _near(allowed: Tensor, window: int) -> Tensor:
    return allowed & torch.ones_like(allowed).triu(1 - window)


def _emptied(weights: Tensor, where: tuple[int, int]) -> Tensor:
    """A row whose only key was cut has nothing to share out: zeros, as of any row without an allowed key."""
    row = weights[(..., *where, slice(None))]
    return _put(weights, (*where, slice(None)), 0.0) if row.isnan().all() else weights


def _put(value: Tensor, where: tuple[int | slice, int | slice, int | slice], number: float) -> Tensor:
    value = value.clone()
    value[(..., *where)] = number
    return value
