"""An encoder-decoder that reads a date and writes it in digits: "March 5, 2021" becomes "2021-03-05".

Small enough to be trained in minutes (`python -m core.make dates` writes assets/models/dates), and its task is one whose
alignment anyone can read: when it writes the year, it should look at the year. Architecture: Vaswani et al. 2017
(arXiv 1706.03762, section 3.1), but pre-norm and with learned positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from core.assets import ASSETS
from core.attention import K, Q, V, allowed_pairs, attention
from core.blocks import NORM1, NORM2
from core.config import ModelConfig
from core.embeddings import EMBED, Table
from core.feedforward import Gelu
from core.heads import ATTN_OUT, SelfAttention, merge, split
from core.model import LOGITS
from core.nets.dates_task import END, LENGTH, LONGEST, PAD, START, TEXT, VOCAB, examples, ids
from core.norms import LayerNorm
from core.trace import SILENT, Quantity, Trace

WEIGHTS = ASSETS / "models" / "dates" / "model.safetensors"
CONFIG = ModelConfig(
    d_model=64,
    n_layers=2,
    n_heads=2,
    d_ff=128,
    vocab_size=len(VOCAB),
    context=LONGEST,
    norm="layernorm",
    norm_eps=1e-5,
    position="learned",
    ffn="gelu_tanh",
)
SOURCE = Quantity("source", "query", r"t", "The signs that are read, by their numbers.")
WRITTEN = Quantity("written", "query", r"t", "The signs that are written so far, by their numbers.")
ENTERING = Quantity("x", "query d_model", r"x", "The stream as it enters the block.")
AFTER_SELF = Quantity("after_self", "query d_model", r"x + \mathrm{attn}", "What self-attention found is added.")
AFTER_CROSS = Quantity("after_cross", "query d_model", r"x + \mathrm{cross}", "What was found in the source is added.")
NORM3 = Quantity("norm3", "query d_model", r"\mathrm{norm}(x)", "The stream, brought to one size for the FFN.")
LEAVING = Quantity("out", "query d_model", r"x + \mathrm{ffn}", "What the FFN made is added.")
MEMORY = Quantity("memory", "query d_model", r"m = \mathrm{Enc}(x)", "What the encoder hands to every decoder block.")
WRITTEN_PROBS = Quantity(
    "written_probs", "query vocab", r"\mathrm{softmax}(xW_U)", "How likely each sign is to be written next."
)

# ---- the model ----


class CrossAttention(nn.Module):
    """Queries from the text that is written, keys and values from the text that was read (ibid., section 3.2.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(config.d_model, config.d_model, bias=False) for _ in range(4))

    def forward(self, x: Tensor, memory: Tensor, allowed: Tensor | None = None, *, trace: Trace = SILENT) -> Tensor:
        """x: (query, d_model), memory: (key, d_model), allowed: (query, key) or None. Returns the shape of x."""
        q, k = trace(Q, split(self.q(x), self.n_heads)), trace(K, split(self.k(memory), self.n_heads))
        v = trace(V, split(self.v(memory), self.n_heads))
        return trace(ATTN_OUT, self.o(merge(attention(q, k, v, allowed, trace=trace))))


