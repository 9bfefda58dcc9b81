"""Byte pair encoding, merge by merge: with the ranks of a real encoding, and trained on a text of one's own.

Sennrich, Haddow, Birch 2016 (arXiv 1508.07909); on bytes as in Radford et al. 2019 (GPT-2), section 2.2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import regex

from core import tokenizer

LONGEST_WORD = 64  # characters whose merges are shown one by one
MOST_MERGES = 256
# GPT-2's rule: contractions, then words, numbers and signs with the blank before them, then what is left of the blanks.
PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@dataclass(frozen=True)
class Merge:
    """Two neighbours become one. rank: its line in the table; at: where the new piece stands."""

    left: bytes
    right: bytes
    rank: int
    at: int


@dataclass(frozen=True)
class State:
    """A text after some merges.

    joints: for each two neighbours the rank of the pair; NO_ENTRY if the table has none, BORDER if the two belong to
    different chunks, which no merge ever joins. next: the joint with the lowest rank, None when nothing is left to do.
    merge: the one that led here, None at the start.
    """

    pieces: tuple[bytes, ...]
    joints: tuple[int, ...]
    next: int | None
    merge: Merge | None = None


NO_ENTRY, BORDER = -1, -2


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses: a word, or a few, and an encoding."""

    word: str
    encoding: str = "gpt2"


def run(demo: Demo) -> tuple[State, ...]:
    """All states from single bytes to the final pieces, one merge between each two: always the pair of lowest rank.

    An encoding first cuts the text into chunks and merges inside each; which chunk comes first changes nothing.
    """
    known = tokenizer.encoding(demo.encoding)
    ranks = known._mergeable_ranks
    pieces, inside = [], []  # inside: may the joint after this piece close?
    for chunk in regex.findall(known._pat_str, demo.word):
        pieces += [bytes([b]) for b in chunk.encode()]
        inside += [True] * (len(pieces) - len(inside) - 1) + [False]
    states, merge = [], None
    while True:
        joints = tuple(
            ranks.get(a + b, NO_ENTRY) if may else BORDER for (a, b), may in zip(pairwise(pieces), inside, strict=False)
        )
        best = min((i for i, rank in enumerate(joints) if rank >= 0), key=joints.__getitem__, default=None)
        states.append(State(tuple(pieces), joints, best, merge))
        if best is None:
            return tuple(states)
        merge = Merge(pieces[best], pieces[best + 1], joints[best], best)
        pieces[best : best + 2] = [pieces[best] + pieces[best + 1]]
        del inside[best]


def agrees(demo: Demo, last: State) -> bool:
    """Are the pieces that the merges end with the ones that tiktoken itself finds?"""
    known = tokenizer.encoding(demo.encoding)
    return [known._mergeable_ranks[piece] for piece in last.pieces] == known.encode_ordinary(demo.word)


def spans(pieces: tuple[bytes, ...], ranks: dict[bytes, int] | None = None) -> tuple[tokenizer.Piece, ...]:
    """The pieces as they are shown. ranks: the ids of pieces longer than a byte; single bytes keep their own value."""
    known = ranks or {}
    return tokenizer.end_to_end(
        (known.get(piece, piece[0] if len(piece) == 1 else -1), piece, "plain") for piece in pieces
    )


def shown(demo: Demo) -> tuple[tuple[tokenizer.Piece, ...], ...]:
    """The pieces of all states of `run` with the encoding's ids."""
    ranks = tokenizer.encoding(demo.encoding)._mergeable_ranks
    return tuple(spans(state.pieces, ranks) for state in run(demo))


# ---- training ----


@dataclass(frozen=True)
class Learned:
    """One line of a trained table. count: how often the pair stood in the text when it was chosen."""

    left: bytes
    right: bytes
    count: int


@dataclass(frozen=True)
class Training:
    """lengths: how many pieces the text has after 0, 1, 2 ... merges."""

    merges: tuple[Learned, ...]
    lengths: tuple[int, ...]

    @property
    def ranks(self) -> dict[bytes, int]:
        """As an encoding keeps it: 256 bytes, then every merge in the order in which it was learned."""
        learned = [one.left + one.right for one in self.merges]
        return {bytes([i]): i for i in range(256)} | {piece: 256 + i for i, piece in enumerate(learned)}


def chunks(text: str) -> tuple[str, ...]:
    """Where GPT-2 cuts before it merges: no piece ever reaches from one chunk into the next."""
    return tuple(regex.findall(PATTERN, text))


def train(text: str, most: int = MOST_MERGES) -> Training:
    """Merge the most frequent pair of neighbours, again and again, until no pair stands twice.

    Of pairs equally frequent the one that appears first is taken, as `tiktoken._educational` does.
    """
    words = {tuple(bytes([b]) for b in word.encode()): n for word, n in Counter(chunks(text)).items()}
    merges, lengths = [], [sum(len(word) * n for word, n in words.items())]
    while len(merges) < most:
        pairs: Counter[tuple[bytes, bytes]] = Counter()
        for word, n in words.items():
            for pair in pairwise(word):
                pairs[pair] += n
        pair = max(pairs, key=pairs.__getitem__, default=None)
        if pair is None or pairs[pair] < 2:
            break
        words = {merged(word, pair): n for word, n in words.items()}
        merges.append(Learned(*pair, pairs[pair]))
        lengths.append(sum(len(word) * n for word, n in words.items()))
    return Training(tuple(merges), tuple(lengths))


def merged(word: tuple[bytes, ...], pair: tuple[bytes, bytes]) -> tuple[bytes, ...]:
    """The word with every occurrence of the pair joined, from left to right."""
    made, i = [], 0
    while i < len(word):
        both = word[i : i + 2] == pair
        made.append(pair[0] + pair[1] if both else word[i])
        i += 2 if both else 1
    return tuple(made)


def grown(text: str, merges: tuple[Learned, ...]) -> tuple[tuple[bytes, ...], ...]:
    """A text in pieces with the first 0, 1, 2 ... merges of a table."""
    words = [tuple(bytes([b]) for b in word.encode()) for word in chunks(text)]
    states = [tuple(piece for word in words for piece in word)]
    for one in merges:
        words = [merged(word, (one.left, one.right)) for word in words]
        states.append(tuple(piece for word in words for piece in word))
    return tuple(states)


def learned_pieces(text: str, training: Training) -> tuple[tuple[tokenizer.Piece, ...], ...]:
    """The states of `grown` with the ids of the table that was trained."""
    ranks = training.ranks
    return tuple(spans(state, ranks) for state in grown(text, training.merges))
