"""What a linear layer is: shapes and cost, turning and stretching, why two in a row are one, and dot products."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.config import ModelConfig
from core.presets import presets
from core.softmax import temperatures
from core.trace import to_numpy

# ---- two arrows ----

DEGREES = tuple(range(0, 361, 5))
LONG = (0.5, 1.0, 2.0)  # lengths of the second arrow


@dataclass(frozen=True)
class Arrows:
    """Two arrows at every pair of angles of DEGREES: frame i * len(DEGREES) + j has q at i and k at j."""

    tips: np.ndarray  # (frame, arrow, 2)
    dot: np.ndarray  # (frame,)
    cosine: np.ndarray
    angle: np.ndarray  # degrees, 0 to 180


def arrows(long: float = 1.0) -> Arrows:
    """q of length 1 and k of length `long`: a·b = |a||b| cos."""
    around = torch.tensor(DEGREES, dtype=torch.float64).deg2rad()
    one = torch.stack([around.cos(), around.sin()], -1)
    q, k = one[:, None].expand(-1, len(one), -1), long * one.expand(len(one), -1, -1)
    dot = (q * k).sum(-1)
    cosine = F.cosine_similarity(q, k, dim=-1).clamp(-1, 1)
    tips = torch.stack([q, k], 2).flatten(0, 1)
    return Arrows(*(to_numpy(x) for x in (tips, dot.flatten(), cosine.flatten(), cosine.acos().rad2deg().flatten())))


# ---- a matrix deforms the plane ----

STEPS = 20  # frames for each of the three stages
ENTRIES = tuple(x / 10 for x in range(-20, 21))
PRESETS = {  # rows of the matrix
    "rotate": (0.8, -0.6, 0.6, 0.8),
    "scale": (1.5, 0.0, 0.0, 0.5),
    "shear": (1.0, 1.0, 0.0, 1.0),
    "mirror": (0.0, 1.0, 1.0, 0.0),
    "project": (0.8, 0.4, 0.4, 0.2),
}


@dataclass(frozen=True)
class Deform:
    """x ↦ Mx in three stages, frame by frame: turn, stretch, turn. M = U S Vᵀ with U and V rotations."""

    grid: np.ndarray  # (frame, line, 2, 2)
    circle: np.ndarray  # (frame, 1, point, 2)
    arrows: np.ndarray  # (frame, 2, 2): where the two singular directions are
    turns: tuple[float, float]  # degrees, by Vᵀ and by U
    stretch: tuple[float, float]  # the second below zero where M mirrors
    determinant: float
    rank: int


def rotations(m: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """m (2, 2) = u diag(s) vh with proper rotations u and vh, vh by a quarter turn at most; s[1] < 0 if m mirrors."""
    u, s, vh = torch.linalg.svd(m)
    s = s.clone()
    if torch.det(vh) < 0:
        vh, s = torch.stack([vh[0], -vh[1]]), torch.stack([s[0], -s[1]])
    if torch.det(u) < 0:
        u, s = torch.stack([u[:, 0], -u[:, 1]], -1), torch.stack([s[0], -s[1]])
    return (-u, s, -vh) if vh[0, 0] < 0 else (u, s, vh)


def deform(a: float, b: float, c: float, d: float) -> Deform:
    """The matrix ((a, b), (c, d)), applied to column vectors, at every frame of its three stages."""
    m = torch.tensor([[a, b], [c, d]], dtype=torch.float64)
    u, s, vh = rotations(m)
    turns = [torch.atan2(r[1, 0], r[0, 0]) for r in (vh, u)]
    ones = torch.ones(2, dtype=torch.float64)
    going = torch.linspace(0, 1, STEPS + 1, dtype=torch.float64)
    stages = [_rotation(going * turns[0])]
    stages.append(torch.diag_embed(ones + going[1:, None] * (s - ones)) @ vh)
    stages.append(_rotation(going[1:] * turns[1]) @ torch.diag(s) @ vh)
    maps = torch.cat(stages)  # (frame, 2, 2)
    ends = torch.linspace(-2, 2, 9, dtype=torch.float64)
    lines = torch.stack([torch.stack([ends, ends.new_full((9,), e)], -1) for e in (-2.0, 2.0)], 1)  # upright
    lines = torch.cat([lines, lines.flip(-1)])
    round_ = torch.linspace(0, 2 * math.pi, 65, dtype=torch.float64)
    circle = torch.stack([round_.cos(), round_.sin()], -1)[None]
    grid, circle, axes = (torch.einsum("fij,lpj->flpi", maps, x) for x in (lines, circle, vh[:, None]))
    return Deform(
        to_numpy(grid),
        to_numpy(circle),
        to_numpy(axes[:, :, 0]),
        tuple(float(t.rad2deg()) for t in turns),
        (float(s[0]), float(s[1])),
        float(torch.det(m)),
        int((s.abs() > 1e-9).sum()),
    )


def _rotation(angle: Tensor) -> Tensor:
    """angle: (frame,). Returns (frame, 2, 2)."""
    return torch.stack([torch.stack([angle.cos(), -angle.sin()], -1), torch.stack([angle.sin(), angle.cos()], -1)], -2)


# ---- a stack of linear layers ----

DEEPEST, WIDTH = 8, 8


@dataclass(frozen=True)
class Stack:
    """Random layers on top of each other, without and with a bend between them; one entry for every depth."""

    xs: np.ndarray  # (x,)
    values: np.ndarray  # (depth, 2, x): without, with SiLU; each brought to height 1
    gap: np.ndarray  # (depth,): the stack of linear layers against its one product
    left: np.ndarray  # (depth, 2): the share of the variance that the best single matrix leaves unexplained


def stack(seed: int = 0) -> Stack:
    """1 to DEEPEST layers WIDTH → WIDTH, their weights random. SiLU stands between layers, not after the last."""
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(DEEPEST, WIDTH, WIDTH, generator=generator) * (1.6 / WIDTH**0.5)
    direction = torch.randn(WIDTH, generator=generator)
    xs = torch.linspace(-3, 3, 121)
    points = torch.cat([xs[:, None] * direction / direction.norm(), torch.randn(512, WIDTH, generator=generator)])
    straight = bent = points
    product = torch.eye(WIDTH)
    values, gap, left = [], [], []
    for depth, w in enumerate(weights):
        straight, product = straight @ w, product @ w
        bent = (F.silu(bent) if depth else bent) @ w
        lines = torch.stack([straight[: len(xs), 0], bent[: len(xs), 0]])
        values.append(lines / lines.abs().amax(-1, keepdim=True))
        gap.append(float((straight - points @ product).abs().max() / straight.abs().max()))
        left.append([_unexplained(points[len(xs) :], y[len(xs) :]) for y in (straight, bent)])
    return Stack(xs.numpy(), to_numpy(torch.stack(values)), np.array(gap), np.array(left))


def _unexplained(x: Tensor, y: Tensor) -> float:
    """The share of y's squared size that no matrix can make of x."""
    x, y = x.double(), y.double()
    rest = y - x @ torch.linalg.lstsq(x, y).solution
    return float(rest.square().sum() / y.square().sum())


