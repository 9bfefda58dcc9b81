"""A task that one head cannot solve and two can: say, at every place, who stands to the left and who to the right.

One head mixes both neighbours into one sum, and a sum has forgotten its order: W_V turns a digit into the same vector
wherever it stands. Two heads look in one direction each. `python -m core.make neighbours` trains every number of heads on the
same budget (same d_model, same parameters, same steps) with three seeds, in about two minutes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from core.assets import ASSETS
from core.heads import merge, split

FILE = ASSETS / "models" / "neighbours" / "model.safetensors"
DIGITS, PLACES, WIDTH = 10, 12, 32
HEADS, SEEDS = (1, 2, 4, 8, 16, 32), (0, 1, 2)


class Net(nn.Module):
    """One attention layer, nothing else: digit + place -> heads -> two read-outs."""

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.digit, self.place = nn.Embedding(DIGITS, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.sides = nn.Linear(WIDTH, 2 * DIGITS)

    def forward(self, digits: Tensor) -> tuple[Tensor, Tensor]:
        """digits: (text, place). Returns logits (text, place, 2, digit) and weights (text, head, query, key)."""
        x = self.digit(digits) + self.place.weight[: digits.shape[1]]
        q, k, v = (split(part(x), self.n_heads) for part in (self.q, self.k, self.v))
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return self.sides(self.o(merge(weights @ v))).unflatten(-1, (2, DIGITS)), weights


def neighbours(digits: Tensor) -> Tensor:
    """(text, place) -> (text, place, 2): left and right; the ends of a row meet, as on a ring."""
    return torch.stack([digits.roll(1, -1), digits.roll(-1, -1)], -1)


@cache
def net(n_heads: int, seed: int = 0) -> Net:
    """As shipped. Raises KeyError for a number of heads that was not trained."""
    if n_heads not in HEADS or seed not in SEEDS:
        raise KeyError(f"trained with {HEADS} heads and seeds {SEEDS}, not with {n_heads} and {seed}")
    prefix, made = f"{n_heads}.{seed}.", Net(n_heads)
    stored = load_file(FILE)
    made.load_state_dict({n.removeprefix(prefix): w.float() for n, w in stored.items() if n.startswith(prefix)})
    return made.eval()


@torch.inference_mode()
def accuracy(n_heads: int, seed: int, n: int = 512) -> float:
    """The share of places where both neighbours are named rightly, on new rows of digits."""
    digits = torch.randint(DIGITS, (n, PLACES), generator=torch.Generator().manual_seed(12345))
    found = net(n_heads, seed)(digits)[0].argmax(-1)
    return float((found == neighbours(digits)).all(-1).float().mean())


def scores() -> np.ndarray:
    """(number of heads, seed): the accuracy of every shipped net."""
    return np.array([[accuracy(h, seed) for seed in SEEDS] for h in HEADS])


@torch.inference_mode()
def read(n_heads: int, digits: tuple[int, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """One row of digits: weights (head, query, key) and the neighbours as named (place, 2).

    Raises ValueError unless there are as many digits as places.
    """
    if len(digits) != PLACES:
        raise ValueError(f"{PLACES} digits are needed, not {len(digits)}")
    logits, weights = net(n_heads, seed)(torch.tensor(digits)[None])
    return weights[0].numpy(), logits[0].argmax(-1).numpy()


def truth(digits: tuple[int, ...]) -> np.ndarray:
    """(place, 2): the neighbours as they are."""
    return neighbours(torch.tensor(digits)[None])[0].numpy()
