"""Train the nets that read a line off its points, and record how far off they are: about five minutes on one thread."""

from __future__ import annotations

import math

import torch
from safetensors.torch import save_file
from torch import Generator, Tensor

from core.make.fit import fit
from core.nets import line
from core.nets.line import GIVEN, MOST, RANGES, Layer, Reader, Tasks

LAYER_STEPS, LAYER_TASKS, LAYER_RATE = 4000, 512, 5e-3
STEPS, TASKS, RATE, WARM = 6000, 64, 1.5e-3, 200
TESTS = 4000  # lines on which the errors are measured


def train_layer(seed: int = 0, steps: int = LAYER_STEPS) -> Layer:
    """One linear layer from random maps: it is never told what gradient descent is."""
    generator = Generator().manual_seed(seed)
    maps = [(0.3 * torch.randn(line.WIDTH, line.WIDTH, generator=generator)).requires_grad_() for _ in "qkvp"]
    moving = torch.optim.Adam(maps, lr=LAYER_RATE)

    def loss() -> Tensor:
        one = line.tasks(LAYER_TASKS, GIVEN + 1, generator)
        return (by_layer(Layer(*maps), one, GIVEN) - one.f[:, GIVEN]).square().mean()

    falling = torch.optim.lr_scheduler.CosineAnnealingLR(moving, steps)
    fit(loss, moving, steps, rate=falling)
    return Layer(*(one.detach() for one in maps))


def by_layer(layer: Layer, one: Tasks, k: int) -> Tensor:
    """(task,): what the layer says of point k from the k before it; a layer that is given nothing adds nothing."""
    tokens = torch.cat([line.rows(one.x[:, :k], one.y[:, :k]), line.rows(one.x[:, k : k + 1])], -2)
    return line.linear_attention(layer, tokens.to(layer.q.dtype), k)[:, -1, -1] if k else torch.zeros(len(one.x))


def train_reader(seed: int = 0, steps: int = STEPS) -> Reader:
    """The decoder, asked after 0, 1, ... points in one pass."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made = Reader()
    generator, seen = Generator().manual_seed(seed), line.allowed(MOST, MOST, growing=True)
    moving = torch.optim.AdamW(made.parameters(), lr=RATE, weight_decay=0.0)

    def rate(step: int) -> float:
        return min(1.0, (step + 1) / WARM) * (0.02 + 0.49 * (1 + math.cos(math.pi * step / steps)))

    def loss() -> Tensor:
        one = line.tasks(TASKS, MOST, generator)
        return (made(one.x, one.y, one.x, seen) - one.y).square().mean()

    fit(loss, moving, steps, rate=torch.optim.lr_scheduler.LambdaLR(moving, rate), clip=1.0)
    return made.requires_grad_(False)


def ridge(one: Tasks, k: int, strength: float = line.NOISE**2) -> Tensor:
    """(task,): point k by ridge regression over the k before it. At the noise's variance no method does better."""
    x = line.rows(one.x)[..., :2].double()
    known = x[:, :k]
    gram = known.mT @ known + strength * torch.eye(2, dtype=x.dtype)
    weights = torch.linalg.solve(gram, (known * one.y[:, :k, None]).sum(1))
    return (x[:, k] * weights).sum(-1)


def one_step(one: Tasks, k: int) -> Tensor:
    """(task,): the same by one step of gradient descent from zero, at the rate that is best for these very tasks."""
    x = line.rows(one.x)[..., :2].double()
    if not k:
        return torch.zeros(len(x), dtype=x.dtype)
    said = ((x[:, :k] * one.y[:, :k, None]).mean(1) * x[:, k]).sum(-1)
    return said * (said @ one.f[:, k].double()) / (said @ said)


@torch.inference_mode()
def measured(reader: Reader, layer: Layer, reach: float, tests: int = TESTS) -> Tensor:
    """(way, point): mean squared distance to the line itself, after 0 to MOST - 1 points."""
    one = line.tasks(tests, MOST, Generator().manual_seed(9), reach=reach)
    read = reader(one.x, one.y, one.x, line.allowed(MOST, MOST, growing=True))
    said = [[read[:, k], ridge(one, k), by_layer(layer, one, k), one_step(one, k)] for k in range(MOST)]
    return torch.tensor(
        [[(w - one.f[:, k]).square().mean() for k, w in enumerate(way)] for way in zip(*said, strict=True)]
    )


def make() -> None:
    """Train both, measure them, write the file that `core.nets.line` reads."""
    layer, reader = train_layer(), train_reader()
    kept = {f"layer.{name}": getattr(layer, name).contiguous() for name in "qkvp"}
    kept |= {f"reader.{name}": weight.half().contiguous() for name, weight in reader.state_dict().items()}
    line.FILE.parent.mkdir(parents=True, exist_ok=True)
    save_file(kept, line.FILE)
    line._stored.cache_clear()
    for name, times in RANGES.items():
        kept[f"errors_{name}"] = measured(line.reader(), layer, times * line.REACH).float()
        print(
            name, *(f"{w}: {kept[f'errors_{name}'][i, [1, 3, 8, MOST - 1]].tolist()}" for i, w in enumerate(line.WAYS))
        )
    save_file(kept, line.FILE)
    line._stored.cache_clear()
