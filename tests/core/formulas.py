"""What the displayed formula of every quantity says, written apart from core in NumPy: the formula's text -> a function.

A formula that is changed has no entry here, and one that is swapped for another gives other numbers. `at` looks up what
was recorded beside the quantity; in `xW` a map's bias is included where a family has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.trace import Trace

Array = np.ndarray


@dataclass(frozen=True)
class At:
    """A place in a trace. given: what the formula needs and no trace holds, such as a layer's weights."""

    trace: Trace
    scope: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, *names: str) -> Array:
        """The first of these that was recorded here or outside."""
        for name in names:
            for full in (self.scope + name, name):
                if full in self.trace:
                    value = self.trace[full].value
                    return value.astype(np.float64) if value.dtype.kind == "f" else value
        raise KeyError(f"none of {names} was recorded in {self.scope!r}")

    def __getitem__(self, name: str) -> Any:
        return self.given[name]


def linear(x: Array, module: Any) -> Array:
    weight = module.weight.detach().double().numpy()
    return x @ weight.T + (0 if module.bias is None else module.bias.detach().double().numpy())


def norm(x: Array, module: Any) -> Array:
    weight = module.weight.detach().double().numpy()
    if getattr(module, "bias", None) is not None:
        x = x - x.mean(-1, keepdims=True)
        weighed = x / np.sqrt((x**2).mean(-1, keepdims=True) + module.eps) * weight
        return weighed + module.bias.detach().double().numpy()
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + module.eps) * weight


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def heads(x: Array, width: int) -> Array:
    """(token, head * width) -> (head, token, width)."""
    return x.reshape(len(x), -1, width).transpose(1, 0, 2)


def each(x: Array, n: int) -> Array:
    """Keys or values once for every query head they serve."""
    return np.repeat(x, n // len(x), 0)


def turned(x: Array, angle: Array) -> Array:
    half = x.shape[-1] // 2
    z = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)
    return np.concatenate([z.real, z.imag], -1)


def quarter(x: Array) -> Array:
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], -1)


def bend(x: Array, kind: str) -> Array:
    if kind == "gelu":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return np.maximum(x, 0) if kind == "relu" else x / (1 + np.exp(-x))


def bent(at: At) -> Array:
    if "gate" in at["bend"]:
        return bend(at("ffn_gate"), "silu") * at("ffn_up")
    return bend(at("ffn_pre"), at["bend"])


def scaled(at: At) -> Array:
    return at("scores") / (at.given.get("tau", 1.0) * np.sqrt(at("q").shape[-1]))


def causal(at: At) -> Array:
    rows, columns = at("scores", "scaled").shape[-2:]
    return np.arange(columns) <= np.arange(rows)[:, None]


