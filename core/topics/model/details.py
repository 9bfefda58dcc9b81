"""Four things the paper does beside the block: tied tables, scaled embeddings, dropout, label smoothing.

(Vaswani et al. 2017, arXiv 1706.03762, sections 3.4 and 5.4.) Tying and dropout are shown on the embedded model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.text import Cannot, Text, Word, top, word
from core.model import Decoder
from core.presets import presets
from core.topics.model.assemble import sinusoids
from core.trace import to_numpy
from core.whatif import WhatIf

# ---- one table, used twice ----


@dataclass(frozen=True)
class Tied:
    """One row of the table: the vector that enters for a word is the vector the last stream is compared with.

    logit: as the model computed it; product: stream · row. table, whole: parameters; untied: how many more the model
    would have; other: the same sizes of a model that does not tie.
    """

    word: Word
    logit: float
    product: float
    table: int
    whole: int
    other_table: int
    other_whole: int


UNTIED = "This model does not tie its tables: one reads words in, another compares the last stream with them."


def _stream(text: Text) -> Tensor:
    """(token, d_model): what the last block leaves of the text's one pass."""
    return subject.untouched(text)[f"block{subject.config(text.subject).n_layers - 1}.resid_post"].tensor


@torch.inference_mode()
def tied(text: Text) -> Tied:
    """The likeliest next word's logit as a product with its own embedding. Raises Cannot for a model of two tables."""
    model, trace = subject.model(text.subject), subject.untouched(text)
    if model.head is not None:
        raise Cannot(UNTIED)
    logits = trace["next_logits"].tensor
    best = top(trace["next_probs"].value, 1, text.subject)[0]
    product = float((model.norm(_stream(text)[-1]).double() * model.embed.weight[best.id].double()).sum())
    big = presets()["qwen3-8b"]
    return Tied(
        best,
        float(logits[best.id]),
        product,
        model.embed.weight.numel(),
        sum(p.numel() for p in model.parameters()),
        big.config.vocab_size * big.config.d_model,
        big.published,
    )


# ---- the size of an embedding beside that of a position ----

WIDTHS = tuple(sorted({round(2 ** (k / 6)) * 2 for k in range(18, 61)}))  # 16 to 2048, even


@dataclass(frozen=True)
class Lengths:
    """(width,) mean lengths: a word drawn with variance 1 / width, that times sqrt(width), and a position."""

    bare: np.ndarray
    scaled: np.ndarray
    position: np.ndarray


def lengths(seed: int = 0, n: int = 64) -> Lengths:
    """Random embeddings of n words at every width, the way they are drawn where table and output are tied."""
    chance = torch.Generator().manual_seed(seed)
    rows = [torch.randn(n, width, generator=chance) * width**-0.5 for width in WIDTHS]
    bare = [row.norm(dim=-1).mean() for row in rows]
    scaled = [(row * width**0.5).norm(dim=-1).mean() for row, width in zip(rows, WIDTHS, strict=True)]
    place = [sinusoids(n, width).norm(dim=-1).mean() for width in WIDTHS]
    return Lengths(*(to_numpy(torch.stack(found)) for found in (bare, scaled, place)))


# ---- dropout ----

RATES = tuple(i / 20 for i in range(11))  # 0 to 0.5
DRAWS = 8
READ = 64  # tokens; of a longer text the last ones


@dataclass(frozen=True)
class Dropped:
    """The next word of a model whose dropout was left on. p: (draw, rate) of the answer, the draws random masks."""

    answer: Word
    p: np.ndarray


@torch.inference_mode()
def dropped(text: Text, seed: int = 0) -> Dropped:
    """Dropout on what attention and the FFN add to the stream, at every rate, under a few random masks."""
    model, row = subject.model(text.subject), torch.tensor(text.ids[-READ:])
    probs = torch.cat([_with_dropout(model, row, rate, seed) for rate in RATES])  # (rate * draw, vocab)
    answer = int(probs[0].argmax())
    p = probs[:, answer].view(len(RATES), DRAWS).T
    return Dropped(word(answer, to_numpy(probs[0]), text.subject), to_numpy(p.contiguous()))