# ---- shapes, asked of torch itself ----


@dataclass(frozen=True)
class Call:
    """A real call of nn.Linear: the lines of code, what torch answered, and whether that was an error."""

    code: str
    answer: str
    failed: bool
    params: int


def call(n_in: int, n_out: int, bias: bool, shape: tuple[int, ...]) -> Call:
    """nn.Linear(n_in, n_out) on a tensor of `shape`. Never raises: what torch complains about becomes the answer."""
    written = "" if bias else ", bias=False"
    lines = [
        f"layer = nn.Linear({n_in}, {n_out}{written})",
        f"x = torch.zeros{tuple(shape)}",
        "print(layer.weight.shape)",
        "print(layer(x).shape)",
    ]
    answer, failed, params = [], False, 0
    try:
        layer = nn.utils.skip_init(nn.Linear, n_in, n_out, bias=bias)  # its values do not matter, only its shape
        params = sum(p.numel() for p in layer.parameters())
        answer.append(str(layer.weight.shape))
        answer.append(str(layer(torch.zeros(shape)).shape))
    except (RuntimeError, TypeError) as error:  # TypeError: a size that is no whole number, or too long for one
        answer.append(f"{type(error).__name__}: {error}")
        failed = True
    return Call("\n".join(lines), "\n".join(answer), failed, params)


def trio(hidden: int, shape: tuple[int, ...]) -> Call:
    """Simplified projections of attention: q, k and v as wide as the model, without bias."""
    layers = {f"{name}_proj": nn.utils.skip_init(nn.Linear, hidden, hidden, bias=False) for name in "qkv"}
    lines = [f"{name} = nn.Linear({hidden}, {hidden}, bias=False)" for name in layers]
    lines += [
        f"x = torch.zeros{tuple(shape)}",
        "q, k, v = q_proj(x), k_proj(x), v_proj(x)",
        "print(q.shape, k.shape, v.shape)",
    ]
    answer = " ".join(str(layer(torch.zeros(shape)).shape) for layer in layers.values())
    return Call("\n".join(lines), answer, False, sum(p.numel() for m in layers.values() for p in m.parameters()))


# ---- what a layer costs ----


@dataclass(frozen=True)
class Layer:
    """A linear layer n_in → n_out and its price for one token."""

    name: str
    n_in: int
    n_out: int
    bias: bool = False

    @property
    def params(self) -> int:
        return self.n_in * self.n_out + (self.n_out if self.bias else 0)

    @property
    def macs(self) -> int:
        """Multiply-adds for one token: one for each weight."""
        return self.n_in * self.n_out

    @property
    def flops(self) -> int:
        """A multiply-add is two operations; adding the bias is one more for each output."""
        return 2 * self.macs + (self.n_out if self.bias else 0)


