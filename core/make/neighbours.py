"""Train the nets that name their two neighbours, read linearly and through an FFN: a quarter of an hour."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor

from core.make.fit import fit
from core.nets.neighbours import DIGITS, FILE, HEADS, PLACES, READERS, SEEDS, Net, neighbours, scores

STEPS, AT_ONCE, RATE = 1500, 64, 5e-3


def train(n_heads: int, seed: int, steps: int = STEPS, reader: str = "linear") -> Net:
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    net = Net(n_heads, reader)
    moving = torch.optim.Adam(net.parameters(), lr=RATE)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(moving, steps)

    def loss() -> Tensor:
        digits = torch.randint(DIGITS, (AT_ONCE, PLACES), generator=generator)
        return F.cross_entropy(net(digits)[0].flatten(0, -2), neighbours(digits).flatten())

    fit(loss, moving, steps, rate=falling)
    return net


def make() -> None:
    torch.set_num_threads(1)
    weights = {}
    for reader in READERS:
        for h in HEADS:
            for seed in SEEDS:
                found = train(h, seed, reader=reader).state_dict()
                weights |= {f"{reader}.{h}.{seed}.{name}": w.half() for name, w in found.items()}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    save_file(weights, FILE)
    for reader in READERS:
        for h, row in zip(HEADS, scores(reader), strict=True):
            print(reader, h, *(f"{x:.3f}" for x in row))
