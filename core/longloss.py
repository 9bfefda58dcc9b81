"""The embedded model past the 256 tokens it was trained to read: its loss along four long stories, recorded once.

One pass over 640 tokens of four stories takes seconds, so `python -m core.longloss` (some minutes) runs every method
at every factor, and the tests compute some of it again. Nothing is trained: each method only changes the angles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core import longrope, tokenizer
from core.sentence import FOLDER, context
from core.tokenizer import ASSETS
from core.whatif import Edit, WhatIf

STORIES = ASSETS / "data" / "long_stories.txt"
TABLE = ASSETS / "data" / "long_losses.npy"
TOKENS = 640  # losses a story; the token after the last one is only predicted
BIN = 32  # tokens over which a curve is averaged, in each of the stories
FACTORS = tuple(1 + k / 4 for k in range(13))  # 1 to 4
METHODS = ("plain", "pi", "ntk", "dynamic", "yarn", "window")
WINDOW = 200  # tokens, for the method that leaves the rotation alone and looks less far back


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
    """Recorded nats a token between two positions, both multiples of BIN. Raises ValueError for others."""
    if start % BIN or stop % BIN or s not in FACTORS:
        raise ValueError(f"only positions in steps of {BIN} and factors in {FACTORS} are recorded")
    return float(_table()[METHODS.index(method), FACTORS.index(s), start // BIN : stop // BIN].mean())


@cache
def _table() -> np.ndarray:
    return np.load(TABLE, allow_pickle=False)


@cache
def stories() -> Tensor:
    """(story, token) ids, each story from its beginning, `<s>` in front, one token more than is read."""
    texts = STORIES.read_text("utf8").strip().split("\n\n")
    rows = [tokenizer.of_model(FOLDER).encode(text).ids for text in texts]
    return torch.tensor([row[: TOKENS + 1] for row in rows])


def edits(method: str, s: float, head_dim: int, base: float, length: int) -> list[Edit]:
    """What becomes of the running model. length: of the text, which dynamic NTK asks for."""
    if method == "window":
        return [("block*.allowed", lambda a: a & torch.ones_like(a).triu(1 - WINDOW))]
    theta = longrope.scaled(method, head_dim, base, s, context(), length)
    made: list[Edit] = [("angles", lambda turn: torch.arange(len(turn), dtype=torch.float32)[:, None] * theta)]
    if method == "yarn":
        factor = longrope.yarn_factor(s)
        made += [(f"block*.{name}", lambda x: x * factor) for name in ("q_rot", "k_rot")]
    return made


@torch.inference_mode()
def along(method: str, s: float, ids: Tensor) -> Tensor:
    """(story, token) nats for every token after the first. ids: (story, token)."""
    from core import embedded

    model = embedded.model()
    changes = edits(method, s, model.config.head_dim, model.config.rope_theta, ids.shape[-1] - 1)
    logits = model.read_out(model.stream(ids[:, :-1], trace=WhatIf(changes)))
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none").view(len(ids), -1)


def binned(method: str, s: float, ids: Tensor) -> Tensor:
    """(bin,) mean nats. Dynamic NTK recomputes its base as the text grows: here once a bin, for the bin's end."""
    if method != "dynamic":
        return along(method, s, ids).view(len(ids), -1, BIN).mean((0, 2))
    ends = range(context() + BIN, ids.shape[-1], BIN)
    late = [along(method, s, ids[:, : end + 1])[:, -BIN:].mean() for end in ends]
    return torch.cat([binned("plain", 1.0, ids[:, : context() + 1]), torch.stack(late)])


def record() -> None:
    """Compute everything and write the table that `curves` reads."""
    ids, rows = stories(), []
    for method in METHODS:
        once = method in ("plain", "window")
        known = {s: binned(method, s, ids) for s in (FACTORS[:1] if once else FACTORS)}
        rows.append(torch.stack([known.get(s, known[1.0]) for s in FACTORS]))
    np.save(TABLE, torch.stack(rows).numpy(), allow_pickle=False)


if __name__ == "__main__":
    record()
