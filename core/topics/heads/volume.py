"""All heads of the embedded model at once: what each adds, what each looks at, and what happens when one falls silent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from core import attention as at
from core.heads import share, split
from core.lab import subject
from core.lab.memory import kept
from core.lab.text import Text
from core.rope import rotate
from core.softmax import entropy
from core.trace import SILENT, Quantity, Trace, to_numpy
from core.watch import overhear
from core.whatif import Change, WhatIf

VOLUMES = tuple(k / 25 for k in range(51))  # 0: silent, 1: untouched, 2: twice as loud
COARSE = VOLUMES[::5]
LONG = 64  # tokens: beyond, every fifth stop is computed
CANDIDATES = 8
CONTRIBUTION = Quantity("contribution", "head query d_model", r"Z_h\,W_O^{(h)}", "What one head adds to the stream.")
Muted = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Demo:
    """A sentence, the head whose volume is turned, and the (layer, head) pairs that are silent besides."""

    text: Text
    layer: int = 1
    head: int = 2
    muted: Muted = ()

    @property
    def change(self) -> Change:
        return Change(muted=self.muted)


@dataclass(frozen=True)
class Turned:
    """views: (stop, layer * head, key), where the last token looks in every head; probs: (stop, candidate)."""

    views: np.ndarray
    probs: np.ndarray
    ids: tuple[int, ...]


def volumes(n_tokens: int) -> tuple[float, ...]:
    return VOLUMES if n_tokens <= LONG else COARSE


@torch.inference_mode()
def turned(demo: Demo) -> Turned:
    """The chosen head's output z times each volume, all in batched passes."""
    model, every, row = (
        subject.model(demo.text.subject),
        torch.tensor(volumes(len(demo.text))),
        torch.tensor(demo.text.ids),
    )
    views, nexts = [], []
    for part in every.split(subject.at_once(len(row))):
        seen: list[Tensor] = []

        def loud(z: Tensor, part: Tensor = part) -> Tensor:
            factor = torch.ones(len(part), z.shape[-3], 1, 1)
            factor[:, demo.head, 0, 0] = part
            return z * factor

        watch = ("block*.weights", overhear(seen, lambda w: w[..., -1, :]))
        edits = [*demo.change.edits(model.config.head_dim), (f"block{demo.layer}.z", loud), watch]
        x = model.stream(row.expand(len(part), -1), trace=WhatIf(edits))
        views.append(torch.stack(seen, 1).flatten(1, 2))  # (stop, layer * head, key)
        nexts.append(model.predict(x).softmax(-1))
    probs = torch.cat(nexts)
    found = probs.max(0).values.topk(CANDIDATES).indices
    return Turned(to_numpy(torch.cat(views)), to_numpy(probs[:, found]), tuple(int(i) for i in found))


@torch.inference_mode()
def without(demo: Demo) -> float:
    """The probability of the untouched model's next word if the chosen head alone is silent."""
    alone = Change(muted=((demo.layer, demo.head),))
    answer = int(subject.untouched(demo.text)["next_probs"].value.argmax())
    return subject.chances(demo.text, alone, (answer,))[0]


@torch.inference_mode()
def silenced(text: Text) -> tuple[int, np.ndarray]:
    """(answer, p): the untouched next word, and (layer, head) its probability with that head alone silent."""
    model, calm = subject.model(text.subject), subject.untouched(text)
    config, answer = model.config, int(calm["next_probs"].value.argmax())
    table = np.zeros((config.n_layers, config.n_heads), np.float32)
    keep = 1 - torch.eye(config.n_heads)[:, :, None, None]  # (variant, head, 1, 1)
    surroundings = model.surroundings(len(text))
    for layer in range(config.n_layers):  # below it nothing changes
        below = calm[f"block{layer - 1}.resid_post"].tensor if layer else model.stream(calm["ids"].tensor, until=0)
        x = below.expand(config.n_heads, -1, -1)
        trace = WhatIf([(f"block{layer}.z", lambda z: z * keep)])
        for i in range(layer, config.n_layers):
            with trace.inside(f"block{i}"):
                x = model.blocks[i](x, *surroundings, trace=trace)
        table[layer] = model.predict(x).softmax(-1)[:, answer]
    return answer, table


