"""Tokenizers, offline: tiktoken's encodings under their real names, and a model's own `tokenizer.json`."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from math import log2
from pathlib import Path

import tiktoken
from tokenizers import Tokenizer, normalizers

from core.assets import ASSETS

ENCODINGS = ("gpt2", "cl100k_base", "o200k_base")
LONGEST_PIECE = 16  # characters of the longest piece in the embedded vocabulary; the tests hold this
LONGEST_TYPED = 2000  # characters of a text that is only cut into pieces
WAYS = ("characters", "bytes", "words")  # to cut a text without an encoding


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


BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # how SentencePiece writes one byte of a character that it has no piece for
INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")  # controls, lone surrogates, the byte mark


def clean(text: str, longest: int) -> tuple[str, tuple[str, ...]]:
    """The text without control characters and blanks at its ends, at most `longest` characters; and what was done."""
    notes = []
    kept = INVISIBLE.sub("", text)
    if len(kept) < len(text):
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
    while len(encoded.ids) > context:  # the cut went through the bytes of a character
        text = text[:-1].rstrip()
        encoded = tokenizer.encode(text)
    return Reading(text, tuple(encoded.ids), tuple(label(t) for t in encoded.tokens), notes)


def label(piece: str) -> str:
    """How a SentencePiece piece is written on an axis: a word bare, a continuation with a dot, blanks and bytes
    visible."""
    if byte := BYTE.fullmatch(piece):
        return visible(bytes.fromhex(byte[1]))
    if piece.startswith("▁"):
        return visible(piece[1:].replace("▁", "␣").encode()) or "␣"
    return "·" + piece if piece[:1].isalpha() else visible(piece.encode())


# ---- a text as it was typed, cut into pieces in several ways ----


@dataclass(frozen=True)
class Typed:
    """A text to be cut into pieces, nothing trimmed. notes: "empty" (the default instead), "cut" (too long)."""

    text: str
    notes: tuple[str, ...] = ()


def as_typed(text: str, default: str, longest: int = LONGEST_TYPED) -> Typed:
    """Anything at all, blanks and control characters too; only what UTF-8 cannot write becomes U+FFFD."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not text:
        return Typed(default, ("empty",))
    return Typed(text[:longest], ("cut",) if len(text) > longest else ())


@dataclass(frozen=True)
class Piece:
    """One piece of a text.

    text: as it can be shown; id: its number, -1 where it has none; data: its bytes; start, end: where it stands among
    the bytes of the text; kind: "plain", "special" or "unknown".
    """

    text: str
    id: int
    data: bytes
    start: int
    end: int
    kind: str = "plain"


SIGNS = {0x0A: "↵", 0x0D: "␍", 0x09: "⇥", 0x20: "␣", 0x7F: "␡"}


def visible(data: bytes) -> str:
    """Bytes as text in which nothing is invisible: blanks and controls as signs, parts of characters as ⟨E2⟩."""
    shown = []
    for c in data.decode("utf-8", "surrogateescape"):
        code, kind = ord(c), unicodedata.category(c)
        if code in SIGNS:
            shown.append(SIGNS[code])
        elif code < 0x20:
            shown.append(chr(0x2400 + code))
        elif kind == "Cs":
            shown.append(f"⟨{code - 0xDC00:02X}⟩")
        elif kind[0] in "CZ" or 0xFE00 <= code <= 0xFE0F:
            shown.append(f"⟨U+{code:04X}⟩")
        else:
            shown.append("◌" + c if kind[0] == "M" and not shown else c)
    return "".join(shown)


def cut(text: str, way: str, *, special: bool = False) -> tuple[Piece, ...]:
    """The pieces of a text. way: one of ENCODINGS or of WAYS.

    special: read `<|endoftext|>` and its like as the one id they stand for, not as the letters they are spelled with.
    """
    if way == "characters":
        return end_to_end((ord(c), c.encode(), "plain") for c in text)
    if way == "bytes":
        return end_to_end((b, bytes([b]), "plain") for b in text.encode())
    if way == "words":
        return _words(text)
    known = encoding(way)
    ids = known.encode(text, allowed_special="all") if special else known.encode_ordinary(text)
    named = {id: "special" for id in known._special_tokens.values()}
    return end_to_end((id, known.decode_single_token_bytes(id), named.get(id, "plain")) for id in ids)


def end_to_end(found: Iterable[tuple[int, bytes, str]], start: int = 0) -> tuple[Piece, ...]:
    """Pieces that lie end to end, from their (id, bytes, kind)."""
    pieces = []
    for id, data, kind in found:
        pieces.append(Piece(visible(data), id, data, start, start + len(data), kind))
        start += len(data)
    return tuple(pieces)


@cache
def word_list() -> dict[str, int]:
    """A real list of words: the entries of gpt2 that are a blank and then letters or digits, and the ASCII signs.

    0 is for all others.
    """
    listed = re.compile(rb" [A-Za-z]+| [0-9]+|[!-/:-@\[-`{-~]")
    found = (data for data in encoding("gpt2")._mergeable_ranks if listed.fullmatch(data))
    return {data.decode().strip(): i for i, data in enumerate(found, 1)}


