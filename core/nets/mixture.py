"""A tiny mixture of experts, really trained: letters of stories, 8 experts a block, one of them for each letter.

The model is core's own decoder with core's own router. `python -m core.make moe` trains it without balancing, with the
balancing loss and with the bias-only alternative, three seeds each, beside dense networks of the same and of the whole
width, and records what happened. Two of the runs ship with their weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor

from core.assets import ASSETS
from core.checkpoint import empty
from core.config import ModelConfig, Moe
from core.model import Decoder
from core.moe import choose, seated, seats
from core.trace import Trace
from core.whatif import WhatIf

FILE = ASSETS / "models" / "mixture" / "model.safetensors"
LETTERS = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?'\"-"
LENGTH, TEXTS = 64, 64  # letters of a text; texts that are kept for measuring
EXPERTS, WIDTH, SEEDS, STEPS = 8, 40, (0, 1, 2), 600
STOPS = tuple(sorted({1, 2, 4, 6, 8, *range(10, 100, 3), *range(100, 300, 10), *range(300, STEPS + 1, 25)}))
CAPACITIES = tuple(i / 20 for i in range(10, 61))  # times an even share; the last stop is 3
CONFIG = ModelConfig(
    d_model=64,
    n_layers=2,
    n_heads=4,
    d_ff=WIDTH,
    vocab_size=len(LETTERS),
    context=LENGTH,
    moe=Moe(EXPERTS, 1, WIDTH, layers=(0, 1), router_bias=True, renormalise=False),
    family="qwen3_moe",
)


@dataclass(frozen=True)
class Kind:
    """How a run was trained. aux: the weight of the balancing loss; rate: of the bias-only alternative, a step."""

    config: ModelConfig = CONFIG
    aux: float = 0.0
    rate: float = 0.0


TOP2 = replace(CONFIG, moe=replace(CONFIG.moe, n_active=2, renormalise=True))
KINDS = {
    "none": Kind(),
    "weak": Kind(aux=0.01),
    "aux": Kind(aux=0.1),
    "bias": Kind(rate=0.003),
    "top2": Kind(TOP2, aux=0.01),
    "dense": Kind(replace(CONFIG, moe=None)),
    "wide": Kind(replace(CONFIG, moe=None, d_ff=EXPERTS * WIDTH)),
}
BALANCED = ("none", "weak", "aux", "bias")  # one expert a letter; they differ in nothing but the balancing
SHIPPED = ("none", "aux")  # with their weights, seed 0


def spelled(text: str) -> str:
    """What these nets can read of a text: its letters, blanks drawn together."""
    return "".join(letter for letter in " ".join(text.split()) if letter in LETTERS)


def ids_of(text: str) -> Tensor:
    """(letter,): the numbers of the letters of a spelled text."""
    return torch.tensor([LETTERS.index(letter) for letter in text], dtype=torch.long)


def rationed(chosen: Tensor, gates: Tensor, capacity: float) -> Tensor:
    """The gates with those at zero whose letter found no seat. chosen, gates: (..., letter, expert); texts in order."""
    flat, n_active = chosen.flatten(0, -2), int(chosen.sum(-1).max())
    places = seats(len(flat), n_active, chosen.shape[-1], capacity)
    return gates * seated(flat, places).view(gates.shape)


# ---- what pages read ----


@cache
def _stored() -> dict[str, Tensor]:
    return load_file(FILE)


@cache
def model(kind: str) -> Decoder:
    """A shipped run, seed 0. Raises KeyError for one that is recorded but not shipped."""
    if kind not in SHIPPED:
        raise KeyError(f"shipped: {', '.join(SHIPPED)}; not {kind!r}")
    made, start = empty(KINDS[kind].config).to_empty(device="cpu"), f"{kind}."
    made.load_state_dict({n[len(start) :]: w.float() for n, w in _stored().items() if n.startswith(start)})
    return made.requires_grad_(False)


def texts() -> Tensor:
    """(text, letter): stories that no run has learned from."""
    return _stored()["texts"].long()


def loads(kind: str) -> np.ndarray:
    """(seed, stop, block, expert): the share of letters each expert had at STOPS, mean of the five steps before."""
    return _stored()[f"loads.{kind}"].float().numpy()


def history(kind: str) -> np.ndarray:
    """(seed, step): the loss while it learned, in nats a letter."""
    return _stored()[f"history.{kind}"].float().numpy()


def final(kind: str) -> np.ndarray:
    """(seed,): the loss on texts it has not learned from, with seats for everybody."""
    return _stored()[f"final.{kind}"].numpy()


def by_capacity(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """(seed, capacity) twice: the loss, and the share of letters that found no seat."""
    return _stored()[f"capacity.{kind}"].numpy(), _stored()[f"dropped.{kind}"].numpy()


@torch.inference_mode()
def routed(kind: str, text: str) -> Trace:
    """One pass of a shipped run over a spelled text: `block0.router_probs`, `block0.chosen` and the rest."""
    signs = list(text)
    trace = Trace(None, query=signs, key=signs)
    made = model(kind)
    made.predict(made.stream(ids_of(text), trace=trace), trace=trace)
    return trace


@torch.inference_mode()
def chosen(made: Decoder, rows: Tensor) -> Tensor:
    """(block, text, letter, expert): who was sent where."""
    kept: list[Tensor] = []
    made.stream(rows, trace=WhatIf([("block*.chosen", lambda value: kept.append(value) or value)]))
    return torch.stack(kept)


@torch.inference_mode()
def measured(made: Decoder, rows: Tensor, capacity: float | None) -> tuple[float, float]:
    """The loss on some texts and the share of choices that found no seat, over both blocks."""
    seen: list[Tensor] = []

    def ration(gates: Tensor) -> Tensor:
        kept = rationed(gates > 0, gates, capacity or float(gates.shape[-1]))
        seen.append(((gates > 0).sum() - (kept > 0).sum()) / (gates > 0).sum())
        return kept

    logits = made.read_out(made.stream(rows[:, :-1], trace=WhatIf([("block*.gates", ration)])))
    loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
    return float(loss), float(torch.stack(seen).mean()) if seen else 0.0


@torch.inference_mode()
def with_more(kind: str, k: int) -> float:
    """The loss of a shipped run on the kept texts when every letter is sent to its k best experts."""
    probs: list[Tensor] = []

    def listen(value: Tensor) -> Tensor:
        probs[:] = [value]
        return value

    rows, edits = texts(), [("block*.router_probs", listen), ("block*.chosen", lambda _: choose(probs[0], k))]
    made = model(kind)
    logits = made.read_out(made.stream(rows[:, :-1], trace=WhatIf(edits)))
    return float(F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten()))


@torch.inference_mode()
def specialities(kind: str) -> np.ndarray:
    """(block, expert, letter): how often each expert was sent each letter of the kept texts."""
    rows = texts()
    sent = chosen(model(kind), rows).flatten(1, 2).float()
    return torch.einsum("bte,tl->bel", sent, F.one_hot(rows.flatten(), len(LETTERS)).float()).numpy()
