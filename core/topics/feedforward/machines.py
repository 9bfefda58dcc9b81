"""Experts on four machines: what has to travel, who waits for whom; and many small products against one grouped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from core.nets import mixture as net
from core.topics.feedforward.mixture import routing

MACHINES, BLOCKS = 4, net.CONFIG.n_layers
BYTES = 2  # a number in bf16
TOKENS, WIDTH, HIDDEN = 512, 64, 64  # of the products that are timed
CROWDS = (8, 64, 256)  # how many experts they are split among
ROUNDS = 9


@dataclass(frozen=True)
class Demo:
    """homes: the machine of each expert; letters: spelled, shared out evenly among the machines, in order."""

    letters: str
    homes: tuple[int, ...] = (0, 0, 1, 1, 2, 2, 3, 3)
    kind: str = "aux"


@dataclass(frozen=True)
class Traffic:
    """sent: (from, to) letters of all blocks, there; each comes back too. work: (machine,) letters computed.

    crossing, moves: how many of all trips leave their machine; bytes: there and back; wait: the busiest machine's work
    against an even share: the step takes that many times as long.
    """

    sent: np.ndarray
    work: np.ndarray
    crossing: int
    moves: int
    bytes: int
    wait: float


def homes_of(letters: int) -> np.ndarray:
    """(letter,): the machine that holds each letter."""
    return np.arange(letters) * MACHINES // max(1, letters)


def traffic(demo: Demo) -> Traffic:
    """What travels when these letters go through both blocks once."""
    experts = routing(demo.kind, demo.letters).experts
    return _counted(experts, np.array(demo.homes))


def _counted(experts: np.ndarray, homes: np.ndarray) -> Traffic:
    start = np.broadcast_to(homes_of(experts.shape[1]), experts.shape)
    sent = np.zeros((MACHINES, MACHINES), int)
    np.add.at(sent, (start.ravel(), homes[experts].ravel()), 1)
    crossing, moves, work = int(sent.sum() - np.trace(sent)), int(sent.sum()), sent.sum(0)
    return Traffic(
        sent, work, crossing, moves, 2 * crossing * net.CONFIG.d_model * BYTES, float(work.max() / work.mean())
    )


def best(letters: str, kind: str = "aux") -> tuple[int, ...]:
    """The homes, two experts a machine, with the least that crosses for these letters: all 2,520 are tried."""
    experts = routing(kind, letters).experts
    start = np.broadcast_to(homes_of(experts.shape[1]), experts.shape)
    stays = np.zeros((net.EXPERTS, MACHINES), int)  # letters that would not travel, were this expert on this machine
    np.add.at(stays, (experts.ravel(), start.ravel()), 1)
    found = max(
        _assignments(tuple(range(net.EXPERTS))), key=lambda homes: sum(stays[e, m] for e, m in enumerate(homes))
    )
    return tuple(found)


def _assignments(experts: tuple[int, ...]) -> list[list[int]]:
    """Every way to put two experts on each machine, as lists of homes."""
    made: list[list[int]] = [[-1] * net.EXPERTS]
    for machine in range(MACHINES):
        grown = []
        for homes in made:
            free = [e for e in experts if homes[e] < 0]
            for pair in combinations(free, 2):
                grown.append([machine if e in pair else home for e, home in enumerate(homes)])
        made = grown
    return made


# ---- many small products, or one ----


@dataclass(frozen=True)
class Timed:
    """Median seconds of three ways to the same result: token by token, expert by expert, all in one grouped product."""

    experts: int
    by_token: float
    by_expert: float
    grouped: float
    gap: float


def by_token(x: Tensor, w: Tensor, to: Tensor) -> Tensor:
    """x: (token, d); w: (expert, d, f); to: (token,). One small product for each token."""
    return torch.stack([row @ w[e] for row, e in zip(x, to.tolist(), strict=True)])


def by_expert(x: Tensor, w: Tensor, to: Tensor) -> Tensor:
    """The tokens of an expert together: one product for each expert."""
    out = x.new_zeros(len(x), w.shape[-1])
    for e in range(len(w)):
        rows = (to == e).nonzero()[:, 0]
        if len(rows):
            out[rows] = x[rows] @ w[e]
    return out


def grouped(x: Tensor, w: Tensor, to: Tensor) -> Tensor:
    """Tokens sorted by expert into equal rows of seats, empty ones zero; then one product for all experts at once."""
    order = to.argsort()
    counts = torch.bincount(to, minlength=len(w))
    seat = torch.arange(len(x)) - (counts.cumsum(0) - counts)[to[order]]
    rows = x.new_zeros(len(w), int(counts.max()), x.shape[-1])
    rows[to[order], seat] = x[order]
    out = x.new_empty(len(x), w.shape[-1])
    out[order] = torch.bmm(rows, w)[to[order], seat]
    return out


@torch.inference_mode()
def timed(n_experts: int, rounds: int = ROUNDS) -> Timed:
    """All three, in turn in every round, so that whatever else the machine does falls on each alike."""
    draw = torch.Generator().manual_seed(0)
    x, w = torch.randn(TOKENS, WIDTH, generator=draw), torch.randn(n_experts, WIDTH, HIDDEN, generator=draw)
    to = torch.arange(TOKENS)[torch.randperm(TOKENS, generator=draw)] % n_experts
    ways: tuple[Callable[[Tensor, Tensor, Tensor], Tensor], ...] = (by_token, by_expert, grouped)
    made = [way(x, w, to) for way in ways]  # once without the clock
    taken = np.array([[_seconds(way, x, w, to) for way in ways] for _ in range(rounds)])
    gap = max(float((one - made[0]).abs().max()) for one in made)
    return Timed(n_experts, *(float(t) for t in np.median(taken, 0)), gap)


def _seconds(way: Callable[[Tensor, Tensor, Tensor], Tensor], *given: Tensor) -> float:
    begun = time.perf_counter()
    way(*given)
    return time.perf_counter() - begun