QWEN3_8B = presets()["qwen3-8b"].config


def projections(config: ModelConfig) -> tuple[Layer, ...]:
    """q_proj, k_proj and v_proj, as Hugging Face transformers builds them."""
    wide, kv = config.n_heads * config.head_dim, config.n_kv_heads * config.head_dim
    return tuple(
        Layer(name, config.d_model, out, config.qkv_bias)
        for name, out in (("q_proj", wide), ("k_proj", kv), ("v_proj", kv))
    )


@dataclass(frozen=True)
class Shapes:
    """Attention's matrices for n tokens of width d, heads of width d_k and d_v. Each is (rows, columns)."""

    n: int
    d: int
    d_k: int
    d_v: int

    @property
    def all(self) -> dict[str, tuple[int, int]]:
        """In the order of the computation: what goes in, the weights, what comes out."""
        n, d, d_k, d_v = self.n, self.d, self.d_k, self.d_v
        return {
            "X": (n, d),
            "W^Q": (d, d_k),
            "W^K": (d, d_k),
            "W^V": (d, d_v),
            "Q": (n, d_k),
            "K": (n, d_k),
            "V": (n, d_v),
            "QK^\\top": (n, n),
            "Z": (n, d_v),
        }

    @property
    def params(self) -> int:
        return 2 * self.d * self.d_k + self.d * self.d_v

    @property
    def macs(self) -> int:
        """Multiply-adds of the three projections."""
        return self.n * self.params


# ---- the library ----

TAGS = ("python", "beginner", "expert", "data", "cooking")
CONTENTS = ("examples", "theory", "recipes")
BOOKS = {  # the book -> its tags, and what it holds
    "first": ((1.0, 1.0, 0.0, 0.5, 0.0), (0.7, 0.3, 0.0)),
    "inside": ((1.0, 0.0, 1.0, 0.0, 0.0), (0.2, 0.8, 0.0)),
    "soup": ((0.0, 1.0, 0.0, 0.0, 1.0), (0.1, 0.0, 0.9)),
}
TEMPERATURES = tuple(temperatures())
QUOTED = ((0.95, 0.10, 0.30), (0.70, 0.01, 0.15))  # a library analogy in circulation: matches, and "their softmax"


@dataclass(frozen=True)
class Library:
    """A reader's tags against three books, at every temperature of TEMPERATURES."""

    scores: np.ndarray  # (book,)
    shares: np.ndarray  # (frame, book)
    mixture: np.ndarray  # (frame, content)


def library(asked: tuple[float, ...]) -> Library:
    """asked: one number a tag. Raises ValueError for another number of tags."""
    if len(asked) != len(TAGS):
        raise ValueError(f"{len(asked)} numbers for {len(TAGS)} tags")
    query = torch.tensor(asked, dtype=torch.float64)
    keys, values = (torch.tensor([book[i] for book in BOOKS.values()], dtype=torch.float64) for i in (0, 1))
    scores = keys @ query
    shares = (scores / torch.tensor(TEMPERATURES, dtype=torch.float64)[:, None]).softmax(-1)
    return Library(to_numpy(scores), to_numpy(shares), to_numpy(shares @ values))


WISHES = tuple(round(k / 12, 4) for k in range(49))  # 0 to 4: how much one tag matters


@dataclass(frozen=True)
class Wished:
    """A reader who wants Python once and books for beginners as much as each of WISHES."""

    query: np.ndarray  # (frame, tag)
    scores: np.ndarray  # (frame, book)
    shares: np.ndarray  # (frame, book)
    mixture: np.ndarray  # (frame, content)


def wished() -> Wished:
    """The look-up while one number of the query grows: every book is asked, and none is left out."""
    query = torch.zeros(len(WISHES), len(TAGS), dtype=torch.float64)
    query[:, TAGS.index("python")] = 1
    query[:, TAGS.index("beginner")] = torch.tensor(WISHES, dtype=torch.float64)
    keys, values = (torch.tensor([book[i] for book in BOOKS.values()], dtype=torch.float64) for i in (0, 1))
    scores = query @ keys.T
    shares = scores.softmax(-1)
    return Wished(*map(to_numpy, (query, scores, shares, shares @ values)))


@dataclass(frozen=True)
class Quoted:
    """What is wrong with QUOTED: its true softmax, its sum, and the temperatures that two pairs of it would need."""

    softmax: tuple[float, ...]
    total: float
    needed: tuple[float, float]


def quoted() -> Quoted:
    """Two shares of one softmax tell its temperature: T = (s_i - s_j) / ln(p_i / p_j)."""
    scores, shares = QUOTED
    needed = tuple((scores[0] - scores[j]) / math.log(shares[0] / shares[j]) for j in (1, 2))
    return Quoted(tuple(torch.tensor(scores).softmax(-1).tolist()), sum(shares), needed)
