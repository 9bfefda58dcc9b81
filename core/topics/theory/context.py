"""One word in two texts: the same row of the table, and what becomes of its two copies from block to block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.assets import ASSETS
from core.lab import subject
from core.lab.text import FIRST, Cannot, Text, context, exactly
from core.trace import Trace, to_numpy

LIBRARY = ("stories.txt", "long_stories.txt")
NEAREST = 3
AROUND = 2  # words before it that a neighbour is shown with


@dataclass(frozen=True)
class Demo:
    """Two texts and a token that stands in both."""

    first: Text
    second: Text
    token: str


def shared(first: Text, second: Text) -> tuple[str, ...]:
    """The tokens of letters that stand in both texts, the last one of the first text in front."""
    both = set(first.tokens[1:]) & set(second.tokens[1:])
    return tuple(dict.fromkeys(token for token in reversed(first.tokens) if token in both and token.isalpha()))


@dataclass(frozen=True)
class Copies:
    """Both copies before the blocks and after each. places: of the last copy in each text. cosine: (depth,), measured
    from the mean of the library's words at that depth; strangers: (depth,), the mean of two different words of the
    library there. nearest: for each depth and each copy the nearest words of the library, with those before them."""

    places: tuple[int, int]
    cosine: np.ndarray
    strangers: np.ndarray
    nearest: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


def copies(demo: Demo) -> Copies:
    """Raises Cannot where the token does not stand in both texts."""
    if demo.token not in demo.first.tokens or demo.token not in demo.second.tokens:
        raise Cannot("No word stands in both sentences: write one that does.")
    texts = (demo.first, demo.second)
    places = tuple(len(text) - 1 - text.tokens[::-1].index(demo.token) for text in texts)
    held = library(demo.first.subject)
    both = torch.stack([_depths(subject.untouched(text), text)[:, at] for text, at in zip(texts, places, strict=True)])
    both = F.normalize(both - held.mean, dim=-1)  # (copy, depth, d_model)
    likeness = torch.einsum("cld,lwd->lcw", both, held.vectors)
    near = tuple(
        tuple(_names(held, row, demo.token) for row in of_depth) for of_depth in likeness.argsort(-1, descending=True)
    )
    return Copies((places[0], places[1]), to_numpy((both[0] * both[1]).sum(-1)), held.strangers, near)  # type: ignore[arg-type]


def _names(held: Library, order: Tensor, asked: str) -> tuple[str, ...]:
    """The nearest words, each once, and not the asked one itself."""
    found: dict[str, str] = {}
    for i in order.tolist():
        if held.tokens[i] != asked:
            found.setdefault(held.tokens[i], held.names[i])
        if len(found) == NEAREST:
            break
    return tuple(found.values())


@dataclass(frozen=True, eq=False)
class Library:
    """Words of the shipped stories as a model holds them. vectors: (depth, word, d_model), from their mean, length one;
    mean: (depth, d_model); strangers: (depth,) the mean cosine of two of them; tokens, names: of each word."""

    vectors: Tensor
    mean: Tensor
    strangers: np.ndarray
    tokens: tuple[str, ...]
    names: tuple[str, ...]


@cache
@torch.inference_mode()
def library(name: str = FIRST) -> Library:
    """Every word of letters in the stories, each read as far as the model was trained. name: of a model."""
    found, tokens, names = [], [], []
    for file in LIBRARY:
        for story in (ASSETS / "data" / file).read_text("utf8").strip().split("\n\n"):
            whole = exactly(story, name)
            text = Text(name, whole.ids[: context(name)], whole.tokens[: context(name)])
            trace = Trace(("*resid_pre", "*resid_post"))
            model = subject.model(name)
            model.stream(torch.tensor(text.ids), trace=trace)
            kept = [i for i, token in enumerate(text.tokens) if i and token.isalpha()]
            found.append(_depths(trace, text)[:, kept])
            tokens += [text.tokens[i] for i in kept]
            names += [_told(text.tokens, i) for i in kept]
    words = torch.cat(found, 1)
    mean = words.mean(1)
    vectors = F.normalize(words - mean[:, None], dim=-1)
    n = vectors.shape[1]
    strangers = (vectors.sum(1).square().sum(-1) - n) / (n * (n - 1))  # the mean over all pairs, without the pairs
    return Library(vectors, mean, to_numpy(strangers), tuple(tokens), tuple(names))


def _told(tokens: tuple[str, ...], at: int) -> str:
    """A token as one reads it: its whole word (a dot before a piece means that it goes on), and AROUND words before."""
    words: list[str] = []
    for i, token in enumerate(tokens[1:], 1):
        if token.startswith("·") and words:
            words[-1] += token[1:]
        elif i > at:
            break
        else:
            words.append(token)
    return " ".join(words[-AROUND - 1 :])


def _depths(trace: Trace, text: Text) -> Tensor:
    """(depth, token, d_model): the stream before the blocks and after each."""
    layers = subject.config(text.subject).n_layers
    return torch.stack(
        [trace["block0.resid_pre"].tensor, *(trace[f"block{i}.resid_post"].tensor for i in range(layers))]
    )
