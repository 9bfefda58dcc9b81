"""The product X W term by term, one weight nudged, a matrix small enough to see whole, a head alone, its singular values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core import attention as at
from core.lab import subject
from core.lab.memory import kept
from core.lab.provenance import Provenance, products
from core.rope import rotate
from core.topics.projections.query import MAPS, Demo, block, met, part
from core.trace import to_numpy


@dataclass(frozen=True)
class Product:
    """X W, and how it comes about: after so many of the products of every sum. A bias b is there from the start."""

    x: np.ndarray  # (token, n_in)
    w: np.ndarray  # (n_in, n_out)
    y: np.ndarray  # (token, n_out), as recorded
    steps: tuple[int, ...]  # how many products are added
    partial: np.ndarray  # (frame, token, n_out)
    b: np.ndarray | None = None  # (n_out,)

    def made(self, row: int, column: int, name: str) -> Provenance:
        """One number of the product: a row of X times a column of W, and its bias times one. name: Q, K or V."""
        start = rf"{name}_{{{row},{column}}} = \sum_i X_{{{row},i}}\,W_{{i,{column}}}"
        x, w = self.x[row], self.w[:, column]
        if self.b is not None:
            start += rf" + 1 \cdot b_{{{column}}}"
            x, w = np.append(x, np.float32(1)), np.append(w, self.b[column])
        return products(start, x, w, ("x", "w", "x · w"))


def weight(demo: Demo, which: str) -> Tensor:
    """W_Q, W_K or W_V of the chosen head, (d_model, d_head): PyTorch keeps it transposed, all heads above each other.

    Raises ValueError for another name.
    """
    if which not in MAPS:
        raise ValueError(f"{which!r} is none of {MAPS}")
    return _layer(demo, which).weight[_rows(demo, which)].detach().T


def bias(demo: Demo, which: str) -> Tensor | None:
    """What the chosen head's layer adds to every product, (d_head,); None where the model has no such bias."""
    layer = _layer(demo, which)
    return None if layer.bias is None else layer.bias[_rows(demo, which)].detach()


def _layer(demo: Demo, which: str) -> nn.Linear:
    layer: nn.Linear = getattr(subject.model(demo.text.subject).blocks[demo.layer].attn, which)
    return layer


def _rows(demo: Demo, which: str) -> slice:
    """The chosen head's rows of a stored matrix; keys and values are those that its group shares."""
    config = subject.config(demo.text.subject)
    head = demo.head if which == "q" else demo.head // config.group
    return slice(head * config.head_dim, (head + 1) * config.head_dim)


def product(demo: Demo, which: str) -> Product:
    """The normed stream times one matrix of the head: its queries, keys or values before the rotation."""
    x = block(demo, "norm1").tensor
    few = 48 if len(x) <= 64 else 12
    return multiplied(x, weight(demo, which), part(demo, which), few, bias(demo, which))


def multiplied(x: Tensor, w: Tensor, y: Tensor | None = None, parts: int = 48, b: Tensor | None = None) -> Product:
    """x (token, n_in) times w (n_in, n_out), with the sums at `parts` stops on the way; one cumulative sum, from b on."""
    steps = sorted({round(i * len(w) / min(parts, len(w))) for i in range(min(parts, len(w)) + 1)})
    sums = (x.double()[..., None] * w.double()).cumsum(1)  # (token, n_in, n_out)
    sums = F.pad(sums, (0, 0, 1, 0))[:, steps].transpose(0, 1)
    partial = (sums if b is None else sums + b.double()).float()
    y = partial[-1] if y is None else y
    added = None if b is None else to_numpy(b)
    return Product(to_numpy(x), to_numpy(w), to_numpy(y), tuple(steps), to_numpy(partial), added)


@dataclass(frozen=True)
class Nudged:
    """Two numbers of every token's vector while one weight of the matrix moves."""

    stops: tuple[float, ...]  # the weight's values
    at: int  # the stop that is the real one
    real: float
    place: tuple[int, int]  # the weight's row and column: what it reads, and what it writes to
    other: int  # the second number that is drawn, which the weight does not touch
    points: np.ndarray  # (frame, token, 2)


