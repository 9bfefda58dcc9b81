"""Which links decide? Every single attention weight is cut in turn, and the next word is computed anew.

A cut changes one row of one head, and only later tokens of later blocks can notice. Everything else is taken from the
untouched pass, as a KV cache would, and the cells of one row are computed together: exact, and fast enough to wait for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor

from core.blocks import DecoderBlock
from core.lab import subject
from core.lab.text import Link, Text
from core.model import Decoder
from core.trace import Trace
from core.whatif import Change

NEEDED = ("block*.k_rot", "block*.k", "block*.v", "block*.weights", "block*.resid_mid", "block*.resid_post")
AT_ONCE = 256  # cells computed together: more does not get faster, only larger


@torch.inference_mode()
def rank(
    model: Decoder, trace: Trace, answer: int, *, share: bool = False, rows: list[int] | None = None
) -> list[Link]:
    """Cut every allowed cell of `rows` (None: every row but the first, which has one cell) in every head.

    trace: the untouched pass, with NEEDED recorded.
    answer: the token whose probability to follow counts. share: the rest of the row takes over the weight that was
    cut (as if the pair were forbidden); otherwise it stays as it was. Returns all cuts, the most damaging first.
    """
    found, n = [], len(trace["ids"].value)
    for layer in range(model.config.n_layers):
        for row in range(1, n) if rows is None else rows:
            found += _row(model, trace, n, answer, layer, row, share)
    return sorted(found, key=lambda cut: cut.p)


def _row(model: Decoder, trace: Trace, n: int, answer: int, layer: int, row: int, share: bool) -> list[Link]:
    n_heads, keys = model.config.n_heads, row + 1
    cells = [(head, key) for head in range(n_heads) for key in range(keys)]
    changed = _cut_rows(model, trace, layer, row, share)
    found = []
    for start in range(0, len(cells), AT_ONCE):
        probs = _onward(model, trace, n, layer, row, changed[start : start + AT_ONCE])[:, answer]
        some = cells[start : start + AT_ONCE]
        found += [Link(layer, h, row, k, float(p)) for (h, k), p in zip(some, probs, strict=True)]
    return found


def _block(model: Decoder, layer: int) -> DecoderBlock:
    return cast(DecoderBlock, model.blocks[layer])


def _cut_rows(model: Decoder, trace: Trace, layer: int, row: int, share: bool) -> Tensor:
    """(head * key, d_model): the stream of token `row` after this block's attention, one row for each cut."""
    config, block = model.config, _block(model, layer)
    weights = trace[f"block{layer}.weights"].tensor[:, row, : row + 1]  # (head, key)
    values = trace[f"block{layer}.v"].tensor.repeat_interleave(config.group, 0)[:, : row + 1]  # (head, key, d_head)
    lost = weights[..., None] * values
    if share:  # z' = (z - w v) / (1 - w)
        mixture = lost.sum(1, keepdim=True)
        lost = mixture - (mixture - lost) / (1 - weights[..., None]).clamp_min(1e-9)
    out = block.attn.o.weight.view(-1, config.n_heads, config.head_dim)  # (d_model, head, d_head)
    lost = torch.einsum("hkd,mhd->hkm", lost, out)
    return trace[f"block{layer}.resid_mid"].tensor[row] - lost.flatten(0, 1)


def _onward(model: Decoder, trace: Trace, n: int, layer: int, row: int, changed: Tensor) -> Tensor:
    """changed: (cell, d_model), token `row` in the middle of block `layer`. Returns the next word, (cell, vocab)."""
    turn, allowed = model.surroundings(n)
    turn = None if turn is None else turn[row:]
    rest = trace[f"block{layer}.resid_post"].tensor[row + 1 :]
    x = torch.cat([_block(model, layer).finish(changed)[:, None], rest.expand(len(changed), -1, -1)], 1)
    key = "k_rot" if turn is not None else "k"
    for i in range(layer + 1, model.config.n_layers):
        past = tuple(trace[f"block{i}.{name}"].tensor[:, :row] for name in (key, "v"))
        x = _block(model, i)(x, turn, allowed[row:], past=past)
    return model.predict(x).softmax(-1)


@dataclass(frozen=True)
class Ranking:
    """Every link cut in turn, most decisive first. deciders: those without which the answer loses
    more than half of its probability."""

    answer: int
    p: float
    cells: int
    worst: tuple[Link, ...]
    deciders: int


LONG = 20  # tokens: beyond, only the links of the last token are cut, and the page says so


def ranking(text: Text, share: bool) -> Ranking:
    """Which links decide the next word. share: the rest of the row takes the freed weight over."""
    trace = subject.untouched(text)
    probs = trace["next_probs"].value
    answer = int(probs.argmax())
    rows = None if len(text) <= LONG else [len(text) - 1]
    cuts = rank(subject.model(text.subject), trace, answer, share=share, rows=rows)
    deciders = sum(cut.p < probs[answer] / 2 for cut in cuts)
    return Ranking(answer, float(probs[answer]), len(cuts), tuple(cuts[: max(20, deciders)][:200]), deciders)


WAYS = (True, False)  # share: the row shares what is left; then: the row stays
SHOWN = 5


@dataclass(frozen=True)
class Both:
    """One link cut in both ways. rows: (untouched, shares, stays; key), the row it stands in; probs: the next word
    likewise, (way, candidate), the untouched answer first."""

    rows: np.ndarray
    ids: tuple[int, ...]
    probs: np.ndarray


def both(text: Text, cell: tuple[int, int, int, int]) -> Both:
    """cell: (layer, head, query, key). What the row keeps and what the model says, untouched and with the link cut."""
    layer, head, query, _key = cell
    changes = (subject.UNTOUCHED, *(Change(cut=cell, share=share) for share in WAYS))
    weights = f"block{layer}.weights"
    traces = [subject.run(text, change, (weights, "next_probs")) for change in changes]
    probs = np.stack([trace["next_probs"].value for trace in traces])
    most = probs.max(0)
    most[probs[0].argmax()] = np.inf
    ids = np.argsort(-most, kind="stable")[:SHOWN]
    rows = np.stack([trace[weights].value[head, query] for trace in traces])
    return Both(rows, tuple(int(i) for i in ids), probs[:, ids])
