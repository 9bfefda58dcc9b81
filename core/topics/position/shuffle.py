"""Does a model notice in what order words stand? The same words in 49 orders through the embedded model, at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from core import attention as at
from core.lab import subject
from core.lab.text import Text, Word, top
from core.topics.position.schemes import projected
from core.trace import to_numpy
from core.whatif import Change

FRAMES = 49  # orders: the first is the text's own
MOST = 24  # tokens that are shuffled
SHOWN = 32  # of the numbers of each output
SEEDS = range(6)


@dataclass(frozen=True)
class Demo:
    """rotation (or the model's own table of places) and mask: as trained, or off.

    The first token, which marks the start, stays where it is. own: an order that was laid by hand, instead of the
    random ones that `seed` draws.
    """

    text: Text
    rotation: bool = False
    mask: bool = False
    seed: int = 0
    own: tuple[int, ...] = ()


def orders(n: int, seed: int, own: tuple[int, ...] = ()) -> np.ndarray:
    """(frame, place): which token stands at each place. From frame to frame neighbours change places, one pair or a few.

    On its way the text is sorted into random orders, by bubble sort, until there are enough steps for every frame; or
    into the order `own` alone, which then is the last frame.
    """
    drawn, steps = np.random.default_rng(seed), [list(range(n))]
    if own:
        steps += _way(steps[-1], own)
    while not own and n > 2 and len(steps) < FRAMES:
        steps += _way(steps[-1], (0, *(int(i) for i in 1 + drawn.permutation(n - 1))))
    picked = np.linspace(0, len(steps) - 1, FRAMES).round().astype(int)
    return np.array(steps)[picked]


def _way(start: list[int], end: tuple[int, ...]) -> list[list[int]]:
    """Every order on the way, by bubble sort; the first token is where it belongs."""
    rank, now, steps = {token: place for place, token in enumerate(end)}, list(start), []
    for last in range(len(now) - 1, 1, -1):
        for p in range(1, last):
            if rank[now[p]] > rank[now[p + 1]]:
                now[p], now[p + 1] = now[p + 1], now[p]
                steps.append(list(now))
    return steps


def out_of_order(order: np.ndarray) -> int:
    """How many pairs of tokens stand the other way round (Kendall's distance)."""
    return int((order[:, None] > order[None, :])[np.triu_indices(len(order), 1)].sum())


@dataclass(frozen=True)
class Shuffled:
    """places: (frame, place), which token stands there; outputs: (frame, place, number), SHOWN numbers of what the model
    makes of it; changed: (frame, place), how far that token's output is from its own in the first frame, as a share of
    its length; pairs: how many stand the other way round; best: the likeliest next word, of the whole text in this order."""

    places: np.ndarray
    outputs: np.ndarray
    changed: np.ndarray
    pairs: tuple[int, ...]
    best: tuple[Word, ...]

    @property
    def errors(self) -> np.ndarray:
        """(frame,) the largest of `changed`."""
        return self.changed.max(1)


@torch.inference_mode()
def shuffled(demo: Demo) -> Shuffled:
    """All frames in one batched pass through the whole model, up to its last norm."""
    model, ids = subject.model(demo.text.subject), torch.tensor(demo.text.ids[:MOST])
    places = orders(len(ids), demo.seed, demo.own)
    order = torch.from_numpy(places)
    change = Change(rotation=demo.rotation, mask=demo.mask)
    stream = model.stream(ids[order], trace=change.trace(model.config.head_dim))
    outputs = model.norm(stream)
    first = outputs[0][order]  # what each token's output was, carried to where it stands now
    off = outputs - first
    probs = to_numpy(model.predict(stream).softmax(-1))
    step = max(1, outputs.shape[-1] // SHOWN)
    return Shuffled(
        places,
        to_numpy(outputs[..., ::step][..., :SHOWN]),
        to_numpy(off.norm(dim=-1) / first.norm(dim=-1)),
        tuple(out_of_order(row) for row in places),
        tuple(top(row, 1, demo.text.subject)[0] for row in probs),
    )


@dataclass(frozen=True)
class Law:
    """Attention of one head with the tokens turned round by a permutation matrix P, in float64, without positions.

    carried: the largest number of A(PX) - P A(X); unmoved: of A(PX) - A(X); masked: of the first with a causal mask;
    pooled: of the difference of the two means over all tokens, which is what an invariant read-out would look at.
    """

    carried: float
    unmoved: float
    masked: float
    pooled: float


@torch.inference_mode()
def law(demo: Demo) -> Law:
    x = subject.untouched(demo.text)["block0.norm1"].tensor.double()
    attn = subject.model(demo.text.subject).blocks[0].attn
    mixing = F.one_hot(torch.arange(len(x)).flip(0)).double()
    causal = at.allowed_pairs("causal", len(x))

    def reads(rows: torch.Tensor, allowed: torch.Tensor | None = None) -> torch.Tensor:
        q, k, v = (projected(attn, which, 0, rows)[None] for which in "qkv")
        return at.attention(q, k, v, allowed)[0]

    plain, turned = reads(x), reads(mixing @ x)
    masked = reads(mixing @ x, causal) - mixing @ reads(x, causal)
    differences = (turned - mixing @ plain, turned - plain, masked, turned.mean(0) - plain.mean(0))
    return Law(*(float(d.abs().max()) for d in differences))