def _words(text: str) -> tuple[Piece, ...]:
    known, at = word_list(), [0, *accumulate(len(c.encode()) for c in text)]
    pieces = []
    for match in re.finditer(r"\w+|[^\w\s]", text):
        word, id = match[0], known.get(match[0], 0)
        start, end = (at[i] for i in match.span())
        pieces.append(Piece(visible(word.encode()), id, word.encode(), start, end, "plain" if id else "unknown"))
    return tuple(pieces)


def cut_by(tokenizer: Tokenizer, text: str) -> tuple[Piece, ...]:
    """The pieces of a text in a SentencePiece vocabulary, the blank that it adds in front included."""
    encoded, at = tokenizer.encode(text), [0, *accumulate(len(c.encode()) for c in text)]
    pieces: list[Piece] = []
    found = named(zip(encoded.ids, encoded.tokens, strict=True))
    for piece, token, (first, last) in zip(found, encoded.tokens, encoded.offsets, strict=True):
        start, end = at[first], at[last]
        if piece.data == b" " and (not pieces or pieces[-1].kind == "special"):
            end = start  # the added blank alone stands for nothing in the text
        elif BYTE.fullmatch(token) and end - start > 1:
            start = pieces[-1].end  # the bytes of one character all come with its place; before the first stands `<s>`
            end = start + 1
        pieces.append(replace(piece, start=start, end=end))
    return tuple(pieces)


def named(tokens: Iterable[tuple[int, str]]) -> tuple[Piece, ...]:
    """SentencePiece tokens, (id, token) each, end to end: `▁` is a blank, `<0xE2>` a byte, the first three special."""
    found = []
    for id, token in tokens:
        byte = BYTE.fullmatch(token)
        data = bytes.fromhex(byte[1]) if byte else token.replace("▁", " ").encode()
        found.append((id, data, "special" if id < 3 else "plain"))
    return end_to_end(found)


def size(way: str) -> int:
    """How many different pieces there can be."""
    if way in ENCODINGS:
        return encoding(way).n_vocab
    return {"characters": 0x110000 - 0x800, "bytes": 256, "words": len(word_list()) + 1}[way]


# ---- there and back ----


def joined(pieces: tuple[Piece, ...], leaving_out: int | None = None) -> str:
    """The text again, from the bytes of its pieces; what is no complete character becomes U+FFFD."""
    kept = (piece.data for i, piece in enumerate(pieces) if i != leaving_out)
    return b"".join(kept).decode("utf-8", "replace")


@dataclass(frozen=True)
class RoundTrip:
    """What becomes of a text. same: bytes in, bytes out; nfc: as a tokenizer that normalises (Qwen's does) hands it
    back; lower: as one that lower-cases (BERT uncased); bits: the ids, each as short as the vocabulary allows."""

    same: bool
    nfc: str
    lower: str
    n_bytes: int
    bits: float


def round_trip(text: str, way: str) -> RoundTrip:
    """Encode and decode. The normalisers are the ones that Hugging Face's tokenizers run."""
    pieces = cut(text, way)
    lower = normalizers.BertNormalizer(lowercase=True).normalize_str(text)
    nfc = normalizers.NFC().normalize_str(text)
    return RoundTrip(joined(pieces) == text, nfc, lower, len(text.encode()), len(pieces) * log2(size(way)))


# ---- chats ----


START, END = "<|im_start|>", "<|im_end|>"  # ChatML, as Qwen writes it
MARKS = {START: 151_644, END: 151_645}  # their ids in Qwen3's tokenizer_config.json; <|endoftext|> stands before them


def chat_text(messages: tuple[tuple[str, str], ...]) -> str:
    """Messages, (role, text) each, as the one string a model reads. The model's own turn is opened at the end."""
    turns = (f"{START}{role}\n{text}{END}\n" for role, text in messages)
    return "".join(turns) + f"{START}assistant\n"


def chat_pieces(messages: tuple[tuple[str, str], ...], way: str) -> tuple[Piece, ...]:
    """That string in pieces. Only the template's own marks are special: a visitor who types one types letters."""
    pieces: list[Piece] = []
    parts = [
        part
        for role, text in messages
        for part in ((START, True), (f"{role}\n{text}", False), (END, True), ("\n", False))
    ]
    for part, special in [*parts, (START, True), ("assistant\n", False)]:
        start = pieces[-1].end if pieces else 0
        if special:
            pieces.append(Piece(part, MARKS[part], part.encode(), start, start + len(part.encode()), "special"))
        else:
            pieces += end_to_end(((p.id, p.data, "plain") for p in cut(part, way)), start)
    return tuple(pieces)


def find(wanted: str, way: str, most: int = 60) -> tuple[int, tuple[Piece, ...]]:
    """The entries of an encoding that contain a text: how many there are, and the first of them by rank."""
    data = wanted.encode()
    hits = [(rank, piece) for piece, rank in encoding(way)._mergeable_ranks.items() if data in piece]
    return len(hits), end_to_end((rank, piece, "plain") for rank, piece in sorted(hits)[:most])
