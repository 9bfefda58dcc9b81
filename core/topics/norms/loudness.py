"""How loud the residual stream is: multiplied at one station, while every reader behind it begins with a norm.

A norm stands on the branch, so that a sub-layer reads the same whatever the factor. What it writes is added to the
stream as it is (Xiong et al. 2020, arXiv 2002.04745, fig. 1b). A factor on the stream is then the inverse factor on
every later write. Without what the later blocks write, the head reads an early stream: the logit lens (nostalgebraist
2020), to which the factor leads from block to block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.memory import kept
from core.lab.text import Text
from core.trace import to_numpy
from core.watch import overhear
from core.whatif import Edit, WhatIf

FACTORS = tuple(float(f"{10 ** (k / 15 - 2):.4g}") for k in range(61))  # 0.01 to 100, untouched in the middle
COARSE = FACTORS[::5]
LONG = 64  # tokens: beyond, every fifth stop is computed
CANDIDATES = 6
TOLD = 10.0  # the factor that is asked about
WRITES = ("attn_out", "ffn_out")


@dataclass(frozen=True)
class Demo:
    """A text, and how many blocks stand before the station where the stream is multiplied: 0 is the embedding."""

    text: Text
    station: int = 3


@dataclass(frozen=True)
class Turned:
    """The last token's stream at every stop of the slider.

    sizes, writes: (stop, place), root mean squares of the stream after the embedding and after each sub-layer, and of
    what that place has added. lens: (stop, place), what the head would say there, an index of `said`; sure: (stop,
    place), how likely it finds that. probs: (stop, candidate) after all blocks; ids: the candidates', the answer of the
    untouched model first. top: (stop,) the id that is likeliest there; most: (stop,) how likely.
    """

    sizes: np.ndarray
    writes: np.ndarray
    lens: np.ndarray
    sure: np.ndarray
    said: tuple[int, ...]
    probs: np.ndarray
    ids: tuple[int, ...]
    top: np.ndarray
    most: np.ndarray

    @property
    def answer(self) -> int:
        return self.ids[0]


def factors(n_tokens: int) -> tuple[float, ...]:
    return FACTORS if n_tokens <= LONG else COARSE


def stations(text: Text) -> range:
    """Blocks before each place where the stream may be multiplied."""
    return range(subject.config(text.subject).n_layers + 1)


def before(text: Text, station: int) -> Tensor:
    """The untouched stream at a station, (token, d_model)."""
    trace = subject.untouched(text)
    if station:
        return trace[f"block{station - 1}.resid_post"].tensor
    return trace["block0.resid_pre"].tensor


def turned(demo: Demo) -> Turned:
    """The stream times each factor at the station, in as few batched passes as memory allows."""
    return kept(_turned, demo)


@torch.inference_mode()
def _turned(demo: Demo) -> Turned:
    model, every = subject.model(demo.text.subject), torch.tensor(factors(len(demo.text)))
    parts = [_passed(demo, part) for part in every.split(subject.at_once(len(demo.text)))]
    stream, writes, probs = (torch.cat(part) for part in zip(*parts, strict=True))
    sure, lens = _lens(demo, stream)
    said, index = lens.unique(return_inverse=True)
    answer = int(subject.untouched(demo.text)["next_probs"].value.argmax())
    ranked = probs.max(0).values
    ranked[answer] = torch.inf
    found = ranked.topk(min(CANDIDATES, model.config.vocab_size)).indices
    most, top = probs.max(-1)
    return Turned(
        sizes=to_numpy(_rms(stream)),
        writes=to_numpy(_rms(writes)),
        lens=to_numpy(index.int()),
        sure=to_numpy(sure),
        said=tuple(int(i) for i in said),
        probs=to_numpy(probs[:, found]),
        ids=tuple(int(i) for i in found),
        top=to_numpy(top),
        most=to_numpy(most),
    )


def _rms(x: Tensor) -> Tensor:
    return x.square().mean(-1).sqrt()


def _passed(demo: Demo, factor: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """factor: (stop,). The last token's stream and writes, (stop, place, d_model), and the next token's, (stop, vocab).

    Before the station nothing is computed anew; the station itself and all before it in its stream are multiplied.
    """
    model, text = subject.model(demo.text.subject), demo.text
    stream, writes = _untouched(text, demo.station)
    wide = factor[:, None, None]
    stream = [x.expand(len(factor), -1) for x in stream[:-1]] + [stream[-1] * factor[:, None]]
    writes = [x.expand(len(factor), -1) for x in writes[:-1]] + [writes[-1] * factor[:, None]]
    outs: list[Tensor] = []
    mids: list[Tensor] = []
    last = lambda x: x[..., -1, :]  # noqa: E731
    blocks = range(demo.station, model.config.n_layers)  # by number: a mixture's experts have an ffn_out of their own
    watch: list[Edit] = [(f"block{i}.{name}", overhear(outs, last)) for i in blocks for name in WRITES]
    watch += [(f"block{i}.{name}", overhear(mids, last)) for i in blocks for name in ("resid_mid", "resid_post")]
    trace, x = WhatIf(watch), before(text, demo.station) * wide
    around = model.surroundings(len(text))
    for i in blocks:
        with trace.inside(f"block{i}"):
            x = model.blocks[i](x, *around, trace=trace)
    probs = model.predict(x).softmax(-1)
    return torch.stack([*stream, *mids], 1), torch.stack([*writes, *outs], 1), probs


def _untouched(text: Text, station: int) -> tuple[list[Tensor], list[Tensor]]:
    """The last token's stream and what was written, place by place up to a station, (d_model,) each."""
    trace = subject.untouched(text)
    start = trace["block0.resid_pre"].tensor[-1]
    stream, writes = [start], [start]
    for i in range(station):
        for where, name in zip(("resid_mid", "resid_post"), WRITES, strict=True):
            stream.append(trace[f"block{i}.{where}"].tensor[-1])
            writes.append(trace[f"block{i}.{name}"].tensor[-1])
    return stream, writes


