"""Sentences of several lengths in one batch: padding, and the mask that nobody may look past it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.attention import allowed_pairs
from core.lab import subject, text
from core.trace import to_numpy
from core.watch import overhear
from core.whatif import WhatIf

PAD_ID = 0  # <unk>: this model was trained without padding


@dataclass(frozen=True)
class Batch:
    """Sentences of several lengths in one tensor. side: where the padding stands; mask: nobody looks at padding."""

    ids: tuple[tuple[int, ...], ...]
    layer: int = 5
    head: int = 1
    side: str = "left"
    mask: bool = True


@dataclass(frozen=True)
class Padded:
    """pads: (row, key), True at padding; weights: (row, query, key) of the chosen head; leaked: (row,) the mean weight
    on padding, over real queries and all heads; p: (row,) the answer's probability; alone: (row,) that of the sentence
    without a batch; answers: what each sentence alone is followed by."""

    pads: np.ndarray
    weights: np.ndarray
    leaked: np.ndarray
    p: np.ndarray
    alone: np.ndarray
    answers: tuple[text.Word, ...]
    now: tuple[text.Word, ...]


@torch.inference_mode()
def padded(batch: Batch) -> Padded:
    """All sentences in one pass of the model, filled up to the longest."""
    model, length = subject.model(), max(map(len, batch.ids))
    rows, pads = torch.full((len(batch.ids), length), PAD_ID), torch.ones(len(batch.ids), length, dtype=torch.bool)
    for row, ids in enumerate(batch.ids):
        place = slice(length - len(ids), None) if batch.side == "left" else slice(0, len(ids))
        rows[row, place], pads[row, place] = torch.tensor(ids), False
    allowed = allowed_pairs("causal", length) & ~(pads[:, None] & batch.mask)
    seen: list[Tensor] = []
    edits = [("block*.allowed", lambda _a: allowed[:, None]), ("block*.weights", overhear(seen))]
    x = model.stream(rows, trace=WhatIf(edits))
    last = torch.arange(length).expand(len(rows), -1).masked_fill(pads, -1).max(-1).values
    probs = model.predict(x[torch.arange(len(rows)), last][:, None]).softmax(-1)
    weights = torch.stack(seen, 1)  # (row, block, head, query, key)
    on_pads = (weights * pads[:, None, None, None]).sum(-1).mean((1, 2))
    leaked = (on_pads * ~pads).sum(-1) / (~pads).sum(-1)
    alone = [subject.untouched(text.Text(text.FIRST, ids, tuple(map(str, ids)))) for ids in batch.ids]
    answers = tuple(text.top(one["next_probs"].value, 1)[0] for one in alone)
    return Padded(
        to_numpy(pads),
        to_numpy(weights[:, batch.layer, batch.head]),
        to_numpy(leaked),
        np.array([float(p[a.id]) for p, a in zip(probs, answers, strict=True)]),
        np.array([a.p for a in answers]),
        answers,
        tuple(text.top(to_numpy(p), 1)[0] for p in probs),
    )
