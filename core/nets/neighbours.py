"""A task for two heads: say, at every place, who stands to the left and who to the right.

One head mixes both neighbours into one sum. Weighted unequally, the sum still holds both digits, but no linear read-out
can take it apart: it names one side at most. Two heads look in one direction each. An FFN behind the one head takes the
sum apart, too. `python -m core.make neighbours` trains every number of heads on the same budget (same d_model, same
parameters, same steps) with three seeds, read linearly and through an FFN.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from core.assets import ASSETS
from core.heads import merge, split

FILE = ASSETS / "models" / "neighbours" / "model.safetensors"
DIGITS, PLACES, WIDTH, WIDE = 10, 12, 32, 64
HEADS, SEEDS = (1, 2, 4, 8, 16, 32), (0, 1, 2)
ROWS = 512  # of digits that nobody has trained on
VOLUMES = tuple(k / 50 for k in range(56))  # of one head's output: 0 is silent, 1 as trained
READERS = ("linear", "ffn")  # what stands between attention and the answer


class Net(nn.Module):
    """One attention layer: digit + place -> heads -> two read-outs, linear or with an FFN before them."""

    def __init__(self, n_heads: int, reader: str = "linear") -> None:
        super().__init__()
        self.n_heads = n_heads
        self.digit, self.place = nn.Embedding(DIGITS, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.sides = nn.Linear(WIDTH, 2 * DIGITS)
        wide = (nn.Linear(WIDTH, WIDE), nn.ReLU(), nn.Linear(WIDE, WIDTH)) if reader == "ffn" else ()
        self.ffn = nn.Sequential(*wide)

    def forward(self, digits: Tensor) -> tuple[Tensor, Tensor]:
        """digits: (text, place). Returns logits (text, place, 2, digit) and weights (text, head, query, key)."""
        z, weights = self.looked(digits)
        return self.named(z), weights

    def looked(self, digits: Tensor) -> tuple[Tensor, Tensor]:
        """What every head takes home, z (text, head, place, d_head), and its weights (text, head, query, key)."""
        x = self.digit(digits) + self.place.weight[: digits.shape[1]]
        q, k, v = (split(part(x), self.n_heads) for part in (self.q, self.k, self.v))
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return weights @ v, weights

    def named(self, z: Tensor) -> Tensor:
        """z: (text, head, place, d_head). Returns logits (text, place, 2, digit)."""
        logits: Tensor = self.sides(self.ffn(self.o(merge(z)))).unflatten(-1, (2, DIGITS))
        return logits


def neighbours(digits: Tensor) -> Tensor:
    """(text, place) -> (text, place, 2): left and right; the ends of a row meet, as on a ring."""
    return torch.stack([digits.roll(1, -1), digits.roll(-1, -1)], -1)


@cache
def net(n_heads: int, seed: int = 0, reader: str = "linear") -> Net:
    """As shipped. Raises KeyError for a number of heads, a seed or a reader that was not trained."""
    if n_heads not in HEADS or seed not in SEEDS or reader not in READERS:
        raise KeyError(f"trained: {HEADS} heads, seeds {SEEDS}, {READERS}; not {n_heads}, {seed}, {reader!r}")
    prefix, made = f"{reader}.{n_heads}.{seed}.", Net(n_heads, reader)
    stored = load_file(FILE)
    made.load_state_dict({n.removeprefix(prefix): w.float() for n, w in stored.items() if n.startswith(prefix)})
    return made.eval()


@torch.inference_mode()
def accuracy(n_heads: int, seed: int, reader: str, n: int = ROWS) -> float:
    """The share of places where both neighbours are named rightly, on new rows of digits."""
    digits = fresh(n)
    return _share(net(n_heads, seed, reader)(digits)[0], digits)


def fresh(n: int = ROWS) -> Tensor:
    """(text, place): rows of digits that no net was trained on."""
    return torch.randint(DIGITS, (n, PLACES), generator=torch.Generator().manual_seed(12345))


def _share(logits: Tensor, digits: Tensor) -> float:
    return float((logits.argmax(-1) == neighbours(digits)).all(-1).float().mean())


@dataclass(frozen=True)
class Turned:
    """The net of two heads while its second head is turned down. p: (stop, side, place), of the true neighbour;
    right: (stop,), places of this row where both are named; share: (stop,), of places of new rows.

    looks: for each head, 0 if it looks at the left neighbour and 1 if at the right one; weights: (head, query, key).
    """

    p: np.ndarray
    right: np.ndarray
    share: np.ndarray
    looks: tuple[int, ...]
    weights: np.ndarray


@torch.inference_mode()
def turned(digits: tuple[int, ...]) -> Turned:
    """The second head's output z times each of VOLUMES; the first head stays as it was trained."""
    two, row, many = net(2), torch.tensor(digits)[None], fresh()
    truth, loud = neighbours(row)[0], torch.stack([torch.ones(len(VOLUMES)), torch.tensor(VOLUMES)], 1)
    z, weights = two.looked(row)
    every = two.looked(many)[0]
    silent, whole = (two.named(every * torch.tensor([1.0, v])[:, None, None]) for v in (0.0, 1.0))
    logits = two.named(z * loud[:, :, None, None])  # (stop, place, side, digit)
    p = logits.softmax(-1).gather(-1, truth.expand(len(loud), -1, -1)[..., None])[..., 0]
    right = (logits.argmax(-1) == truth).all(-1).sum(-1)
    share = np.array([_share(torch.lerp(silent, whole, v), many) for v in VOLUMES])  # the read-out is linear
    place = torch.arange(PLACES)
    sides = torch.stack([weights[0][:, place, (place + step) % PLACES].mean(-1) for step in (-1, 1)])  # (side, head)
    looks = tuple(int(i) for i in sides.argmax(0))
    return Turned(p.mT.numpy(), right.numpy(), share, looks, weights[0].numpy())


def scores(reader: str) -> np.ndarray:
    """(number of heads, seed): the accuracy of every shipped net of one reader."""
    return np.array([[accuracy(h, seed, reader) for seed in SEEDS] for h in HEADS])


@torch.inference_mode()
def read(n_heads: int, digits: tuple[int, ...], reader: str = "linear", seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """One row of digits: weights (head, query, key) and the neighbours as named (place, 2).

    Raises ValueError unless there are as many digits as places.
    """
    if len(digits) != PLACES:
        raise ValueError(f"{PLACES} digits are needed, not {len(digits)}")
    logits, weights = net(n_heads, seed, reader)(torch.tensor(digits)[None])
    return weights[0].numpy(), logits[0].argmax(-1).numpy()


def truth(digits: tuple[int, ...]) -> np.ndarray:
    """(place, 2): the neighbours as they are."""
    return neighbours(torch.tensor(digits)[None])[0].numpy()
