"""The repair shop: the embedded model with one wrong wire, and how much of the right one is put back.

A wrong wire is a wrong line of code, so it is wrong in all blocks. No shape changes and nothing raises: only the
numbers tell. All stops of the slider are one batch, in which the strength of one wire differs from row to row.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.text import Cannot, Text, Word, top, word
from core.model import Decoder
from core.trace import to_numpy
from core.whatif import Edit, WhatIf

STOPS = tuple(i / 48 for i in range(49))  # how much of the right wire is put back
FEWER = STOPS[::2]  # for a long text, whose batch would not fit into a second
LONG = 96  # tokens
SHOWN = 10  # words whose probability is followed
CROPPED = 40  # tokens in the picture of weights; of a longer text the last ones

# The lines of a block in the order they are computed, by the name of the tensor each makes. Not every model has all.
LINES = (
    "resid_pre", "norm1", "q", "k", "v", "q_norm", "q_rot", "scores", "scaled", "masked", "weights", "z", "attn_out",
    "resid_mid", "norm2", "ffn_gate", "ffn_up", "ffn_pre", "ffn_act", "ffn_out", "resid_post",
)  # fmt: skip
NEEDS = {"rotation": "q_rot", "gate": "ffn_gate"}  # wires that are there only with this line
NO_WIRE = "This model has no such line."
# A wire -> (the line that it makes wrong, the wrong code, the right code).
WIRES = {
    "norm1": ("norm1", "x + attn(x)", "x + attn(norm(x))"),
    "values": ("v", "v = k(x)", "v = v(x)"),
    "rotation": ("q_rot", "scores = q @ k.mT", "scores = rotate(q) @ rotate(k).mT"),
    "scale": ("scaled", "scores", "scores / d_head ** 0.5"),
    "mask": ("masked", "scores.masked_fill(~allowed.mT, -inf)", "scores.masked_fill(~allowed, -inf)"),
    "axis": ("weights", "scores.softmax(-2)", "scores.softmax(-1)"),
    "merge": ("attn_out", "z.reshape(n, d)", "z.transpose(0, 1).reshape(n, d)"),
    "skip1": ("resid_mid", "x = attn(norm(x))", "x = x + attn(norm(x))"),
    "norm2": ("norm2", "x + ffn(x)", "x + ffn(norm(x))"),
    "gate": ("ffn_act", "gate * up", "silu(gate) * up"),
    "skip2": ("resid_post", "x = ffn(norm(x))", "x = x + ffn(norm(x))"),
}
PATIENTS = ("axis", "skip2", "rotation", "merge", "gate", "mask", "norm1", "values")  # who is ill, in their order
Part = Callable[[Tensor], Tensor]


def lines(text: Text) -> tuple[str, ...]:
    """Those of LINES that this text's model computes."""
    trace = subject.untouched(text)
    return tuple(name for name in LINES if f"block0.{name}" in trace)


def wires(text: Text) -> tuple[str, ...]:
    """Those of WIRES that this text's model has; a single head cannot be merged in the wrong order."""
    there, n_heads = lines(text), subject.config(text.subject).n_heads
    return tuple(wire for wire in WIRES if NEEDS.get(wire, "q") in there and (wire != "merge" or n_heads > 1))


@dataclass(frozen=True)
class Demo:
    """fault: the wire that is wrong, None for a healthy model; suspect: the wire whose right form is put back."""

    text: Text
    fault: str | None = "skip1"
    suspect: str = "skip1"


@dataclass(frozen=True)
class Repair:
    """What every stop of the slider shows.

    p: (stop, word) for `words`; best: the likeliest at every stop; answer: the healthy model's choice. weights:
    (stop, query, key), the first block's, mean over its heads, of the last tokens only where the text is long; size and
    away: (stop, line) of `lines` in the first block, the root mean square of its tensor and how far it is from the
    healthy model's, relative to that; healthy: the sizes there.
    """

    stops: tuple[float, ...]
    lines: tuple[str, ...]
    words: tuple[Word, ...]
    p: np.ndarray
    best: tuple[Word, ...]
    answer: Word
    weights: np.ndarray
    size: np.ndarray
    away: np.ndarray
    healthy: np.ndarray
    shapes: tuple[tuple[int, ...], ...]

    def chance(self, stop: float) -> float:
        """The answer's probability at one stop."""
        return float(self.p[self.stops.index(stop), 0])


def stops_for(n: int) -> tuple[float, ...]:
    """The slider's stops for a text of n tokens."""
    return STOPS if n <= LONG else FEWER


# ---- the wires ----