def _with_dropout(model: Decoder, row: Tensor, rate: float, seed: int) -> Tensor:
    """(draw, vocab): the same masks at every rate, so that a higher rate drops what a lower one dropped and more."""
    chance = torch.Generator().manual_seed(seed)

    def drop(x: Tensor) -> Tensor:
        return inverted(x, torch.rand(x.shape, generator=chance) >= rate, rate)

    draws = DRAWS if rate else 1
    blocks = range(model.config.n_layers)  # by number: a mixture's experts have an ffn_out of their own
    trace = WhatIf([(f"block{i}.{name}", drop) for i in blocks for name in ("attn_out", "ffn_out")])
    probs = model.predict(model.stream(row.expand(draws, -1), trace=trace)).softmax(-1)
    return probs.expand(DRAWS, -1) if not rate else probs


def inverted(x: Tensor, kept: Tensor, rate: float) -> Tensor:
    """Zero what is not kept and enlarge the rest by 1 / (1 - rate), so that the expectation stays."""
    return x * kept / (1 - rate)


# ---- label smoothing ----

EPSILONS = tuple(i / 100 for i in range(0, 51))
CHANCES = np.round(np.concatenate([np.linspace(0.05, 0.95, 46), 1 - np.geomspace(0.05, 1e-4, 30)[1:]]), 6)


@dataclass(frozen=True)
class Smoothed:
    """loss: (epsilon, chance) in nats where the right word gets `chance` and all others share the rest evenly.

    best: (epsilon,) the chance at which the loss is least; least: the loss there; here: (epsilon,) on the visitor's
    text, the mean over its own tokens.
    """

    loss: np.ndarray
    best: np.ndarray
    least: np.ndarray
    here: np.ndarray
    vocab: int


def target(epsilon: float, vocab: int) -> tuple[float, float]:
    """What the right word and every other word should get: 1 - epsilon of one, epsilon spread over all."""
    return 1 - epsilon + epsilon / vocab, epsilon / vocab


def smoothed_loss(logits: Tensor, right: Tensor, epsilon: float) -> Tensor:
    """Mean cross-entropy with the smoothed target. logits: (token, vocab), right: (token,) ids."""
    logs = logits.log_softmax(-1)
    return -((1 - epsilon) * logs.gather(-1, right[:, None])[:, 0] + epsilon * logs.mean(-1)).mean()


@torch.inference_mode()
def smoothed(text: Text) -> Smoothed:
    """Label smoothing at every epsilon, over this model's vocabulary and on this text."""
    model, vocab = subject.model(text.subject), subject.config(text.subject).vocab_size
    rest = (1 - CHANCES) / (vocab - 1)
    loss = np.array([[-(a * np.log(p) + (vocab - 1) * b * np.log(q)) for p, q in zip(CHANCES, rest, strict=True)]
                     for a, b in (target(e, vocab) for e in EPSILONS)])  # fmt: skip
    best = np.array([target(e, vocab)[0] for e in EPSILONS])
    least = np.array([_entropy(*target(e, vocab), vocab) for e in EPSILONS])
    here = np.zeros(len(EPSILONS))
    if len(text) > 1:
        logits, right = model.read_out(_stream(text)[:-1]), torch.tensor(text.ids[1:])
        here = np.array([float(smoothed_loss(logits, right, e)) for e in EPSILONS])
    return Smoothed(loss, best, least, here, vocab)


def _entropy(right: float, other: float, vocab: int) -> float:
    """Of the smoothed target, in nats: no model can lose less."""
    others = (vocab - 1) * other * np.log(other) if other else 0.0
    return float(-(right * np.log(right) + others))