def _lens(demo: Demo, stream: Tensor) -> tuple[Tensor, Tensor]:
    """stream: (stop, place, d_model). What the head says of each: probability and id of the likeliest, (stop, place)."""
    model, found = subject.model(demo.text.subject), []
    for place, x in enumerate(stream.unbind(1)):  # one at a time: memory
        x = x if place >= 2 * demo.station else x[:1]  # before the station all stops are alike
        found.append([part.expand(len(stream)) for part in model.predict(x[:, None, :]).softmax(-1).max(-1)])
    values, ids = zip(*found, strict=True)
    return torch.stack(values, 1), torch.stack(ids, 1)


# ---- where it matters, and why ----


def some(n_tokens: int) -> tuple[float, ...]:
    """The factors of the overview of all stations."""
    return COARSE if n_tokens <= LONG else COARSE[::3]


def everywhere(text: Text) -> np.ndarray:
    """(station, factor of some()): the probability of the untouched model's answer."""
    return kept(_everywhere, text)


@torch.inference_mode()
def _everywhere(text: Text) -> np.ndarray:
    model, answer = subject.model(text.subject), int(subject.untouched(text)["next_probs"].value.argmax())
    around, factor, rows = model.surroundings(len(text)), torch.tensor(some(len(text))), []
    for station in stations(text):
        found = []
        for part in factor.split(subject.at_once(len(text))):
            x = before(text, station) * part[:, None, None]
            for block in model.blocks[station:]:
                x = block(x, *around)
            found.append(model.predict(x).softmax(-1)[:, answer])
        rows.append(torch.cat(found))
    return to_numpy(torch.stack(rows))


@dataclass(frozen=True)
class Law:
    """The next token's logits in two ways: the stream multiplied, or every later write divided. gap: the largest
    difference; spread: the standard deviation of the logits, to measure it by. lens: half the summed difference between
    the next word's probabilities at FACTORS[-1] and the logit lens of the station, 0 where they agree, at most 1."""

    gap: float
    spread: float
    lens: float


@torch.inference_mode()
def law(demo: Demo, factor: float = TOLD) -> Law:
    """A factor on the stream is the inverse factor on every later write, but for eps."""
    model, text = subject.model(demo.text.subject), demo.text
    x = before(text, demo.station)
    later = range(demo.station, model.config.n_layers)
    divided = WhatIf([(f"block{i}.{name}", lambda write: write / factor) for i in later for name in WRITES])
    logits = [_onward(demo, x * factor), _onward(demo, x, divided)]
    far, lens = _onward(demo, x * FACTORS[-1]).softmax(-1), model.predict(x).softmax(-1)
    gap = (logits[0] - logits[1]).abs().max()
    return Law(float(gap), float(logits[0].std()), float((far - lens).abs().sum() / 2))


def _onward(demo: Demo, x: Tensor, trace: WhatIf | None = None) -> Tensor:
    model, trace = subject.model(demo.text.subject), WhatIf([]) if trace is None else trace
    around = model.surroundings(len(demo.text))
    for i in range(demo.station, model.config.n_layers):
        with trace.inside(f"block{i}"):
            x = model.blocks[i](x, *around, trace=trace)
    return model.predict(x)