def contribution(z: Tensor, out: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """Concat(Z_1 ... Z_H) W_O, taken apart: the rows of W_O that belong to a head see that head alone.

    z: (head, query, d_head); out: W_O as PyTorch keeps it, (d_model, head * d_head). Returns (head, query, d_model);
    the sum over the heads is the layer's attn_out (without a bias).
    """
    slabs = out.T.unflatten(0, (z.shape[0], -1))  # (head, d_head, d_model)
    return trace(CONTRIBUTION, z @ slabs)


@dataclass(frozen=True)
class Parts:
    """each: (head, query, d_model), every head's own addition; whole: (query, d_model), attn_out as recorded.

    bias: (d_model,), what W_O adds to every token whatever the heads say; None where it has none.
    """

    each: np.ndarray
    whole: np.ndarray
    bias: np.ndarray | None = None

    @property
    def gap(self) -> float:
        """How far the sum of the parts is from the whole."""
        return float(np.abs(self.each.sum(0) + (0 if self.bias is None else self.bias) - self.whole).max())


@torch.inference_mode()
def contributions(text: Text, layer: int) -> Parts:
    """What every head of a layer adds, and all of them together."""
    trace, out = subject.untouched(text), subject.model(text.subject).blocks[layer].attn.o
    each = contribution(trace[f"block{layer}.z"].tensor, out.weight)
    bias = None if out.bias is None else to_numpy(out.bias)
    return Parts(to_numpy(each), trace[f"block{layer}.attn_out"].value, bias)


# ---- what a head looks at ----

HABITS = ("previous", "itself", "first", "same")


@dataclass(frozen=True)
class Habits:
    """Means over the rows after the first, (layer, head) each: the weight on the token before, on itself, on the first
    token, on earlier copies of itself; and how far back the weight goes, in tokens, the first token left out."""

    previous: np.ndarray
    itself: np.ndarray
    first: np.ndarray
    same: np.ndarray
    distance: np.ndarray


def habits(text: Text) -> Habits | None:
    """None for a text of fewer than three tokens."""
    if len(text) < 3:
        return None
    trace, layers = subject.untouched(text), range(subject.config(text.subject).n_layers)
    weights = np.stack([trace[f"block{i}.weights"].value for i in layers])  # (layer, head, query, key)
    n = np.arange(len(text))
    row = np.array(text.ids)
    copies = (row[:, None] == row) & (n[:, None] > n)
    back = np.maximum(n[:, None] - n, 0) * (n > 0)
    rest = np.where(n > 0, weights, 0)[..., 1:, :]
    return Habits(
        previous=weights[..., n[1:], n[:-1]].mean(-1),
        itself=weights[..., n[1:], n[1:]].mean(-1),
        first=weights[..., 1:, 0].mean(-1),
        same=(weights * copies)[..., copies.any(1), :].sum(-1).mean(-1) if copies.any() else weights[..., 0, 0] * 0,
        distance=(rest * back[1:]).sum((-1, -2)) / np.maximum(rest.sum((-1, -2)), np.finfo(rest.dtype).tiny),
    )


# ---- splitting ----


def head_width(d_model: int, n_heads: int) -> int:
    """d_k = d_model / h. Raises ValueError where it is not whole (assert d_model % h == 0 in every implementation)."""
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} is not divisible by h = {n_heads}: {d_model % n_heads} columns are left")
    return d_model // n_heads