def nudged(demo: Demo, which: str) -> Nudged:
    """The weight with most behind it: the input that the sentence's vectors use most, into the most spread output."""
    made = kept(product, demo, which)
    i = int(np.abs(made.x).mean(0).argmax())
    j, other = (int(c) for c in np.argsort(-made.y.std(0), kind="stable")[:2])
    real = float(made.w[i, j])
    stops = sorted({round(x / 64, 4) for x in range(-32, 33)} | {round(real, 4)})
    moved = torch.from_numpy(np.array(made.y[:, [j, other]]))[None].repeat(len(stops), 1, 1)
    change = torch.tensor(stops) - real
    moved[..., 0] += change[:, None] * torch.from_numpy(np.array(made.x[:, i]))
    return Nudged(tuple(stops), stops.index(round(real, 4)), real, (i, j), other, to_numpy(moved))


SMALL_X = ((1.0, 2.0, 0.0, -1.0), (0.0, 1.0, 3.0, 1.0))


SMALL_W = ((1.0, 0.0, 2.0), (0.0, 1.0, 1.0), (2.0, -1.0, 0.0), (1.0, 1.0, -1.0))


def small() -> Product:
    """Two vectors of four numbers through a layer 4 → 3: small enough for a pencil."""
    return multiplied(torch.tensor(SMALL_X), torch.tensor(SMALL_W))


def arrays(demo: Demo) -> dict[str, np.ndarray]:
    """What the product page hands out: X, the three layers, what comes of them, and query and key as they meet.

    x, w_q, q ...; b_q ... where the layers have biases; q_rot, k_rot or q_norm, k_norm where they are turned or normed.
    """
    held = {"x": block(demo, "norm1").tensor}
    for which in MAPS:
        added = bias(demo, which)
        held |= {f"w_{which}": weight(demo, which)} | ({} if added is None else {f"b_{which}": added})
    names = (*MAPS, *(met(demo, which).quantity.name for which in "qk"), "scores", "weights")
    held |= {name: part(demo, name) for name in names}
    return {name: to_numpy(value) for name, value in held.items()}


@dataclass(frozen=True)
class Alone:
    """One token's vector set to zero, each in turn: how far every token's result moves."""

    linear: np.ndarray  # (changed, token), the length of the change of q
    mixed: np.ndarray  # (changed, token), of the head's output z


@torch.inference_mode()
def alone(demo: Demo, most: int = 40) -> Alone:
    """Through W_Q, and through the whole head with its causal mask, at most `most` tokens; one batch for all changes."""
    x = block(demo, "norm1").tensor[:most]
    n, model = len(x), subject.model(demo.text.subject)
    tried = torch.cat([x[None], x * (1 - torch.eye(n))[..., None]])  # (1 + changed, token, d_model)
    made, k, v = (F.linear(tried, weight(demo, which).T, bias(demo, which)) for which in MAPS)
    q, attn = made, model.blocks[demo.layer].attn
    if attn.q_norm is not None and attn.k_norm is not None:
        q, k = attn.q_norm(q), attn.k_norm(k)
    turn, allowed = model.surroundings(n)
    if turn is not None:
        q, k = rotate(q, turn), rotate(k, turn)
    z = at.attention(q, k, v, allowed)
    return Alone(*(to_numpy((y[1:] - y[0]).norm(dim=-1)) for y in (made, z)))


@dataclass(frozen=True)
class Spectrum:
    """What one real matrix does to length, from the direction it stretches most to the one it stretches least."""

    values: np.ndarray  # (d_head,), largest first
    lost: int  # directions of the input that come out as zero
    kept: float  # the share of the sentence's vectors, squared, that lies in the other directions


def spectrum(demo: Demo, which: str) -> Spectrum:
    """Singular values of W_Q, W_K or W_V of the chosen head."""
    w = weight(demo, which)
    x = block(demo, "norm1").tensor
    left, values, _ = torch.linalg.svd(w, full_matrices=False)
    kept = float((x @ left).square().sum() / x.square().sum())
    return Spectrum(to_numpy(values), w.shape[0] - int((values > 1e-5).sum()), kept)


def collapsed(demo: Demo) -> float:
    """W_V and then W_O of the head, against their one product: the largest difference on the sentence's vectors."""
    x, v = block(demo, "norm1").tensor, weight(demo, "v")
    o = subject.model(demo.text.subject).blocks[demo.layer].attn.o.weight[:, _rows(demo, "q")].detach().T
    return float(((x @ v) @ o - x @ (v @ o)).abs().max())
