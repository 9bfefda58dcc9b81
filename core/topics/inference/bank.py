"""A bank of continuations: 200 texts a way to draw, recorded, so that a setting is judged by more than one lucky draw.

How likely the model itself holds each of them, how different they are, and how many of their words are no words: words
that it never wrote in a large sample at temperature 1.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import torch
from torch import Tensor

from core import tokenizer
from core.assets import ASSETS
from core.cache import Cache
from core.generation import GREEDY, Sampler
from core.lab import subject
from core.lab.text import FIRST, exactly, folder

FILE = ASSETS / "data" / "bank.npz"
PROMPT = "One day, Tom found a"
TEXTS, LENGTH = 200, 32
OPENING = 8  # tokens by which two texts are told apart
WAYS = {
    "greedy": GREEDY,
    "t03": Sampler(0.3),
    "t07": Sampler(0.7),
    "t10": Sampler(1.0),
    "t13": Sampler(1.3),
    "t15": Sampler(1.5),
    "t20": Sampler(2.0),
    "p09": Sampler(1.0, top_p=0.9),
    "k40": Sampler(1.0, top_k=40),
    "m01": Sampler(1.0, min_p=0.1),
    "t15p09": Sampler(1.5, top_p=0.9),
    "t15m01": Sampler(1.5, min_p=0.1),
}


@torch.inference_mode()
def drawn(way: str, texts: int, length: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Continuations of PROMPT, all in one batch: their ids (text, token), and the log of how likely the untouched model
    holds each token, in nats."""
    model, dice, sampler = subject.model(), torch.Generator().manual_seed(seed), WAYS[way]
    cache, unread = Cache(model), torch.tensor(exactly(PROMPT).ids).expand(texts, -1)
    ids, nats = list[Tensor](), list[Tensor]()
    for _token in range(length):
        logits = model.predict(cache.read(unread))
        unread = logits.argmax(-1, keepdim=True)
        if sampler.temperature:
            unread = torch.multinomial(sampler.shares(logits), 1, generator=dice)
        ids.append(unread)
        nats.append(logits.log_softmax(-1).gather(-1, unread))
    return torch.cat(ids, -1), torch.cat(nats, -1)


def words(text: str) -> list[str]:
    """Of a text that stops anywhere: its last word may be half a word and does not count."""
    return re.findall(r"[a-z]+", text.lower())[:-1]


@dataclass(frozen=True)
class Bank:
    """One way to draw. ids: (text, token); nats: (text,), mean log chance a token, likeliest text first."""

    way: str
    ids: np.ndarray
    nats: np.ndarray

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """As words, without the prompt."""
        decode = tokenizer.of_model(folder(FIRST)).decode
        start = list(exactly(PROMPT).ids)
        skip = len(str(decode(start)))
        return tuple(str(decode([*start, *row]))[skip:] for row in self.ids.tolist())

    @cached_property
    def openings(self) -> int:
        """Different beginnings among all texts."""
        return len(set(map(tuple, self.ids[:, :OPENING].tolist())))

    @property
    def mean(self) -> float:
        """Nats a token, of all texts."""
        return float(self.nats.mean())

    @cached_property
    def strange(self) -> float:
        """The share of words that the model never wrote in its large sample."""
        every = [word for text in self.texts for word in words(text)]
        return sum(word not in known() for word in every) / len(every)

    @cached_property
    def different(self) -> int:
        """Different words in all texts together."""
        return len({word for text in self.texts for word in words(text)})


@cache
def bank(way: str) -> Bank:
    """As recorded by `python -m core.make bank`. Greedy draws one text, always the same. Raises KeyError for no way."""
    place = list(WAYS).index(way) if way in WAYS else None
    if place is None:
        raise KeyError(f"{way} is not recorded")
    found = _file()
    ids, nats = found["ids"][place], found["nats"][place].astype(np.float32)
    order = np.argsort(-nats, kind="stable")
    if WAYS[way] == GREEDY:
        order = order[:1]
    return Bank(way, ids[order].astype(np.int64), nats[order])


@cache
def known() -> frozenset[str]:
    """Every word the model wrote in its large sample at temperature 1."""
    return frozenset(bytes(_file()["known"]).decode().split())


@cache
def sample_tokens() -> int:
    """Of that sample."""
    return int(_file()["sample"])


def monkey() -> float:
    """Mean nats a token of a text drawn from all tokens alike, if every token were held equally likely: −ln V."""
    return -math.log(subject.config().vocab_size)


@cache
def following() -> np.ndarray:
    """(vocab,) for each token the one that followed it most often in the large sample; itself where it never stood."""
    table: np.ndarray = _file()["following"].astype(np.int64)
    return table


@cache
def _file() -> dict[str, np.ndarray]:
    with np.load(FILE, allow_pickle=False) as file:
        return dict(file)
