"""Rank collapse: how different the words still are after each block, with skips, FFN and mask taken away.

Attention alone makes all words one (Dong et al. 2021, arXiv 2103.03404): each block replaces every word by averages of
all. Measured on a trained model as it is; nothing is trained for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.lab import subject
from core.lab.text import Text
from core.trace import SILENT, Quantity, Trace, to_numpy

DIFFERENT = Quantity(
    "different",
    "frame",
    r"|X - \bar X| \,/\, |X|",
    "How different the words are from one another: 0, all are the same.",
)
SKIPS = tuple(k / 48 for k in range(49))  # what every skip keeps: 0 off, 1 as trained
LONGEST = 64  # tokens of a text that are read


@dataclass(frozen=True)
class Demo:
    """A text, and what of the model is left."""

    text: Text
    ffn: bool = True
    mask: bool = True


@dataclass(frozen=True)
class Run:
    """different: (skip, depth) before the blocks and after each, see `different`; alike: (skip, token, token) the
    cosines of the words with one another after the last block."""

    different: np.ndarray
    alike: np.ndarray


def different(x: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """x: (..., token, d_model). |X - mean| / |X|, Frobenius, the mean over the tokens: 0 where all words are the same."""
    centred = x - x.mean(-2, keepdim=True)
    return trace(DIFFERENT, centred.flatten(-2).norm(dim=-1) / x.flatten(-2).norm(dim=-1))


@torch.inference_mode()
def run(demo: Demo) -> Run:
    """Every strength of the skips, in batched passes, on the first LONGEST tokens."""
    ids = torch.tensor(demo.text.ids[:LONGEST])
    measured, alike = [], []
    for skips in torch.tensor(SKIPS).split(subject.at_once(len(ids))):  # type: ignore[no-untyped-call]
        depths = streams(demo, ids, skips[:, None, None])
        measured.append(torch.stack([different(x).expand(len(skips)) for x in depths], -1))
        unit = F.normalize(depths[-1], dim=-1)
        alike.append(unit @ unit.mT)
    return Run(to_numpy(torch.cat(measured)), to_numpy(torch.cat(alike)))


def streams(demo: Demo, ids: Tensor, skip: Tensor) -> list[Tensor]:
    """The stream before the blocks, (token, d_model), and after each, (skip, token, d_model).

    x = s x + attn(norm x), and with the FFN x = s x + ffn(norm x). skip: (skip, 1, 1).
    """
    model = subject.model(demo.text.subject)
    x = model.embed(ids)
    if model.pos_embed is not None:
        x = x + model.pos_embed.weight[: len(ids)]
    turn, allowed = model.surroundings(len(ids))
    found = [x]
    for block in model.blocks:
        x = skip * x + block.attn(block.norm1(x), turn, allowed if demo.mask else None)
        if demo.ffn:
            x = skip * x + block.ffn(block.norm2(x))
        found.append(x)
    return found
