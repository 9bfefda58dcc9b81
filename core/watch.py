"""Observers: a trace that asks one thing of every tensor as it passes, and an edit that keeps what it sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from core.trace import Quantity, Trace


@dataclass(frozen=True)
class Line:
    """One arrow: what passed, where, and how large it was. rms over the finite numbers; NaN where there are none."""

    name: str  # "block0.scores"
    shape: tuple[int, ...]
    rms: float
    mean: float
    low: float
    high: float


class Watch(Trace):
    """A Trace that asks one thing of every tensor and keeps the answer. Any shape may pass."""

    def __init__(self, ask: Callable[[str, Tensor], Any]) -> None:
        super().__init__()
        self.ask = ask
        self.seen: list[Any] = []

    def __call__(self, quantity: Quantity, value: Tensor) -> Tensor:
        self.seen.append(self.ask(self._scope + quantity.name, value))
        return value

    def later(self, quantity: Quantity, make: Callable[[], Tensor]) -> None:
        self(quantity, make())


def overhear(kept: list[Any], part: Callable[[Tensor], Any] | None = None) -> Callable[[Tensor], Tensor]:
    """An edit for a WhatIf that changes nothing: every tensor that passes, or a part of it, is put at the end of `kept`."""

    def listen(value: Tensor) -> Tensor:
        kept.append(value if part is None else part(value))
        return value

    return listen


def line(name: str, value: Tensor) -> Line:
    """What a tensor is like. Whole numbers and masks have a shape and no size."""
    shape = tuple(value.shape)
    if value.is_meta or not value.is_floating_point():
        return Line(name, shape, *[float("nan")] * 4)
    real = value[value.isfinite()].double()
    if not real.numel():
        return Line(name, shape, *[float("nan")] * 4)
    return Line(
        name, shape, float(real.square().mean().sqrt()), float(real.mean()), float(real.min()), float(real.max())
    )
