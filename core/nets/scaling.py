"""A scaling law of our own: seven nets that differ in size only, and letters whose entropy is known.

The letters are beginnings of stories that the embedded model draws from itself, so the nats a letter that it spends on
them are the loss of a perfect reader: no net can go below (but by luck of the texts). Every net reads as many letters.
`python -m core.make scaling` samples the stories, trains the seven in twenty minutes on one thread, and writes
assets/data/scaling.json: loss curves, and what each net writes; no weights.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from core.assets import ASSETS
from core.config import ModelConfig

FILE = ASSETS / "data" / "scaling.json"
OTHER = "□"  # stands for every sign that is not among the letters
LETTERS = "\n abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?'\"-:;" + OTHER
BEGIN = 0  # the new line that every text begins with
READ = 128  # letters a text
PLANS = ((4, 1, 1), (8, 1, 1), (16, 1, 2), (24, 2, 3), (40, 2, 5), (64, 2, 8), (96, 3, 12))  # width, blocks, heads
STEPS, TEXTS = 1000, 32  # of training: steps, and texts a step
LEVEL = 0.7  # of the steps go by before the learning rate comes down
MARKS = 33  # places of a curve


def config(i: int) -> ModelConfig:
    """Net i, smallest first: a decoder with RoPE, RMSNorm, GELU and a table that also reads out."""
    width, blocks, heads = PLANS[i]
    sizes = {"d_model": width, "n_layers": blocks, "n_heads": heads, "d_ff": 4 * width}
    return ModelConfig(**sizes, vocab_size=len(LETTERS), context=READ, ffn="gelu_tanh", tied=True)


def marks(steps: int = STEPS, places: int = MARKS, first: int = 10) -> tuple[int, ...]:
    """The steps after which the loss is measured: evenly apart in the logarithm, from `first` to the last."""
    return tuple(sorted({round(first * (steps / first) ** (k / (places - 1))) for k in range(places)}))


def written(ids: Tensor) -> str:
    """ids: (letter,) as text."""
    return "".join(LETTERS[i] for i in ids.tolist())


def spelled(piece: str) -> list[int]:
    """Any text as numbers below len(LETTERS); signs that are not letters become OTHER."""
    known = {letter: i for i, letter in enumerate(LETTERS)}
    return [known.get(sign, len(LETTERS) - 1) for sign in piece]


# ---- what was recorded ----


@dataclass(frozen=True)
class Net:
    """One net: its parameters; the steps at which it was measured; its loss there, nats a letter; what it writes."""

    width: int
    blocks: int
    heads: int
    parameters: int
    steps: tuple[int, ...]
    losses: tuple[float, ...]
    writes: tuple[str, ...]

    @property
    def level(self) -> int:
        """Places of the curve before the learning rate comes down: only there are nets compared midway."""
        return sum(step <= LEVEL * STEPS for step in self.steps)

    def read(self) -> Tensor:
        """(mark,) letters it had read at each place of the curve."""
        return torch.tensor(self.steps, dtype=torch.float64) * TEXTS * READ


@cache
def _stored() -> dict[str, Any]:
    held: dict[str, Any] = json.loads(FILE.read_text("utf8"))
    return held


def floor() -> float:
    """The source's own nats a letter, on the very texts that the losses are measured on."""
    return float(_stored()["floor"])


def alone() -> float:
    """Nats a letter of one who knows how often each letter comes, and nothing else."""
    return float(_stored()["alone"])


def different() -> int:
    """Letters that the nets learned from; each was read several times."""
    return int(_stored()["learned"])


def source_writes() -> tuple[str, ...]:
    """How texts of the source begin."""
    return tuple(_stored()["source"])


@cache
def nets() -> tuple[Net, ...]:
    """All seven, smallest first."""
    kept, steps = _stored(), marks()
    return tuple(
        Net(*plan, n, steps, tuple(losses), tuple(writes))
        for plan, n, losses, writes in zip(PLANS, kept["parameters"], kept["losses"], kept["writes"], strict=True)
    )
