"""Train the tiny mixtures of experts, with and without balancing, beside dense networks: about five minutes."""

from __future__ import annotations

import time

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor

from core.make.fit import drawn, fit
from core.make.places import pieces, story_letters
from core.model import Decoder
from core.moe import Mixture, balancing, load, nudged
from core.nets.mixture import (
    BALANCED,
    CAPACITIES,
    FILE,
    KINDS,
    LENGTH,
    SEEDS,
    SHIPPED,
    STEPS,
    STOPS,
    TEXTS,
    Kind,
    measured,
)
from core.watch import overhear
from core.whatif import WhatIf

SIZE, RATE, RECENT = 8, 3e-3, 5


def started(kind: Kind, generator: torch.Generator) -> Decoder:
    """Drawn like every net here, with routers that have hardly an opinion yet, and biases at zero."""
    made = drawn(kind.config, generator, embed=0.5)
    with torch.no_grad():
        for part in made.modules():
            if isinstance(part, Mixture):
                part.router.weight.normal_(std=0.1, generator=generator)
                part.bias.zero_()
                part.bias.requires_grad_(False)
    return made


def train(kind: Kind, letters: Tensor, seed: int, steps: int = STEPS) -> tuple[Decoder, list[float], Tensor]:
    """A model from nothing, its loss at every step, and its loads (step, block, expert)."""
    generator = torch.Generator().manual_seed(seed)
    made = started(kind, generator)
    moving = torch.optim.Adam([w for w in made.parameters() if w.requires_grad], lr=RATE, betas=(0.9, 0.99))
    rate = torch.optim.lr_scheduler.LambdaLR(moving, lambda t: min(1, (t + 1) / 20, (steps - t) / (0.3 * steps)))
    history, loads = [], []

    def loss() -> Tensor:
        rows = pieces(letters, SIZE, LENGTH + 1, generator)
        probs: list[Tensor] = []
        chosen: list[Tensor] = []
        trace = WhatIf([("block*.router_probs", overhear(probs)), ("block*.chosen", overhear(chosen))])
        logits = made.read_out(made.stream(rows[:, :-1], trace=trace))
        said = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        history.append(float(said.detach()))
        if not chosen:
            return said
        sent = [one.flatten(0, 1) for one in chosen]
        loads.append(torch.stack([load(one) for one in sent]))
        with torch.no_grad():
            for block, share in zip(made.blocks, loads[-1], strict=True):
                block.ffn.bias.copy_(nudged(block.ffn.bias, share, kind.rate))
        aux = sum(balancing(p.flatten(0, 1), s) for p, s in zip(probs, sent, strict=True)) / len(sent)
        return said + kind.aux * aux

    fit(loss, moving, steps, rate=rate)
    return made.requires_grad_(False), history, torch.stack(loads) if loads else torch.zeros(0)


def make() -> None:
    """Sample, train, measure, store."""
    stories = story_letters()
    kept_out = len(stories) // 8
    letters = torch.cat(stories[kept_out:])
    tests = pieces(torch.cat(stories[:kept_out]), TEXTS, LENGTH + 1, torch.Generator().manual_seed(1))
    kept: dict[str, Tensor] = {"texts": tests.to(torch.uint8)}
    print(len(letters), "letters to learn from", flush=True)
    for name, kind in KINDS.items():
        start, runs = time.time(), [train(kind, letters, seed) for seed in SEEDS]
        kept[f"history.{name}"] = torch.tensor([run[1] for run in runs]).half()
        kept[f"final.{name}"] = torch.tensor([measured(run[0], tests, None)[0] for run in runs])
        if name in SHIPPED:
            kept |= {f"{name}.{n}": w.half().contiguous() for n, w in runs[0][0].state_dict().items()}
        if kind.config.moe:
            recent = [torch.stack([run[2][max(0, s - RECENT) : s].mean(0) for s in STOPS]) for run in runs]
            kept[f"loads.{name}"] = torch.stack(recent).half()
        if name in BALANCED:
            found = torch.tensor([[measured(run[0], tests, c) for c in CAPACITIES] for run in runs])
            kept[f"capacity.{name}"], kept[f"dropped.{name}"] = found[..., 0].clone(), found[..., 1].clone()
            busiest = kept[f"loads.{name}"][:, :, 1].amax(-1).mean(0)
            print(name, "the busiest expert's share:", [f"{s}: {b:.2f}" for s, b in zip(STOPS, busiest, strict=True)])
        print(name, kept[f"final.{name}"], f"{time.time() - start:.0f} s", flush=True)
    FILE.parent.mkdir(exist_ok=True)
    save_file(kept, FILE)