class EncoderBlock(nn.Module):
    """Every sign of the source looks at every other, before and after it."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm1, self.norm2 = (LayerNorm(config.d_model, config.norm_eps) for _ in range(2))
        self.attn, self.ffn = SelfAttention(config), Gelu(config)

    def forward(self, x: Tensor, real: Tensor | None, *, trace: Trace = SILENT) -> Tensor:
        """x: (key, d_model); real: (1, key), False where padding stands, or None."""
        normed = trace(NORM1, self.norm1(trace(ENTERING, x)))
        with trace.inside("self"):
            found = self.attn(normed, None, real, trace=trace)
        x = trace(AFTER_SELF, x + found)
        return trace(LEAVING, x + self.ffn(trace(NORM2, self.norm2(x)), trace=trace))


class CrossBlock(nn.Module):
    """The decoder's three steps: masked self-attention, cross-attention, the FFN."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (LayerNorm(config.d_model, config.norm_eps) for _ in range(3))
        self.attn, self.cross, self.ffn = SelfAttention(config), CrossAttention(config), Gelu(config)

    def forward(
        self, x: Tensor, memory: Tensor, causal: Tensor, real: Tensor | None, *, trace: Trace = SILENT
    ) -> Tensor:
        """x: (query, d_model), memory: (key, d_model), causal: (query, query), real: (1, key) or None."""
        normed = trace(NORM1, self.norm1(trace(ENTERING, x)))
        with trace.inside("self", **({"key": trace.labels["fed"]} if "fed" in trace.labels else {})):
            found = self.attn(normed, None, causal, trace=trace)
        x = trace(AFTER_SELF, x + found)
        normed = trace(NORM2, self.norm2(x))
        with trace.inside("cross"):
            found = self.cross(normed, memory, real, trace=trace)
        x = trace(AFTER_CROSS, x + found)
        return trace(LEAVING, x + self.ffn(trace(NORM3, self.norm3(x)), trace=trace))


class EncoderDecoder(nn.Module):
    """Reads a source once, then writes the target sign by sign; one table of signs for both sides and the output."""

    def __init__(self, config: ModelConfig = CONFIG) -> None:
        super().__init__()
        self.config = config
        self.embed = Table(config.vocab_size, config.d_model)
        self.source_place, self.target_place = Table(config.context, config.d_model), Table(LENGTH, config.d_model)
        self.encoder = nn.ModuleList(EncoderBlock(config) for _ in range(config.n_layers))
        self.decoder = nn.ModuleList(CrossBlock(config) for _ in range(config.n_layers))
        self.norm_memory, self.norm = (LayerNorm(config.d_model, config.norm_eps) for _ in range(2))

    def encode(self, source: Tensor, real: Tensor | None = None, *, trace: Trace = SILENT) -> Tensor:
        """source: (key,) ids; real: (1, key), False at padding. Returns (key, d_model). Batches may stand before."""
        x = self.embed(trace(SOURCE, source)) + self.source_place.weight[: source.shape[-1]]
        for i, block in enumerate(self.encoder):
            with trace.inside(f"enc{i}"):
                x = block(x, real, trace=trace)
        return trace(MEMORY, self.norm_memory(x))

    def decode(self, written: Tensor, memory: Tensor, real: Tensor | None = None, *, trace: Trace = SILENT) -> Tensor:
        """written: (query,) ids, `<s>` first; memory: (key, d_model). Returns logits (query, vocab)."""
        x = trace(EMBED, self.embed(trace(WRITTEN, written))) + self.target_place.weight[: written.shape[-1]]
        causal = allowed_pairs("causal", written.shape[-1])
        for i, block in enumerate(self.decoder):
            with trace.inside(f"dec{i}"):
                x = block(x, memory, causal, real, trace=trace)
        logits = trace(LOGITS, self.norm(x) @ self.embed.weight.mT)
        trace.later(WRITTEN_PROBS, lambda: logits.softmax(-1))
        return logits

    @torch.inference_mode()
    def write(self, source: Tensor, real: Tensor | None = None) -> Tensor:
        """source: (batch, key). The likeliest sign at every step, (batch, 11)."""
        memory = self.encode(source, real)
        written = torch.full((len(source), 1), VOCAB.index(START))
        for _ in range(LENGTH):
            best = self.decode(written, memory, real)[:, -1].argmax(-1, keepdim=True)
            written = torch.cat([written, best], 1)
        return written[:, 1:]


@cache
def model() -> EncoderDecoder:
    """The trained model that ships. It is only read."""
    made = EncoderDecoder()
    made.load_state_dict(load_file(WEIGHTS))
    return made.eval().requires_grad_(False)


def size() -> int:
    """How many numbers it has learned."""
    return sum(weight.numel() for weight in model().parameters())