def edits(model: Decoder, wire: str, back: Tensor) -> list[Edit]:
    """The model with this wire wrong, as edits. back: (stop,), 0 all wrong, 1 all right. Raises KeyError."""
    if wire == "rotation":
        return [("angles", lambda angle: angle * back[:, None, None, None])]
    layers = range(model.config.n_layers)
    return [(f"block{i}.{name}", change) for i in layers for name, change in MAKE[wire](model, i, back)]


def _hold(kept: dict[str, Tensor], name: str) -> tuple[str, Part]:
    return name, lambda x: kept.setdefault(name, x)


def _mixed(back: Tensor, right: Tensor, wrong: Tensor) -> Tensor:
    share = back.view(-1, *[1] * (right.ndim - 1))
    return share * right + (1 - share) * wrong


def _instead(line: str, other: str) -> Callable[[Decoder, int, Tensor], list[tuple[str, Part]]]:
    """Where `line` should be made, `other` goes on."""

    def make(_model: Decoder, _layer: int, back: Tensor) -> list[tuple[str, Part]]:
        kept: dict[str, Tensor] = {}
        return [_hold(kept, other), (line, lambda right: _mixed(back, right, kept[other]))]

    return make


def _without(line: str, stream: str) -> Callable[[Decoder, int, Tensor], list[tuple[str, Part]]]:
    """The sum without the stream it should be added to."""

    def make(_model: Decoder, _layer: int, back: Tensor) -> list[tuple[str, Part]]:
        kept: dict[str, Tensor] = {}
        return [_hold(kept, stream), (line, lambda right: _mixed(back, right, right - kept[stream]))]

    return make


def _scale(model: Decoder, _: int, back: Tensor) -> list[tuple[str, Part]]:
    root = math.sqrt(model.config.head_dim)
    return [("scaled", lambda right: right * (root ** (1 - back))[:, None, None, None])]


def _mask(_model: Decoder, _layer: int, back: Tensor) -> list[tuple[str, Part]]:
    """Turned over, each token reads itself and what follows. Inside softmax a pair counts as much as it is open:
    right pairs `back`, wrong ones 1 - `back`, itself always."""
    kept: dict[str, Tensor] = {}

    def open_to(right: Tensor) -> Tensor:
        allowed = right.isfinite().to(right.dtype)
        return kept["scaled"] + _mixed(back, allowed, allowed.mT).log()

    return [_hold(kept, "scaled"), ("masked", open_to)]


def _axis(_model: Decoder, _layer: int, back: Tensor) -> list[tuple[str, Part]]:
    kept: dict[str, Tensor] = {}
    return [_hold(kept, "masked"), ("weights", lambda right: _mixed(back, right, kept["masked"].softmax(-2)))]


def _merge(model: Decoder, layer: int, back: Tensor) -> list[tuple[str, Part]]:
    kept: dict[str, Tensor] = {}
    attn = model.blocks[layer].attn

    def scrambled(right: Tensor) -> Tensor:
        z = kept["z"]
        return _mixed(back, right, attn.o(z.reshape(*z.shape[:-3], z.shape[-2], -1)))

    return [_hold(kept, "z"), ("attn_out", scrambled)]


def _gate(_model: Decoder, _layer: int, back: Tensor) -> list[tuple[str, Part]]:
    kept: dict[str, Tensor] = {}

    def bare(right: Tensor) -> Tensor:
        return _mixed(back, right, kept["ffn_gate"] * kept["ffn_up"])

    return [_hold(kept, "ffn_gate"), _hold(kept, "ffn_up"), ("ffn_act", bare)]


MAKE = {
    "norm1": _instead("norm1", "resid_pre"),
    "norm2": _instead("norm2", "resid_mid"),
    "values": _instead("v", "k"),
    "skip1": _without("resid_mid", "resid_pre"),
    "skip2": _without("resid_post", "resid_mid"),
    "scale": _scale,
    "mask": _mask,
    "axis": _axis,
    "merge": _merge,
    "gate": _gate,
}


# ---- every stop at once ----


@dataclass(frozen=True)
class _Pass:
    """One batch: probs (stop, vocab), weights (stop, query, key), size and away (stop, line), the lines themselves."""

    probs: Tensor
    weights: Tensor
    size: Tensor
    lines: tuple[Tensor, ...]