def sinusoid(at: At) -> Array:
    n, d = at["shape"]
    table = np.zeros((n, d))
    for i in range(d // 2):
        omega = at["b"] ** (-2 * i / d)
        table[:, 2 * i], table[:, 2 * i + 1] = np.sin(np.arange(n) * omega), np.cos(np.arange(n) * omega)
    return table


def recurrent(at: At) -> Array:
    h, states = np.zeros(at["Wx"].shape[-1]), []
    for x in at["Wx"]:
        h = np.tanh(x + at["U"] @ h)
        states.append(h)
    return np.array(states)


def gated(at: At) -> Array:
    def sigmoid(x: Array) -> Array:
        return 1 / (1 + np.exp(-x))

    h, states = np.zeros(at["Wx"].shape[-1]), []
    for r, z, n in zip(*at["Wx"], strict=True):
        r = sigmoid(r + at["U"][0] @ h)
        z = sigmoid(z + at["U"][1] @ h)
        n = np.tanh(n + r * (at["U"][2] @ h))
        h = (1 - z) * n + z * h
        states.append(h)
    return np.array(states)


def query_turned(at: At) -> Array:
    phi = np.deg2rad(at["degrees"])[:, None]
    return np.linalg.norm(at["q"]) * (np.cos(phi) * at["e1"] + np.sin(phi) * at["e2"])


def best(at: At) -> Array:
    """The k largest of each row, by how many others are larger."""
    p = at("router_probs") + (0 if at["ffn"].bias is None else at["ffn"].bias.detach().numpy())
    return (p[:, None, :] > p[:, :, None]).sum(-1) < at["ffn"].moe.n_active


def gated_shares(at: At) -> Array:
    kept = np.where(at("chosen"), at("router_probs"), 0)
    return kept / kept.sum(-1, keepdims=True) if at["ffn"].moe.renormalise else kept


def mixed(at: At) -> Array:
    out = np.zeros(at("norm2").shape) + (at("shared_out") if len(at["ffn"].shared) else 0)
    for e, gate in enumerate(at("gates").T):
        if gate.any():
            out[gate > 0] += gate[gate > 0, None] * at(f"expert{e}.ffn_out")
    return out


# (name, formula) -> what the formula says. Where several quantities are written alike, what enters differs.
SAYS: dict[tuple[str, str], Callable[[At], Array]] = {
    ("ids", r"t"): lambda at: at["t"],
    ("embed", r"E[t]"): lambda at: at["E"][at("ids")],
    ("pos_embed", r"P[m]"): lambda at: at["P"][: len(at("ids"))],
    ("embed_product", r"\mathrm{onehot}(t)\,E"): lambda at: np.eye(len(at["E"]))[at["t"]] @ at["E"],
    ("resid_pre", r"x"): lambda at: at["x"],
    ("norm1", r"\mathrm{norm}(x)"): lambda at: norm(at("resid_pre"), at["norm1"]),
    ("norm2", r"\mathrm{norm}(x)"): lambda at: norm(at("resid_mid"), at["norm2"]),
    ("norm_final", r"\mathrm{norm}(x)"): lambda at: norm(at["x"], at["norm"]),
    ("q", r"Q = XW_Q"): lambda at: heads(linear(at("norm1"), at["attn"].q), at("q").shape[-1]),
    ("k", r"K = XW_K"): lambda at: heads(linear(at("norm1"), at["attn"].k), at("k").shape[-1]),
    ("v", r"V = XW_V"): lambda at: heads(linear(at("norm1"), at["attn"].v), at("v").shape[-1]),
    ("q_norm", r"Q \leftarrow \mathrm{RMSNorm}(Q)"): lambda at: norm(at("q"), at["attn"].q_norm),
    ("k_norm", r"K \leftarrow \mathrm{RMSNorm}(K)"): lambda at: norm(at("k"), at["attn"].k_norm),
    ("q_rot", r"q_m \leftarrow R_m q_m"): lambda at: turned(at("q_norm", "q"), at("angles")),
    ("k_rot", r"k_n \leftarrow R_n k_n"): lambda at: turned(at("k_norm", "k"), at("angles")),
    ("scores", r"S = QK^\top"): lambda at: (
        at("q_rot", "q_norm", "q") @ each(at("k_rot", "k_norm", "k"), len(at("q"))).transpose(0, 2, 1)
    ),
    ("scaled", r"\hat S = \frac{S}{\tau\sqrt{d_k}}"): scaled,
    ("allowed", r"M_{ij} = [\,j \le i\,]"): causal,
    ("masked", r"\hat S_{ij} \leftarrow -\infty \;\text{where}\; \neg M_{ij}"): lambda at: np.where(
        at("allowed"), at("scaled"), -np.inf
    ),
    ("weights", r"A = \mathrm{softmax}(\hat S)"): lambda at: softmax(at("masked", "scaled")),
    ("z", r"Z = AV"): lambda at: at("weights") @ each(at("v"), len(at("weights"))),
    ("attn_out", r"\mathrm{Concat}(Z_1,\dots,Z_H)\,W_O"): lambda at: linear(
        np.concatenate(list(at("z")), -1), at["attn"].o
    ),
    ("resid_mid", r"x + \mathrm{attn}"): lambda at: at("resid_pre") + at("attn_out"),
    ("resid_post", r"x + \mathrm{ffn}"): lambda at: at("resid_mid") + at("ffn_out"),
    ("ffn_pre", r"xW_1 + b_1"): lambda at: linear(at("norm2"), at["ffn"].up),
    ("ffn_gate", r"xW_g"): lambda at: linear(at("expert_in", "norm2"), at["ffn"].gate),
    ("ffn_up", r"xW_u"): lambda at: linear(at("expert_in", "norm2"), at["ffn"].up),
    ("ffn_act", r"h = \sigma(xW_1 + b_1) \;\text{or}\; \sigma(xW_g) \odot xW_u"): bent,
    ("ffn_out", r"hW_2"): lambda at: (
        mixed(at) if hasattr(at["ffn"], "experts") else linear(at("ffn_act"), at["ffn"].down)
    ),
    ("router", r"xW_r"): lambda at: linear(at("norm2"), at["ffn"].router),
    ("router_probs", r"p = \mathrm{softmax}(xW_r)"): lambda at: softmax(at("router")),
    ("chosen", r"\mathrm{top}_k(p + b)"): best,
    ("gates", r"g_e = p_e \;\text{or}\; \frac{p_e}{\sum_{j \in T} p_j}"): gated_shares,
    ("expert_in", r"x_{\text{sent}}"): lambda at: at["norm2"][at["sent"]],
    ("shared_out", r"\textstyle\sum_s E_s(x)"): lambda at: sum(
        at(f"shared{e}.ffn_out") for e in range(len(at["ffn"].shared))
    ),
    ("logits", r"xW_U"): lambda at: at("norm_final") @ at["U"].T,
    ("probs", r"\mathrm{softmax}(xW_U)"): lambda at: softmax(at("norm_final") @ at["U"].T),
    ("next_logits", r"x_TW_U"): lambda at: norm(at["x"][-1], at["norm"]) @ at["U"].T,
    ("next_probs", r"\mathrm{softmax}(x_TW_U)"): lambda at: softmax(norm(at["x"][-1], at["norm"]) @ at["U"].T),
    ("kept_keys", r"[K_{<t};\,K_t]"): lambda at: np.concatenate([at["K_before"], at["K_new"]], 1),
    ("kept_values", r"[V_{<t};\,V_t]"): lambda at: np.concatenate([at["V_before"], at["V_new"]], 1),
    ("drawn_from", r"p_i = \frac{[\,i \in N\,]\,e^{z_i/T}}{\sum_{j \in N} e^{z_j/T}}"): lambda at: (
        np.array([(i in at["N"]) * np.exp(z / at["T"]) for i, z in enumerate(at["z"])])
        / sum(np.exp(at["z"][j] / at["T"]) for j in at["N"])
    ),
    ("drawn", r"i \sim p"): lambda at: np.array(at["taken"]),
    ("written_probs", r"\mathrm{softmax}(xW_U)"): lambda at: softmax(at["x"] @ at["U"].T),
    ("source", r"t"): lambda at: at["t"],
    ("written", r"t"): lambda at: at["t"],
    ("x", r"x"): lambda at: at["x"],
    ("after_self", r"x + \mathrm{attn}"): lambda at: at("x") + at("self.attn_out"),
    ("after_cross", r"x + \mathrm{cross}"): lambda at: at("after_self") + at("cross.attn_out"),
    ("norm3", r"\mathrm{norm}(x)"): lambda at: norm(at("after_cross"), at["norm3"]),
    ("out", r"x + \mathrm{ffn}"): lambda at: at("after_cross", "after_self") + at("ffn_out"),
    ("angles", r"\phi_{m,i} = m\,\theta_i"): lambda at: np.arange(at["n"])[:, None] * at["theta"],
    ("cosines", r"\cos(m\,\theta_i)"): lambda at: np.cos(np.tile(at["m"][:, None] * at["theta"], 2)),
    ("sines", r"\sin(m\,\theta_i)"): lambda at: np.sin(np.tile(at["m"][:, None] * at["theta"], 2)),
    ("turned", r"x\cos + \mathrm{rot}(x)\sin"): lambda at: at["x"] * at("cosines") + quarter(at["x"]) * at("sines"),
    (
        "sinusoids",
        r"P_{m,2i} = \sin(m\,\omega_i),\quad P_{m,2i+1} = \cos(m\,\omega_i),\quad \omega_i = b^{-2i/d}",
    ): sinusoid,
    ("alibi", r"B_{hij} = -m_h\,(i - j)"): lambda at: np.array(
        [[[-m * (i - j) for j in range(at["n"])] for i in range(at["n"])] for m in at["m"]]
    ),
    ("tempered", r"\hat z = \frac{z}{T}"): lambda at: at["z"] / at["T"],
    ("shifted", r"\hat z_i - \max_j \hat z_j"): lambda at: at("tempered") - max(at("tempered")),
    ("exps", r"e_i = e^{\hat z_i - \max_j \hat z_j}"): lambda at: np.exp(at("tempered") - max(at("tempered"))),
    ("total", r"\textstyle\sum_j e_j"): lambda at: np.array(sum(at("exps"))),
    ("shares", r"p_i = \frac{e_i}{\sum_j e_j}"): lambda at: at("exps") / sum(at("exps")),
    ("slopes", r"\frac{\partial p_i}{\partial \hat z_j} = p_i(\delta_{ij} - p_j)"): lambda at: np.array(
        [[p * ((i == j) - other) for j, other in enumerate(at("shares"))] for i, p in enumerate(at("shares"))]
    ),
    ("spread", r"\sigma(I + J)"): lambda at: np.array(
        [
            np.sqrt(np.clip(np.linalg.eigvalsh((np.eye(len(J)) + J).T @ (np.eye(len(J)) + J)), 0, None))[::-1]
            for J in at["J"]
        ]
    ),
    ("rate", r"d^{-0.5}\,\min\!\left(t^{-0.5},\; t\,w^{-1.5}\right)"): lambda at: np.array(
        [[at["d"] ** -0.5 * min(t**-0.5, t * w**-1.5) for t in at["t"]] for w in at["w"]]
    ),
    ("mean", r"\mu = \tfrac1d\textstyle\sum_i x_i"): lambda at: at["x"].sum(-1, keepdims=True) / at["x"].shape[-1],
    ("centred", r"x - \mu"): lambda at: at["x"] - at("mean"),
    ("variance", r"\sigma^2 = \tfrac1d\textstyle\sum_i (x_i - \mu)^2"): lambda at: np.array(
        [[sum((x - row.sum() / len(row)) ** 2 for x in row) / len(row)] for row in at["x"]]
    ),
    ("mean_square", r"\mathrm{ms} = \tfrac1d\textstyle\sum_i x_i^2"): lambda at: np.array(
        [[sum(x * x for x in row) / len(row)] for row in at["x"]]
    ),
    ("standard", r"\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}}"): lambda at: (
        (at["x"] - at("mean")) / np.sqrt(at("variance") + at["eps"])
    ),
    ("unit", r"\frac{x}{\sqrt{\mathrm{ms} + \epsilon}}"): lambda at: at["x"] / np.sqrt(at("mean_square") + at["eps"]),
    ("gained", r"\gamma \odot \hat x"): lambda at: at["gain"] * at("standard", "unit"),
    ("shifted_by", r"\gamma \odot \hat x + \beta"): lambda at: at["gain"] * at("standard") + at["shift"],
    ("contribution", r"Z_h\,W_O^{(h)}"): lambda at: np.array(
        [z @ at["W_O"][h * z.shape[1] : (h + 1) * z.shape[1]] for h, z in enumerate(at["z"])]
    ),
    ("turned_q", r"q(\phi) = \lVert q\rVert\,(\cos\phi\;e_1 + \sin\phi\;e_2)"): query_turned,
    ("run_max", r"m \leftarrow \max(m,\ \max_j \hat S_{ij})"): lambda at: at["S"][:, : at["end"]].max(-1),
    (
        "run_sum",
        r"\ell \leftarrow e^{m_{old} - m}\,\ell + \textstyle\sum_j e^{\hat S_{ij} - m}",
    ): lambda at: np.exp(at["S"][:, : at["end"]] - at("run_max")[:, None]).sum(-1),
    (
        "run_out",
        r"O \leftarrow e^{m_{old} - m}\,O + \textstyle\sum_j e^{\hat S_{ij} - m}\,V_j",
    ): lambda at: np.exp(at["S"][:, : at["end"]] - at("run_max")[:, None]) @ at["V"][: at["end"]],
    ("compute", r"C = 6ND"): lambda at: np.array([[6 * n * d for d in at["D"]] for n in at["N"]]),
    ("power", r"L(N) = E + \left(N_c / N\right)^{\alpha}"): lambda at: (
        at["E"] + np.exp(at["alpha"] * (np.log(at["N_c"]) - np.log(at["N"])))
    ),
    ("parametric", r"L(N, D) = E + \frac{A}{N^{\alpha}} + \frac{B}{D^{\beta}}"): lambda at: np.array(
        [
            at["E"] + at["A"] * n ** -at["alpha"] + at["B"] * d ** -at["beta"]
            for n, d in zip(at["N"], at["D"], strict=True)
        ]
    ),
    (
        "best_size",
        r"N^* = \left(\frac{\alpha A}{\beta B}\right)^{\frac{1}{\alpha+\beta}} \left(\frac{C}{6}\right)^{\frac{\beta}{\alpha+\beta}}",
    ): lambda at: np.array(
        [
            np.exp(
                (np.log(at["alpha"] * at["A"]) - np.log(at["beta"] * at["B"]) + at["beta"] * np.log(c / 6))
                / (at["alpha"] + at["beta"])
            )
            for c in at["C"]
        ]
    ),
    ("rnn_state", r"h_t = \tanh(W x_t + U h_{t-1})"): recurrent,
    ("read_back", r"x' = \mathrm{ReLU}(W^\top W x + b)"): lambda at: np.maximum(
        np.einsum("...nf,...ng,...sg->...sf", at["W"], at["W"], at["x"]) + at["b"][..., None, :], 0
    ),
    ("different", r"|X - \bar X| \,/\, |X|"): lambda at: np.sqrt(
        (at["X"] - at["X"].mean(-2, keepdims=True)).var((-2, -1)) / (at["X"] ** 2).mean((-2, -1))
    ),
    ("match", r"q \cdot k = c^2 - (c - c')^2 - \tfrac{1}{2t}"): lambda at: (
        at["c"] ** 2 - (at["c"] - at["cells"]) ** 2 - 1 / (2 * at["times"])
    ),
    ("gru_state", r"h_t = (1 - z_t) \odot n_t + z_t \odot h_{t-1}"): gated,
    ("linear_attn", r"X + \tfrac1n\,(XW_Q)(X_pW_K)^\top(X_pW_V)\,W_P"): lambda at: (
        at["X"]
        + ((at["X"] @ at["q"]) @ (at["X"][: at["n"]] @ at["k"]).T) @ at["X"][: at["n"]] @ at["v"] @ at["p"] / at["n"]
    ),
}

# The formulas of the ledger are arithmetic, and are read from their text: tests/pages/test_ledger_formulas.py.
IN_THE_LEDGER = ("parameters", "cache", "flops", "training")

NO_CLOSED_FORM = {
    ("memory", r"m = \mathrm{Enc}(x)"): "a whole encoder; its parts are held one by one",
    (
        "influence",
        r"\left\lVert \partial z_i / \partial x_j \right\rVert",
    ): "a gradient through all blocks, by autograd",
    ("yarn_ramp", r"\gamma_i"): "a symbol; its two ends are rounded, which its docstring says in words",
}
