"""The stale cache: a word of the text is swapped, the cache knows nothing of it, and its cells are renewed one by one.

A cell is what one block keeps of one token: its key and its value in every head. The newest token alone is computed;
all it hears of the others comes out of the cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.cache import Pair, read_on
from core.lab import subject
from core.lab.memory import kept
from core.lab.text import Cannot, Text, Word, called, top, word
from core.trace import to_numpy

Order = Literal["left", "newest", "layers"]
ORDERS: tuple[Order, ...] = ("left", "newest", "layers")
MOST = 48  # tokens: of a longer text the last ones
STOPS = 120  # stops of the slider: of more cells, some at a time
OPENERS = frozenset(  # words with a capital letter that are no names
    [
        "A",
        "An",
        "And",
        "As",
        "At",
        "But",
        "For",
        "From",
        "Go",
        "He",
        "Her",
        "His",
        "How",
        "I",
        "If",
        "In",
        "It",
        "Let",
        "Look",
        "My",
        "No",
        "Now",
        "Oh",
        "On",
        "Once",
        "One",
        "Our",
        "She",
        "So",
        "Soon",
        "Suddenly",
        "That",
        "The",
        "Then",
        "There",
        "They",
        "This",
        "To",
        "Today",
        "Two",
        "We",
        "What",
        "When",
        "Where",
        "Who",
        "Why",
        "Yes",
        "You",
        "Your",
    ]
)
SHOWN = 4  # words whose chance is followed
OFFERED = 6  # words like the swapped one that are offered instead of it
TRIED = 16  # words of a text whose swap is tried, to begin with the one that matters most


@dataclass(frozen=True)
class Demo:
    """The text; place: the token that is swapped; other: the id that takes its place; order: of renewing the cells."""

    text: Text
    place: int
    other: int
    order: Order = "left"


@dataclass(frozen=True)
class Stale:
    """cells: (layer, token) in the order they are renewed, stops: how many of them are renewed at each stop.

    p: (stop, word), alone: (layer, token, word), with that cell renewed and no other; words: the ones followed.
    old: what the cache's own text says next, new: what the swapped one says; old_best, new_best by name.
    """

    swapped: Text
    cells: tuple[tuple[int, int], ...]
    stops: tuple[int, ...]
    words: tuple[Word, ...]
    p: np.ndarray
    best: tuple[int, ...]  # the likeliest at every stop, its id
    alone: np.ndarray
    alone_best: np.ndarray  # (layer, token), its id
    old: Word
    new: Word

    @property
    def turning(self) -> tuple[tuple[int, int], ...]:
        """The cells that alone bring the new text's answer."""
        if self.old.id == self.new.id:
            return ()
        return tuple((int(layer), int(token)) for layer, token in np.argwhere(self.alone_best == self.new.id))

    @property
    def settled(self) -> int:
        """The first stop from which on the new text's answer stays the likeliest."""
        wrong = [i for i, id in enumerate(self.best) if id != self.new.id]
        return wrong[-1] + 1 if wrong else 0

    def chance(self, id: int, stop: int) -> float:
        """Of one of the followed words."""
        return float(self.p[stop, [one.id for one in self.words].index(id)])


# ---- which word, and what instead ----


def readable(text: Text) -> Text:
    """The text, or the end of a long one."""
    return text if len(text) <= MOST else Text(text.subject, text.ids[-MOST:], text.tokens[-MOST:])


def places(text: Text) -> tuple[int, ...]:
    """Tokens that can be swapped: all between the first and the newest, which is computed anyway. Whole words, if any.

    Raises Cannot for a text too short to have one.
    """
    if len(text) < 3:
        raise Cannot("Three tokens are the least: one to swap, one before it, one that is new.")
    inside = range(1, len(text) - 1)
    return tuple(i for i in inside if _whole(text, i)) or tuple(inside)


def _whole(text: Text, place: int) -> bool:
    """A word that is one piece."""
    return text.tokens[place].isalpha() and not text.tokens[place + 1].startswith("·")


def names(text: Text) -> tuple[int, int] | None:
    """Of a text with two names: where the one that comes twice stands for the last time, and the other one's id."""
    found = {i: text.tokens[i] for i in places(text) if _name(text.tokens[i])}
    for place, token in sorted(found.items(), reverse=True):
        others = [i for i, other in found.items() if other != token]
        if others and any(i < place and other == token for i, other in found.items()):
            return place, text.ids[others[0]]
    return None


def _name(token: str) -> bool:
    return token[0].isupper() and token not in OPENERS


