"""From ids to vectors in a model: rows of its table, their neighbours, and what becomes of a row.

subject: which model; the one that ships where nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core import generation, tokenizer
from core.config import ModelConfig
from core.counting import parameters, total
from core.embeddings import EMBED, IDS, by_product
from core.generation import Written
from core.lab import subject as lab
from core.lab.memory import kept
from core.lab.text import FIRST, Cannot, Text, called, ends, exactly, folder
from core.presets import presets
from core.trace import Trace, to_numpy

MOST_WRITTEN = 96


@dataclass(frozen=True)
class Demo:
    """A sentence, as its model reads it. product: also make the rows by multiplication."""

    text: Text
    product: bool = False


@torch.inference_mode()
def run(demo: Demo) -> Trace:
    """ids (query,) and their rows (query, d_model); with `product` the same rows by one-hot times table."""
    trace, ids = Trace(query=list(demo.text.tokens)), torch.tensor(demo.text.ids)
    rows = table(demo.text.subject)
    trace(EMBED, rows[trace(IDS, ids)])
    if demo.product:
        by_product(ids, rows, trace=trace)
    return trace


def table(subject: str = FIRST) -> Tensor:
    """The embedding table, (vocab, d_model)."""
    return lab.model(subject).embed.weight.detach()


def pieces(text: str, subject: str = FIRST) -> tuple[tokenizer.Piece, ...]:
    """A text as a model's tokenizer cuts it, nothing trimmed."""
    return tokenizer.cut_by(tokenizer.of_model(folder(subject)), text)


def as_pieces(ids: tuple[int, ...], subject: str = FIRST) -> tuple[tokenizer.Piece, ...]:
    """Ids as pieces, end to end; for tokens that the model wrote."""
    names = tokenizer.of_model(folder(subject))
    return tokenizer.named((id, names.id_to_token(id)) for id in ids)


def gap(trace: Trace) -> float:
    """The largest difference between look-up and product."""
    return float(np.abs(trace["embed"].value - trace["embed_product"].value).max())


@dataclass(frozen=True)
class Neighbour:
    id: int
    token: str
    cosine: float


@torch.inference_mode()
def neighbours(id: int, n: int = 10, subject: str = FIRST) -> tuple[Neighbour, ...]:
    """The rows whose direction is most like that of row `id`, the row itself left out."""
    unit = kept(_directions, subject)
    cosines = unit @ unit[id]
    cosines[id] = -torch.inf
    best = cosines.topk(min(n, len(unit) - 1))
    return tuple(
        Neighbour(i, called(i, subject), c) for i, c in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    )


def _directions(subject: str) -> Tensor:
    """Every row at length one."""
    return F.normalize(table(subject), dim=-1)


@dataclass(frozen=True)
class Map:
    """Rows of the table in the plane in which they differ most. kept: the share of their variance that it shows."""

    points: np.ndarray  # (token, 2)
    kept: float


@torch.inference_mode()
def plane(ids: tuple[int, ...], subject: str = FIRST) -> Map:
    """The principal plane of the given rows (PCA). ids: different ones; the sign of an axis means nothing."""
    rows = table(subject)[list(ids)]
    middle = rows - rows.mean(0)
    _, size, axes = torch.linalg.svd(middle, full_matrices=False)
    points = F.pad(middle @ axes[:2].T, (0, 2 - min(2, len(axes))))
    variance = size.square()
    return Map(to_numpy(points), float(variance[:2].sum() / variance.sum().clamp_min(torch.finfo(variance.dtype).tiny)))


# ---- the table itself ----

BPE_ENTRIES, CONTROL_ENTRIES = 151_643, 26  # Qwen3 technical report, arXiv 2505.09388, section 2; its tokenizer.json


@dataclass(frozen=True)
class Size:
    """A table among its model's parameters. entries: what the tokenizer knows; spare: rows that no text reaches."""

    rows: int
    width: int
    entries: int
    parameters: int
    share: float

    @property
    def spare(self) -> int:
        return self.rows - self.entries


def qwen3() -> Size:
    """The embedding table of Qwen3-8B."""
    return _size(presets()["qwen3-8b"].config, BPE_ENTRIES + CONTROL_ENTRIES)


def ours(subject: str = FIRST) -> Size:
    """A loaded model's table."""
    return _size(lab.config(subject), tokenizer.of_model(folder(subject)).get_vocab_size())


def _size(config: ModelConfig, entries: int) -> Size:
    row = next(row for row in parameters(config) if row.name == "embedding")
    return Size(config.vocab_size, config.d_model, entries, row.value, row.value / total(config))


