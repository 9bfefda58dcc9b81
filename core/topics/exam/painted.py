"""A map of attention painted by hand for three words, beside what every head of a real model does with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core import tokenizer
from core.lab import subject
from core.lab.text import FIRST, Cannot, Text, folder, of, read

WORDS = "I love AI"
MOST = 3  # how much a cell may be pressed
Levels = tuple[int, ...]  # nine, row by row


def text_of(line: str) -> tuple[Text, tuple[int, ...]] | None:
    """Three words as the model reads them, and the place of each one's first piece; None for anything else."""
    reading = read(line)
    text, tokens = of(reading), [_raw(id) for id in reading.ids]
    starts = tuple(i for i, token in enumerate(tokens) if i and token.startswith("▁"))
    return (text, starts) if len(line.split()) == len(starts) == 3 else None


def _raw(id: int) -> str:
    return tokenizer.of_model(folder(FIRST)).id_to_token(id) or ""


def normalised(levels: Levels, *, causal: bool = False) -> np.ndarray:
    """(query, key): every row shares out one unit in proportion; a row without any level stays zero. causal: without
    what is ahead."""
    table = np.array(levels, float).reshape(3, 3)
    table = np.tril(table) if causal else table
    sums = table.sum(-1, keepdims=True)
    shares: np.ndarray = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0)
    return shares


@dataclass(frozen=True)
class Heads:
    """Every head on three words. maps: (head, query, key), rows sum to one; names: block and head; start: the mean weight
    that was on the first token, which opens every text, and is left out."""

    maps: np.ndarray
    names: tuple[str, ...]
    start: float


def heads(text: Text, starts: tuple[int, ...]) -> Heads:
    """The weights of all heads between words: a word asks with its last piece and is read in all its pieces.

    Raises Cannot where a word has no piece.
    """
    if sorted(set(starts)) != list(starts) or not 0 < starts[0] <= starts[-1] < len(text):
        raise Cannot("Every word needs a piece of its own.")
    config, ends = subject.config(text.subject), (*starts[1:], len(text))
    trace, maps, names, lost = subject.untouched(text), [], [], []
    for layer in range(config.n_layers):
        weights = trace[f"block{layer}.weights"].value.astype(float)
        rows = weights[:, [end - 1 for end in ends]]
        words = np.stack([rows[:, :, a:b].sum(-1) for a, b in zip(starts, ends, strict=True)], -1)
        lost.append(1 - words.sum(-1))
        maps.append(words / words.sum(-1, keepdims=True))
        names += [f"{layer}.{head}" for head in range(config.n_heads)]
    return Heads(np.concatenate(maps), tuple(names), float(np.mean(lost)))


def away(painted: np.ndarray, found: Heads) -> np.ndarray:
    """(head,) total variation between a painted map and each head, mean over the rows that have a choice: all but the
    first. painted: (query, key), causal. 0: the same; 1: nothing in common."""
    apart: np.ndarray = np.abs(found.maps - painted).sum(-1)[:, 1:].mean(-1) / 2
    return apart


def spell(levels: Levels) -> str:
    """Nine digits, nothing where nothing is painted."""
    return "".join(map(str, levels)) if any(levels) else ""


def unspell(text: str) -> Levels | None:
    """What `spell` wrote; None for anything else."""
    fine = len(text) == 9 and all(sign in "0123" for sign in text)
    return tuple(int(sign) for sign in text) if fine else None


def pressed(levels: Levels, cells: frozenset[tuple[int, int]]) -> Levels:
    """One step more in these cells; above MOST they begin at zero again."""
    return tuple((n + 1) % (MOST + 1) if divmod(i, 3) in cells else n for i, n in enumerate(levels))
