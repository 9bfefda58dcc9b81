"""One sentence through the whole model, as Home shows it: recorded for the first sentence, computed for any other.

Nothing here imports torch before a sentence has to be computed. `python -m core.make home` writes the recording anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from core.assets import ASSETS
from core.lab.outcomes import ABOUT, recorded_words
from core.lab.text import FIRST, Text, Word, top
from core.trace import Trace

if TYPE_CHECKING:  # all three need torch
    from torch import Tensor

    from core.model import Decoder
    from core.whatif import Change

RECORDING = ASSETS / "data" / "home.npz"
INSIDE = ("norm1", "q", "k", "v", "weights", "z", "attn_out", "resid_mid", "norm2", "ffn_act", "ffn_out", "resid_post")
ONLY = ("ids", "embed", "next_logits", *(f"block*.{name}" for name in INSIDE))


@dataclass(frozen=True)
class Flow:
    """trace: the tensors Home draws. words: the next word's candidates. lens: what each block would say if the model
    ended there (logit lens), from the embedding on. cut: the candidates with LINK forbidden, where it was asked for."""

    trace: Trace
    words: tuple[Word, ...]
    lens: tuple[tuple[Word, ...], ...]

    @property
    def tokens(self) -> list[str]:
        return self.trace.labels["query"]


def flow(text: Text, change: Change | None = None) -> Flow:
    """The text through its model. change: None leaves the model as it is."""
    if text == first() and change is None:
        return recorded()
    return compute(text, change)


@cache
def first() -> Text:
    """The first sentence as the model reads it, from the recording: no tokenizer."""
    trace = recorded().trace
    return Text(FIRST, tuple(trace["ids"].value.tolist()), tuple(trace.labels["query"]))


@cache
def recorded() -> Flow:
    """The first sentence, read from the recording: no torch, no model."""
    about = json.loads(ABOUT.read_text("utf8"))
    lens = tuple(tuple(Word(**word) for word in words) for words in about["lens"])
    return Flow(Trace.load(RECORDING), recorded_words(), lens)


def compute(text: Text, change: Change | None = None) -> Flow:
    """The text through its model, now."""
    import torch

    from core.lab import subject

    model, last = subject.model(text.subject), len(text) - 1
    trace = subject.run(text, change or subject.UNTOUCHED, (*ONLY, "next_probs"))
    with torch.inference_mode():
        lens = model.predict(torch.stack(stages(trace, model, last))).softmax(-1).numpy()
    words = tuple(top(trace["next_probs"].value, subject=text.subject))
    return Flow(trace, words, tuple(tuple(top(probs, 3, text.subject)) for probs in lens))


def stages(trace: Trace, model: Decoder, start: int) -> list[Tensor]:
    """The stream before the first block and after each one, of the tokens from `start` on: (token, d_model) each."""
    before = trace["embed"].tensor[start:]
    if model.pos_embed is not None:
        before = before + model.pos_embed.weight[start : start + len(before)]
    return [before, *(trace[f"block{i}.resid_post"].tensor[start:] for i in range(model.config.n_layers))]


def picture(values: np.ndarray, width: int = 48) -> np.ndarray:
    """(token, any) -> (token, at most width): each cell is the number farthest from zero among those it stands for."""
    group = -(-values.shape[-1] // width)
    if group == 1:
        return values
    filled = np.pad(values, ((0, 0), (0, -values.shape[-1] % group))).reshape(len(values), -1, group)
    return np.take_along_axis(filled, np.abs(filled).argmax(-1)[..., None], -1)[..., 0]
