"""What the model says next while the temperature of one head, or of all, goes from cold to hot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.head import TEMPERATURES, Demo
from core.trace import to_numpy
from core.whatif import Change, WhatIf

LONG = 64  # tokens: beyond, only the chosen temperature is computed
CANDIDATES = 8
Cell = tuple[int, int]


@dataclass(frozen=True)
class Said:
    """The next word from stop to stop. probs: (stop, candidate); before: (candidate,), in the untouched model,
    likeliest first, so that its answer is the first one."""

    temperatures: tuple[float, ...]
    ids: tuple[int, ...]
    probs: np.ndarray
    before: np.ndarray


@torch.inference_mode()
def said(demo: Demo, cut: Cell | None = None, share: bool = True) -> Said:
    """The next word at each of TEMPERATURES, in batched passes; of a long text at the demo's own alone.

    cut: a link (query, key) of the demo's head that is cut at all of them. share: the rest of its row takes it over.
    """
    calm, stops = subject.untouched(demo.text), TEMPERATURES if len(demo.text) <= LONG else (demo.temperature,)
    link = None if cut is None else (demo.layer, demo.head, *cut)
    change = Change(demo.scaling, demo.mask, cut=link, share=share)
    parts = torch.tensor(stops).split(subject.at_once(len(demo.text)))  # type: ignore[no-untyped-call]
    probs = torch.cat([_heated(demo, change, part) for part in parts])
    before = calm["next_probs"].tensor
    most = probs.max(0).values
    most[before.argmax()] = torch.inf  # the answer is always among them: its fall must be seen
    found = most.topk(min(CANDIDATES, len(most))).indices
    found = found[before[found].argsort(descending=True, stable=True)]
    return Said(stops, tuple(int(i) for i in found), to_numpy(probs[:, found]), to_numpy(before[found]))


def _heated(demo: Demo, change: Change, temperatures: Tensor) -> Tensor:
    """(temperature, vocab): one pass over a batch, from the first block that anything changes."""
    model, calm, n = subject.model(demo.text.subject), subject.untouched(demo.text), len(demo.text)
    alone = not demo.everywhere

    def heat(scaled: Tensor) -> Tensor:
        factor = torch.ones(len(temperatures), scaled.shape[-3] if alone else 1, 1, 1)
        factor[:, demo.head if alone else 0, 0, 0] = temperatures
        return scaled / factor

    hot = (f"block{demo.layer if alone else '*'}.scaled", heat)
    trace = WhatIf([*change.edits(model.config.head_dim), hot])
    first = demo.layer if alone and demo.scaling and demo.mask else 0
    below = calm[f"block{first - 1}.resid_post"].tensor if first else model.stream(calm["ids"].tensor, until=0)
    x, surroundings = below.expand(len(temperatures), -1, -1), model.surroundings(n)
    for i in range(first, model.config.n_layers):
        with trace.inside(f"block{i}"):
            x = model.blocks[i](x, *surroundings, trace=trace)
    return model.predict(x).softmax(-1)
