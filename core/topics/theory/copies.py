"""The same sentence, written again and again: what the model says next after 0, 1, 2, ... copies of it.

A causal model reads a text of n copies once; what it would say after fewer of them stands at their ends, because no
token sees a later one. Another subject is asked for in branches of the same pass. No parameter of the model is touched,
and that is compared, number by number.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import torch
from torch import Tensor

from core.assets import ASSETS
from core.lab import subject
from core.lab.text import FIRST, Cannot, Word, called, context, exactly, word
from core.trace import Trace, to_numpy
from core.whatif import Edit, WhatIf

TABLE = ASSETS / "data" / "sky.json"
CLAIM = "The sky is green."
OTHER = "The dog"
MOST = 48  # copies, where the model's context holds as many
LONGEST = 120  # characters of a sentence
VERBS = ("is", "are", "was", "were", "am", "has", "had", "have", "can", "likes", "liked")
SHOWN = 6  # words whose chances are shown


# ---- a sentence, cut where the model must answer ----


@dataclass(frozen=True)
class Claim:
    """A sentence "A is B.": who it is about, the words between, and the last word, which the model is asked for."""

    who: str  # "The sky"
    between: str  # "is"
    says: str  # "green"
    end: str = "."

    @property
    def lead(self) -> str:
        return f"{self.who} {self.between}"

    @property
    def sentence(self) -> str:
        return f"{self.lead} {self.says}{self.end}"


def read(sentence: str) -> Claim | None:
    """A typed sentence as a claim, one blank between words; None where there are fewer than three words.

    Who: all before the first verb of VERBS that stands inside, else all but the last two words.
    """
    words = sentence.split()
    if len(words) < 3:
        return None
    last = words[-1].rstrip(".!?…,;:") or words[-1]
    end = words[-1][len(last) :] or "."
    verbs = [i for i, one in enumerate(words[:-1]) if i and one.lower() in VERBS]
    cut = verbs[0] if verbs else len(words) - 2
    return Claim(" ".join(words[:cut]), " ".join(words[cut:-1]), last, end)


@dataclass(frozen=True)
class Demo:
    """claim: what is written again and again; other: a subject of which nothing was written; of: the model."""

    claim: Claim
    other: str = OTHER
    of: str = FIRST

    @property
    def other_lead(self) -> str:
        return f"{self.other} {self.claim.between}"


@dataclass(frozen=True)
class _Ids:
    """start: what opens a text; copy: one copy; lead: its beginning up to the last word; said: the followed token."""

    start: tuple[int, ...]
    copy: tuple[int, ...]
    lead: tuple[int, ...]
    other: tuple[int, ...]
    copies: int

    @property
    def said(self) -> int:
        return self.copy[len(self.lead)]

    def ends(self) -> list[int]:
        """The place of the lead's last token after 0, 1, 2, ... copies."""
        return [len(self.start) + k * len(self.copy) + len(self.lead) - 1 for k in range(self.copies + 1)]

    def text(self, copies: int) -> tuple[int, ...]:
        """What is read: so many copies, then the lead."""
        return (*self.start, *copies * self.copy, *self.lead)


