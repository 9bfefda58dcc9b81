"""Record the loss along long stories for each way to reach past the trained length: some minutes."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.lab.text import context
from core.topics.rope.long_losses import BIN, FACTORS, METHODS, TABLE, edits, stories
from core.whatif import WhatIf


@torch.inference_mode()
def along(method: str, s: float, ids: Tensor) -> Tensor:
    """(story, token) nats for every token after the first. ids: (story, token)."""
    from core.lab import subject

    model = subject.model()
    changes = edits(method, s, model.config.head_dim, model.config.rope_theta, ids.shape[-1] - 1)
    logits = model.read_out(model.stream(ids[:, :-1], trace=WhatIf(changes)))
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none").view(len(ids), -1)


def binned(method: str, s: float, ids: Tensor) -> Tensor:
    """(bin,) mean nats. Dynamic NTK recomputes its base as the text grows: here once a bin, for the bin's end."""
    if method != "dynamic":
        return along(method, s, ids).view(len(ids), -1, BIN).mean((0, 2))
    ends = range(context() + BIN, ids.shape[-1], BIN)
    late = [along(method, s, ids[:, : end + 1])[:, -BIN:].mean() for end in ends]
    return torch.cat([binned("plain", 1.0, ids[:, : context() + 1]), torch.stack(late)])


def make() -> None:
    """Compute everything and write the table that `curves` reads."""
    ids, rows = stories(), []
    for method in METHODS:
        once = method in ("plain", "window")
        known = {s: binned(method, s, ids) for s in (FACTORS[:1] if once else FACTORS)}
        rows.append(torch.stack([known.get(s, known[1.0]) for s in FACTORS]))
    np.save(TABLE, torch.stack(rows).numpy(), allow_pickle=False)
