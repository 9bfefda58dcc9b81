"""Who wrote the answer: the stream as a sum, and what each summand speaks for.

The last stream is exactly the embedding plus what every sub-layer added. The final norm divides it by one number, its
size; with that number held as it is, everything from the stream to the logits is linear, and the difference of two
logits is a sum over the same parts (direct logit attribution, Elhage et al. 2021, "A mathematical framework for
transformer circuits"). LayerNorm's centring is linear too; its shift and a head's own bias speak apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from core.lab import subject
from core.lab.memory import kept
from core.lab.text import Text
from core.topics.norms.loudness import WRITES
from core.trace import to_numpy


@dataclass(frozen=True)
class Bus:
    """What every part adds to the last token's stream, and how it speaks for the answer against another token.

    parts: (place,), the embedding first, then attention and FFN of every block; sizes: (place,), root mean squares of
    what they add. rest: what no part adds, the shift of the last norm (0 for RMSNorm). whole: the difference of the
    two logits as the model made them. gap: how far the sum is from it. alike: (place,), the cosine of what was added
    with the stream it was added to. lens: (place,), the ids the head would say there; sure: how likely.
    """

    answer: int
    other: int
    parts: np.ndarray
    sizes: np.ndarray
    alike: np.ndarray
    rest: float
    whole: float
    lens: tuple[int, ...]
    sure: np.ndarray

    @property
    def gap(self) -> float:
        return abs(float(self.parts.sum()) + self.rest - self.whole)


def bus(text: Text, other: int | None = None) -> Bus:
    """other: the id that the answer is held against, None for the runner-up."""
    return kept(_bus, text, other)


def rivals(text: Text, most: int = 5) -> tuple[int, ...]:
    """What the answer may be held against: the likeliest other tokens, then those of the text itself."""
    order = np.argsort(-subject.untouched(text)["next_logits"].value, kind="stable")
    found = dict.fromkeys([*(int(i) for i in order[1 : most + 1]), *text.ids[-40:]])
    return tuple(id for id in found if id != int(order[0]))


@torch.inference_mode()
def _bus(text: Text, other: int | None) -> Bus:
    model, trace = subject.model(text.subject), subject.untouched(text)
    added = _added(text)
    logits = trace["next_logits"].value
    answer, second = (int(i) for i in np.argsort(-logits, kind="stable")[:2])
    other = second if other is None else other
    towards, rest = direction(text, answer, other)
    stream = added.cumsum(0)
    before = torch.cat([stream[:1], stream[:-1]])
    alike = torch.cosine_similarity(added, before, dim=-1)
    sure, lens = model.predict(stream[:, None, :]).softmax(-1).max(-1)
    return Bus(
        answer=answer,
        other=other,
        parts=to_numpy(added @ towards),
        sizes=to_numpy(added.square().mean(-1).sqrt()),
        alike=to_numpy(alike),
        rest=rest,
        whole=float(logits[answer] - logits[other]),
        lens=tuple(int(i) for i in lens),
        sure=to_numpy(sure),
    )


def _added(text: Text) -> Tensor:
    """What each part adds to the last token's stream, (place, d_model)."""
    trace, layers = subject.untouched(text), range(subject.config(text.subject).n_layers)
    writes = [trace[f"block{i}.{name}"].tensor[-1] for i in layers for name in WRITES]
    return torch.stack([trace["block0.resid_pre"].tensor[-1], *writes])


@torch.inference_mode()
def direction(text: Text, answer: int, other: int) -> tuple[Tensor, float]:
    """The vector whose product with any summand of the last stream is its part of logit(answer) - logit(other), with
    the last norm's divisor held where it is, (d_model,); and what that norm's shift adds."""
    model = subject.model(text.subject)
    last = subject.untouched(text)[f"block{model.config.n_layers - 1}.resid_post"].tensor[-1]
    table = model.embed.weight if model.head is None else model.head.weight
    read = (table[answer] - table[other]).detach()
    wanted = read * model.norm.weight.detach() / divisor(model.norm, last)
    bias = getattr(model.norm, "bias", None)
    if bias is None:
        return wanted, 0.0
    return wanted - wanted.mean(), float(read @ bias.detach())  # centring what is read is centring what reads


def divisor(norm: nn.Module, x: Tensor) -> Tensor:
    """What a norm divides this vector by, x: (..., d_model). Returns (..., 1)."""
    centred = x - x.mean(-1, keepdim=True) if hasattr(norm, "bias") else x
    return (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt()


@torch.inference_mode()
def heads(text: Text, layer: int, other: int | None = None) -> np.ndarray:
    """What every head of a block speaks for: (head,), and last what W_O adds whatever the heads say, 0 without a bias.

    Their sum is the part of that block's attention.
    """
    found, model = bus(text, other), subject.model(text.subject)
    towards, _rest = direction(text, found.answer, found.other)
    attn, z = model.blocks[layer].attn, subject.untouched(text)[f"block{layer}.z"].tensor[:, -1]  # (head, d_head)
    slabs = attn.o.weight.T.unflatten(0, (z.shape[0], -1))  # (head, d_head, d_model)
    each = (z[:, None, :] @ slabs)[:, 0] @ towards
    bias = torch.zeros(1) if attn.o.bias is None else (attn.o.bias @ towards)[None]
    return to_numpy(torch.cat([each, bias]))
