"""Train small stacks whose norms stand in different places, and record what they learn: about six minutes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.make.places import story_letters
from core.nets import stacks
from core.nets.stacks import PROBED, READ, SEEDS, Plan, Weights
from core.topics.norms import switches
from core.topics.norms.switches import Way

TEXTS = 8  # a step
BETAS = (0.9, 0.999)
TINY = 1e-8
DRAWS, FOLLOWED = 400, 48  # gradients of unmoved weights, and of how many weights


class Adam:
    """Kingma and Ba 2015 (arXiv 1412.6980, algorithm 1), each run at a rate of its own."""

    def __init__(self, weights: Weights) -> None:
        self.weights, self.t = weights, 0
        self.first = {name: torch.zeros_like(w) for name, w in weights.items()}
        self.second = {name: torch.zeros_like(w) for name, w in weights.items()}

    @torch.no_grad()
    def step(self, rates: Tensor) -> Tensor:
        """rates: (run,). Returns (run,): of the weights that have a gradient, how many moved by 99 % of the rate or more."""
        self.t += 1
        full, every = torch.zeros(len(rates)), torch.zeros(len(rates))
        for name, weight in self.weights.items():
            if weight.grad is None:
                continue
            first = self.first[name].lerp_(weight.grad, 1 - BETAS[0])
            second = self.second[name].lerp_(weight.grad.square(), 1 - BETAS[1])
            size = (second / (1 - BETAS[1] ** self.t)).sqrt() + TINY
            move = first / (1 - BETAS[0] ** self.t) / size
            weight -= rates.view(-1, 1, 1) * move
            full += (move.abs() > 0.99).flatten(1).sum(1)
            every += (weight.grad != 0).flatten(1).sum(1)
            weight.grad = None
        return full / every


def probe(plan: Plan, weights: Weights, texts: Tensor) -> Tensor:
    """(3, run) on texts that are never learned: the gradient below the first block and above the last, and how alike
    the letters of a text have become after the last block (mean cosine of all pairs)."""
    passed = stacks.stream(plan, weights, texts[..., :-1])
    below, above = torch.autograd.grad(
        stacks.loss(plan, weights, passed[-1], texts[..., 1:]).sum(), [passed[0], passed[-1]]
    )
    sizes = [g.flatten(1).norm(dim=1) for g in (below, above)]
    return torch.stack([*sizes, stacks.alike(passed[-1].detach(), texts.shape[1])])


def train(plan: Plan, letters: Tensor, rate: float, warm_ups: tuple[int, ...], steps: int) -> dict[str, np.ndarray]:
    """Every seed with every warm-up, side by side. Returns loss (warm_up, seed, bin), first (warm_up, seed): the
    share of the weights that the first step moves in full, and probe (3, warm_up, seed, place of PROBED)."""
    shape = len(warm_ups), len(SEEDS)
    weights = stacks.drawn(plan, seeds=SEEDS * len(warm_ups))
    moving, rooms = Adam(weights), [torch.Generator().manual_seed(77 + seed) for seed in SEEDS]
    warm = torch.tensor(warm_ups).repeat_interleave(len(SEEDS)).float()
    unseen = pieces(letters[: len(letters) // 20], [torch.Generator().manual_seed(5)] * len(SEEDS), 4)
    history, probed, shares, learned = [], [], [], letters[len(letters) // 20 :]
    for t in range(1, steps + 1):
        rows = pieces(learned, rooms, TEXTS).repeat(len(warm_ups), 1, 1)
        if t in PROBED:
            probed.append(probe(plan, weights, unseen.repeat(len(warm_ups), 1, 1)))
        losses = stacks.loss(plan, weights, stacks.stream(plan, weights, rows[..., :-1])[-1], rows[..., 1:])
        losses.sum().backward()
        history.append(losses.detach())
        shares.append(moving.step(rate * torch.where(warm > 0, (t / warm.clamp(min=1)).clamp(max=1), 1.0)))
    return {
        "loss": torch.stack(history, -1).view(*shape, -1, stacks.BIN).mean(-1).numpy(),
        "first": shares[0].view(shape).numpy(),
        "probe": torch.stack(probed, -1).view(3, *shape, -1).numpy(),
    }


def pieces(letters: Tensor, rooms: list[torch.Generator], n: int) -> Tensor:
    """(run, n, READ + 1): cut out at random places, every run by its own generator."""
    starts = torch.stack([torch.randint(len(letters) - READ, (n, 1), generator=room) for room in rooms])
    return letters[starts + torch.arange(READ + 1)]


def unmoved(plan: Plan, letters: Tensor) -> np.ndarray:
    """(DRAWS, FOLLOWED): the gradients of some first weights, batch after batch; each weight's root mean square is one."""
    weights, rooms = stacks.drawn(plan, seeds=SEEDS[:1]), [torch.Generator().manual_seed(9)]
    maps = [w for name, w in weights.items() if name[0].isdigit() and "norm" not in name]
    places = [
        (i % len(maps), int(torch.randint(maps[i % len(maps)].numel(), (1,), generator=rooms[0])))
        for i in range(FOLLOWED)
    ]
    found = []
    for _ in range(DRAWS):
        rows = pieces(letters, rooms, TEXTS)
        loss = stacks.loss(plan, weights, stacks.stream(plan, weights, rows[..., :-1])[-1], rows[..., 1:]).sum()
        gradients = torch.autograd.grad(loss, maps)
        found.append(torch.stack([gradients[i].flatten()[at] for i, at in places]))
    every = torch.stack(found)
    return (every / every.square().mean(0).sqrt()).numpy().astype(np.float16)


