"""Train small encoders on a map that has no rule, with positions and without: three minutes on one thread."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor

from core.nets.by_heart import DRAWN, FILE, KINDS, OPENED, SEEN, STEPS, WIDTHS, ByHeart, sequences, wanted

RATE = 3e-3


@torch.no_grad()
def asked(net: ByHeart) -> Tensor:
    """(sequence,): how many of its four symbols are right."""
    right: Tensor = net(sequences()).argmax(-1) == wanted()
    return right.sum(-1).to(torch.uint8)


def train(kind: str, width: int, steps: int = STEPS) -> tuple[ByHeart, Tensor]:
    """A net from nothing, and (step seen, sequence) how right it was along the way."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = ByHeart(width, kind == "positions")
    optimizer = torch.optim.Adam(net.parameters(), RATE)
    slower = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - 0.95 * step / STEPS)
    seen = []
    for step in range(steps + 1):
        if step in SEEN:
            seen.append(asked(net))
        loss = F.cross_entropy(net(sequences()).flatten(0, 1), wanted().flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if step < steps:
            optimizer.step()
            slower.step()
    return net, torch.stack(seen)


def make() -> None:
    """Train every width both ways, write the file that `core.nets.by_heart` reads."""
    stored: dict[str, Tensor] = {}
    for kind in KINDS:
        shares = []
        for width in WIDTHS:
            net, seen = train(kind, width)
            shares.append(seen.float().mean(-1) / sequences().shape[-1])
            print(kind, width, sum(p.numel() for p in net.parameters()), f"{float(shares[-1][-1]):.4f}", flush=True)
            if width == DRAWN[kind]:
                stored[f"of_four_{kind}"] = seen
            if width == OPENED:
                stored |= {f"{kind}.{name}": value.detach().contiguous() for name, value in net.state_dict().items()}
        stored[f"right_{kind}"] = torch.stack(shares)
    FILE.parent.mkdir(parents=True, exist_ok=True)
    save_file(stored, FILE)
