"""Fewer keys after a little retraining: attention layers fitted, one by one, to what the full ones put out.

`python -m core.make healed` samples texts from the embedded model, pools its key and value heads (Ainslie et al. 2023,
arXiv 2305.13245, section 2.1), and lets each layer's W_Q, W_K, W_V and W_O move until its output is that of the
untouched layer again, in the sense of least squares. No label and no text from elsewhere is needed. Beside the healed
weights it stores the second moments of what every layer reads, which tell a low-rank latent where it matters.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from core.assets import ASSETS
from core.lab import subject

FOLDER = ASSETS / "models" / "healed"
KV_HEADS = (3, 2, 1)
Layer = dict[str, Tensor]  # q, k, v, o: weights as nn.Linear keeps them, (out, in)


# ---- what pages read ----


@cache
def healed(n_kv_heads: int, folder: Path = FOLDER) -> tuple[Layer, ...]:
    """The fitted weights of every layer, float32. Raises KeyError for a number of heads that is not shipped."""
    if n_kv_heads not in KV_HEADS:
        raise KeyError(f"{n_kv_heads} KV heads are not shipped, only {', '.join(map(str, KV_HEADS))}")
    stored = load_file(folder / f"kv{n_kv_heads}.safetensors")
    layers = range(subject.model().config.n_layers)
    return tuple({name: stored[f"{i}.{name}"].float() for name in ("q", "k", "v", "o")} for i in layers)


@cache
def moments(folder: Path = FOLDER) -> Tensor:
    """(layer, d_model, d_model): the mean of x x^T over what attention reads in each layer."""
    upper = load_file(folder / "moments.safetensors")["upper"].float()
    d = subject.model().config.d_model
    whole = torch.zeros(len(upper), d, d)
    i, j = torch.triu_indices(d, d)
    whole[:, i, j] = whole[:, j, i] = upper
    return whole


def pooled(weight: Tensor, n_kv_heads: int, head_dim: int) -> Tensor:
    """(kv_head * d_head, d_model) -> fewer heads: each the mean of the neighbours it stands for."""
    return weight.view(n_kv_heads, -1, head_dim, weight.shape[1]).mean(1).flatten(0, 1)


# ---- how they were made ----