def _ids(demo: Demo) -> _Ids:
    """Raises Cannot for a sentence that does not fit into the model once, or whose pieces run into the last word."""
    nothing, lead = exactly("", demo.of).ids, exactly(demo.claim.lead, demo.of).ids
    start = nothing if lead[: len(nothing)] == nothing else ()
    once, other = exactly(demo.claim.sentence, demo.of).ids, exactly(demo.other_lead, demo.of).ids
    copy, lead, other = (ids[len(start) :] for ids in (once, lead, other))
    if copy[: len(lead)] != lead or len(copy) <= len(lead):
        raise Cannot("This model joins the last word to the one before it: there is no place to ask.")
    room = context(demo.of) - len(start) - max(len(lead), len(other))
    if room < len(copy):
        raise Cannot("This sentence is longer than the model's context: not one copy fits.")
    return _Ids(start, copy, lead, other, min(MOST, room // len(copy)))


# ---- what is said after so many copies ----


@dataclass(frozen=True)
class Copies:
    """The next word after 0, 1, ... copies.

    p: (copies, 3), the chance of the followed word, of the model's own one, and of the followed word after the other
    subject. words: the followed word, the model's own, what the other subject gets by itself, each with its chance
    without a copy. shown, probs: (copies, word), the followed word and some that are likely. best, other_best: (copies,),
    the likeliest word after each. pieces: what the last word consists of.
    tokens: of one copy; read: of the longest text. changed: how many of the model's `parameters` differ after the pass
    from before. cached: numbers kept in keys and values at the end.
    """

    p: np.ndarray
    words: tuple[Word, Word, Word]
    shown: tuple[Word, ...]
    probs: np.ndarray
    best: tuple[str, ...]
    other_best: tuple[str, ...]
    pieces: tuple[str, ...]
    tokens: int
    read: int
    changed: int
    parameters: int
    cached: int

    @property
    def copies(self) -> int:
        """The most that fit."""
        return len(self.p) - 1

    @property
    def needed(self) -> int | None:
        """Copies after which the followed word is the likeliest for the first time; None where it never is."""
        return next((k for k, one in enumerate(self.best) if one == self.words[0].token), None)


@torch.inference_mode()
def run(demo: Demo) -> Copies:
    """One pass: a causal one over all copies, and after each of them a branch in which the other subject is read on."""
    model, ids = subject.model(demo.of), _ids(demo)
    before = [p.detach().clone() for p in model.parameters()]
    whole = torch.tensor(ids.text(ids.copies) + (ids.copies + 1) * ids.other)
    x = model.stream(whole, trace=WhatIf(_branches(demo, ids)))
    ends = [len(whole) - 1 - k * len(ids.other) for k in reversed(range(ids.copies + 1))]
    own, other = model.read_out(x[ids.ends() + ends]).softmax(-1).chunk(2)
    changed = sum(int((a != b).sum()) for a, b in zip(before, model.parameters(), strict=True))
    first, alone, config = to_numpy(own[0]), to_numpy(other[0]), model.config
    shown = _likely(own, ids.said)
    rival = shown[1]
    n = len(ids.text(ids.copies))
    return Copies(
        to_numpy(torch.stack([own[:, ids.said], own[:, rival], other[:, ids.said]], -1)),
        (word(ids.said, first, demo.of), word(rival, first, demo.of), word(int(alone.argmax()), alone, demo.of)),
        tuple(word(i, first, demo.of) for i in shown),
        to_numpy(own[:, shown]),
        _named(own, demo.of),
        _named(other, demo.of),
        tuple(called(i, demo.of) for i in ids.copy[len(ids.lead) : _last(demo, ids)]),
        len(ids.copy),
        n,
        changed,
        sum(p.numel() for p in model.parameters()),
        2 * config.n_layers * config.n_kv_heads * config.head_dim * n,
    )


def _branches(demo: Demo, ids: _Ids) -> list[Edit]:
    """What makes branches of the tokens that follow the text: where each stands, and whom it sees.

    Branch k stands right after the first k copies, sees them and itself, and nobody sees it.
    """
    model, m, n = subject.model(demo.of), len(ids.other), len(ids.text(ids.copies))
    after = torch.arange(ids.copies + 1).repeat_interleave(m)  # copies before each token of a branch
    begins = len(ids.start) + after * len(ids.copy)
    places = torch.cat([torch.arange(n), begins + torch.arange(m).repeat(ids.copies + 1)])
    branch = torch.cat([torch.full((n,), -1), after])
    reach = torch.cat([torch.full((n,), n), begins])  # how far each token sees the text itself
    back = places[:, None] - places
    seen = (branch[:, None] == branch) | ((branch == -1) & (places < reach[:, None]))
    allowed = (back >= 0) & seen & (back < (model.config.window or len(back)))
    edits: list[Edit] = [("block*.allowed", lambda _: allowed), ("angles", lambda turn: turn[places])]
    if model.pos_embed is not None:
        table = model.pos_embed.weight
        edits.append(("pos_embed", lambda _: table[places]))
    return edits


def _likely(probs: Tensor, said: int) -> list[int]:
    """Ids: the followed one, the likeliest others without a copy, and others that come near a first place later."""
    first = [int(i) for i in probs[0].topk(min(SHOWN, probs.shape[-1])).indices if int(i) != said][: SHOWN - 2]
    most = probs.amax(0)
    most[[said, *first]] = -torch.inf
    return [said, *first, *(int(i) for i in most.topk(min(SHOWN - 1 - len(first), len(most))).indices)]


def _named(probs: Tensor, of: str) -> tuple[str, ...]:
    return tuple(called(int(i), of) for i in probs.argmax(-1))


def _last(demo: Demo, ids: _Ids) -> int:
    """Where the last word ends among the tokens of a copy, its full stop left out where that is a token of its own."""
    bare = replace(demo.claim, end="").sentence
    return len(exactly(bare, demo.of).ids) - len(ids.start)


# ---- which heads carry it ----

TRIED = 12  # copies, when every head is muted in turn


@dataclass(frozen=True)
class Carriers:
    """p: (copies, layer, head), the followed word's chance with that head muted; untouched: (copies,).

    looks: (copies, layer, head), how much of its attention a head gives, at the token before the answer, to the places
    where the followed word stood (the mark of an induction head: Olsson et al. 2022, arXiv 2209.11895); even: (copies,),
    what a head that looks at all tokens alike gives them.
    """

    p: np.ndarray
    untouched: np.ndarray
    looks: np.ndarray
    even: np.ndarray

    def worst(self, copies: int, n: int = 4) -> list[tuple[int, int]]:
        """The n heads (layer, head) without which the word loses most."""
        order = np.argsort(self.p[copies], axis=None)[:n]
        return [(int(i) // self.p.shape[2], int(i) % self.p.shape[2]) for i in order]


@torch.inference_mode()
def carriers(demo: Demo) -> Carriers:
    """Every head muted in turn, in batched passes over the same text."""
    model, ids = subject.model(demo.of), _ids(demo)
    ids = replace(ids, copies=min(TRIED, ids.copies))
    whole, ends, config = torch.tensor(ids.text(ids.copies)), ids.ends(), model.config
    heads = [(layer, head) for layer in range(config.n_layers) for head in range(config.n_heads)]
    some = subject.at_once(len(whole))
    found = []
    for start in range(0, len(heads), some):
        part = heads[start : start + some]
        x = model.stream(whole.expand(len(part), -1), trace=WhatIf(_muted(part)))
        found.append(model.read_out(x[:, ends]).softmax(-1)[..., ids.said])
    p = torch.cat(found).T.unflatten(1, (config.n_layers, config.n_heads))
    trace = Trace(only=("block*.weights",))
    x = model.stream(whole, trace=trace)
    untouched = model.read_out(x[ends]).softmax(-1)[:, ids.said]
    weights = torch.stack([trace[f"block{i}.weights"].tensor for i in range(config.n_layers)])[:, :, ends]
    said_at = torch.tensor([end + 1 for end in ends[:-1]], dtype=torch.long)
    looks = weights[..., said_at].sum(-1)  # later places have no weight: no token sees ahead
    even = np.array([k / (end + 1) for k, end in enumerate(ends)])
    return Carriers(to_numpy(p), to_numpy(untouched), to_numpy(looks.permute(2, 0, 1)), even)


def _muted(heads: list[tuple[int, int]]) -> list[Edit]:
    """One head silent in each row of a batch."""
    edits: list[Edit] = []
    for row, (layer, head) in enumerate(heads):
        edits.append((f"block{layer}.z", partial(_silent, row=row, head=head)))
    return edits


def _silent(z: Tensor, row: int, head: int) -> Tensor:
    """z: (row, head, token, d_head)."""
    z = z.clone()
    z[row, head] = 0.0
    return z


# ---- many false sentences, recorded ----


@dataclass(frozen=True)
class Recorded:
    """Of `sentences` false ones: how many gave in, how many copies they needed (the middle one and the most), and in how
    many of `pairs` another subject got the word with a larger chance than the one it was said of."""

    sentences: int
    gave_in: int
    middle: float
    most: int
    pairs: int
    more: int


@cache
def recorded() -> Recorded:
    """What `python -m core.make sky` wrote, counted."""
    every = list(json.loads(TABLE.read_text("utf8")).values())
    needed = [one["needed"] for one in every if one["needed"] is not None]
    pairs = [(p, one["own"]) for one in every for p in one["others"].values()]
    return Recorded(
        len(every), len(needed), statistics.median(needed), max(needed), len(pairs), sum(p > own for p, own in pairs)
    )
