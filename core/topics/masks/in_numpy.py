"""The mask as a programmer writes it: a few lines of NumPy that are easy to get wrong, and what follows if one does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.attention import share_out
from core.lab import subject
from core.lab.text import Text, Word, top
from core.trace import to_numpy
from core.watch import overhear
from core.whatif import WhatIf

SAYS = ("hide", "keep")
FILLS = ("inf", "1e9", "core")
PRECISIONS = {"float32": torch.float32, "float16": torch.float16}
DIAGONALS = tuple(range(-3, 5))  # the stops of the slider


@dataclass(frozen=True)
class Recipe:
    """How the mask was written. diagonal: what np.triu(np.ones((T, T)), k=diagonal) gets; says: what True means to the
    line after it, hide or keep; fill: what a hidden score becomes, minus infinity or -1e9; core: minus infinity, and
    an empty row becomes zeros, as core.attention does it; precision: of the scores."""

    diagonal: int = 1
    says: str = "hide"
    fill: str = "inf"
    precision: str = "float32"


@dataclass(frozen=True)
class Cooked:
    """built: the boolean matrix as made; shut: where a query in fact may not look; added: the mask as a matrix of 0 and
    minus infinity (or -1e9); weights: after softmax; all (query, key). empty: rows without any open cell; broken: rows
    that became NaN; ahead: the mean weight on the future, over the rows that are numbers; fill: the fill as this
    precision holds it."""

    built: np.ndarray
    shut: np.ndarray
    added: np.ndarray
    weights: np.ndarray
    empty: int
    broken: int
    ahead: float
    fill: float


def built(n: int, diagonal: int) -> Tensor:
    """(query, key): np.triu(np.ones((n, n)), k=diagonal).astype(bool), by torch."""
    return torch.ones(n, n).triu(diagonal).bool()


def weights(scaled: Tensor, mask: Tensor, recipe: Recipe) -> Tensor:
    """Scores through a recipe, by torch's own softmax in the precision it names. scaled, mask: (..., query, key)."""
    scores = scaled.to(PRECISIONS[recipe.precision])
    visible = mask if recipe.says == "keep" else ~mask
    filled = torch.where(visible, scores, fill_of(recipe))
    return share_out(filled, visible) if recipe.fill == "core" else filled.softmax(-1)


def fill_of(recipe: Recipe) -> Tensor:
    """What a hidden score becomes, as the precision holds it: -1e9 is minus infinity in half precision."""
    return torch.tensor(-1e9 if recipe.fill == "1e9" else -torch.inf).to(PRECISIONS[recipe.precision])


@torch.inference_mode()
def cook(scaled: np.ndarray, recipe: Recipe) -> Cooked:
    """One head's scaled scores, (query, key), through a recipe."""
    scores, mask = torch.from_numpy(np.array(scaled)), built(len(scaled), recipe.diagonal)
    visible, fill = mask if recipe.says == "keep" else ~mask, fill_of(recipe)
    shares = weights(scores, mask, recipe).float()
    broken = shares.isnan().any(-1)
    ahead = shares[~broken].mul(torch.ones_like(shares).triu(1)[~broken]).sum(-1)
    return Cooked(
        to_numpy(mask),
        to_numpy(~visible),
        to_numpy(torch.where(visible, 0.0, fill.float())),
        to_numpy(shares),
        int((~visible.any(-1)).sum()),
        int(broken.sum()),
        float(ahead.mean()) if len(ahead) else 0.0,
        float(fill),
    )


@torch.inference_mode()
def sweep(scaled: np.ndarray, recipe: Recipe) -> tuple[np.ndarray, np.ndarray]:
    """(weights, shut), each (frame, query, key): the recipe at every one of DIAGONALS, in one broadcast call."""
    masks = torch.stack([built(len(scaled), k) for k in DIAGONALS])
    found = weights(torch.from_numpy(np.array(scaled)), masks, recipe)
    return to_numpy(found), to_numpy(~masks if recipe.says == "keep" else masks)


@dataclass(frozen=True)
class Outcome:
    """The whole model with the recipe in every head of every block. broken: after each block, the rows that are NaN;
    word: what it says next, None where that is no number; p: of the untouched model's answer, NaN likewise."""

    broken: tuple[int, ...]
    word: Word | None
    answer: Word
    p: float


@torch.inference_mode()
def outcome(text: Text, recipe: Recipe) -> Outcome:
    """What becomes of the next word."""
    model = subject.model(text.subject)
    seen: list[Tensor] = []
    rows: list[int] = []
    mask = built(len(text), recipe.diagonal)
    far = ~model.surroundings(len(text))[1] & torch.ones_like(mask).tril()  # beyond the model's own window
    edits = [
        ("block*.scaled", overhear(seen, lambda s: s.masked_fill(far, -torch.inf))),
        ("block*.weights", lambda w: weights(seen[-1], mask, recipe).to(w.dtype)),
        ("block*.resid_post", overhear(rows, lambda x: int(x.isnan().any(-1).sum()))),
    ]
    probs = to_numpy(model.predict(model.stream(torch.tensor(text.ids), trace=WhatIf(edits))).softmax(-1))
    untouched = subject.untouched(text)["next_probs"].value
    answer = top(untouched, 1, text.subject)[0]
    word = None if np.isnan(probs).any() else top(probs, 1, text.subject)[0]
    return Outcome(tuple(rows), word, answer, float(probs[answer.id]))


def code_of(recipe: Recipe) -> str:
    """The lines of NumPy that the recipe stands for; `scores`, `softmax` and T are given."""
    value = "-1e9" if recipe.fill == "1e9" else "-np.inf"
    order = f"scores, {value}" if recipe.says == "keep" else f"{value}, scores"
    empty = "~mask.any(-1)" if recipe.says == "keep" else "mask.all(-1)"
    lines = [
        f"mask = np.triu(np.ones((T, T)), k={recipe.diagonal}).astype(bool)",
        *(["scores = scores.astype(np.float16)"] if recipe.precision == "float16" else []),
        f"scores = np.where(mask, {order})",
        "weights = softmax(scores)",
        *([f"weights[{empty}] = 0"] if recipe.fill == "core" else []),
    ]
    return "\n".join(lines)


def printed(mask: np.ndarray, most: int = 5) -> str:
    """A boolean matrix in letters, its first rows and columns: T and F."""
    return "\n".join("[" + " ".join("T" if x else "F" for x in row[:most]) + "]" for row in mask[:most])
