"""A model writes: one token after the other, each drawn from what the model says of the next.

Every way to write reads a token once and keeps its keys and values (core.cache). Temperature divides the logits before
softmax (Ackley, Hinton & Sejnowski 1985); at 0 the likeliest token is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from core.cache import Cache
from core.model import Decoder
from core.trace import SILENT, Quantity, Trace

DRAWN_FROM = Quantity(
    "drawn_from",
    "vocab",
    r"p_i = \frac{[\,i \in N\,]\,e^{z_i/T}}{\sum_{j \in N} e^{z_j/T}}",
    "What is left of the next token's chances after all cuts; one token is drawn from it.",
)
DRAWN = Quantity("drawn", "", r"i \sim p", "The token that was taken.")


# ---- what may be drawn ----


@dataclass(frozen=True)
class Sampler:
    """How a token is drawn, in this order: a penalty for tokens that stand in the text already (Keskar et al. 2019, arXiv
    1909.05858: positive logits are divided by it, negative ones multiplied), temperature, the `top_k` likeliest, the
    smallest set that holds `top_p` (Holtzman et al. 2020, arXiv 1904.09751), and whatever has at least `min_p` times
    the likeliest one's chance (Nguyen et al. 2024, arXiv 2407.01082). The defaults cut nothing; temperature 0 takes
    the likeliest. Raises ValueError for a number that means nothing."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition: float = 1.0

    def __post_init__(self) -> None:
        if self.temperature < 0 or self.top_k < 0 or self.repetition <= 0:
            raise ValueError("temperature and top_k are 0 or more, the penalty is above 0")
        if not (0 < self.top_p <= 1 and 0 <= self.min_p <= 1):
            raise ValueError("top_p lies above 0 and up to 1, min_p between 0 and 1")

    def shares(self, logits: Tensor, before: Tensor | None = None) -> Tensor:
        """logits: (vocab,); before: (token,) ids of the text so far. Returns (vocab,), adding up to one, 0 where cut."""
        if self.repetition != 1.0 and before is not None and len(before):
            logits = penalised(logits, before, self.repetition)
        if self.temperature == 0:
            return torch.zeros_like(logits).index_fill(-1, logits.argmax(-1), 1.0)
        return self.cut((logits / self.temperature).softmax(-1))

    def cut(self, shares: Tensor) -> Tensor:
        """shares: (..., vocab). What the three cuts leave, shared out anew."""
        for keeps, on in ((self._in_k, self.top_k > 0), (self._in_p, self.top_p < 1), (self._in_min, self.min_p > 0)):
            if on:
                shares = torch.where(keeps(shares), shares, 0.0)
                shares = shares / shares.sum(-1, keepdim=True)
        return shares

    def _in_k(self, shares: Tensor) -> Tensor:
        least = shares.topk(min(self.top_k, shares.shape[-1])).values[..., -1:]
        return shares >= least

    def _in_p(self, shares: Tensor) -> Tensor:
        ranked, order = shares.sort(dim=-1, descending=True, stable=True)
        above = ranked.cumsum(-1) - ranked  # what the likelier ones hold together: the first is always in
        return torch.zeros_like(shares, dtype=torch.bool).scatter(-1, order, above < self.top_p)

    def _in_min(self, shares: Tensor) -> Tensor:
        return shares >= self.min_p * shares.amax(-1, keepdim=True)


def penalised(logits: Tensor, before: Tensor, penalty: float) -> Tensor:
    """Every token of the text so far is made less likely, once however often it stands there."""
    seen = torch.zeros_like(logits, dtype=torch.bool).index_fill(-1, before, True)
    return torch.where(seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits)


GREEDY = Sampler(temperature=0.0)


# ---- one token after the other ----


@dataclass(frozen=True)
class Step:
    """One token that was written. logits: (vocab,), what the model said; shares: (vocab,), what it was drawn from."""

    id: int
    logits: Tensor
    shares: Tensor


@dataclass(frozen=True)
class Written:
    """The new ids, and how likely the model held each of them. ended: the last one means that the text is over."""

    ids: tuple[int, ...]
    chances: tuple[float, ...]
    ended: bool


