"""Whole FFNs, louder and quieter: the next word at every volume of one block's FFN, or of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from core.lab import subject
from core.lab.text import Text, called
from core.topics.feedforward.recorded import VOLUMES
from core.trace import to_numpy
from core.whatif import WhatIf

LONG = 64  # tokens: beyond, every fifth stop is computed
CANDIDATES = 8


@dataclass(frozen=True)
class Demo:
    """A sentence, and the block whose FFN is turned; None: all."""

    text: Text
    layer: int | None = None


def volumes(n_tokens: int) -> tuple[float, ...]:
    return VOLUMES if n_tokens <= LONG else VOLUMES[::5]


@dataclass(frozen=True)
class Turned:
    """probs: (stop, candidate); asked: the untouched answer's place among the candidates."""

    probs: np.ndarray
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    asked: int


@torch.inference_mode()
def turned(demo: Demo) -> Turned:
    """Batched passes, every stop a row of the batch."""
    model, row = subject.model(demo.text.subject), torch.tensor(demo.text.ids)
    stops, where = torch.tensor(volumes(len(row))), "*" if demo.layer is None else demo.layer
    nexts = []
    for part in stops.split(subject.at_once(len(row))):
        trace = WhatIf([(f"block{where}.ffn_out", lambda x, part=part: x * part[:, None, None])])
        nexts.append(model.predict(model.stream(row.expand(len(part), -1), trace=trace)).softmax(-1))
    probs = torch.cat(nexts)
    answer = int(subject.untouched(demo.text)["next_probs"].value.argmax())
    likely = [int(i) for i in probs.max(0).values.topk(min(CANDIDATES, probs.shape[-1])).indices]
    kept = likely if answer in likely else [*likely[:-1], answer]
    kept.sort(key=lambda i: -float(probs[volumes(len(row)).index(1.0), i]))
    tokens = tuple(called(i, demo.text.subject) for i in kept)
    return Turned(to_numpy(probs[:, kept]), tuple(kept), tokens, kept.index(answer))
