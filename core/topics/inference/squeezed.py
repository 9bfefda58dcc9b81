"""The cache in few bits: every key and value vector rounded to a handful of steps between its least and largest number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.assets import ASSETS
from core.lab import subject
from core.lab.text import FIRST, Text, Word, exactly, top, word
from core.trace import to_numpy
from core.whatif import Edit, WhatIf

LOSSES = ASSETS / "data" / "cache_losses.npy"
STORIES = ASSETS / "data" / "long_stories.txt"
BITS = (16, 8, 6, 5, 4, 3, 2, 1)  # 16: as it was
SIDES = ("both", "keys", "values")
TOKENS = 256  # of each story: as far as the model was trained
SHOWN = 6


def rounded(x: Tensor, bits: Tensor | int) -> Tensor:
    """x: (..., number). Each vector gets 2^bits even steps from its least number to its largest, and 16 leave it."""
    bits = torch.as_tensor(bits)
    low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    step = (high - low).clamp(min=1e-8) / (2.0**bits - 1)
    return torch.where(bits >= 16, x, ((x - low) / step).round() * step + low)


def edits(name: str, keys: Tensor | int, values: Tensor | int) -> list[Edit]:
    """keys, values: bits, or a tensor of them with an axis for each of a batch: (batch, 1, 1, 1)."""
    config = subject.config(name)
    k = "k_rot" if config.position == "rope" else "k_norm" if config.qk_norm else "k"
    return [(f"block*.{k}", lambda x: rounded(x, keys)), ("block*.v", lambda x: rounded(x, values))]


def sides(side: str, bits: int) -> tuple[int, int]:
    """Bits of the keys and of the values."""
    return (16 if side == "values" else bits), (16 if side == "keys" else bits)


@torch.inference_mode()
def loss(side: str, bits: int) -> float:
    """Mean loss in nats a token over the first TOKENS of the long stories, with a cache in so many bits."""
    model, found = subject.model(), []
    for ids in _stories():
        x = model.stream(ids[None, :-1], trace=WhatIf(edits(FIRST, *sides(side, bits))))
        found.append(F.cross_entropy(model.read_out(x)[0], ids[1:]))
    return float(torch.stack(found).mean())


@cache
def _stories() -> tuple[Tensor, ...]:
    texts = STORIES.read_text("utf8").strip().split("\n\n")
    return tuple(torch.tensor(exactly(text).ids[: TOKENS + 1]) for text in texts)


@cache
def losses() -> np.ndarray:
    """(side, bits), as recorded by `python -m core.make cache_losses`."""
    table: np.ndarray = np.load(LOSSES, allow_pickle=False)
    return table


@dataclass(frozen=True)
class Said:
    """words: the ones to follow; p: (side, bits, word), their chance after the text."""

    words: tuple[Word, ...]
    p: np.ndarray


@torch.inference_mode()
def said(text: Text) -> Said:
    """The next word under every setting, in one batch."""
    model, pairs = subject.model(text.subject), [sides(side, bits) for side in SIDES for bits in BITS]
    keys, values = (torch.tensor(part)[:, None, None, None] for part in zip(*pairs, strict=True))
    ids = torch.tensor(text.ids).expand(len(pairs), -1)
    probs = to_numpy(model.predict(model.stream(ids, trace=WhatIf(edits(text.subject, keys, values)))).softmax(-1))
    first = top(probs[0], 1, text.subject)[0].id
    rest = [int(i) for i in np.argsort(-probs.max(0), kind="stable") if int(i) != first][: SHOWN - 1]
    shown = [first, *rest]
    words = tuple(word(i, probs[0], text.subject) for i in shown)
    return Said(words, probs[:, shown].reshape(len(SIDES), len(BITS), -1))
