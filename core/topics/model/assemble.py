"""A block put together from parts, with random weights: what goes where, what comes out, what happens when it is stacked.

Nothing here is trained. Weights are drawn with variance 1 / width, so that every map keeps the size of what it is given;
words are random vectors of variance 1, the same word the same vector, plus the sinusoids of their positions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.attention import allowed_pairs
from core.blocks import NORM1, NORM2, RESID_MID, RESID_POST, RESID_PRE
from core.config import ModelConfig
from core.feedforward import FFNS, Relu
from core.heads import SelfAttention
from core.norms import NORMS
from core.rope import angles
from core.trace import SILENT, Trace, to_numpy
from core.watch import Line, Watch, line

DEPTHS = tuple(range(25))  # blocks in the stack, the stops of the depth slider
WIDTHS = (32, 64, 128)
HEADS = 8
CROPPED = 40  # tokens in the picture of likeness; of a longer text the first ones


@dataclass(frozen=True)
class Parts:
    """What a block is made of. The default is the block of 2017."""

    order: str = "post"  # post: norm(x + f(x)); pre: x + f(norm(x))
    norm: str = "layernorm"
    ffn: str = "relu"
    kv_heads: int = HEADS  # as many as heads: multi-head; fewer: grouped; one: multi-query
    position: str = "sinusoid"
    qk_norm: bool = False
    residual: bool = True
    causal: bool = False
    bias: bool = True


PRESETS = {
    "2017": Parts(),
    "bert": Parts(ffn="gelu"),
    "gpt2": Parts("pre", "layernorm", "gelu", causal=True),
    "llama": Parts("pre", "rmsnorm", "swiglu", position="rope", causal=True, bias=False),
    "qwen3": Parts("pre", "rmsnorm", "swiglu", 2, "rope", qk_norm=True, causal=True, bias=False),
}


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses. batch: this many texts, the further ones the same words in another order."""

    ids: tuple[int, ...]
    parts: Parts = PRESETS["2017"]
    d_model: int = 64
    batch: int = 2
    seed: int = 0


class Block(nn.Module):
    """Two sub-layers in the order that `parts` asks for (Xiong et al. 2020, arXiv 2002.04745, fig. 1)."""

    def __init__(self, config: ModelConfig, parts: Parts) -> None:
        super().__init__()
        self.parts = parts
        self.norm1, self.norm2 = (NORMS[parts.norm](config.d_model, config.norm_eps) for _ in range(2))
        self.attn = SelfAttention(config)
        self.ffn = {"relu": Relu, "gelu": FFNS["gelu_tanh"], "swiglu": FFNS["swiglu"]}[parts.ffn](config)

    def forward(self, x: Tensor, turn: Tensor | None, allowed: Tensor | None, *, trace: Trace = SILENT) -> Tensor:
        """x: (..., query, d_model); turn and allowed as SelfAttention takes them. Returns the shape of x."""
        x = trace(RESID_PRE, x)
        if self.parts.order == "pre":
            found = self.attn(trace(NORM1, self.norm1(x)), turn, allowed, trace=trace)
            x = trace(RESID_MID, self._plus(x, found))
            made = self.ffn(trace(NORM2, self.norm2(x)), trace=trace)
            return trace(RESID_POST, self._plus(x, made))
        found = trace(RESID_MID, self._plus(x, self.attn(x, turn, allowed, trace=trace)))
        x = trace(NORM1, self.norm1(found))
        made = trace(RESID_POST, self._plus(x, self.ffn(x, trace=trace)))
        return trace(NORM2, self.norm2(made))

    def _plus(self, x: Tensor, made: Tensor) -> Tensor:
        return x + made if self.parts.residual else made