@torch.inference_mode()
def alike(text: Text, place: int) -> tuple[int, ...]:
    """Ids that may take a token's place: those with the most similar row of the embedding table, in its own kind of
    letters, then other words of the text."""
    model, mine = subject.model(text.subject), text.tokens[place]
    rows = F.normalize(model.embed.weight, dim=-1)
    near = (rows @ rows[text.ids[place]]).argsort(descending=True).tolist()
    same = [i for i in near if i != text.ids[place]]
    fit = list(islice((i for i in same if _like(called(i, text.subject), mine)), OFFERED)) or same[:1]
    here = [text.ids[i] for i in places(text) if text.tokens[i][0].isupper() == mine[0].isupper()]
    return tuple(dict.fromkeys([*fit, *(i for i in here if i != text.ids[place])]))


def _like(token: str, mine: str) -> bool:
    """A whole word as this one is, and not the same in another dress."""
    one, other = token.lower(), mine.lower()
    dressed = one.startswith(other[: max(3, len(other) - 2)]) or other.startswith(one)
    return token.isalpha() == mine.isalpha() and token[0].isupper() == mine[0].isupper() and not dressed


def first_swap(text: Text) -> tuple[int, int]:
    """Where to begin: with two names, one for the other; else with the word whose swap changes the next word most."""
    return names(text) or kept(_most_changed, text)


@torch.inference_mode()
def _most_changed(text: Text) -> tuple[int, int]:
    model, tried = subject.model(text.subject), places(text)[-TRIED:]
    others = [alike(text, place)[0] for place in tried]
    ids = torch.tensor(text.ids).repeat(len(tried), 1)
    ids[torch.arange(len(tried)), torch.tensor(tried)] = torch.tensor(others)
    found = model.predict(model.stream(ids)).softmax(-1)
    was = torch.from_numpy(np.array(subject.untouched(text)["next_probs"].value))
    best = int((found - was).abs().sum(-1).argmax())
    return tried[best], others[best]


# ---- old cells and new ones ----


def swapped(demo: Demo) -> Text:
    """The text as it stands on the screen. Raises Cannot where the newest token would be swapped, or none."""
    if demo.place not in range(1, len(demo.text) - 1):
        raise Cannot("Only a token between the first and the newest one can be swapped.")
    ids, tokens = list(demo.text.ids), list(demo.text.tokens)
    ids[demo.place], tokens[demo.place] = demo.other, called(demo.other, demo.text.subject)
    return Text(demo.text.subject, tuple(ids), tuple(tokens))


def cells(layers: int, tokens: int, order: Order) -> tuple[tuple[int, int], ...]:
    """(layer, token) of all cells. left: a token after the other, from its first block up; newest: the same from the
    other end; layers: block by block."""
    if order == "layers":
        return tuple((layer, token) for layer in range(layers) for token in range(tokens))
    along = range(tokens) if order == "left" else reversed(range(tokens))
    return tuple((layer, token) for token in along for layer in range(layers))


def caches(text: Text) -> list[Pair]:
    """Keys and values of all tokens but the newest, (kv_head, token, d_head) of every block."""
    trace, layers = subject.untouched(text), subject.config(text.subject).n_layers
    pairs = ((subject.met(trace, i, "k").tensor, trace[f"block{i}.v"].tensor) for i in range(layers))
    return [(k[:, :-1], v[:, :-1]) for k, v in pairs]


@torch.inference_mode()
def patched(old: Text, new: Text, renewed: Tensor) -> Tensor:
    """The newest token on top of caches of which some cells are the new text's. renewed: (cache, layer, token), bool.

    Returns the next token's chances, (cache, vocab).
    """
    model, before, after = subject.model(old.subject), caches(old), caches(new)
    found = []
    for part in renewed.split(subject.at_once(renewed.shape[-1])):
        past = []
        for layer, (mine, theirs) in enumerate(zip(before, after, strict=True)):
            fresh = part[:, layer, None, :, None]
            past.append((torch.where(fresh, theirs[0], mine[0]), torch.where(fresh, theirs[1], mine[1])))
        newest = torch.full((len(part), 1), old.ids[-1])
        x, _made = read_on(model, newest, past, len(old) - 1)
        found.append(model.predict(x).softmax(-1))
    return torch.cat(found)


