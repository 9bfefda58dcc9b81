"""A Turing machine as a Transformer set by hand: attention is the pointer, the FFN the table, the residual sum moves.

Every step leaves a token: which cell it wrote, and what. To read the cell under its head, the machine looks back for the
token that wrote this cell last. Written after Pérez, Barceló and Marinkovic 2021 (JMLR 22), who prove that such machines
are Turing complete: with hard attention, numbers of any precision and as many steps as it takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.trace import SILENT, Quantity, Trace

MATCH = Quantity(
    "match",
    "key",
    r"q \cdot k = c^2 - (c - c')^2 - \tfrac{1}{2t}",
    "How well each token's cell is the one under the head; among equals the latest is best.",
)

# The busy beaver of four states: no machine of four states writes more ones and halts (Brady 1983).
# (state, symbol read) -> (symbol written, move, next state)
PROGRAM = {
    ("A", 0): (1, 1, "B"), ("A", 1): (1, -1, "B"),
    ("B", 0): (1, -1, "A"), ("B", 1): (0, -1, "C"),
    ("C", 0): (1, 1, "H"), ("C", 1): (1, -1, "D"),
    ("D", 0): (1, 1, "D"), ("D", 1): (0, 1, "A"),
}  # fmt: skip
STATES = "ABCDH"  # H: it halts
STEPS = 107  # that it makes from an empty tape
FORMATS = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
ORIGINS = (0, 100, 10_000)  # the number of the cell where the head begins
HARD = 0  # a sharpness that stands for hard attention
SHARP = (HARD, 10, 100, 1_000, 10_000)
BLANK = 0.5  # how far off a cell may be before an empty cell matches better


@dataclass(frozen=True)
class Demo:
    """format: what queries, keys and scores are kept in, one of FORMATS; origin: of ORIGINS; sharp: what scores are
    multiplied by before softmax, HARD for the largest alone."""

    format: str = "float64"
    origin: int = 0
    sharp: int = HARD


@dataclass(frozen=True)
class Run:
    """A run, step by step, until it halts or misreads. states, cells, read, written: (step,); the last state and cell
    follow. weights: (step, token), token 0 the empty cell and token t + 1 what step t wrote. wrong: the first step that
    read something else than stands on the tape, None if none does; halted: whether it did."""

    states: tuple[str, ...]
    cells: tuple[int, ...]
    read: tuple[int, ...]
    written: tuple[int, ...]
    weights: np.ndarray
    wrong: int | None
    halted: bool

    @property
    def steps(self) -> int:
        """That were read rightly."""
        return len(self.read) if self.wrong is None else self.wrong


def query(cell: int) -> Tensor:
    """(4,): q = (2c, -1, 1, c²)."""
    return torch.tensor([2 * cell, -1, 1, cell**2], dtype=torch.float64)


def key(cell: int, time: int) -> Tensor:
    """(4,): k = (c', c'², -1/(2t), 0), t > 1. With a query, q·k = c² - (c - c')² - 1/(2t): the same cell wins, then the
    latest."""
    return torch.tensor([cell, cell**2, -0.5 / time, 0], dtype=torch.float64)


def empty_key() -> Tensor:
    """(4,): of token 0, with q·k = c² - BLANK: better than any other cell, worse than any writing of this one."""
    return torch.tensor([0, BLANK, 0, 1], dtype=torch.float64)


def match(cell: int, keys: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """keys: (token, 4) in the format they are kept in. Returns (token,) in that format."""
    return trace(MATCH, keys @ query(cell).to(keys.dtype))


def look(scores: Tensor, sharp: int) -> Tensor:
    """(token,) weights. Hard attention shares out alike between those that are largest."""
    if sharp == HARD:
        largest = scores == scores.max()
        return largest.double() / largest.sum()
    return (scores * sharp).softmax(-1)


def table() -> tuple[Tensor, Tensor, Tensor]:
    """The FFN's maps: W_1 (neuron, state + symbol), b_1, W_2 (state + symbol + move, neuron).

    One neuron for each row of PROGRAM: relu(state + symbol - 1) is 1 where both are there, else 0.
    """
    into = torch.zeros(len(PROGRAM), len(STATES) + 2)
    out = torch.zeros(len(STATES) + 3, len(PROGRAM))
    for i, ((state, symbol), (write, move, following)) in enumerate(PROGRAM.items()):
        into[i, STATES.index(state)] = into[i, len(STATES) + symbol] = 1
        out[STATES.index(following), i] = out[len(STATES) + write, i] = 1
        out[-1, i] = move
    return into, torch.full((len(PROGRAM),), -1.0), out


def decide(state: str, symbol: int) -> tuple[str, int, int]:
    """One pass through the FFN: the next state, the symbol to write, the move."""
    into, bias, out = table()
    x = torch.zeros(len(STATES) + 2)
    x[STATES.index(state)] = x[len(STATES) + symbol] = 1
    y = out @ torch.relu(into @ x + bias)
    return STATES[int(y[: len(STATES)].argmax())], int(y[len(STATES) : -1].argmax()), int(y[-1])


def run(demo: Demo) -> Run:
    """From an empty tape. Sums inside a product are kept in float32 where the format is shorter, as accelerators do."""
    kind = FORMATS[demo.format]
    keys, values = [empty_key().to(kind)], [0]
    states, cells, weights, wrong = ["A"], [demo.origin], [], None
    read, tape = list[int](), dict[int, int]()
    while states[-1] != "H" and wrong is None and len(read) < STEPS:
        scores = match(cells[-1], torch.stack(keys)).double().nan_to_num(-torch.inf)
        weights.append(look(scores, demo.sharp))
        ones = float(weights[-1] @ torch.tensor(values, dtype=torch.float64))
        read.append(int(ones > 0.5))
        if read[-1] != tape.get(cells[-1], 0):
            wrong = len(read) - 1
        following, write, move = decide(states[-1], read[-1])
        tape[cells[-1]] = write
        keys.append(key(cells[-1], len(read) + 1).to(kind))
        values.append(write)
        states.append(following)
        cells.append(cells[-1] + move)
    square = np.zeros((len(read), len(values)))
    for step, row in enumerate(weights):
        square[step, : len(row)] = row.numpy()
    return Run(tuple(states), tuple(cells), tuple(read), tuple(values[1:]), square, wrong, states[-1] == "H")


def tape_at(found: Run, step: int) -> dict[int, int]:
    """Cell -> symbol before this step, where something was written."""
    return dict(zip(found.cells[:step], found.written[:step], strict=True))


def horizons() -> dict[tuple[str, int], int]:
    """(format, origin) -> steps read rightly, with hard attention."""
    return {(name, origin): run(Demo(name, origin)).steps for name in FORMATS for origin in ORIGINS}


def softened() -> dict[int, int]:
    """Sharpness -> steps read rightly, in float64 from cell 0."""
    return {sharp: run(Demo(sharp=sharp)).steps for sharp in SHARP}
