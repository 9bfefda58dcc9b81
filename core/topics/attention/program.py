"""A program of a few lines that reads a downloaded trace and prints the page's numbers again, with PyTorch alone."""

from __future__ import annotations

ATTENTION = '''\
"""Attention, computed again from the downloaded numbers. Needs numpy and torch."""

import numpy as np
import torch

data = np.load("{file}")
q, k, v, allowed = (torch.tensor(data[name][index]) for name, index in {names})
temperature, scaling = {temperature!r}, {scaling!r}

scores = q @ k.T
scaled = scores / (temperature * (q.shape[-1] ** 0.5 if scaling else 1.0))
masked = scaled.masked_fill(~allowed, -torch.inf)
weights = masked.softmax(-1)
z = weights @ v

for name, made in dict(scores=scores, scaled=scaled, masked=masked, weights=weights, z=z).items():
    kept = torch.tensor(data["{scope}" + name][{head}])
    gap = torch.where(kept.isinf(), 0.0, made - kept).abs().max().item()
    print(f"{{name:8}} {{tuple(made.shape)}}  largest difference from the page: {{gap:.1e}}")

print("weights[{row}] =", [round(x, 4) for x in weights[{row}].tolist()])
'''


def attention(
    file: str,
    *,
    scope: str,
    met: tuple[str, str],
    head: int,
    kv_head: int,
    row: int,
    temperature: float,
    scaling: bool,
) -> str:
    """The program for one head. scope: "block5." or "" where the names in the file stand; met: what queries and keys
    are called there as they meet, "q_rot" or plain "q"; row: the one it prints."""
    q, k = met
    names = [(scope + q, head), (scope + k, kv_head), (scope + "v", kv_head), (scope + "allowed", ...)]
    listed = ", ".join(f'("{name}", {"..." if index is ... else index})' for name, index in names)
    return ATTENTION.format(
        file=file,
        names=f"[{listed}]",
        temperature=float(temperature),
        scaling=scaling,
        scope=scope,
        head=head,
        row=row,
    )
