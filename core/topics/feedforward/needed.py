"""How many neurons does a token need? Some of every FFN's neurons are kept, by three rules, and the rest left out.

Every token may choose its own; one set may serve all tokens; chance may choose. What a neuron matters to a token is how
much it writes: |activation| times the length of its column. The losses on held-out texts are recorded by
`python -m core.make needed`, and the next word of a visitor's text is computed here, all stops in a few passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from core.assets import ASSETS
from core.lab import subject
from core.lab.text import FIRST, Cannot, Text, Word, top
from core.model import Decoder
from core.trace import to_numpy
from core.whatif import Edit, WhatIf

FILE = ASSETS / "data" / "needed.npz"
RULES = ("own", "set", "chance")  # each token its own; one set for all, the best there is; any
PARTS = tuple(i / 48 for i in range(49))  # of all neurons
STEPS = (1, 2, 3, 4, 6, 8, 12)  # every so many stops are computed: a half is among them all
MOST = 900  # tokens of all computed stops together: about a second for all three rules
GRAINS = (384, 192, 96, 48, 16, 8, 4, 1)  # neurons that are kept or left out together
ROUTERS = ("perfect", "linear")
SHOWN = 8


def sizes(d_ff: int, parts: tuple[float, ...] = PARTS) -> tuple[int, ...]:
    """How many of d_ff neurons these parts are."""
    return tuple(round(part * d_ff) for part in parts)


def computed(tokens: int) -> tuple[float, ...]:
    """The parts that are computed for a text of so many tokens; of a long text fewer."""
    return PARTS[:: next((step for step in STEPS if len(PARTS[::step]) * tokens <= MOST), STEPS[-1])]


def dense(subject_name: str) -> Decoder:
    """The model, if all of its blocks have one FFN. Raises Cannot."""
    model = subject.model(subject_name)
    if model.config.moe:
        raise Cannot("This model's FFNs are mixtures of experts already: the router chooses for each token.")
    return model


def columns(model: Decoder) -> Tensor:
    """(block, d_ff): the length of every neuron's column, which is how much it writes at activation one."""
    return torch.stack([block.ffn.down.weight.detach().norm(dim=0) for block in model.blocks])


def kept(score: Tensor, k: Tensor) -> Tensor:
    """True at the k largest of each row. score: (..., token, d_ff); k: (stop,) against the first axis of score, or ()."""
    order = score.argsort(dim=-1, descending=True)
    rank = torch.empty_like(order).scatter_(-1, order, torch.arange(order.shape[-1]).expand_as(order))
    return rank < k.view(-1, *[1] * (score.ndim - 1)) if k.ndim else rank < k


def edits(model: Decoder, rule: str, k: Tensor, order: np.ndarray) -> list[Edit]:
    """The model with k neurons of every block's FFN, as edits. order: (block, d_ff), the best set's rank of each."""
    lengths, ranks = columns(model), torch.from_numpy(order.astype(np.int64))
    if rule == "chance":
        ranks = torch.stack(
            [torch.randperm(ranks.shape[1], generator=torch.Generator().manual_seed(b)) for b in range(len(ranks))]
        )

    def cut(b: int) -> Callable[[Tensor], Tensor]:
        def own(a: Tensor) -> Tensor:
            return a * kept(a.abs() * lengths[b], k)

        def fixed(a: Tensor) -> Tensor:
            return a * (ranks[b] < (k.view(-1, 1, 1) if k.ndim else k))

        return own if rule == "own" else fixed

    return [(f"block{b}.ffn_act", cut(b)) for b in range(len(ranks))]


@dataclass(frozen=True)
class Needed:
    """ks: (stop,) neurons kept of d_ff; words: what is followed, the untouched answer first; p: (rule, stop, word)."""

    ks: tuple[int, ...]
    d_ff: int
    words: tuple[Word, ...]
    p: np.ndarray

    def least(self, rule: str, share: float = 0.5) -> int | None:
        """From how many neurons on the answer keeps this share of its probability at every larger stop. None: never."""
        fine = self.p[RULES.index(rule), :, 0] >= share * self.words[0].p
        at = len(fine) - int(np.argmin(fine[::-1])) if not fine.all() else 0
        return self.ks[at] if at < len(fine) else None