def run(demo: Demo) -> Stale:
    """Every stop of the slider and every cell alone, in two batched steps."""
    old, new = demo.text, swapped(demo)
    layers, n = subject.config(old.subject).n_layers, len(old) - 1
    order = cells(layers, n, demo.order)
    stops = tuple(sorted({round(i) for i in np.linspace(0, len(order), min(len(order) + 1, STOPS))}))
    rank = torch.zeros(layers, n, dtype=torch.long)
    for i, cell in enumerate(order):
        rank[cell] = i
    along = to_numpy(patched(old, new, rank < torch.tensor(stops)[:, None, None]))
    single = to_numpy(patched(old, new, torch.eye(layers * n, dtype=torch.bool).view(-1, layers, n)))
    said = [top(subject.untouched(text)["next_probs"].value, 1, old.subject)[0] for text in (old, new)]
    followed = _followed(along, single, said)
    return Stale(
        swapped=new,
        cells=order,
        stops=stops,
        words=tuple(word(i, along[0], old.subject) for i in followed),
        p=along[:, followed],
        best=tuple(along.argmax(-1).tolist()),
        alone=single[:, followed].reshape(layers, n, -1),
        alone_best=single.argmax(-1).reshape(layers, n),
        old=said[0],
        new=said[1],
    )


def column(demo: Demo) -> bool:
    """Do the cells of the swapped token alone, those of all blocks, bring the new text's answer?"""
    renewed = torch.zeros(1, subject.config(demo.text.subject).n_layers, len(demo.text) - 1, dtype=torch.bool)
    renewed[..., demo.place] = True
    new = swapped(demo)
    answer = int(subject.untouched(new)["next_probs"].value.argmax())
    return int(patched(demo.text, new, renewed).argmax()) == answer


def _followed(along: np.ndarray, single: np.ndarray, said: list[Word]) -> list[int]:
    """Both answers, and what else comes closest anywhere."""
    both = list(dict.fromkeys(one.id for one in said))
    most = np.maximum(along.max(0), single.max(0))
    rest = [int(i) for i in np.argsort(-most, kind="stable")[: SHOWN + 2] if i not in both]
    return [*both, *rest[: SHOWN - len(both)]]


# ---- inside the cell ----


@dataclass(frozen=True)
class Inside:
    """A cell taken apart: the new answer's chance with one head's keys alone renewed, its values alone, or both.

    p: (head, 3); all_heads: (3,); numbers: of one head's value, whole: of the whole cache."""

    p: np.ndarray
    all_heads: np.ndarray
    numbers: int
    whole: int


@torch.inference_mode()
def inside(demo: Demo, layer: int, token: int, asked: int) -> Inside:
    """asked: the id whose chance is followed. One batched step: (kv_head + 1) times three caches."""
    old, new = demo.text, swapped(demo)
    model, before, after = subject.model(old.subject), caches(old), caches(new)
    heads, n, width = before[0][0].shape
    chosen = torch.cat([torch.eye(heads, dtype=torch.bool), torch.ones(1, heads, dtype=torch.bool)])
    here = (torch.arange(n) == token)[:, None] & chosen[:, None, :, None, None]  # (set, 1, kv_head, token, 1)
    which = torch.tensor([[True, False], [False, True], [True, True]])  # keys, values, both
    fresh = (here & which.T[:, None, :, None, None, None]).flatten(1, 2)  # (keys or values, cache, kv_head, token, 1)
    past = [tuple(part.expand(fresh.shape[1], -1, -1, -1) for part in pair) for pair in before]
    past[layer] = tuple(
        torch.where(f, theirs, mine) for f, mine, theirs in zip(fresh, before[layer], after[layer], strict=True)
    )
    x, _made = read_on(model, torch.full((fresh.shape[1], 1), old.ids[-1]), past, len(old) - 1)
    p = to_numpy(model.predict(x).softmax(-1)[:, asked]).reshape(heads + 1, 3)
    return Inside(p[:-1], p[-1], width, 2 * heads * n * width * len(before))


# ---- what a swap leaves valid ----


def valid(n: int, place: int, layers: int) -> int:
    """Cells of n cached tokens that are the same after token `place` was swapped: in the first block all but its own,
    in every later block those before it."""
    return n - 1 + (layers - 1) * place


def changed(demo: Demo) -> np.ndarray:
    """How much every cell differs between both texts, relative to its size: (layer, token)."""
    rows = []
    for (k, v), (k_new, v_new) in zip(caches(demo.text), caches(swapped(demo)), strict=True):
        a, b = torch.cat([k, v], -1), torch.cat([k_new, v_new], -1)
        rows.append((b - a).norm(dim=(0, 2)) / a.norm(dim=(0, 2)))
    return to_numpy(torch.stack(rows))
