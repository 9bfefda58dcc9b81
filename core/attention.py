"""Scaled dot-product attention and its masks (Vaswani et al. 2017, arXiv 1706.03762, eq. 1)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from core.trace import SILENT, Quantity, Trace

Q = Quantity("q", "head query d_head", r"Q = XW_Q", "What each token is looking for.")
K = Quantity("k", "kv_head key d_head", r"K = XW_K", "What each token can be found by.")
V = Quantity("v", "kv_head key d_v", r"V = XW_V", "What each token hands over when it is attended to.")
SCORES = Quantity("scores", "head query key", r"S = QK^\top", "Every query meets every key. A large number is a match.")
SCALED = Quantity(
    "scaled",
    "head query key",
    r"\hat S = \frac{S}{\tau\sqrt{d_k}}",
    "Wide vectors make large products. Dividing keeps softmax from going all to one.",
)
ALLOWED = Quantity("allowed", "query key", r"M_{ij} = [\,j \le i\,]", "Who may look at whom.")
MASKED = Quantity(
    "masked",
    "head query key",
    r"\hat S_{ij} \leftarrow -\infty \;\text{where}\; \neg M_{ij}",
    "A forbidden pair becomes minus infinity, so softmax gives it exactly zero.",
)
WEIGHTS = Quantity(
    "weights", "head query key", r"A = \mathrm{softmax}(\hat S)", "Each row shares out one unit of attention."
)
Z = Quantity("z", "head query d_v", r"Z = AV", "Each token takes home its mixture of the values.")


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    allowed: Tensor | None = None,
    *,
    temperature: float = 1.0,
    scaling: bool = True,
    trace: Trace = SILENT,
) -> Tensor:
    """Let every query look at the keys and take home a mixture of the values.

    q: (head, query, d_head)    k: (head, key, d_head)    v: (head, key, d_v)
    allowed: (query, key), True where a query may look. None: every query sees every key.
    temperature: divides the scores; scaling: divide by sqrt(d_head) too.
    A query that may look nowhere takes home zeros, as in torch's own scaled_dot_product_attention.
    Returns (head, query, d_v). Further axes may stand before the head, but only without a trace.
    """
    scores = trace(SCORES, q @ k.mT)
    scores = trace(SCALED, scores / (temperature * (q.shape[-1] ** 0.5 if scaling else 1.0)))
    if allowed is not None:
        allowed = trace(ALLOWED, allowed)
        scores = trace(MASKED, torch.where(allowed, scores, -torch.inf))  # one pass; masked_fill takes two
    weights = trace(WEIGHTS, share_out(scores, allowed))
    return trace(Z, weights @ v)


def share_out(scores: Tensor, allowed: Tensor | None = None) -> Tensor:
    """Softmax over the keys; a row without any allowed key becomes zeros instead of NaN."""
    weights = scores.softmax(-1)
    if allowed is None or allowed.is_meta:  # a shape without numbers has no empty rows
        return weights
    if not (open_rows := allowed.any(-1, keepdim=True)).all():
        weights = weights.masked_fill(~open_rows, 0.0)
    return weights


Mask = Literal["none", "causal", "window"]


def allowed_pairs(kind: Mask, n: int, window: int | None = None) -> Tensor:
    """(query, key), True where query i may look at key j.

    causal: j <= i. window: the same, and at most `window` tokens back, itself included.
    Raises ValueError for another kind, and for a window of no token: nobody could look anywhere.
    """
    i, j = torch.arange(n)[:, None], torch.arange(n)
    if kind == "none":
        return torch.ones(n, n, dtype=torch.bool)
    if kind == "causal":
        return j <= i
    if kind != "window" or window is None or window < 1:
        raise ValueError(
            f"mask {kind!r} with window {window}: there are none, causal, and window with at least 1 token"
        )
    return (j <= i) & (j > i - window)
