"""The product X W term by term, one weight nudged, a matrix small enough to see whole, a head alone, its singular values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core import attention as at
from core.lab import subject
from core.lab.provenance import Provenance, products
from core.rope import rotate
from core.topics.projections.query import MAPS, Demo, _part, run
from core.trace import to_numpy


@dataclass(frozen=True)
class Product:
    """X W, and how it comes about: after so many of the products of every sum."""

    x: np.ndarray  # (token, n_in)
    w: np.ndarray  # (n_in, n_out)
    y: np.ndarray  # (token, n_out), as recorded
    steps: tuple[int, ...]  # how many products are added
    partial: np.ndarray  # (frame, token, n_out)

    def made(self, row: int, column: int, name: str) -> Provenance:
        """One number of the product: a row of X times a column of W. name: Q, K or V."""
        start = rf"{name}_{{{row},{column}}} = \sum_i X_{{{row},i}}\,W_{{i,{column}}}"
        return products(start, self.x[row], self.w[:, column], ("x", "w", "x · w"))


def weight(demo: Demo, which: str) -> Tensor:
    """W_Q, W_K or W_V of the chosen head, (d_model, d_head): PyTorch keeps it transposed, all heads above each other.

    Raises ValueError for another name.
    """
    if which not in MAPS:
        raise ValueError(f"{which!r} is none of {MAPS}")
    model, width = subject.model(), subject.model().config.head_dim
    head = demo.head if which == "q" else demo.head // model.config.group
    return getattr(model.blocks[demo.layer].attn, which).weight[head * width : (head + 1) * width].detach().T


def product(demo: Demo, which: str) -> Product:
    """The normed stream times one matrix of the head: its queries, keys or values before the rotation."""
    trace = run(demo)
    x = trace[f"block{demo.layer}.norm1"].tensor
    return multiplied(x, weight(demo, which), _part(demo, which, trace), 48 if len(x) <= 64 else 12)


def multiplied(x: Tensor, w: Tensor, y: Tensor | None = None, parts: int = 48) -> Product:
    """x (token, n_in) times w (n_in, n_out), with the sums at `parts` stops on the way; one cumulative sum."""
    steps = sorted({round(i * len(w) / min(parts, len(w))) for i in range(min(parts, len(w)) + 1)})
    sums = (x.double()[..., None] * w.double()).cumsum(1)  # (token, n_in, n_out)
    partial = F.pad(sums, (0, 0, 1, 0))[:, steps].transpose(0, 1).float()
    y = partial[-1] if y is None else y
    return Product(to_numpy(x), to_numpy(w), to_numpy(y), tuple(steps), to_numpy(partial))


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
    made = product(demo, which)
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
    """What the product page hands out: X, the three matrices, what comes of them, and query and key as they meet."""
    trace = run(demo)
    kept = {"x": trace[f"block{demo.layer}.norm1"].value}
    kept |= {f"w_{which}": to_numpy(weight(demo, which)) for which in MAPS}
    return kept | {name: _part(demo, name, trace).numpy() for name in (*MAPS, "q_rot", "k_rot", "scores", "weights")}


@dataclass(frozen=True)
class Alone:
    """One token's vector set to zero, each in turn: how far every token's result moves."""

    linear: np.ndarray  # (changed, token), the length of the change of q
    mixed: np.ndarray  # (changed, token), of the head's output z


@torch.inference_mode()
def alone(demo: Demo, most: int = 40) -> Alone:
    """Through W_Q, and through the whole head with its causal mask, at most `most` tokens; one batch for all changes."""
    x = run(demo)[f"block{demo.layer}.norm1"].tensor[:most]
    n, model = len(x), subject.model()
    tried = torch.cat([x[None], x * (1 - torch.eye(n))[..., None]])  # (1 + changed, token, d_model)
    q, k, v = (tried @ weight(demo, which) for which in MAPS)
    where, allowed = model.surroundings(n)
    z = at.attention(rotate(q, where), rotate(k, where), v, allowed)
    return Alone(*(to_numpy((y[1:] - y[0]).norm(dim=-1)) for y in (q, z)))


@dataclass(frozen=True)
class Spectrum:
    """What one real matrix does to length, from the direction it stretches most to the one it stretches least."""

    values: np.ndarray  # (d_head,), largest first
    lost: int  # directions of the input that come out as zero
    kept: float  # the share of the sentence's vectors, squared, that lies in the other directions


def spectrum(demo: Demo, which: str) -> Spectrum:
    """Singular values of W_Q, W_K or W_V of the chosen head."""
    w = weight(demo, which)
    x = run(demo)[f"block{demo.layer}.norm1"].tensor
    left, values, _ = torch.linalg.svd(w, full_matrices=False)
    kept = float((x @ left).square().sum() / x.square().sum())
    return Spectrum(to_numpy(values), w.shape[0] - int((values > 1e-5).sum()), kept)


def collapsed(demo: Demo) -> float:
    """W_V and then W_O of the head, against their one product: the largest difference on the sentence's vectors."""
    model, width = subject.model(), subject.model().config.head_dim
    x = run(demo)[f"block{demo.layer}.norm1"].tensor
    v = weight(demo, "v")
    o = model.blocks[demo.layer].attn.o.weight[:, demo.head * width : (demo.head + 1) * width].detach().T
    return float(((x @ v) @ o - x @ (v @ o)).abs().max())
