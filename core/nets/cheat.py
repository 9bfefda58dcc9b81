"""Two tiny models and one difference: a causal mask in training. The one without it reads its answers off the page.

They learn a language whose entropy is known, so nobody who plays fair can fall below it. `python -m core.make cheat` trains
both in a minute and writes assets/models/cheat.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor

from core.assets import ASSETS
from core.checkpoint import empty
from core.config import ModelConfig
from core.model import Decoder
from core.trace import SILENT
from core.whatif import Change

WEIGHTS = ASSETS / "models" / "cheat" / "model.safetensors"
SLOTS = (  # a sentence takes one word of each, every one as likely as the others
    ("Sam", "Amy", "Tom", "Lily", "Ben", "Anna", "Max", "Mia"),
    ("saw", "took", "found", "had", "drew", "lost"),
    ("a",),
    ("red", "blue", "big", "small", "new", "green"),
    ("ball", "dog", "car", "hat", "boat", "fish", "cup", "kite"),
    (".",),
)
VOCAB = tuple(word for slot in SLOTS for word in slot)
ENTROPY = sum(math.log(len(slot)) for slot in SLOTS) / len(SLOTS)  # nats a word
LENGTH, STEPS, SIZE = 36, 600, 32
CONFIG = ModelConfig(d_model=48, n_layers=2, n_heads=2, d_ff=96, vocab_size=len(VOCAB), context=LENGTH, tied=True)
KINDS = ("masked", "open")  # how a model was trained
OPEN = Change(mask=False)


def texts(n: int, generator: torch.Generator) -> Tensor:
    """(n, 36) ids: sentences one after another, each text cut out at a random place."""
    sentences = LENGTH // len(SLOTS) + 1
    columns, first = [], 0
    for slot in SLOTS:
        columns.append(first + torch.randint(len(slot), (n, sentences), generator=generator))
        first += len(slot)
    rows = torch.stack(columns, -1).flatten(1)
    starts = torch.randint(len(SLOTS), (n, 1), generator=generator)
    return rows.gather(1, starts + torch.arange(LENGTH))


def losses(model: Decoder, rows: Tensor, *, mask: bool) -> Tensor:
    """Nats at every place but the last, whose next word is not in the text. Returns (n, 35)."""
    trace = SILENT if mask else OPEN.trace(model.config.head_dim)
    logits = model.read_out(model.stream(rows, trace=trace))[:, :-1]
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="none").view(len(rows), -1)


@cache
def _stored() -> dict[str, Tensor]:
    return load_file(WEIGHTS)


@cache
def model(kind: str) -> Decoder:
    """One of the two trained models. They are only read."""
    made = empty(CONFIG).to_empty(device="cpu")
    start = f"{kind}."
    made.load_state_dict({n[len(start) :]: w for n, w in _stored().items() if n.startswith(start)})
    return made.requires_grad_(False)


def history() -> np.ndarray:
    """(kind, step): the loss in training, recorded."""
    return np.stack([_stored()[f"history.{kind}"].numpy() for kind in KINDS])


@torch.inference_mode()
def measured(n: int = 64, seed: int = 1) -> np.ndarray:
    """(trained, tested): the mean loss of each model on new texts, with the mask and without it."""
    rows = texts(n, torch.Generator().manual_seed(seed))
    return np.array([[float(losses(model(k), rows, mask=mask).mean()) for mask in (True, False)] for k in KINDS])


@dataclass(frozen=True)
class Written:
    """What a model writes on its own after a full stop. right: how many of its sentences the language allows."""

    words: tuple[str, ...]
    sentences: int
    right: int


@torch.inference_mode()
def write(kind: str, seed: int = 0, n: int = 36) -> Written:
    """n words, one at a time, drawn from the model as it was trained: the open one without its mask."""
    generator, made = torch.Generator().manual_seed(seed), model(kind)
    ids = [VOCAB.index(".")]
    for _ in range(n):
        trace = SILENT if kind == "masked" else OPEN.trace(CONFIG.head_dim)
        probs = made.predict(made.stream(torch.tensor(ids[-LENGTH:]), trace=trace)).softmax(-1)
        ids.append(int(torch.multinomial(probs, 1, generator=generator)))
    words = tuple(VOCAB[i] for i in ids[1:])
    cut = [at for at, word in enumerate(words, 1) if word == "."]
    spans = [words[start:end] for start, end in zip([0, *cut], cut, strict=False)]
    return Written(words, len(spans), sum(correct(span) for span in spans))


def correct(words: tuple[str, ...]) -> bool:
    """One whole sentence of the language, its full stop included."""
    return len(words) == len(SLOTS) and all(word in slot for word, slot in zip(words, SLOTS, strict=True))
