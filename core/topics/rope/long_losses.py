"""The embedded model past the 256 tokens it was trained to read: its loss along four long stories, recorded once.

One pass over 640 tokens of four stories takes seconds, so `python -m core.make long_losses` (some minutes) runs every method
at every factor, and the tests compute some of it again. Nothing is trained: each method only changes the angles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from core import tokenizer
from core.assets import ASSETS
from core.lab.text import FOLDER, context
from core.topics.rope import stretching
from core.whatif import Edit

STORIES = ASSETS / "data" / "long_stories.txt"
TABLE = ASSETS / "data" / "long_losses.npy"
TOKENS = 640  # losses a story; the token after the last one is only predicted
BIN = 32  # tokens over which a curve is averaged, in each of the stories
FACTORS = tuple(1 + k / 4 for k in range(13))  # 1 to 4
METHODS = ("plain", "pi", "ntk", "dynamic", "yarn", "window")
WINDOW = 200  # tokens, for the method that leaves the rotation alone and looks less far back


@cache
def stories() -> Tensor:
    """(story, token) ids, each story from its beginning, `<s>` in front, one token more than is read."""
    texts = STORIES.read_text("utf8").strip().split("\n\n")
    rows = [tokenizer.of_model(FOLDER).encode(text).ids for text in texts]
    return torch.tensor([row[: TOKENS + 1] for row in rows])


@dataclass(frozen=True)
class Curves:
    """values: (frame, method, bin) nats a token, one frame a factor; at: (bin,) the middle of each bin in tokens."""

    values: np.ndarray
    at: np.ndarray


def curves() -> Curves:
    """What was recorded."""
    values = _table().transpose(1, 0, 2)
    return Curves(values, np.arange(values.shape[-1]) * BIN + (BIN + 1) / 2)


def mean(method: str, s: float, start: int, stop: int) -> float:
    """Recorded nats a token between two positions, both multiples of BIN. Raises ValueError for anything else."""
    if method not in METHODS or s not in FACTORS:
        raise ValueError(f"only {', '.join(METHODS)} with factors in {FACTORS} are recorded, not {method} with {s}")
    if start % BIN or stop % BIN or not 0 <= start < stop <= TOKENS:
        raise ValueError(f"only positions from 0 to {TOKENS} in steps of {BIN} are recorded, not {start} to {stop}")
    return float(_table()[METHODS.index(method), FACTORS.index(s), start // BIN : stop // BIN].mean())


@cache
def _table() -> np.ndarray:
    return np.load(TABLE, allow_pickle=False)


def edits(method: str, s: float, head_dim: int, base: float, length: int) -> list[Edit]:
    """What becomes of the running model. length: of the text, which dynamic NTK asks for."""
    if method == "window":
        return [("block*.allowed", lambda a: a & torch.ones_like(a).triu(1 - WINDOW))]
    theta = stretching.scaled(method, head_dim, base, s, context(), length)
    made: list[Edit] = [("angles", lambda turn: torch.arange(len(turn), dtype=torch.float32)[:, None] * theta)]
    if method == "yarn":
        factor = stretching.yarn_factor(s)
        made += [(f"block*.{name}", lambda x: x * factor) for name in ("q_rot", "k_rot")]
    return made
