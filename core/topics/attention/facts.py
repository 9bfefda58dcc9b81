"""What else is true of a head: its mixtures in the plane, torch's own answer, the sink, one bilinear form for Q and K."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.lab import subject
from core.lab.head import Demo
from core.lab.provenance import Head
from core.lab.text import Cannot, Text
from core.rope import rotate
from core.trace import to_numpy


@dataclass(frozen=True)
class Plane:
    """Values and mixtures in the plane in which the values differ most. values: (key, 2); z: (frame, query, 2)."""

    values: np.ndarray
    z: np.ndarray
    kept: float  # the share of the values' variance that the plane shows


def plane(v: np.ndarray, z: np.ndarray) -> Plane:
    """v: (key, d_v), z: (frame, query, d_v). A mixture of points stays among them under any linear map."""
    values = torch.from_numpy(np.array(v))
    middle = values.mean(0)
    _, size, axes = torch.linalg.svd(values - middle, full_matrices=False)
    axes = axes[:2] if len(axes) > 1 else torch.cat([axes, torch.zeros_like(axes)])
    flat = F.pad(axes.T, (0, 2 - len(axes)))
    kept = float(size[:2].square().sum() / size.square().sum().clamp_min(1e-12))
    return Plane(to_numpy(values @ flat), to_numpy(torch.from_numpy(np.array(z)) @ flat), kept)


def against_torch(head: Head) -> float:
    """The largest difference between z and what torch's own scaled_dot_product_attention makes of q, k and v."""
    q, k, v = (torch.from_numpy(np.array(x)).double()[None] for x in (head.q, head.k, head.v))
    scale = 1.0 / (head.temperature * (head.q.shape[-1] ** 0.5 if head.scaling else 1.0))
    theirs = F.scaled_dot_product_attention(q, k, v, torch.from_numpy(np.array(head.allowed)), scale=scale)[0]
    ours = torch.from_numpy(np.array(head.weights)).double() @ v[0]
    return float((ours - theirs).abs().max())


@dataclass(frozen=True)
class Sink:
    """The first token as a parking place: what it gets, and how little it hands over."""

    weight: float  # the mean weight of the first token, over the rows after it
    length: float  # of its value vector
    others: float  # the mean length of all other value vectors

    @property
    def clear(self) -> bool:
        """Much weight, little value: what the word means."""
        return self.weight > 0.3 and self.length < 0.6 * self.others


def sink(head: Head) -> Sink | None:
    """None for a text of one token."""
    if len(head.v) < 2:
        return None
    lengths = np.linalg.norm(head.v, axis=-1)
    return Sink(float(head.weights[1:, 0].mean()), float(lengths[0]), float(lengths[1:].mean()))


def unprojected(text: Text, layer: int) -> float:
    """Mean weight of a token on itself if its normed vector served as query and key at once, without W_Q and W_K."""
    x = subject.untouched(text)[f"block{layer}.norm1"].tensor
    return float((x @ x.T / x.shape[-1] ** 0.5).softmax(-1).diagonal().mean())


def bilinear(demo: Demo, row: int, column: int) -> tuple[float, float]:
    """One score in two ways: as recorded, and as x_i W_Q R W_K^T x_j from the normed stream, without any q or k.

    R: the rotation by the distance, where the model turns. Where the maps have biases, x carries a 1 and each map its
    bias as a last row. Raises Cannot where queries are normed: then no single matrix compares two tokens.
    """
    model, i = subject.model(demo.text.subject), demo.layer
    if model.config.qk_norm:
        raise Cannot("This model norms its queries and keys, so no single matrix compares two tokens.")
    trace = subject.run(demo.text, demo.change, (f"block{i}.norm1", f"block{i}.scores"))
    x, width = trace[f"block{i}.norm1"].tensor, model.config.head_dim
    attn, turn = model.blocks[i].attn, model.surroundings(len(x))[0]
    of_q = _map(attn.q, demo.head * width, width, turn, row)
    of_k = _map(attn.k, demo.head // model.config.group * width, width, turn, column)
    x = F.pad(x, (0, 1), value=1.0)
    made = x[row] @ (of_q @ of_k.T) @ x[column]
    return float(trace[f"block{i}.scores"].value[demo.head, row, column]), float(made)


def _map(linear: nn.Linear, start: int, width: int, turn: Tensor | None, at: int) -> Tensor:
    """(d_model + 1, width): some rows of a linear map, its bias below them, turned as at one place."""
    bias = torch.zeros(linear.out_features) if linear.bias is None else linear.bias
    rows = torch.cat([linear.weight.T, bias[None]])[:, start : start + width].detach()
    return rows if turn is None else rotate(rows, turn[at].expand(len(rows), -1))
