"""A text as a model reads it, and its words: all that needs no torch, so that Home can do without.

A subject is the name of a loaded model: its folder under assets/models, or any folder's path.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from core import tokenizer
from core.assets import ASSETS
from core.tokenizer import Reading

MODELS = ASSETS / "models"
FIRST = "stories15m"  # the subject that ships
FOLDER = MODELS / FIRST
SENTENCE = "Sam and Amy played in the park. Sam threw the ball to"
TWIN = SENTENCE.replace("Sam threw", "Amy threw")  # one word changed, and the answer changes with it
STRANGE = 8.0  # nats a token; guessing evenly among 32,000 would be 10.4


class Cannot(ValueError):
    """What a model of this kind has not, in one sentence that a page can show ("GPT-2 has no rotation.")."""


@dataclass(frozen=True)
class Text:
    """What every topic is asked about: ids as one model reads them. Small, hashable, and all a function needs.

    tokens: what each id is called on an axis.
    """

    subject: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def labels(self) -> dict[str, list[str]]:
        """For a Trace of this text."""
        return dict(query=list(self.tokens), key=list(self.tokens))

    @property
    def names(self) -> list[str]:
        """A name for every token: those that stand more than once are numbered."""
        return names(self.tokens)


def of(reading: Reading, subject: str = FIRST) -> Text:
    """What was read, for the topics."""
    return Text(subject, reading.ids, reading.tokens)


def exactly(text: str, subject: str = FIRST) -> Text:
    """A text as it stands, blanks at its ends included."""
    encoded = tokenizer.of_model(folder(subject)).encode(text)
    return Text(subject, tuple(encoded.ids), tuple(tokenizer.label(token) for token in encoded.tokens))


def folder(subject: str) -> Path:
    """Where a subject's config, weights and tokenizer lie."""
    return MODELS / subject  # an absolute path stays what it is


@cache
def context(subject: str = FIRST) -> int:
    """How many tokens a model was trained to read at once."""
    about = json.loads((folder(subject) / "config.json").read_text("utf8"))
    return int(about.get("max_position_embeddings") or about["n_positions"])


def ends(subject: str = FIRST) -> tuple[int, ...]:
    """The ids that end a text: the one that opens a text and so the next one, and the model's own mark for it.

    Tinyllamas separate their stories with `<s>`: it opens a text and ends it.
    """
    about = json.loads((folder(subject) / "config.json").read_text("utf8"))
    found = (about.get(f"{which}_token_id") for which in ("bos", "eos"))
    listed = (id if isinstance(id, list) else [id] for id in found)
    return tuple(dict.fromkeys(id for ids in listed for id in ids if id is not None))


def read(text: str, subject: str = FIRST) -> Reading:
    """A visitor's text as this model reads it: cleaned, cut at its context, `<s>` in front."""
    return tokenizer.read(tokenizer.of_model(folder(subject)), text, SENTENCE, context(subject))


def names(tokens: tuple[str, ...]) -> list[str]:
    """A name for every token: those that stand more than once are numbered."""
    count, seen, made = Counter(tokens), Counter[str](), []
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


def top(probs: np.ndarray, n: int = 10, subject: str = FIRST) -> list[Word]:
    """The n likeliest tokens, or as many as there are, likeliest first. probs: (vocab,)."""
    n = min(n, len(probs))
    likely = np.argpartition(-probs, n - 1)[:n]
    return [word(int(i), probs, subject) for i in likely[np.argsort(-probs[likely], kind="stable")]]


def word(id: int, probs: np.ndarray, subject: str = FIRST) -> Word:
    """One candidate by its id. probs: (vocab,)."""
    return Word(id, called(id, subject), float(probs[id]))


def called(id: int, subject: str = FIRST) -> str:
    """What a token is called on an axis; a model without a tokenizer of its own has numbers alone."""
    if not (folder(subject) / "tokenizer.json").is_file():
        return f"#{id}"
    return tokenizer.label(tokenizer.of_model(folder(subject)).id_to_token(id) or f"#{id}")


def id_of(token: str, subject: str = FIRST) -> int | None:
    """The id of a word that is one piece of the vocabulary, None for any other."""
    if not (folder(subject) / "tokenizer.json").is_file():
        return None
    return tokenizer.of_model(folder(subject)).token_to_id("▁" + token)


@dataclass(frozen=True)
class Link:
    """One attention weight, and the answer's probability without it."""

    layer: int
    head: int
    query: int
    key: int
    p: float
