"""Before attention: a recurrent net hands one state from word to word. What that costs, and what gets lost.

Steps, hops, work and memory are counted; gradients are computed by autograd through nets with random weights, which
have learned nothing: what fades in them is what training would have to work against.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from core.attention import attention
from core.lab import subject
from core.lab.text import Text
from core.trace import SILENT, Quantity, Trace, to_numpy

STATE = Quantity(
    "rnn_state",
    "query d_model",
    r"h_t = \tanh(W x_t + U h_{t-1})",
    "All that is handed on from word to word is one vector.",
)
GATED = Quantity(
    "gru_state",
    "query d_model",
    r"h_t = (1 - z_t) \odot n_t + z_t \odot h_{t-1}",
    "A gate decides how much of the old state stays.",
)

WIDTH = 24  # of the states
RADII = tuple(i / 25 for i in range(10, 61))  # 0.4 to 2.4, 1 among them
KEEPS = (0.5, 0.75, 0.9, 0.97)  # how much of its old state a GRU keeps, before it has seen a word
TIMES = (1, 2, 4, 8)
LONGEST = 128  # tokens: the last ones of a longer text
INPUT = 0.2  # standard deviation of what a word adds to the state
RADII_AT_ONCE = 9  # more would take gigabytes for a long text
PROBES = 8  # random directions, where all of them would take too long


def rnn(u: Tensor, recurrent: Tensor, *, trace: Trace = SILENT) -> Tensor:
    """A plain recurrent net (Elman 1990). Every state waits for the one before it.

    u: (token, ..., width), what each word adds, W x_t. recurrent: (..., width, width), U. Returns the states, as u.
    """
    h, states = torch.zeros_like(u[0]), []
    for x in u:
        h = torch.tanh(x + h @ recurrent.mT)
        states.append(h)
    return trace(STATE, torch.stack(states))


def gru(u: Tensor, recurrent: Tensor, bias: float = 0.0, *, trace: Trace = SILENT) -> Tensor:
    """A gated recurrent net (Cho et al. 2014, arXiv 1406.1078), in the form of torch.nn.GRU.

    u: (gate, token, ..., width), recurrent: (gate, ..., width, width), gates in the order reset, update, new.
    bias: of the update gate; the larger, the more of the old state stays. Returns the states (token, ..., width).
    """
    h, states = torch.zeros_like(u[0, 0]), []
    for to_reset, to_update, to_new in zip(*u, strict=True):
        reset = torch.sigmoid(to_reset + h @ recurrent[0].mT)
        update = torch.sigmoid(to_update + h @ recurrent[1].mT + bias)
        new = torch.tanh(to_new + reset * (h @ recurrent[2].mT))
        h = (1 - update) * new + update * h
        states.append(h)
    return trace(GATED, torch.stack(states))


# ---- how strongly the last state still answers to an earlier word ----


@dataclass(frozen=True)
class Demo:
    """What a visitor chooses. times: how often the text is read in a row; keeps: the GRU's gate, one of KEEPS."""

    text: Text
    times: int = 4
    keeps: float = 0.9
    seed: int = 0

    @property
    def read(self) -> Text:
        """The text so often in a row; of what is too long the last LONGEST tokens, or as many as the model reads."""
        most = min(LONGEST, subject.config(self.text.subject).context)
        ids, tokens = ((part * self.times)[-most:] for part in (self.text.ids, self.text.tokens))
        return replace(self.text, ids=ids, tokens=tokens)


@dataclass(frozen=True)
class Fading:
    """|| d last state / d word || by distance, relative to that of the last word itself.

    rnn, gru, power: (radius, distance); attention, trained: (distance,). power: radius to the power of the distance.
    """

    rnn: np.ndarray
    gru: np.ndarray
    power: np.ndarray
    attention: np.ndarray
    trained: np.ndarray


def fading(demo: Demo) -> Fading:
    """All nets at all RADII."""
    generator = torch.Generator().manual_seed(demo.seed)
    words = words_of(demo.read)
    u, square = drive(words, 3, generator)
    recurrent = orbits(3, generator)
    plain = influence(lambda u, U: rnn(u[0], U[0]), u[:1], recurrent[:1], square[:1, :, :1])
    bias = math.log(demo.keeps / (1 - demo.keeps))
    gated = influence(lambda u, U: gru(u, U, bias), u, recurrent, square)
    radii, distance = np.array(RADII)[:, None], np.arange(len(words))
    return Fading(
        rnn=_by_distance(plain),
        gru=_by_distance(gated),
        power=radii**distance,
        attention=_by_distance(looked(words, generator)),
        trained=_by_distance(trained(demo.read)),
    )


def _by_distance(norms: Tensor) -> np.ndarray:
    """(..., token) -> (..., distance), the last word's own being one. Where it is zero, nothing can be compared."""
    return to_numpy((norms / norms[..., -1:].clamp_min(torch.finfo(norms.dtype).tiny)).flip(-1))