# ---- what the page asks ----


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses: the date to be read."""

    text: str = TEXT


@torch.inference_mode()
def run(demo: Demo) -> Trace:
    """One translation, every tensor of it: `enc0.self.weights`, `out.dec0.cross.weights` ..., `out.written_probs`.

    The rows of the decoder are the steps of writing; each is named after the sign it writes. Raises ValueError for a
    text with signs the model does not know, for none, and for more than it reads.
    """
    source = torch.tensor(ids(demo.text))
    written = model().write(source[None])[0]
    fed = torch.cat([torch.tensor([VOCAB.index(START)]), written[:-1]])
    shown = list(demo.text.replace(" ", "␣"))
    trace = Trace(key=shown, query=shown)
    memory = model().encode(source, trace=trace)
    trace.labels = {"key": shown, "query": [VOCAB[i] for i in written], "fed": [VOCAB[i] for i in fed]}
    with trace.inside("out"):
        model().decode(fed, memory, trace=trace)
    return trace


def answer(trace: Trace) -> str:
    """What was written, up to the first `</s>`."""
    signs = trace["out.written_probs"].labels["query"]
    return "".join(signs[: signs.index(END)] if END in signs else signs)


TARGETS = (*"0123456789-", END)  # all that training ever asked to be written


@dataclass(frozen=True)
class Unfolding:
    """One head of each attention while the answer is written, a frame each step; what is not written yet is shut.

    encoder: (key, key); decoder: (frame, step, step) with its shut; cross: (frame, step, key) with its shut;
    probs: (frame, sign), of TARGETS; source, fed, written: the names along the axes; strongest: (step,) the place of
    the source that a step looks at most.
    """

    encoder: np.ndarray
    decoder: np.ndarray
    decoder_shut: np.ndarray
    cross: np.ndarray
    cross_shut: np.ndarray
    probs: np.ndarray
    source: tuple[str, ...]
    fed: tuple[str, ...]
    written: tuple[str, ...]
    strongest: tuple[int, ...]


def unfold(demo: Demo, block: int, head: int) -> Unfolding:
    """All steps from one pass: the causal mask makes each row what it was when its sign was written."""
    trace = run(demo)
    cross, decoder = (trace[f"out.dec{block}.{name}.weights"] for name in ("cross", "self"))
    later = np.arange(LENGTH)[None, :, None] > np.arange(LENGTH)[:, None, None]  # (frame, step, 1)
    allowed = trace[f"out.dec{block}.self.allowed"].value
    probs = trace["out.written_probs"]
    return Unfolding(
        trace[f"enc{block}.self.weights"].value[head],
        np.where(later, 0.0, decoder.value[head]),
        later | ~allowed,
        np.where(later, 0.0, cross.value[head]),
        np.broadcast_to(later, (LENGTH, *cross.value.shape[1:])),
        probs.value[:, [VOCAB.index(sign) for sign in TARGETS]],
        tuple(cross.labels["key"]),
        tuple(decoder.labels["key"]),
        tuple(probs.labels["query"]),
        tuple(int(i) for i in cross.value[head].argmax(-1)),
    )


# ---- training ----


def batch(pairs: list[tuple[str, str]]) -> tuple[Tensor, Tensor, Tensor]:
    """(sources, filled up with `<pad>`; real, (batch, 1, 1, key), True where no padding stands; targets with `</s>`)."""
    rows = [torch.tensor(ids(source)) for source, _ in pairs]
    sources = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    targets = torch.tensor([[*ids(target), VOCAB.index(END)] for _, target in pairs])
    return sources, (sources != VOCAB.index(PAD))[:, None, None], targets


@torch.inference_mode()
def accuracy(made: EncoderDecoder, n: int = 1000, seed: int = 1) -> float:
    """The share of unseen days, in any form, that are written without a mistake."""
    data = examples(seed, unseen=True)
    sources, real, targets = batch([next(data) for _ in range(n)])
    return float((made.write(sources, real) == targets).all(1).float().mean())