def steps(
    model: Decoder, ids: Tensor, sampler: Sampler, *, seed: int = 0, logits: Tensor | None = None, trace: Trace = SILENT
) -> Iterator[Step]:
    """Write on for as long as it is asked to. ids: (token,). logits: (vocab,), of the token after `ids`, where known.

    Records in `step0`, `step1`, ...: what is kept in every block, `next_logits`, `next_probs`, `drawn_from`, `drawn`.
    """
    dice, cache, unread, place = torch.Generator().manual_seed(seed), Cache(model), ids, 0
    while True:
        with torch.inference_mode(), trace.inside(f"step{place}"):
            if logits is None:
                logits, unread = model.predict(cache.read(unread, trace=trace), trace=trace), unread[:0]
            shares = trace(DRAWN_FROM, sampler.shares(logits, ids))
            one = shares.argmax(-1, keepdim=True)
            if sampler.temperature:
                one = torch.multinomial(shares, 1, generator=dice)
            trace(DRAWN, one[0])
            ids, unread = torch.cat([ids, one]), torch.cat([unread, one])
        yield Step(int(one), logits, shares)
        logits, place = None, place + 1


def _written(found: Iterator[Step], n: int, ends: Collection[int]) -> Written:
    new: list[int] = []
    chances: list[float] = []
    while len(new) < n and not (new and new[-1] in ends):
        step = next(found)
        new.append(step.id)
        chances.append(float(step.logits.softmax(-1)[step.id]))
    return Written(tuple(new), tuple(chances), bool(new) and new[-1] in ends)


def greedy(
    model: Decoder,
    ids: Tensor,
    n: int,
    *,
    ends: Collection[int] = (),
    logits: Tensor | None = None,
    trace: Trace = SILENT,
) -> Written:
    """The likeliest token every time. Up to `n` new ids, fewer where one of `ends` comes up."""
    return _written(steps(model, ids, GREEDY, logits=logits, trace=trace), n, ends)


def sample(
    model: Decoder,
    ids: Tensor,
    n: int,
    *,
    temperature: float = 1.0,
    seed: int,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition: float = 1.0,
    ends: Collection[int] = (),
    logits: Tensor | None = None,
    trace: Trace = SILENT,
) -> Written:
    """Drawn as Sampler says, by a generator of its own."""
    sampler = Sampler(temperature, top_k, top_p, min_p, repetition)
    return _written(steps(model, ids, sampler, seed=seed, logits=logits, trace=trace), n, ends)


# ---- the likeliest text ----


@dataclass(frozen=True)
class Beam:
    """A text that was followed: its new ids, and the log of how likely the model holds all of them together, in nats."""

    ids: tuple[int, ...]
    score: float


@torch.inference_mode()
def beams(model: Decoder, ids: Tensor, n: int, *, width: int, ends: Collection[int] = ()) -> tuple[Beam, ...]:
    """The `width` likeliest texts that are found when never more than `width` are followed, likeliest first.

    ids: (token,). A text with one of `ends` is over and keeps its score. width 1 is greedy. Scores are sums of logs and
    not divided by the length.
    """
    cache, over = Cache(model), list[Beam]()
    followed, scores = ids.new_zeros(1, 0), torch.zeros(1)
    unread = ids[None]
    for _place in range(n):
        said = model.predict(cache.read(unread)).log_softmax(-1)
        total = (scores[:, None] + said).flatten()
        scores, best = total.topk(min(width * (1 + len(ends)), len(total)))
        rows, new = best // said.shape[-1], best % said.shape[-1]
        followed = torch.cat([followed[rows], new[:, None]], -1)
        ended = torch.tensor([int(one) in ends for one in new])
        over += _beams(followed[ended], scores[ended])
        on = (~ended).nonzero()[:width, 0]
        followed, scores, unread = followed[on], scores[on], new[on, None]
        cache.take(rows[on])
        over = sorted(over, key=_by_score)[:width]
        if not len(scores) or (len(over) == width and over[-1].score >= float(scores[0])):
            break  # what is followed can only become less likely
    return tuple(sorted([*over, *_beams(followed, scores)], key=_by_score)[:width])