def words_of(text: Text) -> Tensor:
    """The model's own vectors of these tokens, brought to variance one, (token, d_model)."""
    rows = subject.model(text.subject).embed.weight.detach()[list(text.ids)].double()
    return rows / rows.square().mean().sqrt()


def drive(words: Tensor, gates: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """What the words add to each gate through random input weights: u (gate, token, width), and W W^T between gates,
    (gate, width, gate, width), by which a gradient for u becomes the length of a gradient for the word."""
    weights = torch.randn(gates, WIDTH, words.shape[1], generator=generator).double() * INPUT / words.shape[1] ** 0.5
    return torch.einsum("gwd,td->gtw", weights, words), torch.einsum("gwd,hvd->gwhv", weights, weights)


def orbits(gates: int, generator: torch.Generator) -> Tensor:
    """Random recurrent weights at each of RADII: (gate, radius, width, width)."""
    weights = torch.randn(gates, WIDTH, WIDTH, generator=generator).double()
    largest = torch.linalg.eigvals(weights).abs().amax(-1)
    return torch.tensor(RADII).double()[:, None, None] * (weights / largest[:, None, None])[:, None]


def influence(net: object, u: Tensor, recurrent: Tensor, square: Tensor) -> Tensor:
    """|| d last state / d word || for every radius and token, (radius, token), in one backward pass.

    Each copy of the net answers for one number of its last state; together they give the whole Jacobian.
    net: (u, recurrent) -> states (token, radius, copy, width).
    """
    gates, n, width = u.shape
    found = []
    for part in recurrent.split(RADII_AT_ONCE, 1):
        copies = u[:, :, None, None].expand(gates, n, part.shape[1], width, width).clone().requires_grad_()
        with torch.enable_grad():
            last = net(copies, part)[-1]
            (gradient,) = torch.autograd.grad(torch.diagonal(last, dim1=-2, dim2=-1).sum(), copies)
        found.append(torch.einsum("gtrcw,gwhv,htrcv->rt", gradient, square, gradient).clamp_min(0).sqrt())
    return torch.cat(found)


def looked(words: Tensor, generator: torch.Generator) -> Tensor:
    """|| d last output / d word || of one attention layer with random weights and no positions, (token,)."""
    weights = torch.randn(3, words.shape[1], WIDTH, generator=generator).double() / words.shape[1] ** 0.5
    copies = words.expand(WIDTH, *words.shape).clone().requires_grad_()
    with torch.enable_grad():
        q, k, v = (copies @ w for w in weights)
        last = attention(q[:, None, -1:], k[:, None], v[:, None])[:, 0, 0]
        (gradient,) = torch.autograd.grad(torch.diagonal(last).sum(), copies)
    return gradient.square().sum((0, 2)).sqrt()


def trained(text: Text, probes: int = PROBES) -> Tensor:
    """The same of the text's own model, which has learned: its last state against each word's vector, (token,).

    The whole Jacobian would take long: `probes` random directions of the state estimate its length.
    """
    model, generator = subject.model(text.subject), torch.Generator().manual_seed(0)
    words = model.embed.weight.detach()[list(text.ids)].expand(probes, -1, -1).clone().requires_grad_()
    with torch.enable_grad():
        stream = words if model.pos_embed is None else words + model.pos_embed.weight.detach()[: len(text)]
        turn, allowed = model.surroundings(len(text))
        for block in model.blocks:
            stream = block(stream, turn, allowed)
        last = model.norm(stream[:, -1])
        directions = torch.randn(last.shape, generator=generator)
        (gradient,) = torch.autograd.grad((last * directions).sum(), words)
    return gradient.double().square().mean(0).sum(-1).sqrt()


# ---- what fits into a state ----

WIDTHS = tuple(range(1, 49))
LAGS = 60
WARM_UP = 300  # steps after which nothing is left of where the state began


def recall(seed: int = 0, n: int = 2999) -> np.ndarray:
    """How much of each past input can be read off the state of a recurrent net, (width, lag), shares between 0 and 1.

    The best linear reader is fitted for every lag. The shares of one net never add up to more than the width of its
    state (Jaeger 2001, "Short term memory in echo state networks").
    """
    generator = torch.Generator().manual_seed(seed)
    wide = WIDTHS[-1]
    x = white(n, generator)
    x = torch.cat([x[-WARM_UP:], x])
    inside = torch.arange(wide) < torch.tensor(WIDTHS)[:, None]  # (width, wide), True where this net has a number
    into = (torch.randn(wide, generator=generator).double() * inside)[:, None]  # (net, 1, wide)
    turning = torch.linalg.qr(torch.randn(len(WIDTHS), wide, wide, generator=generator).double())[0]
    states = rnn(0.02 * x[:, None, None, None] * into, 0.97 * _cut_to(turning, inside))
    return to_numpy(_readable(states[:, :, 0], x))


def white(n: int, generator: torch.Generator) -> Tensor:
    """n random numbers, n odd, no two of which go together: read in a circle, each lag is uncorrelated with all others.

    Every frequency is equally strong, only the phases are drawn. Ordinary random numbers go together a little by chance.
    """
    phases = torch.rand(n // 2 + 1, generator=generator).double() * 2 * math.pi
    waves = torch.polar(torch.ones_like(phases), phases)
    waves[0] = 0
    return torch.fft.irfft(waves, n) * (n / 3) ** 0.5


def _cut_to(weights: Tensor, inside: Tensor) -> Tensor:
    """The upper left corner of each matrix, brought back to a largest eigenvalue of one."""
    weights = weights * inside[:, :, None] * inside[:, None, :]
    return weights / torch.linalg.eigvals(weights).abs().amax(-1)[:, None, None]


def _readable(states: Tensor, x: Tensor) -> Tensor:
    """states: (token, net, width), x: (token,). R^2 of the best linear readers, (net, lag)."""
    rows = states[WARM_UP:].transpose(0, 1)  # (net, token, width)
    past = torch.stack([x[WARM_UP - lag : len(x) - lag] for lag in range(LAGS)], -1)  # (token, lag)
    rows, past = rows - rows.mean(1, keepdim=True), past - past.mean(0)
    sizes, axes = torch.linalg.eigh(rows.mT @ rows)
    real = sizes > 1e-12 * sizes[:, -1:]
    read = axes.mT @ (rows.mT @ past) / sizes.where(real, 1).sqrt()[..., None]  # (net, axis, lag)
    return (read.square() * real[..., None]).sum(1) / past.square().sum(0)


# ---- counting: three ways for words to meet ----

KINDS = ("rnn", "conv", "attention")  # a recurrent net, dilated convolutions of width 2, attention
MEASURES = ("steps", "work", "kept")
LENGTHS = tuple(sorted({round(10 ** (k / 12)) for k in range(61)}))  # 1 to 100,000


def layers(n: int) -> int:
    """How many dilated convolutions of width 2 it takes until the last of n words has taken in the first."""
    return max(1, (n - 1).bit_length())


def hops(distance: int) -> tuple[int, int, int]:
    """How often a word is handed on before it reaches one `distance` words later, for each of KINDS.

    The maximum path length of Vaswani et al. 2017, table 1: O(n), O(log n), O(1). distance: at least 1.
    """
    return distance, distance.bit_length(), 1


def steps(n: int) -> tuple[int, int, int]:
    """Steps that must wait for each other until every one of n words has met all words before it."""
    return n, layers(n), 1


def work(n: int, d: int) -> tuple[int, int, int]:
    """Multiplications to read n words of width d: one recurrent layer, the convolutions, one attention layer.

    U h and W x; two taps for each word and convolution; Q, K, V, O, then all scores and all mixtures.
    """
    return 2 * n * d * d, 2 * n * d * d * layers(n), 4 * n * d * d + 2 * n * n * d


def kept(n: int, d: int) -> tuple[int, int, int]:
    """Numbers that must be kept after n words in order to go on: a state, the inputs still in reach, all keys and values."""
    return d, (2 ** layers(n) - 1) * d, 2 * n * d


def bill(d: int) -> dict[str, np.ndarray]:
    """Every measure over LENGTHS, (kind, length)."""
    rows = {"steps": [steps(n) for n in LENGTHS], "work": [work(n, d) for n in LENGTHS]}
    rows["kept"] = [kept(n, d) for n in LENGTHS]
    return {measure: np.array(found, np.float64).T for measure, found in rows.items()}


def way(kind: str, distance: int) -> list[tuple[int, int]]:
    """The way of a word to one `distance` later: (words travelled, layers climbed) after each hop, from (0, 0) on."""
    if kind == "rnn":
        return [(i, 0) for i in range(distance + 1)]
    if kind == "attention":
        return [(0, 0), (distance, 1)]
    taken = np.cumsum([distance & (1 << layer) for layer in range(distance.bit_length())])
    return [(0, 0), *((int(x), layer + 1) for layer, x in enumerate(taken))]


def race(n: int) -> np.ndarray:
    """The share of the words up to its own that each word has taken in after k steps: (step 0 to n, kind, word)."""
    k, i = np.arange(n + 1)[:, None], np.arange(n)
    field = np.minimum(2.0 ** np.minimum(k, 60), i + 1)  # words that k dilated convolutions bring together
    return np.stack([k > i, np.where(k > 0, field / (i + 1), 0), (k > 0) & (i >= 0)], 1).astype(np.float32)
