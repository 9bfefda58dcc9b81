"""What a model costs beside its parameters: the KV cache, FLOPs, and the memory that training takes.

Every count is a sum over real matrices of a ModelConfig. Live pictures get all frames of a slider in one call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import torch
from torch import Tensor

from core.config import ModelConfig, Moe
from core.counting import Row, parameters, total
from core.trace import SILENT, Quantity, Trace

PARAMETERS = Quantity(
    "parameters", "frame part", r"N = \sum_{\text{tensors}} \prod_i n_i", "Every parameter of the model, by part."
)
CACHE = Quantity(
    "cache",
    "frame part",
    r"M_{KV} = b\,n\,\cdot 2\,L\,h_{kv}\,d_h\,\cdot\text{bytes}",
    "The keys and values that all tokens so far have left behind.",
)
FLOPS = Quantity(
    "flops",
    "frame part",
    r"F = 2\,n\,P + n^2\,h\,(4\,d_h + 3)\,L",
    "The work of one forward pass over the whole text, by part.",
)
TRAINING = Quantity(
    "training",
    "frame part",
    r"M = N\,(2 + 2 + 4 + 4 + 4)\,\text{bytes} + \text{activations}",
    "What must be in memory while a model is trained, state by state.",
)

PRECISIONS = {"fp32": 4.0, "bf16": 2.0, "fp8": 1.0, "int4": 0.5}  # bytes a number
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


# ---- parameters ----


def by_part(config: ModelConfig) -> dict[str, int]:
    """part -> parameters, in the order of the forward pass; they add up to `total`."""
    found: dict[str, int] = {}
    for row in parameters(config):
        found[row.part] = found.get(row.part, 0) + row.value
    return found


def blocks(config: ModelConfig) -> int:
    """Parameters of all blocks: without embedding, positions, final norm and head."""
    return sum(row.value for row in parameters(config) if _in_block(row))


def _in_block(row: Row) -> bool:
    return row.part in ("attention", "ffn", "experts", "router") or row.name == "norm"


def layer(config: ModelConfig) -> list[Row]:
    """The tensors of one block. Where blocks differ, the last: a sparse one if there are any. Experts keep their number."""
    sparse = len(config.moe.layers) if config.moe else 0
    rows = [row for row in parameters(config) if _in_block(row) and not (sparse and row.part == "ffn")]
    return [
        replace(row, times=row.times // (sparse if row.part in ("experts", "router") else config.n_layers))
        for row in rows
    ]


def ffn(config: ModelConfig) -> int:
    """Parameters of all feed-forward networks, experts and routers with them."""
    return sum(n for part, n in by_part(config).items() if part in ("ffn", "experts", "router"))


def active(config: ModelConfig) -> int:
    """Parameters that one token meets: all but the experts it is not sent to."""
    return total(config) - _idle(config)


def _idle(config: ModelConfig) -> int:
    return (config.moe.n_experts - config.moe.n_active) * _expert(config, config.moe) if config.moe else 0


def _expert(config: ModelConfig, moe: Moe) -> int:
    """Parameters of one expert in every layer that has experts."""
    return len(moe.layers) * (3 if config.ffn == "swiglu" else 2) * config.d_model * moe.d_expert


def looked_up(config: ModelConfig) -> int:
    """Parameters of tables, of which a token only fetches a row: no multiplication. A tied embedding is the head too."""
    rows = {row.name: row.value for row in parameters(config)}
    held = sum(rows.get(name, 0) for name in ("positions", "segments"))
    head = config.tied and not config.pooler
    return held + (0 if head else rows["embedding"])


def estimate(config: ModelConfig) -> int:
    """12 d² L, the usual estimate of the blocks."""
    return 12 * config.d_model**2 * config.n_layers


def widened(config: ModelConfig, f: int) -> ModelConfig:
    """The same model with an FFN, or experts, of width f."""
    return replace(config, moe=replace(config.moe, d_expert=f)) if config.moe else replace(config, d_ff=f)


def width(config: ModelConfig) -> int:
    return config.moe.d_expert if config.moe else config.d_ff


def widths(config: ModelConfig) -> tuple[int, ...]:
    """Stops from half to one and a half of the model's own f; 7/6 of it is one."""
    f = width(config)
    return tuple(sorted({max(1, round(f * k / 48)) for k in range(24, 73)}))


