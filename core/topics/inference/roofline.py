"""Reading against writing: what one pass computes, what it must fetch, and how fast this machine really is at it.

The roofline (Williams, Waterman & Patterson 2009): a pass that does I FLOPs for every byte it fetches cannot be faster
than min(peak, I · bandwidth). Both limits of this machine are measured; those of GPUs are their data sheets'.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from core import costs
from core.cache import Cache
from core.config import ModelConfig
from core.lab import subject
from core.topics.inference.writing import FLOAT, alone_here, token_bytes, work

RUNS = 5  # behind one time; the middle one counts
READ = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # tokens of a text, all at once
READERS = (1, 2, 4, 8, 16, 32, 64)  # texts that are written at once, one token each
HELD = 128  # tokens each of them has in its cache
SIDE = 1024  # of the square matrices whose product tells the peak
COPIED = 2**24  # numbers, 64 MB: more than a processor keeps near by

Kind = Literal["read", "write"]


@dataclass(frozen=True)
class Point:
    """One pass. tokens: new ones, all at once (read) or one for each reader (write). flops, bytes: of the pass."""

    kind: Kind
    tokens: int
    flops: float
    bytes: float
    seconds: float

    @property
    def intensity(self) -> float:
        """FLOPs for every byte that is fetched."""
        return self.flops / self.bytes

    @property
    def speed(self) -> float:
        """FLOPs a second."""
        return self.flops / self.seconds

    @property
    def rate(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds


@dataclass(frozen=True)
class Roof:
    """What a machine can do at most. peak: FLOPs a second; bandwidth: bytes a second."""

    peak: float
    bandwidth: float

    @property
    def ridge(self) -> float:
        """FLOPs a byte from which on computing, and no longer fetching, sets the time."""
        return self.peak / self.bandwidth

    def at(self, intensity: float) -> float:
        """FLOPs a second at most."""
        return min(self.peak, intensity * self.bandwidth)


@dataclass(frozen=True)
class Measured:
    """The roof of this machine and the points under it."""

    roof: Roof
    points: tuple[Point, ...]

    def of(self, kind: Kind) -> tuple[Point, ...]:
        return tuple(point for point in self.points if point.kind == kind)


# ---- counted ----


def spent(config: ModelConfig, kind: Kind, tokens: int) -> tuple[float, float]:
    """(FLOPs, bytes) of one pass: every weight that is multiplied is fetched once, and every cache; what is read
    leaves its keys and values behind. What passes from layer to layer is small beside it and not counted."""
    weights = costs.read_by_step(config, tokens) * FLOAT
    if kind == "read":
        return float(work(config, (tokens,)).whole[0]), weights + tokens * token_bytes(config)
    each = float(work(config, (HELD + 1,)).cached[0])
    return tokens * each, weights + tokens * (HELD + 1) * token_bytes(config)


# ---- measured ----


def _middle(act: Callable[[], object], runs: int = RUNS) -> float:
    """Seconds: the middle of some runs, after one that warms up."""
    taken = []
    for _run in range(runs + 1):
        begin = time.perf_counter()
        act()
        taken.append(time.perf_counter() - begin)
    return float(np.median(taken[1:]))


def roof() -> Roof:
    """A product of two square matrices, and a copy that is read and written."""
    square, long = torch.ones(SIDE, SIDE), torch.ones(COPIED)
    to = torch.empty_like(long)
    return Roof(2 * SIDE**3 / _middle(lambda: square @ square), 2 * FLOAT * COPIED / _middle(lambda: to.copy_(long)))


@torch.inference_mode()
def measure(name: str, run: int = 0) -> Measured:
    """run: counts the measurements, so that each is made anew. One at a time: they would slow each other down."""
    model = subject.model(name)
    config = model.config
    ids = torch.arange(max(READ)) % min(200, config.vocab_size)
    points: list[Point] = []
    with alone_here():
        top = roof()
        for n in (n for n in READ if n <= config.context):
            seconds = _middle(lambda n=n: model.predict(Cache(model).read(ids[:n])))
            points.append(Point("read", n, *spent(config, "read", n), seconds))
        held = min(HELD, config.context - 1)
        for readers in READERS:
            cache = Cache(model)
            cache.read(ids[None, :held])
            cache.take(torch.zeros(readers, dtype=torch.long))

            def step(cache: Cache = cache, readers: int = readers) -> None:
                model.predict(cache.read(ids[:1].expand(readers, 1)))
                cache.back_to(held)

            points.append(Point("write", readers, *spent(config, "write", readers), _middle(step)))
    return Measured(top, tuple(points))


def gpus() -> dict[str, Roof]:
    """name -> what its data sheet promises, dense bf16."""
    return {one.name: Roof(one.speed, one.bandwidth) for one in costs.DEVICES.values()}
