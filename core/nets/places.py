"""What "extrapolates" means: five tiny models that differ in one thing, read four times as far as they were trained.

Each learns stories letter by letter in pieces of 64 letters. The stories are written by the embedded model itself.
`python -m core.make places` samples them, trains the five in some minutes on one thread, measures the loss at every place
of longer texts, and writes assets/models/places.
"""

from __future__ import annotations

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
from core.positions import alibi_bias, alibi_slopes, sinusoids
from core.trace import SILENT, Trace
from core.whatif import Edit, WhatIf

FILE = ASSETS / "models" / "places" / "model.safetensors"
SCHEMES = ("none", "sinusoidal", "learned", "alibi", "rope")
LETTERS = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?'\"-"
TRAINED, READ = 64, 256  # letters in training, letters in the test
TESTS = 160  # texts that are kept for measuring
CONFIG = ModelConfig(d_model=64, n_layers=2, n_heads=4, d_ff=176, vocab_size=len(LETTERS), context=TRAINED)


def spelled(text: str) -> Tensor:
    """The letters of a text as numbers; signs that are not among LETTERS are left out."""
    known = {letter: i for i, letter in enumerate(LETTERS)}
    return torch.tensor([known[letter] for letter in " ".join(text.split()) if letter in known])


def edits(scheme: str, n: int, table: Tensor | None = None) -> list[Edit]:
    """What makes a rotating decoder one of the five. Raises IndexError where a learned table has too few rows."""
    if scheme == "rope":
        return []
    still: list[Edit] = [("angles", torch.zeros_like)]
    if scheme == "sinusoidal":
        places = sinusoids(n, CONFIG.d_model).float()
        return [*still, ("embed", lambda x: x + places)]
    if scheme == "learned":
        if n > len(table):
            raise IndexError(f"position {len(table)} is out of range: the table has {len(table)} rows")
        return [*still, ("embed", lambda x: x + table[:n])]
    if scheme == "alibi":
        bias = alibi_bias(n, alibi_slopes(CONFIG.n_heads)).float()
        return [*still, ("block*.scaled", lambda s: s + bias)]
    return still


def losses(model: Decoder, scheme: str, rows: Tensor, table: Tensor | None = None) -> Tensor:
    """(text, place): nats at every place but the last."""
    made = edits(scheme, rows.shape[1] - 1, table)
    trace: Trace = WhatIf(made) if made else SILENT
    logits = model.read_out(model.stream(rows[:, :-1], trace=trace))
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="none").view(len(rows), -1)


# ---- what pages read ----


@cache
def _stored() -> dict[str, Tensor]:
    return load_file(FILE)


@cache
def model(scheme: str) -> tuple[Decoder, Tensor | None]:
    """A trained model, and its table of positions where it has one. They are only read."""
    made, start = empty(CONFIG).to_empty(device="cpu"), f"{scheme}."
    weights = {name[len(start) :]: w.float() for name, w in _stored().items() if name.startswith(start)}
    table = weights.pop("table", None)
    made.load_state_dict(weights)
    return made.requires_grad_(False), table


def alike() -> np.ndarray:
    """(position, position): the cosine between the learned vectors of any two positions."""
    table = F.normalize(model("learned")[1], dim=-1)
    return (table @ table.T).numpy()


def ask(position: int) -> np.ndarray | str:
    """The learned vector of a position (d_model,); beyond the last row, what torch's own IndexError says."""
    try:
        return model("learned")[1][position].numpy()
    except IndexError as error:
        return str(error)


def by_place() -> np.ndarray:
    """(scheme, place): the mean loss at each of READ places, recorded; NaN where a learned table has no row."""
    return _stored()["by_place"].numpy()


@torch.inference_mode()
def measured(scheme: str, texts: int = TESTS) -> np.ndarray:
    """(place,): the same for some of the texts, computed now."""
    rows, (made, table) = _stored()["texts"][:texts].long(), model(scheme)
    reach = TRAINED if scheme == "learned" else READ
    found = torch.full((READ,), torch.nan)
    parts = [losses(made, scheme, part[:, : reach + 1], table) for part in rows.split(32)]
    found[:reach] = torch.cat(parts).mean(0)
    return found.numpy()


# ---- how they were made ----
