"""A model writes: one token after the other, each drawn from what the model says of the next.

Temperature divides the logits before softmax (Ackley, Hinton & Sejnowski 1985); at 0 the likeliest token is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from core.model import Decoder

Choose = Callable[[Tensor], int]  # logits of the next token (vocab,) -> its id


@torch.inference_mode()
def write(model: Decoder, ids: Tensor, n: int, choose: Choose, *, ends: frozenset[int] = frozenset()) -> list[int]:
    """ids: (token,). Returns up to `n` new ids, fewer where one of `ends` comes up: that one is not among them."""
    written: list[int] = []
    while len(written) < n:
        new = choose(model.predict(model.stream(torch.cat([ids, ids.new_tensor(written)]))))
        if new in ends:
            break
        written.append(new)
    return written


def greedy(model: Decoder, ids: Tensor, n: int, *, ends: frozenset[int] = frozenset()) -> list[int]:
    """The likeliest token every time."""
    return write(model, ids, n, lambda logits: int(logits.argmax()), ends=ends)


def sample(
    model: Decoder, ids: Tensor, n: int, *, temperature: float, seed: int, ends: frozenset[int] = frozenset()
) -> list[int]:
    """Drawn from softmax(logits / temperature) by a generator of its own. temperature: above 0."""
    dice = torch.Generator().manual_seed(seed)

    def draw(logits: Tensor) -> int:
        return int(torch.multinomial((logits / temperature).softmax(-1), 1, generator=dice))

    return write(model, ids, n, draw, ends=ends)