@torch.inference_mode()
def run(text: Text) -> Needed:
    """The next word at every stop under every rule. Raises Cannot."""
    model, ids = dense(text.subject), torch.tensor(text.ids)
    d_ff = model.config.d_ff
    ks = sizes(d_ff, computed(len(text)))
    words = top(subject.untouched(text)["next_probs"].value, SHOWN, text.subject)
    order, found = orders(text), []
    for rule in RULES:
        rows = []
        for k in torch.tensor(ks).split(subject.at_once(len(ids))):
            x = model.stream(ids.expand(len(k), -1), trace=WhatIf(edits(model, rule, k, order)))
            rows.append(model.predict(x).softmax(-1)[:, [one.id for one in words]])
        found.append(torch.cat(rows))
    return Needed(ks, d_ff, tuple(words), to_numpy(torch.stack(found)))


def orders(text: Text) -> np.ndarray:
    """(block, d_ff): how many neurons matter more, on the mean; recorded for the model that ships, else of this text."""
    if text.subject == FIRST:
        return np.asarray(recorded()["order"])
    model, trace = dense(text.subject), subject.untouched(text)
    lengths = columns(model)
    wrote = [trace[f"block{b}.ffn_act"].tensor * lengths[b] for b in range(len(lengths))]
    return importance_ranks(torch.stack([one.square().mean(0) for one in wrote]))


def importance_ranks(importance: Tensor) -> np.ndarray:
    """(block, d_ff) -> the rank of each neuron in its block, 0 the most important."""
    return importance.argsort(dim=-1, descending=True).argsort(dim=-1).numpy()


@cache
def recorded() -> dict[str, np.ndarray]:
    """losses (rule, stop); grains (router, grain); order (block, d_ff); groups (grain, block, d_ff); texts (text, token)."""
    with np.load(FILE, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def losses() -> np.ndarray:
    """(rule, stop): nats a token on texts that chose nothing, with so many neurons kept in all blocks."""
    return recorded()["losses"]


def grains() -> np.ndarray:
    """(router, grain): the same with half of all groups kept, for groups of GRAINS neurons."""
    return recorded()["grains"]


# ---- groups ----


def energy(a: Tensor, groups: Tensor, n: int) -> Tensor:
    """(..., group): how much each group writes. a: (..., d_ff), activations times lengths; groups: (d_ff,)."""
    return torch.zeros(*a.shape[:-1], n).index_add_(-1, groups, a.square())


def grouped(model: Decoder, groups: np.ndarray, active: int, routers: Tensor | None = None) -> list[Edit]:
    """Each token keeps its `active` best groups in each block: by what they would write, or by a linear router.

    groups: (block, d_ff); routers: (block, d_model + 1, group), read what enters the FFN.
    """
    lengths, labels = columns(model), torch.from_numpy(groups.astype(np.int64))
    made: list[Edit] = []
    for b in range(len(labels)):
        entered: list[Tensor] = []

        def listen(x: Tensor, entered: list[Tensor] = entered) -> Tensor:
            entered[:] = [x]
            return x

        def cut(a: Tensor, b: int = b, entered: list[Tensor] = entered) -> Tensor:
            n = int(labels[b].max()) + 1
            x, wrote = entered[0], energy(a * lengths[b], labels[b], n)
            score = wrote if routers is None else x @ routers[b][:-1] + routers[b][-1]
            best = torch.zeros_like(score).scatter(-1, score.topk(active, dim=-1).indices, 1.0)
            return a * best[..., labels[b]]

        made += [(f"block{b}.norm2", listen), (f"block{b}.ffn_act", cut)]
    return made
