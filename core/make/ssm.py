"""Train the two nets that remember a marked letter: ten seconds on one thread."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor

from core.nets.ssm import FILE, KINDS, LETTERS, TESTED, TRAINED, Ssm, run

STEPS, SIZE, RATE = 1500, 64, 3e-3


def data(texts: int, n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(text, letter, class + 1) letters at random, one of them marked; (text,) which one it was."""
    letters = torch.randint(0, len(LETTERS), (texts, n), generator=generator)
    marked = torch.randint(0, n, (texts,), generator=generator)
    mark = F.one_hot(marked, n).float()[..., None]
    return torch.cat([F.one_hot(letters, len(LETTERS)).float(), mark], -1), letters[torch.arange(texts), marked]


def train(kind: str, seed: int = 0, steps: int = STEPS) -> Ssm:
    """A net from nothing."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = Ssm(kind == "selective")
    optimizer, generator = torch.optim.Adam(net.parameters(), RATE), torch.Generator().manual_seed(seed)
    for _ in range(steps):
        texts, asked = data(SIZE, TRAINED, generator)
        loss = F.cross_entropy(run(net, texts).said, asked)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    return net


@torch.no_grad()
def tested(net: Ssm, n: int) -> float:
    """The share of 1,000 texts of n letters in which the net names the marked one."""
    texts, asked = data(1000, n, torch.Generator().manual_seed(1000 + n))
    return float((run(net, texts).said.argmax(-1) == asked).float().mean())


def make() -> None:
    """Train both, test them, write the file that `core.nets.ssm` reads."""
    stored = {}
    for kind in KINDS:
        net = train(kind)
        found = [tested(net, n) for n in TESTED]
        print(kind, sum(p.numel() for p in net.parameters()), dict(zip(TESTED, found, strict=True)))
        stored |= {f"{kind}.{name}": value.detach().contiguous() for name, value in net.state_dict().items()}
        stored[f"accuracy_{kind}"] = torch.tensor(found)
    FILE.parent.mkdir(parents=True, exist_ok=True)
    save_file(stored, FILE)