def config_of(parts: Parts, d_model: int, d_ff: int = 0) -> ModelConfig:
    """The sizes of a block. d_ff: four times the width; a gated network has three maps, so two thirds of that."""
    wide = d_ff or (4 * d_model if parts.ffn != "swiglu" else 8 * d_model // 3)
    return ModelConfig(
        d_model=d_model,
        n_layers=1,
        n_heads=HEADS,
        n_kv_heads=parts.kv_heads,
        d_ff=wide,
        vocab_size=1,
        context=256,
        norm=parts.norm,
        norm_eps=1e-5,
        qkv_bias=parts.bias,
        out_bias=parts.bias,
        ffn_bias=parts.bias,
        qk_norm=parts.qk_norm,
    )


def drawn(parts: Parts, d_model: int, seed: int, d_ff: int = 0) -> Block:
    """A block with weights of its own: normal, variance 1 / width of what enters; biases zero."""
    block, chance = Block(config_of(parts, d_model, d_ff), parts), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for module in block.modules():
            if isinstance(module, nn.Linear):
                module.weight.normal_(std=module.weight.shape[1] ** -0.5, generator=chance)
                if module.bias is not None:
                    module.bias.zero_()
    return block.eval().requires_grad_(False)


def sinusoids(n: int, d_model: int) -> Tensor:
    """(position, d_model): sines in the even columns, cosines in the odd ones (Vaswani et al. 2017, sec. 3.5)."""
    turn = angles(n, d_model, 10_000.0)
    return torch.stack([turn.sin(), turn.cos()], -1).flatten(-2)


def words(demo: Demo) -> Tensor:
    """(batch, token, d_model): a random vector for every different token, and where it stands."""
    chance = torch.Generator().manual_seed(demo.seed)
    ids, where = torch.tensor(demo.ids).unique(return_inverse=True)
    table = torch.randn(len(ids), demo.d_model, generator=chance)
    orders = [torch.arange(len(where)), *(torch.randperm(len(where), generator=chance) for _ in range(demo.batch - 1))]
    x = torch.stack([table[where[order]] for order in orders])
    return x + sinusoids(len(where), demo.d_model) if demo.parts.position == "sinusoid" else x


def around(demo: Demo) -> tuple[Tensor | None, Tensor | None]:
    """RoPE's angles and the mask, each None where the parts have none."""
    n, width = len(demo.ids), demo.d_model // HEADS
    turn = angles(n, width, 10_000.0) if demo.parts.position == "rope" else None
    return turn, allowed_pairs("causal", n) if demo.parts.causal else None


@dataclass(frozen=True)
class Assembled:
    """lines: every tensor of one block; low and high: the range of what comes out; gap: the largest difference from
    torch's own layer with the same weights, None where torch has no such layer."""

    lines: tuple[Line, ...]
    shape: tuple[int, ...]
    low: float
    high: float
    parameters: int
    gap: float | None


@torch.inference_mode()
def run(demo: Demo) -> Assembled:
    """One block on the text, every arrow measured."""
    block, x, (turn, allowed) = drawn(demo.parts, demo.d_model, demo.seed), words(demo), around(demo)
    watch = Watch(line)
    out = block(x, turn, allowed, trace=watch)
    total = sum(p.numel() for p in block.parameters())
    gap = None
    if can_torch(demo.parts):
        theirs = in_torch(block)(x, src_mask=None if allowed is None else ~allowed)
        gap = float((theirs - out).abs().max())
    return Assembled(tuple(watch.seen), tuple(out.shape), float(out.min()), float(out.max()), total, gap)


def can_torch(parts: Parts) -> bool:
    """Does torch.nn.TransformerEncoderLayer have these parts?"""
    classic = replace(parts, order="post", ffn="relu", causal=False)
    return classic == Parts() and parts.ffn in ("relu", "gelu")


def in_torch(block: Block) -> nn.TransformerEncoderLayer:
    """The same weights in torch's own layer."""
    width, wide = block.ffn.down.out_features, block.ffn.down.in_features
    act = F.relu if block.parts.ffn == "relu" else lambda x: F.gelu(x, approximate="tanh")
    pre = block.parts.order == "pre"
    layer = nn.TransformerEncoderLayer(width, HEADS, wide, 0.0, act, 1e-5, batch_first=True, norm_first=pre)
    attn = block.attn
    state = {
        "self_attn.in_proj_weight": torch.cat([attn.q.weight, attn.k.weight, attn.v.weight]),
        "self_attn.in_proj_bias": torch.cat([attn.q.bias, attn.k.bias, attn.v.bias]),
        "self_attn.out_proj.weight": attn.o.weight,
        "self_attn.out_proj.bias": attn.o.bias,
        "linear1.weight": block.ffn.up.weight,
        "linear1.bias": block.ffn.up.bias,
        "linear2.weight": block.ffn.down.weight,
        "linear2.bias": block.ffn.down.bias,
    } | {f"norm{i}.{kind}": getattr(getattr(block, f"norm{i}"), kind) for i in (1, 2) for kind in ("weight", "bias")}
    layer.load_state_dict(state)
    return layer.train()  # eval would take torch's fused path, and nothing here is dropped


@dataclass(frozen=True)
class Stack:
    """likeness: (depth, token, token) cosines between tokens; mean: (depth,) over pairs of two tokens, 1 where there is
    only one; rms: (depth,) the size of the stream."""

    likeness: np.ndarray
    mean: np.ndarray
    rms: np.ndarray


@torch.inference_mode()
def stack(demo: Demo) -> Stack:
    """The text through 0 to 24 different blocks of these parts: what becomes of the differences between tokens."""
    demo = replace(demo, batch=1)
    x, (turn, allowed) = words(demo)[0], around(demo)
    streams = [x]
    for depth in DEPTHS[1:]:
        x = drawn(demo.parts, demo.d_model, 1000 * demo.seed + depth)(x, turn, allowed)
        streams.append(x)
    every = torch.stack(streams)
    unit = F.normalize(every, dim=-1)
    likeness = unit @ unit.mT
    n = likeness.shape[-1]
    apart = ~torch.eye(n, dtype=torch.bool)
    mean = likeness[:, apart].mean(-1) if n > 1 else torch.ones(len(DEPTHS))
    rms = every.square().mean((1, 2)).sqrt()
    return Stack(to_numpy(likeness[:, :CROPPED, :CROPPED]), to_numpy(mean), to_numpy(rms))


# ---- a formula that looks right, and the right one ----


@dataclass(frozen=True)
class Compared:
    """gap: the largest difference after one layer; relative: its length over the right one's. rms: (formula, depth) of
    the stream, the wrong formula first; spread: (formula, token), each token's standard deviation after one layer."""

    gap: float
    relative: float
    rms: np.ndarray
    spread: np.ndarray


def wrong_layer(block: Block, x: Tensor) -> Tensor:
    """FFN(LN(MHA(x) + x)) + MHA(x), an easy slip: the second sum adds the wrong thing, and the last norm is
    missing."""
    found = block.attn(x, None, None)
    return block.ffn(block.norm1(found + x)) + found


def right_layer(block: Block, x: Tensor) -> Tensor:
    """y = LN(x + MHA(x)), then LN(y + FFN(y)): "LayerNorm(x + Sublayer(x))" (Vaswani et al. 2017, sec. 3.1)."""
    y = block.norm1(x + block.attn(x, None, None))
    return block.norm2(y + block.ffn(y))


@torch.inference_mode()
def compare(demo: Demo) -> Compared:
    """Both formulas with the same weights on the same text, once and stacked."""
    demo = replace(demo, parts=Parts(), batch=1)
    layers = (wrong_layer, right_layer)
    streams = [[words(demo)[0]], [words(demo)[0]]]
    for depth in DEPTHS[1:]:
        block = drawn(demo.parts, demo.d_model, 1000 * demo.seed + depth)
        for layer, kept in zip(layers, streams, strict=True):
            kept.append(layer(block, kept[-1]))
    wrong, right = streams[0][1], streams[1][1]
    rms = np.array([[float(x.square().mean().sqrt()) for x in kept] for kept in streams])
    spread = np.stack([to_numpy(x.std(-1, correction=0)) for x in (wrong, right)])
    gap = (wrong - right).abs().max()
    return Compared(float(gap), float((wrong - right).norm() / right.norm()), rms, spread)


def parameters(parts: Parts, d_model: int, d_ff: int) -> int:
    """How many numbers a block of this size has; counted on the meta device."""
    with torch.device("meta"):
        return sum(p.numel() for p in Block(config_of(parts, d_model, d_ff), parts).parameters())
