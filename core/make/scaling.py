"""Sample beginnings of stories, train seven nets on their letters, record how the loss falls: twenty minutes.

Rates are tuned by hand, width by width. They warm up, stay, and fall to a tenth over the last third: only the last
point of a curve is that of a net whose rate has come down.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core import counting
from core.cache import Cache
from core.heads import merge, split
from core.lab import subject
from core.lab.text import FOLDER
from core.make.fit import drawn, fit
from core.model import Decoder
from core.nets.scaling import (
    BEGIN,
    FILE,
    LETTERS,
    LEVEL,
    OTHER,
    PLANS,
    READ,
    STEPS,
    TEXTS,
    config,
    marks,
    spelled,
    written,
)
from core.rope import angles, rotate
from core.tokenizer import of_model

PARTS, AT_ONCE = 13, 512  # batches of stories; the first is never learned from
RATES = {4: 3e-2, 8: 2e-2, 16: 1e-2, 24: 8e-3, 40: 5e-3, 64: 4e-3, 96: 3e-3}
WARM, LEFT = 50, 0.1
SAMPLES, SHOWN = 3, 90  # texts a net writes, and letters of each


@torch.inference_mode()
def stories(seed: int, n: int = AT_ONCE) -> tuple[Tensor, Tensor]:
    """Stories as the source draws them at temperature 1, cut after READ letters.

    Returns letters (text, READ), whole numbers below len(LETTERS), and nats (text,): what the source spent on them.
    A token that the cut goes through counts by the share of its letters before the cut.
    """
    model, generator, pieces = subject.model(), torch.Generator().manual_seed(seed), of_tokens()
    sizes = torch.tensor([len(piece) for piece in pieces])
    kept, drawn_ids, surprises = Cache(model), [], []
    ids = torch.ones(n, 1, dtype=torch.long)  # <s>
    while not drawn_ids or int(sizes[torch.cat(drawn_ids, 1)].sum(1).min()) <= READ:  # the first may begin with a space
        shares = model.predict(kept.read(ids)).softmax(-1)
        heaped = shares.cumsum(-1)
        ids = torch.searchsorted(heaped, torch.rand(n, 1, generator=generator) * heaped[:, -1:])
        ids = ids.clamp(max=shares.shape[-1] - 1)
        surprises.append(-shares.gather(1, ids).log())
        drawn_ids.append(ids)
    rows = zip(torch.cat(drawn_ids, 1).tolist(), torch.cat(surprises, 1).tolist(), strict=True)
    texts = [cut([pieces[id] for id in row], nats) for row, nats in rows]
    return torch.tensor([letters for letters, _nats in texts]), torch.tensor([nats for _letters, nats in texts])


def cut(pieces: list[list[int]], nats: list[float]) -> tuple[list[int], float]:
    """The first READ letters of a text in pieces, and what they cost. A space before the first word is no letter."""
    if pieces[0][:1] == spelled(" "):
        pieces = [pieces[0][1:], *pieces[1:]]
    letters, spent = list[int](), 0.0
    for piece, cost in zip(pieces, nats, strict=True):
        room = piece[: READ - len(letters)]
        if len(letters) < READ:
            spent += cost * (len(room) / len(piece) if piece else 1.0)
        letters += room
    return letters, spent


@cache
def of_tokens() -> list[list[int]]:
    """The letters of every token of the source. A token that ends a story is a new line, a single byte is OTHER."""
    tokenizer, found = of_model(FOLDER), []
    for id in range(tokenizer.get_vocab_size()):
        name = tokenizer.id_to_token(id)
        plain = "\n" if id in (1, 2) or name == "<0x0A>" else OTHER if name.startswith("<0x") else name
        found.append(spelled(plain.replace("▁", " ")))
    return found


def said(net: Decoder, ids: Tensor) -> Tensor:
    """net.forward(ids) with torch's fused attention, which needs a quarter of the time. (text, letter, class) logits."""
    config = net.config
    turn, x = angles(ids.shape[-1], config.head_dim, config.rope_theta), net.embed(ids)
    for block in net.blocks:
        read = block.norm1(x)
        q, k, v = (split(part(read), config.n_heads) for part in (block.attn.q, block.attn.k, block.attn.v))
        found = F.scaled_dot_product_attention(rotate(q, turn), rotate(k, turn), v, is_causal=True)
        x = block.finish(x + block.attn.o(merge(found)))
    return net.read_out(x)


