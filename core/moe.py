"""A mixture of experts: many feed-forward networks, and a router that sends every token to a few of them."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from core.config import ModelConfig
from core.feedforward import FFN_OUT, FFNS
from core.trace import SILENT, Quantity, Trace

ROUTER = Quantity("router", "query expert", r"xW_r", "How well each expert suits each token: one score for each.")
ROUTER_PROBS = Quantity(
    "router_probs", "query expert", r"p = \mathrm{softmax}(xW_r)", "The scores as shares: the router's own opinion."
)
CHOSEN = Quantity(
    "chosen", "query expert", r"\mathrm{top}_k(p + b)", "The experts a token is sent to: those with the largest shares."
)
GATES = Quantity(
    "gates",
    "query expert",
    r"g_e = p_e \;\text{or}\; \frac{p_e}{\sum_{j \in T} p_j}",
    "How loudly each chosen expert speaks; the others are not even computed.",
)
EXPERT_IN = Quantity("expert_in", "query d_model", r"x_{\text{sent}}", "The tokens that were sent to this expert.")
SHARED_OUT = Quantity(
    "shared_out", "query d_model", r"\textstyle\sum_s E_s(x)", "What the experts write that every token passes."
)


def choose(probs: Tensor, k: int) -> Tensor:
    """(..., expert) -> True at the k largest of each row (Shazeer et al. 2017, arXiv 1701.06538, eq. 5)."""
    return torch.zeros_like(probs, dtype=torch.bool).scatter(-1, probs.topk(k, dim=-1).indices, True)


def weigh(probs: Tensor, chosen: Tensor, renormalise: bool) -> Tensor:
    """The chosen shares, zeros elsewhere; renormalise: each row is made to add up to one (Mixtral, arXiv 2401.04088)."""
    gates = probs * chosen
    return gates / gates.sum(-1, keepdim=True) if renormalise else gates


def load(chosen: Tensor) -> Tensor:
    """(..., token, expert) -> (..., expert): the share of all choices that went to each expert; they add up to one."""
    counts = chosen.float().sum(-2)
    return counts / counts.sum(-1, keepdim=True).clamp(min=1)


def balancing(probs: Tensor, chosen: Tensor) -> Tensor:
    """E * sum_e f_e P_e (Switch, arXiv 2101.03961, eq. 4): k where loads are even, at most E where one expert has all.

    probs, chosen: (..., token, expert). f_e: the share of tokens that chose e; P_e: the mean share the router gave it.
    Only P_e carries a gradient.
    """
    return probs.shape[-1] * (chosen.float().mean(-2) * probs.mean(-2)).sum(-1)


def nudged(bias: Tensor, load: Tensor, rate: float) -> Tensor:
    """The bias-only alternative (DeepSeek-V3, arXiv 2412.19437, sec. 2.1.2): after every step, the bias of an expert
    with too much goes down by `rate`, with too little up. It moves the choice and never the gates.
    """
    return bias + rate * torch.sign(load.mean(-1, keepdim=True) - load)


def seats(tokens: int, k: int, n_experts: int, capacity: float) -> int:
    """How many tokens an expert takes: its even share times the capacity factor, rounded down (Switch, eq. 3)."""
    return int(capacity * tokens * k / n_experts + 1e-9)


def seated(chosen: Tensor, places: int | Tensor) -> Tensor:
    """(..., token, expert) -> True where a token that chose an expert still finds a seat: first come, first served."""
    return chosen & (chosen.cumsum(-2) <= places)


class Mixture(nn.Module):
    """sum_e g_e E_e(x), over the experts that the router chose, and shared experts for every token.

    With the hidden numbers of all experts side by side, each times its gate, this is again one h W_2. Experts compute
    nothing for tokens that were not sent to them.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        assert config.moe is not None
        self.moe = moe = config.moe
        ffn = FFNS[config.ffn]
        self.router = nn.Linear(config.d_model, moe.n_experts, bias=False)
        self.bias = nn.Parameter(torch.zeros(moe.n_experts), requires_grad=False) if moe.router_bias else None
        one = replace(config, d_ff=moe.d_expert, moe=None)
        self.experts = nn.ModuleList(ffn(one) for _ in range(moe.n_experts))
        self.shared = nn.ModuleList(ffn(one) for _ in range(moe.n_shared))

    def forward(self, x: Tensor, *, trace: Trace = SILENT) -> Tensor:
        """x: (query, d_model). Returns the same shape."""
        probs = trace(ROUTER_PROBS, trace(ROUTER, self.router(x)).softmax(-1))
        wanted = probs if self.bias is None else probs + self.bias
        chosen = trace(CHOSEN, choose(wanted, self.moe.n_active))
        gates = trace(GATES, weigh(probs, chosen, self.moe.renormalise))
        out = self._experts(x.flatten(0, -2), gates.flatten(0, -2), trace).view(x.shape)
        if len(self.shared):
            out = out + trace(SHARED_OUT, self._shared(x, trace))
        return trace(FFN_OUT, out)

    def _experts(self, x: Tensor, gates: Tensor, trace: Trace) -> Tensor:
        """x: (token, d_model); gates: (token, expert). Who has no gate is not computed."""
        out, named = torch.zeros_like(x), trace.labels.get("query")
        for e, expert in enumerate(self.experts):
            rows = self._sent(gates[:, e])
            if not len(rows):
                continue
            labels = {"query": [named[i] for i in rows.tolist()]} if named and not rows.is_meta else {}
            with trace.inside(f"expert{e}", **labels):
                made = expert(trace(EXPERT_IN, x[rows]), trace=trace)
            out = out.index_add(0, rows, gates[rows, e, None] * made)
        return out

    def _sent(self, gate: Tensor) -> Tensor:
        """gate: (token,). Returns the places of those that come; of shapes without numbers, an even share of them."""
        if gate.is_meta:
            return torch.empty(-(-len(gate) * self.moe.n_active // self.moe.n_experts), dtype=torch.long, device="meta")
        return gate.nonzero()[:, 0]

    def _shared(self, x: Tensor, trace: Trace) -> Tensor:
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.shared):
            with trace.inside(f"shared{e}"):
                out = out + expert(trace(EXPERT_IN, x), trace=trace)
        return out
