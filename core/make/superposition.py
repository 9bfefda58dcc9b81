"""Train the nets that pack five features into two numbers, all chances as one batch: some minutes on one thread.

Eight nets for each chance begin at random. Five of those found are then trained on at every chance, so that neighbours
have one arrangement where several are equally good: the picture shall not jump for no reason.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from core.nets.packed import CHANCES, FEATURES, FILE, IMPORTANCE, NUMBERS, keeping_two, read_back

SEEDS, STEPS, BATCH, RATE, TESTED = 8, 5000, 256, 3e-3, 100_000
ANCHORS, MORE = (2, 14, 26, 38, 46), 3000  # the chances whose best nets are trained on, and for how long
ALIKE = 1.06  # nets whose error is within so much of the best one's count as equally good


def drawn(chances: Tensor, samples: int, nets: int, generator: torch.Generator) -> Tensor:
    """chances: (chance,). Returns (chance, net, sample, feature): from 0 to 1 where a feature is on, else 0."""
    shape = (len(chances), nets, samples, FEATURES)
    on = torch.rand(shape, generator=generator) < chances[:, None, None, None]
    return torch.rand(shape, generator=generator) * on


def errors(w: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """(chance, net): the mean squared error, each feature by its importance."""
    return (torch.tensor(IMPORTANCE) * (read_back(w, b, x) - x).square()).mean((-1, -2))


def train(w: Tensor, b: Tensor, steps: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """w: (chance, net, number, feature), b: (chance, net, feature). The same after so many steps."""
    w, b, chances = w.clone().requires_grad_(True), b.clone().requires_grad_(True), torch.tensor(CHANCES)
    optimizer = torch.optim.Adam([w, b], lr=RATE)
    slower = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: min(1.0, 0.1 + 2.25 * (1 - k / steps)))
    for _ in range(steps):
        found = errors(w, b, drawn(chances, BATCH, w.shape[1], generator))
        optimizer.zero_grad()
        (found / chances[:, None]).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        slower.step()
    return w.detach(), b.detach()


@torch.no_grad()
def tested(w: Tensor, b: Tensor, generator: torch.Generator) -> Tensor:
    """(chance, net): errors on fresh samples, the same ones for all nets of a chance."""
    chances = torch.tensor(CHANCES).split(1)  # type: ignore[no-untyped-call]
    return torch.cat(
        [errors(w[k : k + 1], b[k : k + 1], drawn(one, TESTED, 1, generator)) for k, one in enumerate(chances)]
    )


def turned(w: np.ndarray, to: np.ndarray) -> np.ndarray:
    """w turned, or mirrored, to lie as close to `to` as it can: W and RW say the same, for WᵀRᵀRW = WᵀW."""
    left, _sizes, right = np.linalg.svd(to @ w.T)
    found: np.ndarray = left @ right @ w
    return found


def smoothest(w: np.ndarray, losses: np.ndarray) -> list[int]:
    """Which net of each chance: of the good ones those that, one after the other, move least (Viterbi 1967).

    w: (chance, net, number, feature); losses: (chance, net).
    """
    good = [np.flatnonzero(row <= row.min() * ALIKE) for row in losses]
    cost, ways = np.zeros(len(good[0])), []
    for k in range(1, len(good)):
        steps = [[np.square(turned(w[k, j], w[k - 1, i]) - w[k - 1, i]).sum() for i in good[k - 1]] for j in good[k]]
        total = cost + np.array(steps)  # (this chance's net, the one before)
        ways.append(total.argmin(1))
        cost = total.min(1)
    path = [int(cost.argmin())]
    for way in reversed(ways):
        path.append(int(way[path[-1]]))
    return [int(nets[i]) for nets, i in zip(good, reversed(path), strict=True)]


def in_one_view(w: np.ndarray) -> np.ndarray:
    """w: (chance, number, feature). Each turned to lie close to the one before; in the first, feature 1 is the first
    number and feature 2 the second."""
    shown = [np.eye(NUMBERS, FEATURES, dtype=np.float32)]
    for one in w:
        shown.append(turned(one, shown[-1]))
    return np.stack(shown[1:])


def train_all(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(chance, net, number, feature) and (chance, net, feature): SEEDS from nothing, then those of ANCHORS trained on."""
    start = torch.randn(len(CHANCES), SEEDS, NUMBERS, FEATURES, generator=generator) * 0.5
    w, b = train(start, torch.zeros(len(CHANCES), SEEDS, FEATURES), STEPS, generator)
    at = list(ANCHORS)
    best = tested(w, b, generator)[at].argmin(1)
    begun_w, begun_b = (part[at, best].expand(len(CHANCES), *[-1] * (part.ndim - 1)) for part in (w, b))
    more_w, more_b = train(begun_w, begun_b, MORE, generator)
    return torch.cat([w, more_w], 1), torch.cat([b, more_b], 1)


def make() -> None:
    """Train, train on, choose, turn, write the file that `core.nets.packed` reads."""
    generator = torch.Generator().manual_seed(0)
    w, b = train_all(generator)
    write(w, b, tested(w, b, generator))


def write(w: Tensor, b: Tensor, losses: Tensor) -> None:
    """One net for each chance, all in one view."""
    at, chosen = np.arange(len(CHANCES)), smoothest(w.numpy(), losses.numpy())
    shown, found = in_one_view(w.numpy()[at, chosen]), losses.numpy()[at, chosen]
    for k in range(0, len(CHANCES), 4):
        lengths = np.linalg.norm(shown[k], axis=0).round(2)
        print(f"{CHANCES[k]:.3f}", lengths, f"{found[k] / keeping_two(CHANCES[k]):.3f}", flush=True)
    np.savez_compressed(
        FILE,
        w=shown.astype(np.float16),
        b=b.numpy()[at, chosen].astype(np.float16),
        error=found.astype(np.float32),
    )