@dataclass(frozen=True)
class Widths:
    """What the f slider moves: every tensor at every width. values: (frame, row), rows with their part."""

    stops: tuple[int, ...]
    rows: tuple[Row, ...]
    values: Tensor


def at_every_width(config: ModelConfig, *, trace: Trace = SILENT) -> Widths:
    """All tensors at all widths. A tensor grows with f in a straight line, so two counts give all of them."""
    stops = widths(config)
    one, two = (parameters(widened(config, f)) for f in (1, 2))
    first = torch.tensor([float(row.value) for row in one], dtype=torch.float64)
    slope = torch.tensor([float(b.value - a.value) for a, b in zip(one, two, strict=True)], dtype=torch.float64)
    f = torch.tensor(stops, dtype=torch.float64)
    return Widths(stops, tuple(parameters(config)), trace(PARAMETERS, first + (f[:, None] - 1) * slope))


# ---- the KV cache ----


def kept(config: ModelConfig) -> dict[str, int]:
    """Numbers that one token leaves in the cache of all layers; under MLA a latent vector and one rotated key."""
    if config.mla:
        return {"latent": config.n_layers * config.mla.kv_rank, "rotated key": config.n_layers * config.mla.d_rope}
    each = config.n_layers * config.n_kv_heads * config.head_dim
    return {"keys": each, "values": each}


def variants(config: ModelConfig) -> dict[str, int]:
    """Numbers a token would leave with other ways to share keys and values. MLA elsewhere: DeepSeek's 512 + 64."""
    m, n = config.mla, config.n_layers
    pair = (m.d_nope + m.d_rope + m.d_v) if m else 2 * config.head_dim
    latent = m.kv_rank + m.d_rope if m else 512 + 64
    shared = {"gqa": n * config.n_kv_heads * pair} if 1 < config.n_kv_heads < config.n_heads and not m else {}
    return {"mha": n * config.n_heads * pair, **shared, "mqa": n * pair, "mla": n * latent}


def kind(config: ModelConfig) -> str:
    """How the model itself shares keys and values."""
    if config.mla:
        return "mla"
    return "mha" if config.n_kv_heads == config.n_heads else "mqa" if config.n_kv_heads == 1 else "gqa"


