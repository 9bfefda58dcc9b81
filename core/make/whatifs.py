"""Train the two look-ups of the exam's what-ifs and write their curves: some minutes."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch.optim import Adam

from core.make.fit import fit
from core.nets import lookups as lk


def scaled(seed: int, *, scaling: bool, steps: int = lk.STEPS) -> list[list[float]]:
    """One head with d_k = 512 from nothing: at every step of SEEN its MEASURES, before that step is taken."""
    w_q, w_k, generator = lk.drawn(seed)
    optimizer, found = Adam([w_q, w_k], lk.RATE), []
    for step in range(steps + 1):
        keys, query, asked = lk.task(generator)
        weights = lk.looked_up(w_q, w_k, keys, query, scaling=scaling)
        loss = lk.squared_error(weights, asked)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if step in lk.SEEN and w_q.grad is not None:
            right = (weights.argmax(-1) == asked).float().mean()
            dead = (weights.topk(2).values[:, 1:].sum(-1) < lk.DEAD).float().mean()
            found.append([float(right), float(loss.detach()), float(w_q.grad.norm()), float(dead)])
        optimizer.step()
    return found


def two(seed: int, heads: int, steps: int = lk.TWO_STEPS) -> tuple[list[float], list[float]]:
    """A net for two letters from nothing: the share of new texts with both right along the way, and where head 0 looks."""
    weights, generator = lk.two_drawn(seed), torch.Generator().manual_seed(1000 + seed)
    optimizer, right = Adam(list(weights.values()), lk.TWO_RATE), []
    tested = lk.two_task(torch.Generator().manual_seed(9), 2000)

    def loss() -> torch.Tensor:
        letters, marks, asked = lk.two_task(generator)
        return F.cross_entropy(lk.two_read(weights, letters, marks, heads)[0].flatten(0, 1), asked.flatten())

    for _seen in range(0, steps + 1, lk.TWO_EVERY):
        with torch.no_grad():
            said, looks = lk.two_read(weights, tested[0], tested[1], heads)
        right.append(float((said.argmax(-1) == tested[2]).all(-1).float().mean()))
        if len(right) * lk.TWO_EVERY <= steps:
            fit(loss, optimizer, lk.TWO_EVERY)
    return right, [float(looks[:, 0][tested[1] == mark].mean()) for mark in (1, 2)]


def make() -> None:
    """Train everything and write the file that `core.nets.lookups` reads."""
    one = np.array([[scaled(seed, scaling=on) for seed in lk.SEEDS] for on in (True, False)], np.float32)
    for on, runs in zip(("scaled", "not scaled"), one, strict=True):
        print(on, *(f"{step}: {runs.mean(0)[lk.SEEN.index(step)].round(3)}" for step in (0, 50, 100, 200, 400)))
    both = [[two(seed, heads) for seed in lk.SEEDS] for heads in lk.HEADS]
    right = np.array([[run[0] for run in runs] for runs in both], np.float32)
    print(lk.parameters(), *(f"{heads}: {runs[:, -1]}" for heads, runs in zip(lk.HEADS, right, strict=True)))
    marked = np.array([run[1] for run in both[0]], np.float32)
    np.savez_compressed(lk.FILE, scaled=one, two=right, marked=marked)
