"""A cache of fixed size: keep the newest tokens alone, or the first one too, past the length the model was trained on.

Xiao et al. 2023 (StreamingLLM, arXiv 2309.17453): many large models fall apart when the first token leaves the cache.
With `streaming` a kept first token is told that it stands where it stands in the cache, never farther away than its size.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.assets import ASSETS
from core.lab import subject
from core.lab.text import exactly
from core.rope import angles, rotate
from core.watch import overhear
from core.whatif import Edit, WhatIf

FILE = ASSETS / "data" / "sink_losses.npy"
STORIES = ASSETS / "data" / "long_stories.txt"
Way = Literal["window", "first", "streaming"]
WAYS: tuple[Way, ...] = ("window", "first", "streaming")
HELD = (8, 16, 32, 64, 128, 200)  # tokens in the cache
START, STOP = 256, 640  # tokens of a story that are asked: past what the model was trained on


def sight(way: Way, held: int, n: int) -> Tensor:
    """(query, key), True where the key is still in the cache when the query comes; `held` of them, the query included."""
    i, j = torch.arange(n)[:, None], torch.arange(n)
    if way == "window":
        return (j <= i) & (j > i - held)
    return (j <= i) & ((j > i - held + 1) | (j == 0))


def edits(way: Way, held: int) -> list[Edit]:
    """For a running model with RoPE, whatever the length of its text."""
    made: list[Edit] = [("block*.allowed", lambda allowed: sight(way, held, allowed.shape[-1]))]
    if way != "streaming":
        return made
    config, q, k = subject.config(), list[Tensor](), list[Tensor]()

    def near(scores: Tensor) -> Tensor:
        """Where the first token has been left behind, its score is that of its place in the cache."""
        n = scores.shape[-1]
        place = torch.arange(n).clamp(max=held - 1)
        turned = rotate(q.pop(), angles(n, config.head_dim, config.rope_theta)[place])
        first = (turned @ k.pop()[..., :1, :].mT)[..., 0]  # its own angle is 0
        return torch.cat([first[..., None], scores[..., 1:]], -1)

    return [*made, ("block*.q", overhear(q)), ("block*.k", overhear(k)), ("block*.scores", near)]


@cache
def stories() -> Tensor:
    """(story, token) ids, one more than is read."""
    texts = STORIES.read_text("utf8").strip().split("\n\n")
    return torch.tensor([exactly(text).ids[: STOP + 1] for text in texts])


@torch.inference_mode()
def loss(way: Way, held: int) -> float:
    """Mean nats a token from START to STOP of the long stories."""
    model, found = subject.model(), []
    for ids in stories():
        x = model.stream(ids[:-1], trace=WhatIf(edits(way, held)))
        found.append(F.cross_entropy(model.read_out(x)[START:], ids[START + 1 :]))
    return float(torch.stack(found).mean())


@cache
def losses() -> np.ndarray:
    """(way, held), as recorded by `python -m core.make sinks`."""
    table: np.ndarray = np.load(FILE, allow_pickle=False)
    return table
