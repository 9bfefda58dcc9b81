"""A question from the learner's own sentence: what is asked, the one right answer, and where it can be seen.

Every answer is read from the untouched pass over the text. A kind is asked only where its answer is unique with a
margin, so that nobody is marked wrong for a rounding.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from core.config import ModelConfig
from core.lab import subject
from core.lab.text import Text
from core.trace import Trace

NEAR = 0.01  # how far a typed number may be off, relative: printed numbers are rounded
EXACT = 0.0  # counts
FLOAT = 4  # bytes of a number in this model's cache


@dataclass(frozen=True)
class Question:
    """kind: which of KINDS. answer: a number, or one of `options` where there are any. tolerance: relative.

    values: what fills the holes of its words, as it is printed; the answer follows from these alone. Where they are
    rounded, "answer" is what they come to, which is the trace's own within the tolerance. level: 1 to 5.
    room: the topic that teaches it; state: what that room's address says to show it, the text apart.
    """

    kind: str
    level: int
    room: str
    answer: float | str
    tolerance: float
    values: tuple[tuple[str, str], ...]
    options: tuple[str, ...] = ()
    state: tuple[tuple[str, str], ...] = ()

    @property
    def told(self) -> dict[str, str]:
        return dict(self.values)

    def right(self, given: float | str) -> bool:
        """Is this the answer, or near enough to it?"""
        if isinstance(self.answer, str) or isinstance(given, str):
            return given == self.answer
        return abs(given - self.answer) <= max(self.tolerance * abs(self.answer), 1e-9)


@dataclass(frozen=True)
class Made:
    """What a kind makes of a text: all of a Question that is not the same for every text."""

    answer: float | str
    values: Mapping[str, object]
    options: tuple[str, ...] = ()
    state: tuple[tuple[str, str], ...] = ()


Maker = Callable[["Sheet", random.Random], "Made | None"]


@dataclass(frozen=True)
class Kind:
    """make: None where the answer would not be unique on this text, or the model has no such part.

    shown: can the answer be read or counted in the room, at the question's state? Else it is where such things are told.
    """

    name: str
    level: int
    room: str
    tolerance: float
    make: Maker
    shown: bool = True

    def ask(self, sheet: Sheet, seed: int) -> Question | None:
        """The same text and seed bring the same question, whatever else is asked."""
        made = self.make(sheet, random.Random(f"{seed} {self.name}"))
        if made is None:
            return None
        values = tuple((name, str(value)) for name, value in made.values.items())
        return Question(self.name, self.level, self.room, made.answer, self.tolerance, values, made.options, made.state)


KINDS: dict[str, Kind] = {}


def asks(name: str, *, level: int, room: str, tolerance: float = EXACT, shown: bool = True) -> Callable[[Maker], Maker]:
    """Enters a maker into KINDS."""

    def enter(make: Maker) -> Maker:
        KINDS[name] = Kind(name, level, room, tolerance, make, shown)
        return make

    return enter


@dataclass(frozen=True)
class Sheet:
    """A text and what is known of it, each computed when the first question asks."""

    text: Text

    @property
    def n(self) -> int:
        return len(self.text)

    @cached_property
    def config(self) -> ModelConfig:
        return subject.config(self.text.subject)

    @cached_property
    def trace(self) -> Trace:
        return subject.untouched(self.text)

    @cached_property
    def names(self) -> list[str]:
        """Every token by a name of its own: "Sam 2"."""
        return self.text.names

    @cached_property
    def next(self) -> np.ndarray:
        """(vocab,) how likely each token is to follow."""
        return np.asarray(self.trace["next_probs"].value, np.float64)

    @cached_property
    def logs(self) -> np.ndarray:
        """(token - 1,) log probability of every token but the first, in nats, when it came."""
        decoder = subject.model(self.text.subject)
        with torch.inference_mode():
            x = self.trace[f"block{self.config.n_layers - 1}.resid_post"].tensor
            logits = decoder.read_out(x[:-1]).log_softmax(-1)
        return np.asarray(logits[torch.arange(self.n - 1), torch.tensor(self.text.ids[1:])].double().numpy())

    def after(self, place: int) -> np.ndarray:
        """(vocab,) how likely each token is to follow the token at a place."""
        x = self.trace[f"block{self.config.n_layers - 1}.resid_post"].tensor[place : place + 1]
        with torch.inference_mode():
            return np.asarray(subject.model(self.text.subject).predict(x).double().softmax(-1).numpy())

    def of(self, layer: int, name: str) -> np.ndarray:
        return np.asarray(self.trace[f"block{layer}.{name}"].value)

    def head(self, rng: random.Random) -> tuple[int, int]:
        """Any (layer, head)."""
        return rng.randrange(self.config.n_layers), rng.randrange(self.config.n_heads)

    def heads(self, rng: random.Random) -> list[tuple[int, int]]:
        """All of them, in any order."""
        every = [(i, j) for i in range(self.config.n_layers) for j in range(self.config.n_heads)]
        return rng.sample(every, len(every))


def said(x: float, digits: int = 3) -> str:
    """A number as a question prints it, with a real minus."""
    return f"{x:.{digits}f}".replace("-", "−")


def signs(x: float, digits: int = 4) -> str:
    """With so many significant digits, and no exponent."""
    if x == 0:
        return "0"
    places = max(0, digits - 1 - int(np.floor(np.log10(abs(x)))))
    return said(x, places)


def value(printed: str) -> float:
    """What `said` and `signs` printed, read again: answers follow from what stands on the screen."""
    return float(printed.replace("−", "-").replace(",", ""))


def comes(printed: float) -> str:
    """What a sum of printed numbers comes to, with four digits: whoever types it into a calculator finds the same."""
    return signs(printed)


def agrees(answer: float, printed: float) -> bool:
    """Does the sum of printed numbers come to the trace's own, well within the tolerance?"""
    return abs(answer - printed) <= 0.3 * NEAR * abs(answer)


def cell(layer: int, head: int, row: int, key: int, step: str) -> tuple[tuple[str, str], ...]:
    """The address of one cell of one head on the attention page."""
    return (
        ("layer", str(layer)),
        ("head", str(head)),
        ("step", step),
        ("cell", f"{row},{key}"),
        ("at", "how-is-it-made"),
    )
