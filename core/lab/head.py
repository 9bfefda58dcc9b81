"""One head of a model, step by step, over a text: as it is, under what-ifs, at every temperature.

A page gets two things: the Head at the chosen setting, and the frames of one step over the whole range of the slider,
computed in one broadcast call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from core import attention as at
from core.lab import subject
from core.lab.memory import kept
from core.lab.provenance import Head
from core.lab.text import Text
from core.softmax import entropy, temperatures
from core.trace import Trace, to_numpy
from core.watch import overhear
from core.whatif import Change, Edit, WhatIf

STEPS = ("scores", "scaled", "masked", "weights", "z")
TEMPERATURES = tuple(temperatures())
NAMES = ("q", "k", "v", "q_norm", "k_norm", "q_rot", "k_rot", "allowed", *STEPS)


@dataclass(frozen=True)
class Frames:
    """One step at every stop of the slider. values: (frame, query, key) or (frame, query, d_v)."""

    values: np.ndarray
    entropy: np.ndarray | None = None  # (frame, query), bits; only where each row is a distribution


# ---- a head of the embedded model ----


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses for a sentence. everywhere: the temperature acts in all heads, not in this one alone."""

    text: Text
    layer: int = 5
    head: int = 1
    scaling: bool = True
    mask: bool = True
    temperature: float = 1.0
    everywhere: bool = False

    @property
    def change(self) -> Change:
        """The what-ifs as the model takes them."""
        here = None if self.everywhere or self.temperature == 1.0 else (self.layer, self.head)
        return Change(self.scaling, self.mask, temperature=self.temperature, head=here)


def run(demo: Demo) -> Trace:
    """One pass: every tensor of the chosen layer's attention, and the next token."""
    only = (*tuple(f"block{demo.layer}.{name}" for name in NAMES), "next_probs")
    return subject.run(demo.text, demo.change, only)


def head_of(demo: Demo) -> Head:
    """The chosen head's own tensors, without the head's axis; q and k as they meet, after RoPE and QK-norm."""
    trace, group = kept(run, demo), subject.config(demo.text.subject).group
    of_keys = demo.head // group

    def part(name: str) -> np.ndarray:
        return np.asarray(trace[f"block{demo.layer}.{name}"].value[demo.head])

    return Head(
        q=subject.met(trace, demo.layer, "q").value[demo.head],
        k=subject.met(trace, demo.layer, "k").value[of_keys],
        v=trace[f"block{demo.layer}.v"].value[of_keys],
        scores=part("scores"),
        scaled=part("scaled"),
        allowed=trace[f"block{demo.layer}.allowed"].value,
        weights=part("weights"),
        temperature=demo.temperature,
        scaling=demo.scaling,
        tokens=demo.text.tokens,
    )


@torch.inference_mode()
def heated(head: Head, temperature: float) -> Head:
    """A head at another temperature. What stands before softmax is divided by it, what stands before that stays."""
    scaled, allowed = (torch.from_numpy(np.array(x)) for x in (head.scaled, head.allowed))
    scaled = scaled * (head.temperature / temperature)
    weights = at.share_out(scaled.masked_fill(~allowed, -torch.inf), allowed)
    return replace(head, scaled=to_numpy(scaled), weights=to_numpy(weights), temperature=temperature)


@torch.inference_mode()
def frames(demo: Demo, step: str) -> Frames:
    """One step of the chosen head at each of TEMPERATURES, in one broadcast call; everywhere: in one batched pass."""
    if demo.everywhere:
        return finished(*_everywhere(demo), step)
    return tempered(kept(head_of, replace(demo, temperature=1.0)), step)


@torch.inference_mode()
def tempered(head: Head, step: str) -> Frames:
    """One step of a head at each of TEMPERATURES. head: as it is at temperature 1."""
    scores, scaled, allowed, v = (
        torch.from_numpy(np.array(x)) for x in (head.scores, head.scaled, head.allowed, head.v)
    )
    if step == "scores":
        return Frames(to_numpy(scores[None]))
    return finished(scaled / torch.tensor(TEMPERATURES)[:, None, None], scores, allowed, v, step)


def finished(scaled: Tensor, scores: Tensor, allowed: Tensor, v: Tensor, step: str) -> Frames:
    """From the scaled scores (frame, query, key) on: the mask, softmax, the mixture."""
    if step in ("scores", "scaled"):
        return Frames(to_numpy(scores if step == "scores" else scaled))
    masked = scaled.masked_fill(~allowed, -torch.inf)
    if step == "masked":
        return Frames(to_numpy(masked))
    weights = at.share_out(masked, allowed)
    if step == "weights":
        return Frames(to_numpy(weights), to_numpy(entropy(weights)))
    return Frames(to_numpy(weights @ v))


def after_cut(weights: Frames, masked: Frames, cell: tuple[int, int], share: bool) -> Frames:
    """The row (frame, key) of one query when its weight on one key is cut, as `core.whatif.Change.cut` does it.

    weights, masked: these two steps at every stop. share: the other keys take the weight over; entropy, (frame,), is
    then known, for the row is a distribution again.
    """
    query, key = cell
    row = torch.from_numpy(np.array((masked if share else weights).values[:, query]))
    row[:, key] = -torch.inf if share else 0.0
    if not share:
        return Frames(to_numpy(row))
    row = at.share_out(row, row > -torch.inf)
    return Frames(to_numpy(row), to_numpy(entropy(row)))


def _everywhere(demo: Demo) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Scaled scores, scores, mask and values of the chosen head when all heads run at each temperature."""
    seen: dict[str, list[Tensor]] = {"scaled": [], "scores": [], "v": []}

    def keep(name: str, head: int) -> Edit:
        return f"block{demo.layer}.{name}", overhear(seen[name], lambda x: x[..., head, :, :])

    model, at_once = subject.model(demo.text.subject), subject.at_once(len(demo.text))
    plain = Change(demo.scaling, demo.mask).edits(model.config.head_dim)
    for part in torch.tensor(TEMPERATURES).split(at_once):  # type: ignore[no-untyped-call]
        heat = ("block*.scaled", partial(_cooled, part))
        watch = [keep("scores", demo.head), keep("scaled", demo.head), keep("v", demo.head // model.config.group)]
        ids = torch.tensor(demo.text.ids).expand(len(part), -1)
        model.stream(ids, until=demo.layer + 1, trace=WhatIf([*plain, heat, *watch]))
    _turn, allowed = model.surroundings(len(demo.text))
    allowed = allowed if demo.mask else torch.ones_like(allowed)
    return torch.cat(seen["scaled"]), torch.cat(seen["scores"]), allowed, torch.cat(seen["v"])


def _cooled(temperatures: Tensor, scaled: Tensor) -> Tensor:
    """scaled: (temperature, head, query, key)."""
    return scaled / temperatures[:, None, None, None]


def overview(demo: Demo, most: int = 48) -> tuple[np.ndarray, int]:
    """Every head's weights, (layer * head, query, key), and by how much each side was reduced.

    A reduced cell shows the largest of the weights it stands for, so that a bright cell never disappears.
    """
    trace = subject.run(demo.text, demo.change, ("block*.weights",))
    weights = np.concatenate([step.value for step in trace])
    step = -(-weights.shape[-1] // most)
    if step > 1:
        size = -(-weights.shape[-1] // step) * step
        weights = np.pad(weights, ((0, 0), *((0, size - n) for n in weights.shape[1:])))
        weights = weights.reshape(len(weights), size // step, step, size // step, step).max((2, 4))
    return weights, step
