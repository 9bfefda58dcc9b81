"""The model writes on: what every token was drawn from, what the cache holds by then, and the work with and without it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from core import costs, generation
from core.cache import Cache
from core.config import ModelConfig
from core.generation import Sampler
from core.lab import subject
from core.lab.pulse import breathing
from core.lab.text import Text, Word, ends, top, word
from core.model import Decoder

MOST = 256  # new tokens
SHOWN = 8  # candidates of a step
FLOAT = 4  # bytes of a number as this model runs
PAIRS = 7  # runs each way behind one time; the middle one counts


@dataclass(frozen=True)
class Demo:
    """n: tokens to write. fork: (step, id): there this token is taken, whatever would have been drawn."""

    text: Text
    sampler: Sampler = generation.GREEDY
    seed: int = 0
    n: int = 48
    fork: tuple[int, int] | None = None


@dataclass(frozen=True)
class Step:
    """written: the token taken, its chance as the model said it. words: the likeliest, drawn: the share each has of the
    draw, 0 where it was cut. kept: tokens that could be drawn, cut: the chance that was cut away."""

    written: Word
    words: tuple[Word, ...]
    drawn: tuple[float, ...]
    kept: int
    cut: float


@dataclass(frozen=True)
class Story:
    """start: tokens that were there before; whole: the text with what was written; ended: the model said it is over."""

    whole: Text
    start: int
    steps: tuple[Step, ...]
    ended: bool


def room(text: Text) -> int:
    """New tokens that fit: up to MOST, and no further than the model reads."""
    return max(0, min(MOST, subject.config(text.subject).context - len(text)))


def write(demo: Demo) -> Story:
    """At most `n` tokens, fewer where the story ends or the model's context does."""
    text, n = demo.text, min(demo.n, room(demo.text))
    fork = demo.fork if demo.fork and demo.fork[0] < n else None
    found = _steps(text, demo, n if fork is None else fork[0])
    if fork and len(found) == fork[0]:
        ids = torch.tensor([*text.ids, *(step.id for step in found)])
        logits = next(generation.steps(subject.model(text.subject), ids, generation.GREEDY)).logits
        shares = demo.sampler.shares(logits, ids)
        found.append(generation.Step(fork[1], logits, shares))
        grown = Text(text.subject, (*text.ids, *(step.id for step in found)), ())
        if fork[1] not in ends(text.subject):
            found += _steps(grown, demo, n - len(found))
    over = bool(found) and found[-1].id in ends(text.subject)
    told = tuple(_told(step, text.subject) for step in found[: len(found) - over])
    new = tuple(step.written for step in told)
    whole = Text(text.subject, (*text.ids, *(one.id for one in new)), (*text.tokens, *(one.token for one in new)))
    return Story(whole, len(text), told, over)


def _steps(text: Text, demo: Demo, n: int) -> list[generation.Step]:
    known = subject.untouched(text)["next_logits"].tensor if text == demo.text else None
    model, over = subject.model(text.subject), ends(text.subject)
    made: list[generation.Step] = []
    written = generation.steps(model, torch.tensor(text.ids), demo.sampler, seed=demo.seed, logits=known)
    for step in breathing(islice(written, n)):
        made.append(step)
        if step.id in over:
            break
    return made


def _told(step: generation.Step, name: str) -> Step:
    probs, shares = step.logits.softmax(-1).numpy(), step.shares.numpy()
    words = top(probs, SHOWN, name)
    written = word(step.id, probs, name)
    if step.id not in {one.id for one in words}:
        words[-1] = written
    return Step(
        written,
        tuple(words),
        tuple(float(shares[one.id]) for one in words),
        int((shares > 0).sum()),
        float(probs[shares == 0].sum()),
    )


# ---- what it costs ----


@dataclass(frozen=True)
class Work:
    """FLOPs of writing one token more after n, at each of `lengths`. cached: the newest token alone; whole: everything
    again. bytes: what the cache holds by then."""

    lengths: tuple[int, ...]
    cached: np.ndarray
    whole: np.ndarray
    bytes: np.ndarray


def work(config: ModelConfig, lengths: tuple[int, ...]) -> Work:
    """Of texts of so many tokens, the newest one among them. The vocabulary is asked at the newest token alone."""
    n = np.array(lengths, np.float64)
    every = costs.forward(costs.Work(config), texts=lengths).numpy()
    head = every[:, costs.STEPS.index("head")]
    whole = every.sum(-1) - head * (1 - 1 / n)
    pairs = every[:, [costs.STEPS.index(step) for step in ("scores", "softmax", "mixture")]].sum(-1)
    matrices = every[:, [costs.STEPS.index(step) for step in ("projections", "ffn", "head")]].sum(-1)
    return Work(lengths, (matrices + pairs) / n, whole, n * token_bytes(config))


def token_bytes(config: ModelConfig, each: float = FLOAT) -> int:
    """Bytes a token leaves in the cache."""
    return int(sum(costs.kept(config).values()) * each)


# ---- what the clock says ----

_one_at_a_time = threading.Lock()


def alone_here() -> threading.Lock:
    """Held while a clock runs: two measurements at once would slow each other down."""
    return _one_at_a_time


@dataclass(frozen=True)
class Clocks:
    """Milliseconds of one step at each length, measured here and now: the middle of PAIRS runs each way, taken in turns."""

    lengths: tuple[int, ...]
    cached: tuple[float, ...]
    whole: tuple[float, ...]

    @property
    def times(self) -> float:
        """How many times as fast the cache makes the longest step."""
        return self.whole[-1] / self.cached[-1]


@torch.inference_mode()
def measure(name: str, lengths: tuple[int, ...], run: int = 0) -> Clocks:
    """run: counts the measurements, so that each is made anew. One at a time: they would slow each other down."""
    model = subject.model(name)
    ids = torch.arange(max(lengths)) % min(200, model.config.vocab_size)
    with alone_here():
        pairs = [_pair(model, ids[:n]) for n in lengths]
    return Clocks(lengths, tuple(one for one, _all in pairs), tuple(every for _one, every in pairs))


def _pair(model: Decoder, ids: Tensor) -> tuple[float, float]:
    cache, taken = Cache(model), np.zeros((PAIRS + 1, 2))
    cache.read(ids[:-1])
    for row in taken:
        begin = time.perf_counter()
        model.predict(cache.read(ids[-1:]))
        middle = time.perf_counter()
        cache.back_to(len(ids) - 1)
        again = time.perf_counter()
        model.predict(model.stream(ids))
        row[:] = middle - begin, time.perf_counter() - again
    one, every = 1000 * np.median(taken[1:], 0)  # the first pair warms up
    return float(one), float(every)