@dataclass(frozen=True)
class Spread:
    """How large the numbers are. random: of torch.randn; start: as models begin; trained: of the model.

    untouched: how many of its rows are the same but for `apart`, the largest difference of any number among them:
    training drove them all alike and never told their pieces apart.
    """

    random: float
    start: float
    trained: float
    untouched: int
    apart: float


@torch.inference_mode()
def spread(subject: str = FIRST) -> Spread:
    """Standard deviations; the random table is drawn in the model's size from seed 0."""
    rows = table(subject)
    drawn = torch.randn(rows.shape, generator=torch.Generator().manual_seed(0))
    alike = rows[kept(_untouched, subject)]
    apart = float((alike.amax(0) - alike.amin(0)).max())
    return Spread(float(drawn.std()), 0.02, float(rows.std()), len(alike), apart)


def _untouched(subject: str) -> Tensor:
    """(vocab,), True where a row is the one of median length: of a table that training hardly read, more than half are."""
    rows = table(subject)
    middle = rows[rows.norm(dim=-1).median(0).indices]
    return (rows - middle).abs().amax(-1) < 1e-3


def untouched(id: int, subject: str = FIRST) -> bool:
    """Is this row one of those that training never told apart?"""
    return bool(kept(_untouched, subject)[id])


# ---- one row, many meanings ----


@dataclass(frozen=True)
class Sense:
    """A word in two meanings, two sentences each. The last place where it stands is looked at."""

    word: str
    one: tuple[str, str]
    other: tuple[str, str]


SENSES = (
    Sense(
        "saw",
        ("Tom saw a big dog in the park", "One day, Lily saw a bird"),
        ("Dad used a saw to cut the wood", "The man had a sharp saw and a hammer"),
    ),
    Sense(
        "bank",
        ("Mom went to the bank to get money", "Dad put the money in the bank"),
        ("The frog sat on the bank of the river", "The duck swam to the bank of the river"),
    ),
    Sense(
        "left",
        ("Tom left the house and went away", "They left the park and went home"),
        ("He looked to the left and right", "She put the shoe on her left foot"),
    ),
    Sense(
        "watch",
        ("They sat down to watch a movie", "She likes to watch the birds"),
        ("Dad had a new watch on his arm", "He looked at his watch to see the time"),
    ),
    Sense(
        "can",
        ("I can help you", "You can play with me"),
        ("He put the trash in the can", "She opened the can of beans"),
    ),
)


@dataclass(frozen=True)
class Drift:
    """Cosines between a word's vectors, at the table and after each block: (depth,) each."""

    one: np.ndarray  # two sentences, the first meaning
    other: np.ndarray  # two sentences, the second meaning
    between: np.ndarray  # the mean over the four pairs of different meaning


@torch.inference_mode()
def drift(sense: Sense, subject: str = FIRST) -> Drift:
    """How far one word's vectors part on the way through the model. Raises Cannot where the word is no piece."""
    one, other = (
        F.normalize(torch.stack([_way(s, sense.word, subject) for s in pair]), dim=-1)
        for pair in (sense.one, sense.other)
    )
    between = torch.einsum("ald,bld->abl", one, other).mean((0, 1))
    return Drift(*(to_numpy(x) for x in ((one[0] * one[1]).sum(-1), (other[0] * other[1]).sum(-1), between)))


def _way(text: str, word: str, subject: str) -> Tensor:
    """A word's row of the table, then its vector after each block: (depth, d_model)."""
    read = exactly(text, subject)
    if word not in read.tokens:
        raise Cannot("This word is no piece of the model's vocabulary, so no one row stands for it.")
    at = len(read) - 1 - read.tokens[::-1].index(word)
    return torch.stack([step.tensor[at] for step in lab.untouched(read).part(("embed", "block*.resid_post"))])


# ---- from text to text ----


def outlook(text: str, subject: str = FIRST) -> lab.Outlook:
    """The next word after a text exactly as it stands, blanks at its end included."""
    return lab.outlook(exactly(text, subject))


def write_on(text: Text, most: int = MOST_WRITTEN) -> Written:
    """The likeliest next token, appended to the text, again and again, to the end of a text or of the context."""
    model = lab.model(text.subject)
    n = max(0, min(most, model.config.context - len(text)))
    known = lab.untouched(text)["next_logits"].tensor
    return generation.greedy(model, torch.tensor(text.ids), n, ends=ends(text.subject), logits=known)
