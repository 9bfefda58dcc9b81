"""The tiny mixture of experts, as its page asks about it: who learns what, who finds a seat, and how large the real ones are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import torch

from core import costs
from core.counting import total
from core.moe import seats
from core.nets import mixture as net
from core.presets import presets

SPARSE = ("mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3")
BLOCK = 1  # the one that pictures of loads show: the last


# ---- while it learns ----


@dataclass(frozen=True)
class Learning:
    """loads: (stop, expert), the share of the letters each expert was sent in the last block at STOPS; busiest: (stop,)."""

    steps: tuple[int, ...]
    loads: np.ndarray
    busiest: np.ndarray


def learning(kind: str, seed: int = 0) -> Learning:
    """What was recorded while one run learned. Raises KeyError."""
    loads = net.loads(kind)[seed, :, BLOCK]
    return Learning(net.STOPS, loads, loads.max(-1))


def worst(kind: str) -> tuple[float, int]:
    """The largest share any one expert ever had, mean over the seeds, and the step."""
    busiest = net.loads(kind)[:, :, BLOCK].max(-1).mean(0)
    return float(busiest.max()), net.STOPS[int(busiest.argmax())]


# ---- seats ----


@dataclass(frozen=True)
class Seats:
    """Seats in the last block for the kept texts, read together. places: (capacity,) seats of each expert; seated and
    turned_away: (capacity, expert) letters; dropped: (capacity,) the share turned away in both blocks; loss: (capacity,).
    """

    places: np.ndarray
    seated: np.ndarray
    turned_away: np.ndarray
    dropped: np.ndarray
    loss: np.ndarray


def rationed(kind: str) -> Seats:
    """First come, first served, at every capacity. Loads are computed now, the loss of this run was recorded."""
    rows = net.texts()[:, :-1]
    came = net.chosen(net.model(kind), rows)[BLOCK].flatten(0, 1).sum(0).numpy()
    places = np.array([seats(rows.numel(), 1, net.EXPERTS, c) for c in net.CAPACITIES])
    seated = np.minimum(came[None], places[:, None])
    loss, dropped = (one[0] for one in net.by_capacity(kind))
    return Seats(places, seated, came - seated, dropped, loss)


# ---- what experts learn ----


@dataclass(frozen=True)
class Routing:
    """Where each letter of a text went. letters: (letter,); experts: (block, letter); probs: (block, expert, letter)."""

    letters: str
    experts: np.ndarray
    probs: np.ndarray

    def links(self, block: int) -> list[tuple[str, int, int]]:
        """(letter, expert, how often), the commonest letters first."""
        pairs = Counter(zip(self.letters, self.experts[block].tolist(), strict=True))
        often = Counter(self.letters)
        return sorted(((a, e, n) for (a, e), n in pairs.items()), key=lambda row: (-often[row[0]], row))


def letters_of(text: str, otherwise: str) -> str:
    """What the tiny net reads of a text: its first letters; of a text without any it reads another."""
    return net.spelled(text)[: net.LENGTH].strip() or net.spelled(otherwise)[: net.LENGTH]


def routing(kind: str, letters: str) -> Routing:
    """One pass over spelled letters."""
    trace = net.routed(kind, letters)
    blocks = range(net.CONFIG.n_layers)
    experts = np.stack([trace[f"block{b}.chosen"].value.argmax(-1) for b in blocks])
    return Routing(letters, experts, np.stack([trace[f"block{b}.router_probs"].value.T for b in blocks]))


@dataclass(frozen=True)
class Speciality:
    """One expert: its share of all letters, and its commonest letters with how much of each of them it gets."""

    expert: int
    share: float
    letters: tuple[tuple[str, float], ...]


def specialities(kind: str, block: int = BLOCK, most: int = 6) -> list[Speciality]:
    """What each expert is sent on the kept texts."""
    sent = net.specialities(kind)[block]
    every = sent.sum(0)
    found = []
    for e, row in enumerate(sent):
        best = [i for i in np.argsort(-row, kind="stable")[:most] if row[i] >= 1]
        letters = tuple((net.LETTERS[i], float(row[i] / every[i])) for i in best)
        found.append(Speciality(e, float(row.sum() / sent.sum()), letters))
    return found


def explained(kind: str, block: int = BLOCK) -> float:
    """How much of the choice of an expert the letter alone tells: mutual information over the entropy of the choice."""
    joint = net.specialities(kind)[block]
    joint = joint / joint.sum()
    letter, expert = joint.sum(0, keepdims=True), joint.sum(1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = np.nansum(joint * np.log(joint / (letter * expert)))
        own = -np.nansum(expert * np.log(expert))
    return float(shared / own)


# ---- real ones ----


@dataclass(frozen=True)
class Real:
    """A published mixture. used: parameters that one token meets; experts, active, shared and the router's numbers:
    in each sparse block."""

    name: str
    whole: int
    used: int
    experts: int
    active: int
    shared: int
    router: int


def published() -> list[Real]:
    """Counted from their configs."""
    found = []
    for id in SPARSE:
        preset = presets()[id]
        c, moe = preset.config, preset.config.moe
        assert moe is not None
        found.append(
            Real(
                preset.name,
                total(c),
                costs.active(c),
                moe.n_experts,
                moe.n_active,
                moe.n_shared,
                c.d_model * moe.n_experts,
            )
        )
    return found


@dataclass(frozen=True)
class Several:
    """One run with more experts a letter than it was trained with. loss and used: (k,), for 1 to all experts."""

    loss: np.ndarray
    used: np.ndarray


def several(kind: str) -> Several:
    """Measured now, on the kept texts; used: the parameters that a letter meets."""
    ks = range(1, net.EXPERTS + 1)
    used = [costs.active(replace(net.CONFIG, moe=replace(net.CONFIG.moe, n_active=k))) for k in ks]
    return Several(np.array([net.with_more(kind, k) for k in ks]), np.array(used))


def parameters() -> tuple[int, int]:
    """How many the tiny net has, and how many of them a letter meets."""
    return total(net.CONFIG), costs.active(net.CONFIG)


@torch.inference_mode()
def losses() -> dict[str, tuple[float, float, float]]:
    """Kind -> lowest, mean, highest loss over the seeds, with seats for everybody."""
    return {kind: (float(x.min()), float(x.mean()), float(x.max())) for kind in net.KINDS for x in [net.final(kind)]}
