"""Two tiny state space models that must remember the one marked letter: a fixed one, and a selective one as in Mamba.

Each reads letters one by one into a state of 4 numbers a channel; after the last one it names the letter that was
marked. In the selective net the step Δ, what is written (B) and what is read (C) depend on the letter; in the fixed one
they are always the same. `python -m core.make ssm` trains both in seconds and writes assets/models/ssm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

from core.assets import ASSETS

FILE = ASSETS / "models" / "ssm" / "model.safetensors"
LETTERS = "abcdefgh"
KINDS = ("fixed", "selective")
TRAINED = 32  # letters of a text in training
WIDTH, STATE = 24, 4
TESTED = (16, 32, 64, 128)  # letters of the texts it was tested on


class Ssm(nn.Module):
    """Letters in, a state, one letter out. The fixed net carries the selective one's maps along unused."""

    def __init__(self, selective: bool) -> None:
        super().__init__()
        self.selective = selective
        self.letter = nn.Linear(len(LETTERS) + 1, WIDTH)
        self.rate = nn.Parameter(torch.log(torch.linspace(1, STATE, STATE)))  # A = -exp(rate)
        self.step = nn.Linear(WIDTH, 1)
        self.fixed_step = nn.Parameter(torch.tensor(-2.0))
        self.write, self.read = nn.Linear(WIDTH, STATE), nn.Linear(WIDTH, STATE)
        self.fixed_write, self.fixed_read = nn.Parameter(torch.randn(STATE)), nn.Parameter(torch.randn(STATE))
        self.out = nn.Linear(WIDTH, len(LETTERS))


@dataclass(frozen=True)
class Run:
    """One pass. x: (text, letter, width) what goes in; delta: (text, letter) the step; decay: (text, letter, state) how
    much of the state stays; written, read: (text, letter, state), B and C; y: (text, letter, width); said: (text, class)."""

    x: Tensor
    delta: Tensor
    decay: Tensor
    written: Tensor
    read: Tensor
    y: Tensor
    said: Tensor


def encoded(letters: str, marked: int) -> Tensor:
    """(letter, class + 1): one-hot, and in the last column 1 at the marked place. Raises ValueError for other signs."""
    found = F.one_hot(torch.tensor([LETTERS.index(letter) for letter in letters]), len(LETTERS)).float()
    mark = torch.zeros(len(letters), 1)
    mark[marked] = 1.0
    return torch.cat([found, mark], -1)


def run(net: Ssm, texts: Tensor) -> Run:
    """texts: (text, letter, class + 1). h_t = exp(Δ_t A) h_{t-1} + Δ_t B_t x_t, y_t = C_t h_t, one channel each."""
    x = F.silu(net.letter(texts))
    some, n, _width = x.shape
    if net.selective:
        delta = F.softplus(net.step(x)[..., 0])
        written, read = net.write(x), net.read(x)
    else:
        delta = F.softplus(net.fixed_step).expand(some, n)
        written, read = net.fixed_write.expand(some, n, -1), net.fixed_read.expand(some, n, -1)
    decay = (-delta[..., None] * net.rate.exp()).exp()
    state, outs = torch.zeros(some, x.shape[-1], STATE, dtype=x.dtype), []
    for t in range(n):
        state = decay[:, t, None] * state + delta[:, t, None, None] * x[:, t, :, None] * written[:, t, None]
        outs.append((state * read[:, t, None]).sum(-1))
    y = torch.stack(outs, 1)
    return Run(x, delta, decay, written, read, y, net.out(y[:, -1]))


def pairs(done: Run) -> Tensor:
    """(text, query, key, state): what the state's way leaves of letter `key` when `query` reads: the scan as a matrix.

    C_t · exp(sum of Δ A from s + 1 to t) · Δ_s B_s, zero above the diagonal.
    """
    past = done.decay.log().cumsum(1)
    way = (past[:, :, None] - past[:, None]).exp()
    lower = torch.ones(way.shape[1:3], dtype=torch.bool).tril()[None, :, :, None]
    made = done.read[:, :, None] * way * (done.delta[..., None] * done.written)[:, None]
    return torch.where(lower, made, 0.0)


def by_matrix(done: Run) -> Tensor:
    """(text, letter, width): the same outputs as the recurrence, from all pairs at once."""
    return pairs(done).sum(-1) @ done.x


@cache
def _stored() -> dict[str, Tensor]:
    return load_file(FILE)


def net(kind: str) -> Ssm:
    """One of KINDS as it was trained; a copy of its own. Raises KeyError for another."""
    made = Ssm(kind == "selective").requires_grad_(False)
    prefix = f"{kind}."
    made.load_state_dict({k.removeprefix(prefix): v for k, v in _stored().items() if k.startswith(prefix)})
    return made


def accuracy(kind: str) -> dict[int, float]:
    """Length of the texts -> the share of 1,000 in which the net named the letter, as recorded."""
    if kind not in KINDS:
        raise KeyError(kind)
    return dict(zip(TESTED, _stored()[f"accuracy_{kind}"].tolist(), strict=True))
