"""A model walked through line by line: every tensor as it passes, its shape and its statistics, from a real pass.

Nothing is kept but what is asked of each tensor, so the walk works on batches, and on the meta device, where a model
of eight billion parameters has every shape and not one number.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from core.checkpoint import empty
from core.config import RUNS, ModelConfig
from core.lab import subject
from core.lab.text import FIRST, Text
from core.model import Decoder
from core.nets import dates as seq2seq
from core.nets import dates_task
from core.presets import presets
from core.trace import SILENT, Trace
from core.watch import Line, Watch, line

# ---- the three families, each on a model that is real ----


@torch.inference_mode()
def decoder_only(text: Text) -> tuple[Line, ...]:
    """A text's model: ids, embedding, its blocks, and the read-out at every position."""
    passed = [line(step.name, step.tensor) for step in subject.untouched(text) if not step.name.startswith("next_")]
    watch = Watch(line)
    subject.model(text.subject).read_out(_last_stream(text), trace=watch)
    return (*passed, *watch.seen)


def _last_stream(text: Text) -> Tensor:
    """(token, d_model): what the last block leaves of the text's one pass."""
    last = subject.config(text.subject).n_layers - 1
    return subject.untouched(text)[f"block{last}.resid_post"].tensor


@torch.inference_mode()
def encoder_decoder(text: str) -> tuple[Line, ...]:
    """The date model: the source through the encoder, the written signs through the decoder."""
    model, watch = seq2seq.model(), Watch(line)
    source = torch.tensor(dates_task.ids(text))
    fed = torch.cat([torch.tensor([dates_task.VOCAB.index(dates_task.START)]), model.write(source[None])[0, :-1]])
    model.decode(fed, model.encode(source, trace=watch), trace=watch)
    return tuple(watch.seen)


# ---- the loop of every decoder, written out ----


def written_out(model: Decoder, ids: Tensor) -> Tensor:
    """ids: (batch, token). Returns logits (batch, token, vocab)."""
    x = model.embed(ids)
    if model.pos_embed is not None:
        x = x + model.pos_embed.weight[: ids.shape[-1]]
    rope, mask = model.surroundings(ids.shape[-1])
    for block in model.blocks:
        x = x + block.attn(block.norm1(x), rope, mask)
        x = x + block.ffn(block.norm2(x))
    table = model.embed if model.head is None else model.head
    return model.norm(x) @ table.weight.mT


@dataclass(frozen=True)
class Written:
    """The loop's own output beside the model's."""

    shape: tuple[int, ...]
    gap: float


@torch.inference_mode()
def loop(text: Text, batch: int = 2) -> Written:
    """`written_out` on the same text several times over, against the model that all pages use."""
    model = subject.model(text.subject)
    logits = written_out(model, torch.tensor(text.ids).expand(batch, -1))
    return Written(tuple(logits.shape), float((logits - model.read_out(_last_stream(text))).abs().max()))


# ---- at true size, without a number ----


@dataclass(frozen=True)
class Sized:
    """weights: (name, shape) of every parameter; lines: every tensor of one pass; seconds: for all of it, once torch
    has loaded its rules for shapes."""

    weights: tuple[tuple[str, tuple[int, ...]], ...]
    lines: tuple[tuple[str, tuple[int, ...]], ...]
    parameters: int
    seconds: float


class TooLong(ValueError):
    """A text of more tokens than the model has positions. rows: of its learned table."""

    def __init__(self, tokens: int, rows: int) -> None:
        super().__init__(f"{tokens:,} tokens do not fit: the table of learned positions has {rows:,} rows")
        self.tokens, self.rows = tokens, rows


def longest(config: ModelConfig) -> int | None:
    """The most tokens that a pass can have: as many as a learned table of positions has rows. None: no such end."""
    return config.context if config.position == "learned" else None


def at_true_size(config: ModelConfig, tokens: int) -> Sized:
    """Build the model on the meta device and let `tokens` tokens through it: shapes, and no memory. Raises TooLong."""
    rows = longest(config)
    if rows is not None and tokens > rows:
        raise TooLong(tokens, rows)
    _rules()
    begun = time.perf_counter()
    model = empty(config)
    weights = tuple((name, tuple(p.shape)) for name, p in model.named_parameters())
    watch = Watch(lambda name, value: (name, tuple(value.shape)))
    _pass(model, tokens, watch)
    total = sum(p.numel() for p in model.parameters())
    return Sized(weights, tuple(watch.seen), total, time.perf_counter() - begun)


@cache
def _rules() -> None:
    """Torch reads its rules for shapes without numbers when they are first needed: let a very small model need them."""
    _pass(empty(replace(subject.config(FIRST), n_layers=1, vocab_size=8)), 2)


@torch.inference_mode()
def _pass(model: Decoder, tokens: int, watch: Trace = SILENT) -> None:
    with torch.device("meta"):
        model.forward(torch.zeros(tokens, dtype=torch.long), trace=watch)


def runnable() -> dict[str, str]:
    """The presets that core.model computes and does not only count: id -> name. Shapes inside a mixture of experts
    depend on what the router sends where, so no mixture is among them."""
    listed = ((id, preset.name, preset.config) for id, preset in presets().items())
    return {id: name for id, name, c in listed if c.family in RUNS and c.final_norm and not c.moe}


def sized(preset: str, tokens: int) -> Sized:
    """A preset at its true size. Raises KeyError for one that is not listed, and TooLong."""
    return at_true_size(presets()[preset].config, tokens)