def origins(n_tokens: int, n_heads: int, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """(head, row) each: the token whose numbers stand in that row of that head. First after view and transpose, then
    after a reshape straight to (head, token, d_k), which has the right shape and the wrong content."""
    width = head_width(d_model, n_heads)
    owner = torch.arange(n_tokens)[:, None].expand(-1, d_model).contiguous()
    right, wrong = split(owner, n_heads), owner.reshape(n_heads, n_tokens, width)
    mixed = wrong.float().mean(-1)
    return right[..., 0].numpy().astype(np.float32), mixed.numpy()


@torch.inference_mode()
def reshaped(text: Text, layer: int) -> float:
    """The largest difference in a layer's weights if its q and k are reshaped without the transpose.

    Everything after the cut is as the layer does it: its norms of q and k, its rotation, its groups, its mask.
    """
    trace, model = subject.untouched(text), subject.model(text.subject)
    attn, x = model.blocks[layer].attn, trace[f"block{layer}.norm1"].tensor
    turn, allowed = model.surroundings(len(x))
    sides = ((attn.q(x), attn.n_heads, attn.q_norm), (attn.k(x), attn.n_kv_heads, attn.k_norm))
    q, k = (_met(y.reshape(n, len(x), -1), norm, turn) for y, n, norm in sides)
    scores = q @ share(k, attn.group).mT / q.shape[-1] ** 0.5
    wrong = at.share_out(scores.masked_fill(~allowed, -torch.inf), allowed)
    return float((trace[f"block{layer}.weights"].tensor - wrong).abs().max())


def _met(x: Tensor, norm: nn.Module | None, turn: Tensor | None) -> Tensor:
    """x: (head, token, d_head), queries or keys as they are projected. As they meet: normed, then turned."""
    x = x if norm is None else norm(x)
    return x if turn is None else rotate(x, turn)


SCALES = tuple(float(f"{10 ** (-3 + 0.05 * k):.3g}") for k in range(51))  # 0.001 to 0.316


def scales(n_tokens: int) -> tuple[float, ...]:
    return SCALES if n_tokens <= LONG else SCALES[::5]


@dataclass(frozen=True)
class Fresh:
    """weights: (scale, query, key) of the first head; entropy: (scale, query), bits."""

    weights: np.ndarray
    entropy: np.ndarray


@torch.inference_mode()
def fresh(text: Text, n_heads: int, seed: int = 0) -> Fresh:
    """Untrained W_Q and W_K, N(0, scale^2), on what the first block reads: one head, at each of scales()."""
    x = subject.untouched(text)["block0.norm1"].tensor
    width = head_width(x.shape[-1], n_heads)
    generator = torch.Generator().manual_seed(seed)
    w_q, w_k = torch.randn(2, x.shape[-1], x.shape[-1], generator=generator)
    scores = (x @ w_q)[:, :width] @ (x @ w_k)[:, :width].T / width**0.5
    scaled = scores * torch.tensor(scales(len(x)))[:, None, None] ** 2
    allowed = at.allowed_pairs("causal", len(x))
    weights = at.share_out(scaled.masked_fill(~allowed, -torch.inf), allowed)
    return Fresh(to_numpy(weights), to_numpy(entropy(weights)))


# ---- rank ----


@dataclass(frozen=True)
class Ranks:
    """sizes: singular values of one head's W_Q W_K^T and of all heads' as if they were one, largest first."""

    one: np.ndarray
    whole: np.ndarray

    @staticmethod
    def count(sizes: np.ndarray) -> int:
        """The numerical rank, as torch.linalg.matrix_rank takes it in float64."""
        return int((sizes > sizes[0] * len(sizes) * np.finfo(np.float64).eps).sum())


def ranks(text: Text, layer: int, head: int) -> Ranks:
    """A head's bilinear form x_i W_Q W_K^T x_j has rank d_k at most (Bhojanapalli et al. 2020, arXiv 2002.07028).

    Of the text only its model counts.
    """
    return kept(_ranks, text.subject, layer, head)


@torch.inference_mode()
def _ranks(name: str, layer: int, head: int) -> Ranks:
    attn = subject.model(name).blocks[layer].attn
    q = attn.q.weight.double().unflatten(0, (attn.n_heads, -1))  # (head, d_head, d_model)
    k = attn.k.weight.double().unflatten(0, (attn.n_kv_heads, -1)).repeat_interleave(attn.group, 0)
    one = torch.linalg.svdvals(q[head].T @ k[head])
    whole = torch.linalg.svdvals(q.flatten(0, 1).T @ k.flatten(0, 1))
    return Ranks(one.numpy(), whole.numpy())


# ---- as published ----


@dataclass(frozen=True)
class Ablation:
    """One row of table 3 (A) in Vaswani et al. 2017, arXiv 1706.03762: base model, English to German, dev set."""

    n_heads: int
    d_k: int
    perplexity: float
    bleu: float


ABLATIONS = (
    Ablation(1, 512, 5.29, 24.9),
    Ablation(4, 128, 5.00, 25.5),
    Ablation(8, 64, 4.92, 25.8),
    Ablation(16, 32, 4.91, 25.8),
    Ablation(32, 16, 5.01, 25.4),
)
