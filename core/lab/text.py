"""A sentence as the embedded model reads it, and its words: all that needs no torch, so that Home can do without."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np

from core import tokenizer
from core.assets import ASSETS
from core.tokenizer import Reading

FOLDER = ASSETS / "models" / "stories15m"
SENTENCE = "Sam and Amy played in the park. Sam threw the ball to"
TWIN = SENTENCE.replace("Sam threw", "Amy threw")  # one word changed, and the answer changes with it
STRANGE = 8.0  # nats a token; guessing evenly among 32,000 would be 10.4


@cache
def context() -> int:
    """How many tokens the embedded model was trained to read at once."""
    return json.loads((FOLDER / "config.json").read_text("utf8"))["max_position_embeddings"]


def read(text: str) -> Reading:
    """A visitor's text as this model reads it: cleaned, cut at its context, `<s>` in front."""
    return tokenizer.read(tokenizer.of_model(FOLDER), text, SENTENCE, context())


def names(tokens: tuple[str, ...]) -> list[str]:
    """A name for every token: those that stand more than once are numbered."""
    count, seen, made = Counter(tokens), Counter(), []
    for token in tokens:
        seen[token] += 1
        made.append(f"{token} {seen[token]}" if count[token] > 1 else token)
    return made


@dataclass(frozen=True)
class Word:
    """A candidate for the next token."""

    id: int
    token: str
    p: float


def top(probs: np.ndarray, n: int = 10) -> list[Word]:
    """The n likeliest tokens, likeliest first; all of them where there are no more. probs: (vocab,)."""
    likely = np.argpartition(-probs, n)[:n] if n < len(probs) else np.arange(len(probs))
    return [word(int(i), probs) for i in likely[np.argsort(-probs[likely], kind="stable")]]


def word(id: int, probs: np.ndarray) -> Word:
    """One candidate by its id. probs: (vocab,)."""
    return Word(id, tokenizer.label(tokenizer.of_model(FOLDER).id_to_token(id)), float(probs[id]))


def id_of(token: str) -> int | None:
    """The id of a word that is one piece of the vocabulary, None for any other."""
    return tokenizer.of_model(FOLDER).token_to_id("▁" + token)


@dataclass(frozen=True)
class Link:
    """One attention weight, and the answer's probability without it."""

    layer: int
    head: int
    query: int
    key: int
    p: float
