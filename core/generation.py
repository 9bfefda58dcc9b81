"""A model writes: one token after the other, each drawn from what the model says of the next.

Temperature divides the logits before softmax (Ackley, Hinton & Sejnowski 1985); at 0 the likeliest token is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import torch
from torch import Tensor

from core.model import Decoder

Choose = Callable[[Tensor], int]  # logits of the next token (vocab,) -> its id


@dataclass(frozen=True)
class Written:
    """The new ids, and how likely the model held each of them. ended: the last one means that the text is over."""

    ids: tuple[int, ...]
    chances: tuple[float, ...]
    ended: bool


@torch.inference_mode()
def write(
    model: Decoder, ids: Tensor, n: int, choose: Choose, *, ends: Collection[int] = (), logits: Tensor | None = None
) -> Written:
    """ids: (token,). Up to `n` new ids, fewer where one of `ends` comes up. logits: (vocab,), of the token after `ids`,
    where they are known."""
    new: list[int] = []
    chances: list[float] = []
    while len(new) < n and not (new and new[-1] in ends):
        if new or logits is None:
            logits = model.predict(model.stream(torch.cat([ids, ids.new_tensor(new)])))
        new.append(choose(logits))
        chances.append(float(logits.softmax(-1)[new[-1]]))
    return Written(tuple(new), tuple(chances), bool(new) and new[-1] in ends)


def greedy(model: Decoder, ids: Tensor, n: int, *, ends: Collection[int] = (), logits: Tensor | None = None) -> Written:
    """The likeliest token every time."""
    return write(model, ids, n, lambda said: int(said.argmax()), ends=ends, logits=logits)


def sample(
    model: Decoder,
    ids: Tensor,
    n: int,
    *,
    temperature: float,
    seed: int,
    ends: Collection[int] = (),
    logits: Tensor | None = None,
) -> Written:
    """Drawn from softmax(logits / temperature) by a generator of its own. temperature: above 0."""
    dice = torch.Generator().manual_seed(seed)

    def draw(said: Tensor) -> int:
        return int(torch.multinomial((said / temperature).softmax(-1), 1, generator=dice))

    return write(model, ids, n, draw, ends=ends, logits=logits)