@dataclass(frozen=True)
class Talk:
    """Conversations in memory: `readers` texts of equal length. weights_in, cache_in: names of PRECISIONS."""

    config: ModelConfig
    readers: int = 1
    weights_in: str = "bf16"
    cache_in: str = "bf16"

    @property
    def weights(self) -> Fraction:
        """Bytes."""
        return total(self.config) * Fraction(PRECISIONS[self.weights_in])

    @property
    def token(self) -> Fraction:
        """Bytes a token leaves in the cache."""
        return sum(kept(self.config).values()) * Fraction(PRECISIONS[self.cache_in])

    def held(self, length: int) -> int:
        """Tokens in the cache: a sliding window lets go of those it can no longer see."""
        return self.readers * min(length, self.config.window or length)

    def cache(self, length: int) -> Fraction:
        return self.held(length) * self.token

    def even(self) -> int | None:
        """The shortest length at which the cache is as large as the weights. None: a window stops it before."""
        length = -(-self.weights // (self.readers * self.token))
        return None if self.config.window and length > self.config.window else int(length)


def lengths(talk: Talk) -> tuple[int, ...]:
    """Stops: four to an octave from 128 tokens, far enough to pass break-even, and break-even itself. They end below
    2**28 tokens, whatever the cache: where one token leaves next to nothing, the bars meet beyond."""
    even = talk.even()
    top = min(max(2**20, 4 * (even or 1)), 2**27)
    stops = {round(2 ** (k / 4)) for k in range(28, 4 * top.bit_length())}
    return tuple(sorted(stops | ({even} if even and even < max(stops) else set())))


@dataclass(frozen=True)
class Conversation:
    """Bytes at every length. cache: (frame, part), variants: (frame, variant), in the order of `kept`, `variants`."""

    stops: tuple[int, ...]
    cache: Tensor
    variants: Tensor


def conversation(talk: Talk, *, trace: Trace = SILENT) -> Conversation:
    """The cache at every stop, in one broadcast product."""
    stops, bytes_each = lengths(talk), PRECISIONS[talk.cache_in]
    length = torch.tensor(stops, dtype=torch.float64)
    held = talk.readers * length.clamp(max=float(talk.config.window or 2.0**53))
    mine, others = (
        torch.tensor([float(n) for n in numbers.values()], dtype=torch.float64) * bytes_each
        for numbers in (kept(talk.config), variants(talk.config))
    )
    return Conversation(stops, trace(CACHE, held[:, None] * mine), held[:, None] * others)


@dataclass(frozen=True)
class Device:
    """memory: bytes (a data sheet's GB of memory are GiB); bandwidth: bytes a second; speed: dense bf16 FLOPs a second.

    From NVIDIA's data sheets.
    """

    name: str
    memory: float
    bandwidth: float
    speed: float


DEVICES = {
    "rtx4090": Device("RTX 4090", 24 * 2**30, 1.008e12, 165.2e12),
    "a100": Device("A100 80 GB", 80 * 2**30, 2.039e12, 312e12),
    "h100": Device("H100 80 GB", 80 * 2**30, 3.35e12, 989e12),
    "h200": Device("H200 141 GB", 141 * 2**30, 4.8e12, 989e12),
}


def tokens_per_second(talk: Talk, length: int, device: Device) -> float:
    """At most: every step reads the weights it needs and all caches once, and gives each reader one token."""
    weights = read_by_step(talk.config, talk.readers) * PRECISIONS[talk.weights_in]
    return talk.readers * device.bandwidth / (weights + float(talk.cache(length)))


def read_by_step(config: ModelConfig, readers: int) -> float:
    """Parameters that one step reads: no tables that are only looked up, and of the experts those its tokens meet."""
    held = total(config) - looked_up(config)
    moe = config.moe
    return held - (moe.n_experts - experts_met(config, readers)) * _expert(config, moe) if moe else held


def experts_met(config: ModelConfig, readers: int) -> float:
    """Experts of a layer that at least one of `readers` tokens is sent to, on average, if they spread evenly."""
    if config.moe is None:
        return 0.0
    n, k = config.moe.n_experts, config.moe.n_active
    return n * (1 - (1 - k / n) ** readers)


# ---- FLOPs ----


def linear(config: ModelConfig) -> dict[str, int]:
    """Weights of all matrices that a token is multiplied with, by part; without norms, biases and tables."""
    found = {"projections": 0, "ffn": 0, "head": config.vocab_size * config.d_model * (not config.pooler)}
    for row in parameters(config):
        if (
            "bias" in row.name
            or "norm" in row.name.lower()
            or row.part not in ("attention", "ffn", "experts", "router")
        ):
            continue
        found["projections" if row.part == "attention" else "ffn"] += row.value
    found["ffn"] -= _idle(config)
    return found


def mixing(config: ModelConfig) -> tuple[int, int]:
    """Widths that every pair of tokens is multiplied over, in all heads and layers: of QKᵀ and of the mixture AV."""
    m, heads = config.mla, config.n_heads * config.n_layers
    return (heads * (m.d_nope + m.d_rope), heads * m.d_v) if m else (heads * config.head_dim,) * 2


STEPS = ("projections", "scores", "softmax", "mixture", "ffn", "head")
TEXTS = tuple(round(2 ** (k / 4)) for k in range(24, 81))  # 64 tokens to a million


@dataclass(frozen=True)
class Work:
    """One forward pass over a text. masked: count only the pairs that the mask allows, causal and with its window."""

    config: ModelConfig
    masked: bool = False

    @property
    def reach(self) -> float:
        """Tokens that a token can look at, itself and back: a window or, without one, all."""
        return float(self.config.window or float("inf"))

    def pairs(self, n: Tensor) -> Tensor:
        """Pairs of a query and a key that are counted in texts of n tokens. Encoders have no mask."""
        if not self.masked or self.config.pooler:
            return n * n
        near = n.clamp(max=self.reach)
        return near * (near + 1) / 2 + (n - near) * near


def forward(work: Work, *, trace: Trace = SILENT, texts: tuple[int, ...] = TEXTS) -> Tensor:
    """FLOPs of each of STEPS for texts of each length, in one broadcast call: (frame, part).

    A multiplication and an addition are two. Softmax counts three a cell: exp, sum, divide.
    """
    n = torch.tensor(texts, dtype=torch.float64)
    pairs = work.pairs(n)
    of, (scores, mixture) = linear(work.config), mixing(work.config)
    cells = 3.0 * work.config.n_heads * work.config.n_layers
    by_step = [2.0 * of["projections"] * n, 2.0 * scores * pairs, cells * pairs, 2.0 * mixture * pairs]
    return trace(FLOPS, torch.stack([*by_step, 2.0 * of["ffn"] * n, 2.0 * of["head"] * n], -1))


def crossover(work: Work) -> float | None:
    """The length at which QKᵀ and AV cost as much as all matrices of the blocks. A classic block: exactly 6 d.

    None: a window keeps the pairs of a token below that at every length.
    """
    of, reach = linear(work.config), work.reach
    even = (of["projections"] + of["ffn"]) / sum(mixing(work.config))  # pairs a token
    if not work.masked or work.config.pooler:
        return even
    if 2 * even - 1 <= reach:
        return 2 * even - 1
    return reach * (reach - 1) / (2 * (reach - even)) if even < reach else None


def cells(config: ModelConfig, n: int) -> tuple[int, int]:
    """Numbers in one attention matrix of n tokens, and in those of all heads and layers."""
    return n * n, n * n * config.n_heads * config.n_layers


def training_flops(config: ModelConfig, tokens: int) -> int:
    """6 N D: two a weight and token forward, four backward. N: the parameters a token meets."""
    return 6 * active(config) * tokens


def days(flops: float, devices: int, device: Device, used: float = 0.4) -> float:
    """used: the share of the data sheet's speed that training really reaches."""
    return flops / (devices * device.speed * used) / 86400


# ---- training memory ----

STATES = ("weights", "gradients", "master", "momentum", "variance", "activations")
RECIPES = {  # bytes a parameter: weights, gradients, master weights, Adam's two moments
    "mixed": (2, 2, 4, 4, 4),
    "fp32": (4, 4, 0, 4, 4),
    "bf16": (2, 2, 0, 2, 2),
    "adam8": (2, 2, 4, 1, 1),
    "sgd": (2, 2, 4, 0, 0),
}
AT_ONCE = tuple(round(2 ** (k / 4)) for k in range(28, 73))  # 128 to 262,144 tokens in one step on one device


@dataclass(frozen=True)
class Training:
    """recipe: a name of RECIPES. checkpointing: keep the input of each block alone, compute the rest again.
    flash: attention matrices are never written out. context: tokens in one text, which sets the matrices' width."""

    config: ModelConfig
    recipe: str = "mixed"
    checkpointing: bool = False
    flash: bool = True
    context: int = 4096


def remembered(config: ModelConfig, *, flash: bool, context: int) -> int:
    """Numbers a token leaves for the backward pass in one block: what every product, norm and bend took in."""
    d, h, dh, m = config.d_model, config.n_heads, config.head_dim, config.mla
    if m:
        heads = h * 2 * (m.d_nope + m.d_rope) + h * m.d_v
        attention = 2 * (m.q_rank or 0) + 2 * m.kv_rank + heads + h * m.d_v
    else:
        attention = (h + 2 * config.n_kv_heads) * dh + h * dh
        attention += (h + config.n_kv_heads) * dh if config.qk_norm else 0
    matrices = 0 if flash else h * context
    moe = config.moe
    wide = (moe.n_active + moe.n_shared) * moe.d_expert if moe and moe.layers else config.d_ff
    return 4 * d + attention + matrices + (4 if config.ffn == "swiglu" else 2) * wide


def training(demo: Training, *, trace: Trace = SILENT) -> Tensor:
    """Bytes of each of STATES for each of AT_ONCE tokens in one step: (frame, part). Activations take 2 bytes a number."""
    c, n = demo.config, torch.tensor(AT_ONCE, dtype=torch.float64)
    block = remembered(c, flash=demo.flash, context=demo.context)
    numbers = c.n_layers * c.d_model + block if demo.checkpointing else c.n_layers * block
    activations = 2.0 * (numbers + c.d_model) * n
    states = [torch.full_like(n, float(total(c)) * each) for each in RECIPES[demo.recipe]]
    return trace(TRAINING, torch.stack([*states, activations], -1))


# ---- the whole record ----


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses."""

    talk: Talk
    work: Work
    training: Training


def run(demo: Demo) -> Trace:
    """Every frame of every slider of the ledger."""
    trace = Trace()
    with trace.inside("model"):
        at_every_width(demo.talk.config, trace=trace)
    with trace.inside("conversation"):
        conversation(demo.talk, trace=trace)
    with trace.inside("text"):
        forward(demo.work, trace=trace)
    with trace.inside("training"):
        training(demo.training, trace=trace)
    return trace
