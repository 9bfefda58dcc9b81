"""Sentences of several lengths in one batch: padding, and the mask that nobody may look past it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.lab import subject, text
from core.lab.text import Text
from core.trace import to_numpy
from core.watch import overhear
from core.whatif import WhatIf

PAD_ID = 0  # <unk> in the model that ships, which was trained without padding; the mask hides whatever it is


@dataclass(frozen=True)
class Batch:
    """Sentences of several lengths in one tensor, all read by the first one's model.

    side: where the padding stands; mask: nobody looks at padding.
    """

    texts: tuple[Text, ...]
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
    name = batch.texts[0].subject
    rows, pads = _filled(batch)
    probs, weights = _passed(batch, rows, pads)
    on_pads = (weights * pads[:, None, None, None]).sum(-1).mean((1, 2))
    leaked = (on_pads * ~pads).sum(-1) / (~pads).sum(-1)
    alone = [subject.untouched(one)["next_probs"].value for one in batch.texts]
    answers = tuple(text.top(one, 1, name)[0] for one in alone)
    return Padded(
        to_numpy(pads),
        to_numpy(weights[:, batch.layer, batch.head]),
        to_numpy(leaked),
        np.array([float(p[a.id]) for p, a in zip(probs, answers, strict=True)]),
        np.array([a.p for a in answers]),
        answers,
        tuple(text.top(to_numpy(p), 1, name)[0] for p in probs),
    )


def _filled(batch: Batch) -> tuple[Tensor, Tensor]:
    """(row, token) each: the ids, and True where padding stands."""
    length = max(map(len, batch.texts))
    rows, pads = torch.full((len(batch.texts), length), PAD_ID), torch.ones(len(batch.texts), length, dtype=torch.bool)
    for row, one in enumerate(batch.texts):
        place = slice(length - len(one), None) if batch.side == "left" else slice(0, len(one))
        rows[row, place], pads[row, place] = torch.tensor(one.ids), False
    return rows, pads


def _passed(batch: Batch, rows: Tensor, pads: Tensor) -> tuple[Tensor, Tensor]:
    """The next word after each sentence, (row, vocab), and all weights, (row, block, head, query, key).

    A table of positions counts a sentence's own tokens, as transformers does under a padding mask; RoPE need not be
    told, for only distances count.
    """
    model, length = subject.model(batch.texts[0].subject), rows.shape[1]
    allowed = model.surroundings(length)[1] & ~(pads[:, None] & batch.mask)
    seen: list[Tensor] = []
    edits = [("block*.allowed", lambda _a: allowed[:, None]), ("block*.weights", overhear(seen))]
    if model.pos_embed is not None and batch.mask:
        places = ((~pads).cumsum(-1) - 1).clamp_min(0)
        edits.append(("pos_embed", lambda _x: model.pos_embed.weight[places]))
    x = model.stream(rows, trace=WhatIf(edits))
    last = torch.arange(length).expand(len(rows), -1).masked_fill(pads, -1).max(-1).values
    probs = model.predict(x[torch.arange(len(rows)), last][:, None]).softmax(-1)
    return probs, torch.stack(seen, 1)