def _beams(followed: Tensor, scores: Tensor) -> list[Beam]:
    return [Beam(tuple(row), score) for row, score in zip(followed.tolist(), scores.tolist(), strict=True)]


def _by_score(beam: Beam) -> float:
    return -beam.score


# ---- a small model drafts, the large one checks ----

Draft = Callable[[Tensor], Tensor]  # ids so far (token,) -> the drafter's chances of the next one (vocab,)


class EarlyExit:
    """A drafter: the first blocks of the model with its norm and its head, and a cache of its own, so that it reads each
    token once, and goes back to where a draft was refused."""

    def __init__(self, model: Decoder, blocks: int) -> None:
        self.model, self.blocks = model, blocks
        self.cache, self.text = Cache(model, blocks), torch.empty(0, dtype=torch.long)

    def __call__(self, ids: Tensor) -> Tensor:
        """ids: (token,), at least one. Returns the chances of the next (vocab,)."""
        near = min(len(ids) - 1, len(self.text))  # the last token is always read: it says what follows
        same = int((ids[:near] == self.text[:near]).cumprod(0).sum())
        if not self.cache.reaches(same):
            self.cache, same = Cache(self.model, self.blocks), 0
        self.cache.back_to(same)
        self.text = ids
        return self.model.predict(self.cache.read(ids[same:])).softmax(-1)


@dataclass(frozen=True)
class Speculated:
    """The new ids; for each pass of the model how many drafts it was shown and how many it took."""

    ids: tuple[int, ...]
    drafted: tuple[int, ...]
    taken: tuple[int, ...]

    @property
    def passes(self) -> int:
        return len(self.taken)


def left_over(p: Tensor, q: Tensor) -> Tensor:
    """What a refused draft is replaced from: (vocab,), the part of p that q does not cover, shared out anew."""
    rest = (p - q).clamp(min=0)
    total = rest.sum(-1, keepdim=True)
    return torch.where(total > 0, rest / total, p)


@torch.inference_mode()
def speculate(
    model: Decoder, ids: Tensor, n: int, draft: Draft, ahead: int, *, sampler: Sampler = GREEDY, seed: int = 0
) -> Speculated:
    """Write `n` tokens; each pass of the model checks `ahead` drafted ones at once (Leviathan et al. 2023, arXiv
    2211.17192, algorithm 1).

    A draft x is taken with chance min(1, p(x) / q(x)); one that is refused is replaced from `left_over`. So every token
    has the chance that `sampler` gives it without any draft; greedily the text is the very same.
    """
    dice, cache, text, unread = torch.Generator().manual_seed(seed), Cache(model), ids, ids
    drafted, taken = list[int](), list[int]()
    draw = partial(torch.multinomial, num_samples=1, generator=dice)
    while (room := n - (len(text) - len(ids))) > 0:
        tried, offered = text, list[Tensor]()
        for _one in range(min(ahead, room - 1)):
            q = draft(tried)
            q = q if sampler.temperature else torch.zeros_like(q).index_fill(-1, q.argmax(-1), 1.0)
            offered.append(q)
            tried = torch.cat([tried, draw(q)])
        seen = torch.cat([unread, tried[len(text) :]])
        said = model.read_out(cache.read(seen)[-(len(offered) + 1) :])
        good = 0
        for q in offered:
            p, x = sampler.shares(said[good], tried[: len(text) + good]), tried[len(text) + good]
            if float(torch.rand((), generator=dice)) * float(q[x]) >= float(p[x]):
                fresh = draw(left_over(p, q))
                break
            good += 1
        else:
            fresh = draw(sampler.shares(said[good], tried))
        drafted.append(len(offered))
        taken.append(good)
        text, unread = torch.cat([tried[: len(text) + good], fresh]), fresh
        cache.back_to(len(text) - 1)
    return Speculated(tuple(text[len(ids) :].tolist()), tuple(drafted), tuple(taken))
