"""Tokenizers, offline: tiktoken's encodings under their real names, and a model's own `tokenizer.json`."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tiktoken
from tokenizers import Tokenizer

ASSETS = Path(__file__).parents[1] / "assets"
ENCODINGS = ("gpt2", "cl100k_base", "o200k_base")
LONGEST_PIECE = 16  # characters of the longest piece in the embedded vocabulary; the tests hold this


@cache
def encoding(name: str) -> tiktoken.Encoding:
    """tiktoken's encoding of that name, from the rank files in assets/tokenizers, which tiktoken verifies itself."""
    if name not in ENCODINGS:
        raise ValueError(f"{name!r} is not shipped; shipped: {', '.join(ENCODINGS)}")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(ASSETS / "tokenizers")
    return tiktoken.get_encoding(name)


@cache
def of_model(folder: Path) -> Tokenizer:
    """A model's own tokenizer, from the `tokenizer.json` in its folder."""
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@dataclass(frozen=True)
class Reading:
    """A text as a model reads it, and what had to be done to it first.

    notes, in the order they happened: "empty" (the default was read instead), "trimmed" (blanks at the ends),
    "controls" (invisible control characters taken out), "cut" (beyond the context).
    """

    text: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    notes: tuple[str, ...] = ()


def clean(text: str, longest: int) -> tuple[str, tuple[str, ...]]:
    """The text without control characters and blanks at its ends, at most `longest` characters; and what was done."""
    notes = []
    kept = "".join(c for c in text[: 4 * longest] if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))
    kept = kept.replace("\ufeff", "")
    if len(kept) < min(len(text), 4 * longest):
        notes.append("controls")
    stripped = kept.strip()
    if stripped != kept and stripped:
        notes.append("trimmed")
    if len(stripped) > longest:
        stripped = stripped[:longest].rstrip()
        notes.append("cut")
    return stripped, tuple(notes)


def read(tokenizer: Tokenizer, text: str, default: str, context: int) -> Reading:
    """Clean a visitor's text and cut it at the model's context; an empty text becomes the default."""
    text, notes = clean(text, context * LONGEST_PIECE)
    if not text:
        text, notes = default, ("empty",)
    encoded = tokenizer.encode(text)
    if len(encoded.ids) > context:
        notes = tuple(dict.fromkeys([*notes, "cut"]))
        text = text[: encoded.offsets[context - 1][1]].rstrip()
        encoded = tokenizer.encode(text)
    ids = encoded.ids[:context]  # a cut inside a character may split into more byte pieces than before
    return Reading(text, tuple(ids), tuple(label(t) for t in encoded.tokens[:context]), notes)


def label(piece: str) -> str:
    """How a SentencePiece piece is written on an axis: a word bare, a continuation with a dot, blanks visible."""
    if piece.startswith("▁"):
        return piece[1:].replace("▁", "␣") or "␣"
    return "·" + piece if piece[:1].isalpha() else piece.replace("\n", "↵").replace("\t", "⇥")
