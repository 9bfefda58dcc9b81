"""What a visitor need not wait for: neurons found by search, every neuron muted once, the stories' losses under other
bends and volumes. `python -m core.make neurons` records it; the tests compute some of it again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.assets import ASSETS
from core.lab.text import SENTENCE
from core.whatif import Edit

TABLE = ASSETS / "data" / "neurons.npz"
FOUND = ASSETS / "data" / "neurons.json"
MUTED_IN = SENTENCE
VOLUMES = tuple(k / 25 for k in range(51))  # 0: off, 1: untouched, 2: twice
BENDS = ("silu", "hardswish", "gelu", "gelu_tanh", "relu", "none", "relu2", "up", "gate")


@dataclass(frozen=True)
class Context:
    """A few tokens up to one that the neuron fires on, and its value at each of them."""

    tokens: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Found:
    """A neuron, and where it fires in texts that the model wrote. fires: places above half of its largest values;
    words: the words it fires on, most often first: word, how often it fires there, how often the word stands anywhere."""

    layer: int
    neuron: int
    fires: int
    of: int
    words: tuple[tuple[str, int, int], ...]
    contexts: tuple[Context, ...]

    @property
    def name(self) -> str:
        return f"{self.layer}.{self.neuron}"


@cache
def gallery() -> dict[str, Found]:
    """Name ("5.559") -> what was found."""
    told: list[dict[str, Any]] = json.loads(FOUND.read_text("utf8"))["neurons"]
    made = (
        Found(
            one["layer"],
            one["neuron"],
            one["fires"],
            one["of"],
            tuple((word, on, all_) for word, on, all_ in one["words"]),
            tuple(Context(tuple(c["tokens"]), tuple(c["values"])) for c in one["contexts"]),
        )
        for one in told
    )
    return {found.name: found for found in made}


@cache
def muted_one_by_one() -> np.ndarray:
    """(layer, neuron): the answer's probability after MUTED_IN with that neuron alone muted."""
    table: np.ndarray = np.load(TABLE, allow_pickle=False)["muted"]
    return table


@cache
def bend_losses() -> dict[str, float]:
    """Nats a token on the stories with another bend in every FFN, weights as they are."""
    return dict(zip(BENDS, map(float, np.load(TABLE, allow_pickle=False)["bends"]), strict=True))


@cache
def volume_losses() -> np.ndarray:
    """(layers + 1, volume): nats a token on the stories with the FFN of one block, or (last) of all, at each volume."""
    table: np.ndarray = np.load(TABLE, allow_pickle=False)["volumes"]
    return table


def bent(name: str, gate: Tensor, up: Tensor) -> Tensor:
    """What enters the last map if the gate is bent otherwise. up, gate: one of the two alone."""
    if name == "up":
        return up
    if name == "gate":
        return F.silu(gate)
    curves = {
        "silu": F.silu,
        "hardswish": F.hardswish,
        "gelu": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "relu": F.relu,
        "none": lambda x: x,
        "relu2": lambda x: F.relu(x).square(),
    }
    bend: Tensor = curves[name](gate)
    return bend * up


def bend_edits(name: str) -> list[Edit]:
    """Every FFN of a gated model with another bend."""
    held: dict[str, Tensor] = {}

    def keep(which: str, x: Tensor) -> Tensor:
        held[which] = x
        return x

    return [
        ("block*.ffn_gate", partial(keep, "gate")),
        ("block*.ffn_up", partial(keep, "up")),
        ("block*.ffn_act", lambda _: bent(name, held["gate"], held["up"])),
    ]


def volume_edits(layer: int | None, by: float) -> list[Edit]:
    """The FFN of one block, or of all, by times as loud."""
    where = "*" if layer is None else str(layer)
    return [(f"block{where}.ffn_out", lambda x: x * torch.tensor(by))]
