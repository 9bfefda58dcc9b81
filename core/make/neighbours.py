"""Train the nets that name their two neighbours: about three minutes."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from core.nets.neighbours import DIGITS, FILE, HEADS, PLACES, SEEDS, Net, neighbours, scores

STEPS, AT_ONCE, RATE = 1500, 64, 5e-3


def train(n_heads: int, seed: int, steps: int = STEPS) -> Net:
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    net = Net(n_heads)
    moving = torch.optim.Adam(net.parameters(), lr=RATE)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(moving, steps)
    for _ in range(steps):
        digits = torch.randint(DIGITS, (AT_ONCE, PLACES), generator=generator)
        loss = F.cross_entropy(net(digits)[0].flatten(0, -2), neighbours(digits).flatten())
        moving.zero_grad()
        loss.backward()
        moving.step()
        falling.step()
    return net


def make() -> None:
    torch.set_num_threads(1)
    weights = {}
    for h in HEADS:
        for seed in SEEDS:
            weights |= {f"{h}.{seed}.{name}": w.half() for name, w in train(h, seed).state_dict().items()}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    save_file(weights, FILE)
    for h, row in zip(HEADS, scores(), strict=True):
        print(h, *(f"{x:.3f}" for x in row))
