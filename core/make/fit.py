"""The training loop of every net that is trained here."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import torch
from torch import Generator, Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from core.checkpoint import empty
from core.config import ModelConfig
from core.model import Decoder


def drawn(config: ModelConfig, generator: Generator, *, embed: float, gain: float = 1.0) -> Decoder:
    """A decoder to be trained: its maps drawn with deviation gain / sqrt(width), its table with `embed`, norms at one."""
    made = empty(config).to_empty(device="cpu").requires_grad_(True)
    with torch.no_grad():
        for name, weight in made.named_parameters():
            if weight.ndim == 1:
                weight.fill_(1.0)
            else:
                weight.normal_(std=embed if "embed" in name else gain * weight.shape[1] ** -0.5, generator=generator)
    return made


def fit(
    loss_of: Callable[[], Tensor],
    optimizer: Optimizer,
    steps: int,
    *,
    rate: LRScheduler | None = None,
    clip: float | None = None,
) -> list[float]:
    """Take `steps` steps down the loss. Returns the loss before each of them.

    loss_of: draws the next batch and returns its loss, a scalar; rate: the schedule of the optimizer's learning rate;
    clip: the largest norm that all gradients together may have.
    """
    weights = list(chain.from_iterable(group["params"] for group in optimizer.param_groups))
    history = []
    for _ in range(steps):
        loss = loss_of()
        optimizer.zero_grad()
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(weights, clip)
        optimizer.step()
        if rate is not None:
            rate.step()
        history.append(float(loss.detach()))
    return history
