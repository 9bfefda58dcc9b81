"""Interview cards: a question, a model answer with numbers of this very model and text, and its common mistake.

A card's words stand in the page's text; here are the numbers that fill them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from core import costs, counting, tokenizer
from core.attention import attention
from core.in_numpy import softmax
from core.lab import subject
from core.lab.memory import kept
from core.lab.text import Text, folder
from core.nets import cheat, dates
from core.presets import presets
from core.topics.exam.question import FLOAT, Sheet

Facts = dict[str, int | float | str]


@dataclass(frozen=True)
class Card:
    """id: its section in the page's text. room: where one can look; state: what that room's address says."""

    id: str
    room: str
    facts: Callable[[Sheet], Facts]
    state: tuple[tuple[str, str], ...] = ()


def facts(text: Text, id: str) -> Facts:
    """The numbers of one card. Raises KeyError for a card that there is not."""
    return kept(_facts, text, id)


def _facts(text: Text, id: str) -> Facts:
    return CARDS[id].facts(Sheet(text))


# ---- asked in interviews ----


def _cost(sheet: Sheet) -> Facts:
    """Where the two curves cross: a classic block at 6 d (24 n d² and 4 n² d FLOPs), and a real model."""
    found: Facts = {}
    for name, id in (("gpt", "gpt2"), ("qwen", "qwen3-8b")):
        config = presets()[id].config
        found |= {f"{name}_at": round(costs.crossover(costs.Work(config)) or 0), f"{name}_d": config.d_model}
    return found


def _square(sheet: Sheet) -> Facts:
    n, d = sheet.n, sheet.config.head_dim
    return dict(n=n, d=d, cells=n * n, products=n * n * d, twice=4 * n * n, share=n * n * 3)


def _parallel(sheet: Sheet) -> Facts:
    n, heads, layers = sheet.n, sheet.config.n_heads, sheet.config.n_layers
    return dict(n=n, layers=layers, weights=n * n * heads * layers)


def _far(sheet: Sheet) -> Facts:
    return dict(
        first=sheet.names[min(1, sheet.n - 1)],
        last=sheet.names[-1],
        steps=max(sheet.n - 2, 0),
        kept=0.9 ** max(sheet.n - 2, 0),
    )


def _masked(sheet: Sheet) -> Facts:
    exam = cheat.measured()
    wrote = cheat.write("open")
    return dict(
        entropy=float(cheat.ENTROPY),
        open=float(exam[1, 1]),
        fair=float(exam[0, 0]),
        right=wrote.right,
        all=wrote.sentences,
    )


def _cross(sheet: Sheet) -> Facts:
    trace = dates.run(dates.Demo())
    written, source = trace["out.dec0.cross.weights"].value.shape[-2:]
    return dict(written=written, source=source, cells=written * source, n=sheet.n, own=sheet.n**2)


@torch.inference_mode()
def _order(sheet: Sheet) -> Facts:
    """Head 0 of block 0 without mask and rotation on the tokens in reverse order: the outputs go along."""
    q, k, v = (sheet.trace[f"block0.{name}"].tensor.double() for name in ("q", "k", "v"))
    k, v = (x.repeat_interleave(sheet.config.group, 0) for x in (k, v))
    there, back = attention(q, k, v), attention(q.flip(1), k.flip(1), v.flip(1))
    return dict(n=sheet.n, error=float((there - back.flip(1)).abs().max()), moved=float((there - back).abs().max()))


# ---- one of each room ----


def _home(sheet: Sheet) -> Facts:
    words = subject.outlook(sheet.text).words
    return dict(vocab=sheet.config.vocab_size, first=words[0].token, p=words[0].p, second=words[1].token, q=words[1].p)


def _tokens(sheet: Sheet) -> Facts:
    letters = len(tokenizer.of_model(folder(sheet.text.subject)).decode(list(sheet.text.ids)).strip())
    return dict(n=sheet.n, letters=letters, times=(letters / sheet.n) ** 2)


def _projections(sheet: Sheet) -> Facts:
    c = sheet.config
    return dict(d=c.d_model, d_head=c.head_dim, heads=c.n_heads, one=c.d_model * c.head_dim, all=c.d_model * c.n_heads * c.head_dim,
                wrong=c.n_heads * c.head_dim**2)  # fmt: skip


def _softmax(sheet: Sheet) -> Facts:
    largest, open_to = float(np.log(np.finfo(np.float32).max)), np.tril(np.ones((sheet.n, sheet.n), bool))
    scores = (sheet.of(i, "scaled")[:, open_to] for i in range(sheet.config.n_layers))  # softmax meets no other
    return dict(largest=largest, score=max(float(one.max()) for one in scores))


def _attention(sheet: Sheet) -> Facts:
    """How sharp the last row of every head is, with the division and without it."""
    d, scaled, plain = sheet.config.head_dim, list[float](), list[float]()
    for layer in range(sheet.config.n_layers):
        scores = sheet.of(layer, "scores")[:, -1].astype(np.float64)
        for found, by in ((scaled, math.sqrt(d)), (plain, 1.0)):
            found += list(softmax(scores / by).max(-1))
    return dict(d=d, root=math.sqrt(d), scaled=float(np.mean(scaled)), plain=float(np.mean(plain)))


def _heads(sheet: Sheet) -> Facts:
    c = sheet.config
    return dict(heads=c.n_heads, d=c.d_model, d_head=c.head_dim, matrices=4 * c.d_model**2)


def _rope(sheet: Sheet) -> Facts:
    c = sheet.config
    slowest = c.rope_theta ** (-(c.head_dim - 2) / c.head_dim)
    return dict(pairs=c.head_dim // 2, slowest=slowest, turned=slowest * c.context, context=c.context)


def _norms(sheet: Sheet) -> Facts:
    first, last = (
        float(np.sqrt((sheet.of(i, "resid_post")[-1].astype(np.float64) ** 2).mean()))
        for i in (0, sheet.config.n_layers - 1)
    )
    return dict(word=sheet.names[-1], first=first, last=last, norms=2 * sheet.config.n_layers + 1)


def _feedforward(sheet: Sheet) -> Facts:
    def share(id: str) -> float:
        return 100 * costs.ffn(presets()[id].config) / counting.total(presets()[id].config)

    own = 100 * costs.ffn(sheet.config) / counting.total(sheet.config)
    return dict(own=own, gpt=share("gpt2"), qwen=share("qwen3-8b"), width=sheet.config.d_ff)


def _model(sheet: Sheet) -> Facts:
    return dict(layers=sheet.config.n_layers, writes=2 * sheet.config.n_layers, total=counting.total(sheet.config))


def _ledger(sheet: Sheet) -> Facts:
    qwen = presets()["qwen3-8b"].config
    n = counting.total(qwen)
    return dict(total=n, weights=2 * n / 2**30, training=16 * n / 2**30)


def _inference(sheet: Sheet) -> Facts:
    def each(c: object, size: int) -> int:
        return 2 * c.n_layers * c.n_kv_heads * c.head_dim * size  # type: ignore[attr-defined, no-any-return]

    own, qwen = each(sheet.config, FLOAT), each(presets()["qwen3-8b"].config, 2)
    return dict(n=sheet.n, each=own, all=own * sheet.n, qwen=qwen, gib=qwen * 32_768 / 2**30)


def _efficient(sheet: Sheet) -> Facts:
    n = 8192
    return dict(n=n, scores=n * n, megabytes=n * n * FLOAT / 1e6, products=2 * n * n * sheet.config.head_dim)


def _theory(sheet: Sheet) -> Facts:
    n = counting.total(sheet.config)
    return dict(n=n, tokens=20 * n, flops=float(costs.training_flops(sheet.config, 20 * n)), one=2 * n)


def _exam(sheet: Sheet) -> Facts:
    """What share of all weight the future gets if the mask writes 0 where −∞ belongs: the mean over heads and rows."""
    leaks, ahead = [], np.triu(np.ones((sheet.n, sheet.n), bool), 1)
    for layer in range(sheet.config.n_layers):
        scores = np.where(ahead, 0.0, sheet.of(layer, "scaled").astype(np.float64))
        leaks.append((softmax(scores) * ahead).sum(-1))
    return dict(leak=100 * float(np.mean(leaks)), cells=int(ahead.sum()))


CARDS: dict[str, Card] = {
    card.id: card
    for card in (
        Card("cost", "ledger", _cost, (("book", "work"),)),
        Card("square", "ledger", _square, (("book", "work"),)),
        Card("parallel", "why", _parallel, (("at", "who-is-done-first"),)),
        Card("far", "why", _far, (("at", "hand-it-on-or-look-directly"),)),
        Card("masked", "masks", _masked, (("at", "what-the-mask-is-for-training"),)),
        Card("cross", "masks", _cross, (("at", "cross-attention-one-text-reads-another"),)),
        Card("order", "position", _order, (("shuffle", "40"),)),
        Card("home", "home", _home),
        Card("tokens", "tokens", _tokens, (("at", "an-id-picks-a-row"),)),
        Card("projections", "projections", _projections, (("at", "the-real-head"),)),
        Card("softmax", "softmax", _softmax, (("depth", "all"), ("at", "large-scores-the-naive-version-breaks"))),
        Card("attention", "attention", _attention, (("scaling", "false"),)),
        Card("heads", "heads", _heads, (("volume", "0"),)),
        Card("rope", "rope", _rope, (("at", "past-the-trained-length"),)),
        Card("norms", "norms", _norms, (("times", "10"),)),
        Card("feedforward", "feedforward", _feedforward),
        Card("model", "model", _model, (("model_bench", "bug"), ("depth", "all"), ("at", "the-workbench"))),
        Card("ledger", "ledger", _ledger, (("book", "training"),)),
        Card("inference", "inference", _inference, (("at", "write-on"),)),
        Card("efficient", "efficient", _efficient, (("at", "flash-tile-by-tile"),)),
        Card("theory", "theory", _theory),
        Card("exam", "exam", _exam),
    )
}
