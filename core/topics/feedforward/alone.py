"""Each token alone: one row of what a block reads is changed, and only that row of what its FFN says changes; its
attention carries the change on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.text import Text
from core.trace import to_numpy

MIXES = tuple(k / 48 for k in range(49))  # how much of the row is another word's
LONG = 64  # tokens: beyond, every sixth stop is computed


@dataclass(frozen=True)
class Demo:
    """A sentence, a block, and the token whose row is changed; None: the middle one."""

    text: Text
    layer: int = 5
    token: int | None = None

    @property
    def at(self) -> int:
        return (len(self.text) - 1) // 2 if self.token is None else min(self.token, len(self.text) - 1)

    @property
    def other(self) -> int:
        """Whose row takes its place: the last token's, or for the last one the first's."""
        return len(self.text) - 1 if self.at < len(self.text) - 1 else 0


def mixes(n_tokens: int) -> tuple[float, ...]:
    return MIXES if n_tokens <= LONG else MIXES[::6]


@dataclass(frozen=True)
class Alone:
    """Lengths of the change of every token's output, (stop, token), in the block's FFN and in its attention.

    elsewhere: the largest change of any number of the FFN's output at any other token, at any stop: 0.0, bit for bit.
    In a mixture of experts an expert may meet other rows than before, and its product then rounds otherwise.
    """

    ffn: np.ndarray
    attention: np.ndarray
    elsewhere: float


@torch.inference_mode()
def changed(demo: Demo) -> Alone:
    """The same two functions on the same rows but one, stop by stop: a batch might round in another order."""
    model, trace, at = subject.model(demo.text.subject), subject.untouched(demo.text), demo.at
    block, around = model.blocks[demo.layer], model.surroundings(len(demo.text))
    read, asked = (trace[f"block{demo.layer}.{name}"].tensor for name in ("norm2", "norm1"))
    said, found = block.ffn(read), block.attn(asked, *around)
    ffn, attention, elsewhere = [], [], 0.0
    for mix in mixes(len(demo.text)):
        one = block.ffn(_mixed(read, at, demo.other, mix)) - said
        ffn.append(one.norm(dim=-1))
        attention.append((block.attn(_mixed(asked, at, demo.other, mix), *around) - found).norm(dim=-1))
        one[at] = 0
        elsewhere = max(elsewhere, float(one.abs().max()))
    return Alone(to_numpy(torch.stack(ffn)), to_numpy(torch.stack(attention)), elsewhere)


def _mixed(rows: Tensor, at: int, other: int, mix: float) -> Tensor:
    rows = rows.clone()
    rows[at] = torch.lerp(rows[at], rows[other], mix)
    return rows
