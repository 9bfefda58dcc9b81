"""Record how many neurons a token needs, on texts that the embedded model writes itself: a quarter of an hour."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.lab import subject
from core.make.healed import sampled
from core.topics.feedforward.needed import (
    FILE,
    GRAINS,
    RULES,
    columns,
    edits,
    energy,
    grouped,
    importance_ranks,
    sizes,
)
from core.watch import overhear
from core.whatif import Edit, WhatIf

TEXTS, LENGTH, SEED = 200, 192, 0
FIT, LEARN, HELD = slice(0, 60), slice(0, 60), slice(180, 200)
PART, EVERY, ROUNDS = 10, 4, 8
Pair = tuple[Tensor, Tensor]


@torch.inference_mode()
def loss(ids: Tensor, made: list[Edit]) -> float:
    """Nats a token over texts of one length."""
    model, nats = subject.model(), []
    for part in ids.split(PART):
        logits = model.read_out(model.stream(part[:, :-1], trace=WhatIf(made)))
        nats.append(F.cross_entropy(logits.flatten(0, 1), part[:, 1:].flatten(), reduction="none"))
    return float(torch.cat(nats).mean())


@torch.inference_mode()
def seen(ids: Tensor, b: int) -> Pair:
    """What enters the FFN of block b and what leaves its bend, token after token."""
    x: list[Tensor] = []
    a: list[Tensor] = []
    for part in ids.split(PART):
        watch = WhatIf([(f"block{b}.norm2", overhear(x)), (f"block{b}.ffn_act", overhear(a))])
        subject.model().stream(part, until=b + 1, trace=watch)
    return torch.cat(x)[:, 1:].flatten(0, 1), torch.cat(a)[:, 1:].flatten(0, 1)  # <s> is left out


def balanced(x: Tensor, n: int, seed: int = 0) -> Tensor:
    """(neuron,): n groups of one size of neurons that act together, by k-means with full groups closed to the rest."""
    room, generator = len(x) // n, torch.Generator().manual_seed(seed)
    x = F.normalize(x, dim=1)
    centres = x[torch.randperm(len(x), generator=generator)[:n]].clone()
    labels = torch.full((len(x),), -1)
    for _ in range(ROUNDS):
        near = x @ centres.T
        best = near.topk(min(2, n), dim=1).values
        wanted, left = near.argsort(dim=1, descending=True).tolist(), [room] * n
        for i in (best[:, 0] - best[:, -1]).argsort(descending=True).tolist():
            group = next(g for g in wanted[i] if left[g])
            left[group] -= 1
            labels[i] = group
        centres = F.normalize(torch.stack([x[labels == g].mean(0) for g in range(n)]), dim=1)
    return labels


def grain(size: int, pairs: list[Pair], lengths: Tensor) -> tuple[np.ndarray, Tensor]:
    """Groups of one size in every block, (block, d_ff), and a linear router for them, (block, d_model + 1, group)."""
    groups, routers = [], []
    for (x, a), long in zip(pairs, lengths, strict=True):
        n = len(long) // size
        own = torch.arange(len(long)) if size == 1 else balanced((a * long).abs()[::EVERY].T.contiguous(), n)
        x1 = torch.cat([x, torch.ones(len(x), 1)], 1)
        wrote = energy(a * long, own, n).sqrt()
        routers.append(torch.linalg.solve(x1.T @ x1 + torch.eye(x1.shape[1]), x1.T @ wrote))
        groups.append(own)
    return torch.stack(groups).numpy(), torch.stack(routers)


@torch.inference_mode()
def make() -> None:
    """Sample, measure, store."""
    ids, model = sampled(TEXTS, LENGTH, SEED), subject.model()
    held, lengths, d_ff = ids[HELD], columns(model), model.config.d_ff
    fit = [seen(ids[FIT], b)[1] * long for b, long in enumerate(lengths)]
    order = importance_ranks(torch.stack([wrote.square().mean(0) for wrote in fit]))
    print("untouched", loss(held, []), flush=True)
    table = [[loss(held, edits(model, rule, torch.tensor(k), order)) for k in sizes(d_ff)] for rule in RULES]
    for k, row in zip(sizes(d_ff), zip(*table, strict=True), strict=True):
        print(k, *(f"{x:.3f}" for x in row), flush=True)
    pairs = [seen(ids[LEARN], b) for b in range(len(lengths))]
    groups, by_grain = [], []
    for size in GRAINS:
        own, routers = grain(size, pairs, lengths)
        half = d_ff // size // 2
        by_grain.append([loss(held, grouped(model, own, half)), loss(held, grouped(model, own, half, routers))])
        groups.append(own)
        print("groups of", size, by_grain[-1], flush=True)
    arrays = dict(order=order, groups=np.stack(groups), texts=held.numpy())
    kept = {name: one.astype(np.uint16) for name, one in arrays.items()}
    np.savez_compressed(FILE, losses=np.float32(table), grains=np.float32(by_grain).T, **kept)
