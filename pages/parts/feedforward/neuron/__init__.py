"""One neuron: its value under each word, its gauges, and the next word while its write is turned up and down."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
NEURON = live.painter(HERE / "neuron.js")


class Gauge(TypedDict):
    """name; value at the last word; high: the end of its scale; moves: does the slider multiply it?"""

    name: str
    value: float
    high: float
    moves: bool


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    names: list[list[str]]
    gauges: list[Gauge]
    candidates: list[str]
    beside: list[str]
    asked: int
    scale: palette.Scale
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


@dataclass(frozen=True)
class Side:
    """A sentence, the neuron's value at each of its tokens, and words that may come next: probs (stop, word)."""

    tokens: tuple[str, ...]
    values: np.ndarray
    words: tuple[str, ...]
    probs: np.ndarray


def show(
    picture: live.Picture,
    here: Side,
    there: Side,
    gauges: list[Gauge],
    factors: tuple[float, ...],
    asked: int,
) -> None:
    """The sentence and its twin; one frame a factor. asked: the place of the word that is asked about, in the twin the
    first."""
    bound = max(float(np.abs(side.values).max(initial=1e-3)) for side in (here, there))
    meta: Meta = {
        "names": [list(side.tokens) for side in (here, there)],
        "gauges": gauges,
        "candidates": list(here.words),
        "beside": list(there.words),
        "asked": asked,
        "scale": palette.scale(palette.DIVERGING, -bound, bound),
        "colours": palette.roles(bar="quiet", marked="a", low="q", high="warn", quiet="quiet"),
        "words": {
            "value": _(N_("the neuron's value under each word")),
            "next": _(N_("next word")),
            "twin": _(N_("the same neuron in another sentence")),
        },
        "tools": True,
    }
    arrays = {"probs": here.probs, "twin": there.probs, "here": here.values, "there": there.values}
    arrays |= {"factors": np.array(factors)}
    picture.mount(NEURON, meta, {name: np.asarray(array, np.float32) for name, array in arrays.items()})
