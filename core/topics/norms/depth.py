"""What comes down through a deep stack: the gradient block by block, with and without skips and norms.

Before any training, on stacks of core.nets.stacks, recorded for every depth and three seeds; and, live, through the
blocks of a trained model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.text import Text
from core.nets import stacks
from core.trace import SILENT, Quantity, Trace

SPREAD = Quantity(
    "spread", "frame d_model", r"\sigma(I + J)", "By how much a block with its skip stretches each of its directions."
)
DEPTHS = tuple(range(1, stacks.DEEPEST + 1))
SLOPES = tuple(k / 20 for k in range(-40, 41))  # f' of one part, -2 to 2
BLOCKS = 32  # of equal factors
SIZES = tuple(k / 20 for k in range(45))  # of J's largest stretch, 0 to 2.2
WIDE = 64


@dataclass(frozen=True)
class Profile:
    """By height in the stack, one frame a depth: low, middle and high of three seeds, (depth, arrangement, place).

    kind "down": the gradient, that at the top of the same stack = 1; "size": the stream's root mean square; "alike":
    the mean cosine of two letters of a text. NaN above the top.
    """

    low: np.ndarray
    middle: np.ndarray
    high: np.ndarray


def profile(kind: str) -> Profile:
    """Of every arrangement in stacks.ARRANGED, at every depth of DEPTHS."""
    rows = stacks.recorded()[kind].astype(np.float64)
    if kind == "down":
        tops = np.stack([rows[:, depth - 1, depth] for depth in DEPTHS], 1)
        rows = 10 ** (rows - tops[:, :, None])
    else:
        rows = rows if kind == "alike" else 10**rows
        above = np.arange(rows.shape[1])[None, :] > np.array(DEPTHS)[:, None]
        rows = np.where(above[None, :, :, None], np.nan, rows[:, None])
    rows = rows.swapaxes(0, 1)
    return Profile(rows.min(-1), np.median(rows, -1), rows.max(-1))


def bottom(found: Profile) -> np.ndarray:
    """(depth, arrangement, 3): low, middle and high of what is left at the bottom."""
    return np.stack([part[:, :, 0] for part in (found.low, found.middle, found.high)], -1)


def batches() -> np.ndarray:
    """(batch, arrangement, place): the gradient itself, middle of three seeds, at stacks.BATCH_DEPTH blocks."""
    rows = np.median(10 ** stacks.recorded()["batch"].astype(np.float64), -1)
    return rows.swapaxes(0, 1)


def gradients(plan: stacks.Plan, texts: int, seeds: tuple[int, ...] = stacks.SEEDS) -> np.ndarray:
    """(depth + 1, seed): the same computed now, for one plan; a second for three nets of 64 blocks."""
    weights = stacks.drawn(plan, seeds=seeds, kind=torch.float64)
    rows = stacks.texts(texts).expand(len(seeds), -1, -1)
    passed = stacks.stream(plan, weights, rows[..., :-1])
    return stacks.come_down(plan, weights, passed, rows[..., 1:], plan.depth).numpy()


# ---- one number a block ----


def products() -> np.ndarray:
    """(slope, 2, block): what is left of a gradient after 0 to BLOCKS equal parts of slope f', without a skip, |f'|^n,
    and with one, |1 + f'|^n."""
    slopes = np.array(SLOPES)[:, None, None]
    factors = np.concatenate([np.abs(slopes), np.abs(1 + slopes)], 1)
    return factors ** np.arange(BLOCKS + 1)


# ---- many numbers a block ----


def stretches(seed: int = 0, *, trace: Trace = SILENT) -> np.ndarray:
    """(size, 2, WIDE): singular values, largest first, of J and of I + J; J is random, its largest is the size."""
    drawn = torch.randn(WIDE, WIDE, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    unit = drawn / torch.linalg.matrix_norm(drawn, 2)
    alone = torch.tensor(SIZES, dtype=torch.float64)[:, None, None] * unit
    with_skip = trace(SPREAD, torch.linalg.svdvals(torch.eye(WIDE, dtype=torch.float64) + alone))
    return torch.stack([torch.linalg.svdvals(alone), with_skip], 1).numpy()


@dataclass(frozen=True)
class Through:
    """The gradient of minus the log of the answer's probability on the stream, at every height of a trained model.

    sizes: (height,); cosines: (height,) with the gradient at the top; rest: (height,) what the blocks above added to
    that one, in lengths of it. All over every token. The plain copy alone would be 1, 1, 0 (in lengths of the top).
    """

    answer: int
    sizes: np.ndarray
    cosines: np.ndarray
    rest: np.ndarray


def through(text: Text) -> Through:
    """By autograd, one pass up and one down."""
    model = subject.model(text.subject)
    ids = torch.tensor(text.ids)
    with torch.enable_grad():
        passed = _passed(text, ids)
        said = model.predict(passed[-1]).log_softmax(-1)
        answer = int(said.argmax())
        found = torch.autograd.grad(-said[answer], passed)
    every = torch.stack([one.flatten() for one in found])
    top = every[-1]
    return Through(
        answer,
        every.norm(dim=-1).numpy(),
        torch.cosine_similarity(every, top[None], -1).numpy(),
        ((every - top).norm(dim=-1) / top.norm()).numpy(),
    )


def _passed(text: Text, ids: Tensor) -> list[Tensor]:
    """The stream before the first block and after every block, each open to gradients."""
    model = subject.model(text.subject)
    x = model.embed(ids)
    if model.pos_embed is not None:
        x = x + model.pos_embed.weight[: len(ids)]
    turn, allowed = model.surroundings(len(ids))
    passed = [x.detach().requires_grad_()]
    for block in model.blocks:
        passed.append(block(passed[-1], turn, allowed))
    return passed
