"""Linear attention and the selective scan: each as a matrix over all pairs, and as a state that is handed on.

Katharopoulos et al. 2020 (arXiv 2006.16236); Mamba, Gu and Dao 2023 (arXiv 2312.00752), and its matrix form, Dao and
Gu 2024 (arXiv 2405.21060).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.nets import ssm
from core.topics.efficient import flash as fl
from core.topics.efficient import instead as ins
from core.trace import to_numpy

MOST = 64  # letters shown


@torch.inference_mode()
def handed_on(of_q: Tensor, of_k: Tensor, v: Tensor) -> Tensor:
    """Linear attention as a recurrence. of_q, of_k: (token, feature); v: (token, d). Returns (token, d).

    The state is a matrix (feature, d) and a sum (feature,), however long the text is.
    """
    state, total = torch.zeros(of_k.shape[-1], v.shape[-1], dtype=v.dtype), torch.zeros(of_k.shape[-1], dtype=v.dtype)
    out = []
    for q, k, one in zip(of_q, of_k, v, strict=True):
        state, total = state + k[:, None] * one, total + k
        out.append(q @ state / (q @ total))
    return torch.stack(out)


@dataclass(frozen=True)
class Forms:
    """The largest difference between both forms, linear attention on a real head in float32 and the trained scan in
    float64; state, cache: numbers one head keeps; even: tokens from which on the state is the smaller one."""

    linear: float
    scan: float
    state: int
    cache: int
    even: int


@torch.inference_mode()
def forms(demo: fl.Demo, letters: str, marked: int) -> Forms:
    """Both forms of both, on a head of a text and on letters."""
    q, k, v = fl.vectors(demo)
    features = ins.elu(q, k)
    both = ins.weights_of(features) @ v.double() - handed_on(*features, v)
    net = ssm.net("selective").double()
    run = ssm.run(net, ssm.encoded(letters, marked).double()[None])
    apart = ssm.by_matrix(run) - run.y
    d = q.shape[-1]
    state = d * d + d
    return Forms(float(both.abs().max()), float(apart.abs().max()), state, 2 * d * len(q), -(-state // (2 * d)))


@dataclass(frozen=True)
class Read:
    """Both nets on letters. delta: (letter,) the step of the selective net; fixed: of the other, always the same.
    left: (letter, state) how much of each letter the selective net's last state still holds; said: net -> (class,)."""

    delta: np.ndarray
    fixed: float
    left: np.ndarray
    said: dict[str, np.ndarray]
    map: np.ndarray  # (query, key): how strongly each letter is read at each place, largest 1


@torch.inference_mode()
def read(letters: str, marked: int) -> Read:
    """letters: of ssm.LETTERS; marked: the place of the one to remember."""
    runs = {kind: ssm.run(ssm.net(kind), ssm.encoded(letters, marked)[None]) for kind in ssm.KINDS}
    chosen = runs["selective"]
    pairs = ssm.pairs(chosen)[0].norm(dim=-1)  # (query, key)
    return Read(
        to_numpy(chosen.delta[0]),
        float(runs["fixed"].delta[0, 0]),
        to_numpy(chosen.decay[0].flip(0).cumprod(0).flip(0)),
        {kind: to_numpy(F.softmax(run.said[0], -1)) for kind, run in runs.items()},
        to_numpy(pairs / pairs.max()),
    )
