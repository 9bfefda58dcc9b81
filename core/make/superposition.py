"""Train the nets that pack five features into two numbers, all chances and eight seeds as one batch: a minute or two."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from core.nets.packed import CHANCES, FEATURES, FILE, IMPORTANCE, NUMBERS, read_back

SEEDS, STEPS, BATCH, RATE, TESTED = 8, 6000, 256, 3e-3, 20_000
ALIKE = 1.01  # seeds whose loss is within so much of the best one's count as equally good


def drawn(samples: int, seeds: int, generator: torch.Generator) -> Tensor:
    """(chance, seed, sample, feature): from 0 to 1 where a feature is on, else 0."""
    shape, chances = (len(CHANCES), seeds, samples, FEATURES), torch.tensor(CHANCES)[:, None, None, None]
    return torch.rand(shape, generator=generator) * (torch.rand(shape, generator=generator) < chances)


def errors(w: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """(chance, seed): the mean squared error, each feature by its importance."""
    return (torch.tensor(IMPORTANCE) * (read_back(w, b, x) - x).square()).mean((-1, -2))


def train(generator: torch.Generator, steps: int = STEPS) -> tuple[Tensor, Tensor]:
    """(chance, seed, number, feature) and (chance, seed, feature), from nothing."""
    w = (torch.randn(len(CHANCES), SEEDS, NUMBERS, FEATURES, generator=generator) * 0.5).requires_grad_(True)
    b = torch.zeros(len(CHANCES), SEEDS, FEATURES, requires_grad=True)
    optimizer = torch.optim.Adam([w, b], lr=RATE)
    slower = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: min(1.0, 0.1 + 2.25 * (1 - k / steps)))
    for _ in range(steps):
        found = errors(w, b, drawn(BATCH, SEEDS, generator))
        optimizer.zero_grad()
        (found / torch.tensor(CHANCES)[:, None]).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        slower.step()
    return w.detach(), b.detach()


def turned(w: np.ndarray, to: np.ndarray) -> np.ndarray:
    """w turned, or mirrored, to lie as close to `to` as it can: W and RW say the same, for WᵀRᵀRW = WᵀW."""
    left, _sizes, right = np.linalg.svd(to @ w.T)
    found: np.ndarray = left @ right @ w
    return found


def in_one_view(w: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(chance, number, feature) and which seed: of the good ones the one that lies closest to the chance before."""
    shown, chosen = [], []
    for nets, found in zip(w, losses, strict=True):
        good = np.flatnonzero(found <= found.min() * ALIKE)
        if not shown:
            good, views = good[:1], [nets[good[0]]]
        else:
            views = [turned(nets[i], shown[-1]) for i in good]
        best = int(np.argmin([np.abs(view - (shown or views)[-1]).sum() for view in views]))
        shown.append(views[best])
        chosen.append(int(good[best]))
    return np.stack(shown), np.array(chosen)


@torch.no_grad()
def make() -> None:
    """Train, choose, turn, write the file that `core.nets.packed` reads."""
    generator = torch.Generator().manual_seed(0)
    with torch.enable_grad():
        w, b = train(generator)
    x = drawn(TESTED, 1, generator)
    losses = errors(w, b, x)
    dropped = (torch.tensor(IMPORTANCE)[NUMBERS:] * x[..., NUMBERS:].square()).mean((1, 2)).sum(-1) / FEATURES
    shown, chosen = in_one_view(w.numpy(), losses.numpy())
    at = np.arange(len(CHANCES))
    share = losses.numpy()[at, chosen] / dropped.numpy()
    lengths = np.linalg.norm(shown, axis=1)
    for k in range(0, len(CHANCES), 4):
        print(f"{CHANCES[k]:.3f}", lengths[k].round(2), f"{share[k]:.3f}", flush=True)
    np.savez_compressed(
        FILE,
        w=shown.astype(np.float16),
        b=b.numpy()[at, chosen].astype(np.float16),
        loss=share.astype(np.float32),
    )
