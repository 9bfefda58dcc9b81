"""Fit fewer keys and values to the embedded model, on texts it writes itself: a quarter of an hour."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor

from core import attention as at
from core.heads import merge, share, split
from core.lab import subject
from core.make.fit import fit
from core.nets.healed import FOLDER, KV_HEADS, Layer, pooled
from core.rope import rotate
from core.watch import overhear
from core.whatif import WhatIf

TEXTS, LENGTH, SEED = 120, 160, 0


STEPS, AT_ONCE, RATE, PART = 1600, 4, 2e-3, 12


@torch.inference_mode()
def sampled(n: int, length: int, seed: int) -> Tensor:
    """(n, length): texts as the model itself writes them, from its first token on, at temperature 1."""
    model, generator = subject.model(), torch.Generator().manual_seed(seed)
    turn, _allowed = model.surroundings(length)
    past: list[tuple[Tensor, Tensor] | None] = [None] * model.config.n_layers
    ids = torch.ones(n, 1, dtype=torch.long)  # <s>
    for t in range(length - 1):
        x = model.embed(ids[:, -1:])
        for i, block in enumerate(model.blocks):
            keys: list[Tensor] = []
            values: list[Tensor] = []
            trace = WhatIf([("k_rot", overhear(keys)), ("v", overhear(values))])
            x = block(x, None if turn is None else turn[t : t + 1], None, past=past[i], trace=trace)
            new = keys[0], values[0]
            past[i] = new if past[i] is None else tuple(torch.cat(pair, -2) for pair in zip(past[i], new, strict=True))
        ids = torch.cat([ids, torch.multinomial(model.predict(x).softmax(-1), 1, generator=generator)], 1)
    return ids


@torch.inference_mode()
def readings(ids: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """(text, token, d_model) pairs, layer by layer: what attention reads, and what it puts out."""
    model = subject.model()
    for i in range(model.config.n_layers):
        read: list[Tensor] = []
        put_out: list[Tensor] = []
        for part in ids.split(PART):
            watch = [(f"block{i}.norm1", overhear(read)), (f"block{i}.attn_out", overhear(put_out))]
            model.stream(part, until=i + 1, trace=WhatIf(watch))
        yield torch.cat(read), torch.cat(put_out)


def attend(x: Tensor, layer: Layer, n_heads: int, turn: Tensor, allowed: Tensor) -> Tensor:
    """One attention layer with given weights. x: (..., token, d_model) -> the same shape."""
    head_dim = layer["q"].shape[0] // n_heads
    n_kv_heads = layer["k"].shape[0] // head_dim
    q, k, v = (split(x @ layer[name].T, n) for name, n in (("q", n_heads), ("k", n_kv_heads), ("v", n_kv_heads)))
    q, k = rotate(q, turn), rotate(k, turn)
    z = at.attention(q, share(k, n_heads // n_kv_heads), share(v, n_heads // n_kv_heads), allowed)
    return merge(z) @ layer["o"].T


def heal(i: int, n_kv_heads: int, x: Tensor, wanted: Tensor, *, steps: int = STEPS) -> tuple[Layer, float]:
    """Fit layer i with fewer key/value heads. Returns its weights and the error left, as a share of the variance."""
    model = subject.model()
    config, attn = model.config, model.blocks[i].attn
    layer = {
        "q": attn.q.weight.detach().clone(),
        "k": pooled(attn.k.weight.detach(), n_kv_heads, config.head_dim).clone(),
        "v": pooled(attn.v.weight.detach(), n_kv_heads, config.head_dim).clone(),
        "o": attn.o.weight.detach().clone(),
    }
    turn, allowed = model.surroundings(x.shape[1])
    for weight in layer.values():
        weight.requires_grad_()
    moving = torch.optim.Adam(layer.values(), lr=RATE)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(moving, steps)
    order = torch.Generator().manual_seed(SEED)

    def error() -> Tensor:
        some = torch.randint(len(x), (AT_ONCE,), generator=order)
        return F.mse_loss(attend(x[some], layer, config.n_heads, turn, allowed), wanted[some])

    fit(error, moving, steps, rate=falling)
    with torch.no_grad():
        left = sum(
            float(F.mse_loss(attend(a, layer, config.n_heads, turn, allowed), b, reduction="sum"))
            for a, b in zip(x.split(PART), wanted.split(PART), strict=True)
        )
    return {name: weight.detach() for name, weight in layer.items()}, left / float(wanted.square().sum())


def make() -> None:
    """Sample, fit and store everything this module hands out."""
    torch.set_num_threads(1)
    ids = sampled(TEXTS, LENGTH, SEED)
    upper, made = [], {n: {} for n in KV_HEADS}
    i_j = torch.triu_indices(*[subject.model().config.d_model] * 2)
    for i, (x, wanted) in enumerate(readings(ids)):
        x, wanted = x.clone(), wanted.clone()
        flat = x.flatten(0, 1)
        upper.append((flat.T @ flat / len(flat))[i_j[0], i_j[1]])
        for n in KV_HEADS:
            layer, left = heal(i, n, x, wanted)
            print(f"layer {i}, {n} KV heads: {left:.4f} of the output's variance is lost")
            made[n] |= {f"{i}.{name}": weight.half() for name, weight in layer.items()}
    FOLDER.mkdir(parents=True, exist_ok=True)
    save_file({"upper": torch.stack(upper)}, FOLDER / "moments.safetensors")
    for n, weights in made.items():
        save_file(weights, FOLDER / f"kv{n}.safetensors")