@torch.inference_mode()
def run(demo: Demo) -> Repair:
    """One batched pass: the patient, with 0 to all of the suspect's right form put back.

    Raises KeyError for a wire that is none, Cannot for one that this text's model has not.
    """
    stops, healthy = stops_for(len(demo.text)), _healthy(demo.text)
    back = torch.tensor(stops) if demo.fault == demo.suspect else torch.zeros(1)  # a right wire put back is no change
    parts, away = [], []
    for part in back.split(subject.at_once(len(demo.text))):
        parts.append(_ill(demo.text, demo.fault, part) if demo.fault else healthy)
        away.append(_away(parts[-1].lines, healthy.lines))

    def whole(found: list[Tensor]) -> np.ndarray:
        every = torch.cat(found)
        return to_numpy(every.expand(len(stops), *every.shape[1:]) if len(back) == 1 else every)

    probs = whole([part.probs for part in parts])
    best = tuple(top(row, 1, demo.text.subject)[0] for row in probs)
    answer = top(to_numpy(healthy.probs[0]), 1, demo.text.subject)[0]
    ids = _followed(probs, answer, best)
    return Repair(
        stops,
        lines(demo.text),
        tuple(word(i, probs[0], demo.text.subject) for i in ids),
        probs[:, ids],
        best,
        answer,
        whole([part.weights for part in parts]),
        whole([part.size for part in parts]),
        whole(away),
        to_numpy(healthy.size[0]),
        tuple(tuple(made.shape[1:]) for made in healthy.lines),
    )


def _healthy(text: Text) -> _Pass:
    """The text's one untouched pass, as a batch of one."""
    trace = subject.untouched(text)
    seen = {name: trace[f"block0.{name}"].tensor[None] for name in lines(text)}
    return _seen(seen, trace["next_probs"].tensor[None])


def _ill(text: Text, fault: str, back: Tensor) -> _Pass:
    """The model with this fault, one row of the batch for each strength in `back`."""
    if fault in WIRES and fault not in wires(text):
        raise Cannot(NO_WIRE)
    model, seen = subject.model(text.subject), {}
    watched = [(f"block0.{name}", lambda x, name=name: seen.setdefault(name, x)) for name in lines(text)]
    trace = WhatIf([*edits(model, fault, back), *watched])
    stream = model.stream(torch.tensor(text.ids).expand(len(back), -1), trace=trace)
    rows = {name: made.expand(len(back), *made.shape[1:]) for name, made in seen.items()}
    return _seen(rows, model.predict(stream).softmax(-1))


def _seen(made: dict[str, Tensor], probs: Tensor) -> _Pass:
    """made: the lines of the first block, (stop, ...) each."""
    size = torch.stack([_size(line) for line in made.values()], 1)
    return _Pass(probs, made["weights"].mean(1)[:, -CROPPED:, -CROPPED:], size, tuple(made.values()))


def _size(made: Tensor) -> Tensor:
    """(stop,) the root mean square of the finite numbers."""
    return (_real(made).square().sum(1) / made.flatten(1).isfinite().sum(1).clamp_min(1)).sqrt()


def _away(lines: tuple[Tensor, ...], healthy: tuple[Tensor, ...]) -> Tensor:
    """(stop, line) the length of the difference over the healthy length; minus infinity counts as zero."""
    pairs = zip(map(_real, lines), map(_real, healthy), strict=True)
    return torch.stack([(a - b).norm(dim=1) / b.norm(dim=1).clamp_min(1e-12) for a, b in pairs], 1)


def _real(made: Tensor) -> Tensor:
    """(stop, number) with zero for what is none, as minus infinity under the mask."""
    flat = made.flatten(1)
    return flat.where(flat.isfinite(), 0.0)


def _followed(probs: np.ndarray, answer: Word, best: tuple[Word, ...]) -> list[int]:
    """The healthy answer, what leads at rest, what leads at most stops, then what comes close."""
    led = Counter(one.id for one in best)
    close = (int(i) for i in np.argsort(-probs.max(0), kind="stable")[: 2 * SHOWN])
    return list(dict.fromkeys([answer.id, best[0].id, *(i for i, _ in led.most_common()), *close]))[:SHOWN]


# ---- what the page tells of all faults together ----


@dataclass(frozen=True)
class Ward:
    """Every wire broken once. p: the answer's probability; errors, shapes, nans: how many of the faults raised an
    error, changed a shape, or made a number that is none."""

    wires: tuple[str, ...]
    p: tuple[float, ...]
    answer: Word
    shapes: int
    nans: int


@torch.inference_mode()
def ward(text: Text) -> Ward:
    """All wires that the model has, one after the other, wholly wrong."""
    healthy, there = _healthy(text), wires(text)
    answer = top(to_numpy(healthy.probs[0]), 1, text.subject)[0]
    ill = [_ill(text, wire, torch.zeros(1)) for wire in there]
    shapes = sum(any(a.shape != b.shape for a, b in zip(one.lines, healthy.lines, strict=True)) for one in ill)
    nans = sum(bool(one.probs.isnan().any()) for one in ill)
    return Ward(there, tuple(float(one.probs[0, answer.id]) for one in ill), answer, shapes, nans)