def pairs(letters: Tensor) -> tuple[Tensor, Tensor]:
    """letters: (text, READ). Returns what a net reads, which begins with BEGIN, and what it should say, both (text, READ)."""
    return F.pad(letters[:, :-1], (1, 0), value=BEGIN), letters


@torch.no_grad()
def tested(net: Decoder, letters: Tensor) -> float:
    """Mean nats a letter."""
    read, wanted = pairs(letters)
    parts = zip(read.split(64), wanted.split(64), strict=True)
    return (
        float(sum(F.cross_entropy(said(net, x).flatten(0, 1), y.flatten(), reduction="sum") for x, y in parts))
        / wanted.numel()
    )


def rate_at(step: int, steps: int) -> float:
    """What the rate is multiplied by in step 0, 1, ...: warm-up, level, down to LEFT at the end."""
    down = max(0.0, step + 1 - steps * LEVEL) / (steps * (1 - LEVEL))
    return min(1.0, (step + 1) / WARM) * (LEFT + (1 - LEFT) * (1 - down))


def train(i: int, learned: Tensor, unseen: Tensor, steps: int = STEPS, seed: int = 0) -> tuple[Decoder, list[float]]:
    """Net i from nothing, and its loss on `unseen` at every one of marks(steps). learned, unseen: (text, READ)."""
    generator = torch.Generator().manual_seed(seed)
    net = drawn(config(i), generator, embed=0.1 if PLANS[i][0] < 16 else 0.02)
    with torch.no_grad():
        for name, weight in net.named_parameters():
            if name.endswith(("attn.o.weight", "down.weight")):
                weight.mul_((2 * PLANS[i][1]) ** -0.5)  # what a block writes starts small (GPT-2)
    moving = torch.optim.AdamW(net.parameters(), RATES[PLANS[i][0]], betas=(0.9, 0.98), weight_decay=0.01)
    falling = torch.optim.lr_scheduler.LambdaLR(moving, lambda step: rate_at(step, steps))
    order = torch.cat(
        [torch.randperm(len(learned), generator=generator) for _ in range(1 + steps * TEXTS // len(learned))]
    )
    at, curve = 0, []

    def loss() -> Tensor:
        nonlocal at
        read, wanted = pairs(learned[order[at : at + TEXTS]])
        at += TEXTS
        return F.cross_entropy(said(net, read).flatten(0, 1), wanted.flatten())

    for begin, end in zip((0, *marks(steps)), marks(steps), strict=False):
        fit(loss, moving, end - begin, rate=falling, clip=1.0)
        curve.append(tested(net, unseen))
    return net, curve


@torch.no_grad()
def writes(net: Decoder, n: int = SAMPLES, seed: int = 0) -> list[str]:
    """Texts as the net draws them at temperature 1, SHOWN letters each."""
    generator, ids = torch.Generator().manual_seed(seed), torch.full((n, 1), BEGIN)
    for _ in range(SHOWN):
        shares = said(net, ids)[:, -1].softmax(-1)
        ids = torch.cat([ids, torch.multinomial(shares, 1, generator=generator)], 1)
    return [written(row[1:]) for row in ids]


def record(parts: Iterable[tuple[Tensor, Tensor]], which: Iterable[int] = range(len(PLANS))) -> dict[str, object]:
    """Train and measure. parts: what `stories` returned, the first kept out of training."""
    unseen, nats = (held := list(parts))[0]
    learned = torch.cat([letters for letters, _nats in held[1:]])
    share = torch.bincount(learned.flatten(), minlength=len(LETTERS)) / learned.numel()
    kept: dict[str, object] = {
        "floor": round(float(nats.sum()) / unseen.numel(), 5),
        "spread": round(float((nats / READ).std() / len(nats) ** 0.5), 5),
        "alone": round(float(-(share[unseen].log()).mean()), 5),
        "learned": learned.numel(),
        "source": [written(row[:SHOWN]) for row in unseen[:SAMPLES]],
    }
    curves, texts, sizes = [], [], []
    for i in which:
        net, curve = train(i, learned, unseen)
        print(i, counting.total(config(i)), f"{curve[-1]:.4f}", flush=True)
        curves.append(np.round(curve, 4).tolist())
        texts.append(writes(net))
        sizes.append(counting.total(config(i)))
    return kept | {"parameters": sizes, "losses": curves, "writes": texts}


def make() -> None:
    """Sample, train, measure, write the file that `core.nets.scaling` reads."""
    torch.set_num_threads(1)
    kept = record(stories(seed) for seed in range(PARTS))
    FILE.write_text(json.dumps(kept, ensure_ascii=False, indent=None) + "\n", "utf8")