def knowing(letters: Tensor) -> list[float]:
    """Nats a letter of one who knows how often each letter comes, and of one who knows what follows each letter."""
    pairs = torch.zeros(len(stacks.LETTERS), len(stacks.LETTERS)).index_put_(
        (letters[:-1], letters[1:]), torch.ones(len(letters) - 1), accumulate=True
    )
    share, follows = pairs / pairs.sum(), pairs / pairs.sum(1, keepdim=True).clamp(min=1)
    alone = share.sum(0)
    return [-float((p * log.clamp(min=1e-30).log()).sum()) for p, log in ((alone, alone), (share, follows))]


def untrained() -> dict[str, np.ndarray]:
    """What comes down through stacks of every depth and batch, how large the stream is and how alike its letters.

    down: (arrangement, depth, place, seed), gradients, NaN above the top; batch: (arrangement, batch, place, seed).
    size, alike: (arrangement, place, seed).
    """
    deepest, some = stacks.DEEPEST, stacks.BATCH_DEPTH
    down = np.full((len(stacks.ARRANGED), deepest, deepest + 1, len(SEEDS)), np.nan)
    found: dict[str, list[np.ndarray]] = {"size": [], "alike": [], "batch": []}
    for i, plan in enumerate(stacks.ARRANGED.values()):
        deep = replace(plan, depth=deepest)
        weights = stacks.drawn(deep, kind=torch.float64)
        rows = stacks.texts(stacks.TEXTS).expand(len(SEEDS), -1, -1)
        passed = stacks.stream(deep, weights, rows[..., :-1])
        for depth in range(1, deepest + 1):
            down[i, depth - 1, : depth + 1] = stacks.come_down(deep, weights, passed, rows[..., 1:], depth)
        found["size"].append(np.stack([x.detach().square().mean((1, 2)).sqrt() for x in passed]))
        found["alike"].append(np.stack([stacks.alike(x.detach(), stacks.TEXTS) for x in passed]))
        found["batch"].append(np.stack([_batch(deep, weights, n, some) for n in stacks.BATCHES]))
        print("untrained", list(stacks.ARRANGED)[i], flush=True)
    return {"down": _log(down)} | {
        name: _log(np.stack(rows)) if name != "alike" else np.stack(rows).astype(np.float16)
        for name, rows in found.items()
    }


def _batch(plan: Plan, weights: Weights, texts: int, depth: int) -> Tensor:
    rows = stacks.texts(texts).expand(len(SEEDS), -1, -1)
    passed = stacks.stream(replace(plan, depth=depth), weights, rows[..., :-1])
    return stacks.come_down(plan, weights, passed, rows[..., 1:], depth)


def _log(sizes: np.ndarray) -> np.ndarray:
    """Sizes over forty powers of ten in half the bytes: within 2 % of each."""
    return np.log10(sizes).astype(np.float16)


def make() -> None:
    """Measure, sample, train, store."""
    kept = untrained()
    stories = subject.stories()
    every = range(2 * subject.config().n_layers)
    np.savez_compressed(
        switches.LOSSES,
        ways=[switches.story_loss(way, stories) for way in switches.WAYS.values()],
        strengths=np.array([switches.story_loss(Way(skip=s), stories) for s in switches.STRENGTHS], np.float32),
        one_off=np.array([switches.story_loss(Way(off=i), stories) for i in every], np.float32),
    )
    letters = torch.cat(story_letters(parts=1))
    print(len(letters), "letters to learn from", flush=True)
    kept["knowing"] = np.array(knowing(letters), np.float32)
    kept["moments"] = unmoved(stacks.LEARNERS["post"], letters)
    for name in stacks.WARMED:
        found = train(stacks.LEARNERS[name], letters, stacks.WARMED_RATE, stacks.WARM_UPS, stacks.WARMED_STEPS)
        kept |= {f"warmed_{name}_{what}": rows.astype(np.float32) for what, rows in found.items()}
        print(name, found["loss"][..., -2:].mean(-1).round(2).tolist(), flush=True)
    for name, plan in stacks.LEARNERS.items():
        found = train(plan, letters, stacks.LEARN_RATE, (0,), stacks.LEARNED)
        kept |= {
            f"learner_{name}_{what}": rows[:, 0] if what == "probe" else rows[0]
            for what, rows in found.items()
            if what != "first"
        }
        print(name, found["loss"][0, :, -2:].mean(-1).round(2).tolist(), flush=True)
    np.savez_compressed(stacks.FILE, **kept)
