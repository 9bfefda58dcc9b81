"""Search for neurons that fire on something, in texts the model wrote; mute every neuron once; bend and turn the FFNs of
the stories: ten minutes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from core.lab import subject
from core.lab.text import called, of, read
from core.make.healed import sampled
from core.topics.feedforward import recorded
from core.watch import overhear
from core.whatif import Edit, WhatIf

TEXTS, LENGTH, SEED = 200, 192, 0
WINDOW, SHOWN = 8, 5  # tokens of a context, contexts of a neuron
KEPT = (
    (5, 559), (0, 189), (4, 143), (2, 363), (1, 84), (3, 741), (5, 709), (5, 528),
    (0, 569), (1, 213), (4, 605), (5, 118),
)  # fmt: skip  # of 4,608: eight with a pattern anyone can name, four without


@torch.inference_mode()
def values(ids: Tensor, layer: int, neuron: int) -> Tensor:
    """(text, token): what the neuron hands to the last map. `<s>` is left out: all texts begin alike."""
    found: list[Tensor] = []
    for part in ids.split(20):
        seen = [(f"block{layer}.ffn_act", overhear(found, lambda x: x[..., neuron].clone()))]
        subject.model().stream(part, until=layer + 1, trace=WhatIf(seen))
    value = torch.cat(found)
    value[ids == ids[0, 0]] = 0
    return value


def described(ids: Tensor, layer: int, neuron: int) -> dict[str, object]:
    """Where a neuron fires: above half of the mean of its ten largest values, on the side where these are larger."""
    value = values(ids, layer, neuron)
    sides = [value.flatten().topk(10).values.mean(), (-value).flatten().topk(10).values.mean()]
    sign = 1 if sides[0] >= sides[1] else -1
    on = value * sign > max(sides) / 2
    fired, stands = Counter(ids[on].tolist()), Counter(ids[:, 1:].flatten().tolist())
    words = [(called(i), n, stands[i]) for i, n in fired.most_common(8)]
    contexts, seen = [], Counter[tuple[int, ...]]()
    for place in (value * sign).flatten().argsort(descending=True, stable=True).tolist():
        row, at = divmod(place, ids.shape[1])
        start, word = max(0, at - WINDOW + 1), (int(ids[row, at]),)
        if at < WINDOW or seen[word] >= 2:  # no word more than twice, so that the pattern shows and not one word
            continue
        seen[word] += 1
        part = slice(start, at + 1)
        tokens = [called(int(i)) for i in ids[row, part]]
        contexts.append({"tokens": tokens, "values": [round(float(v), 3) for v in value[row, part]]})
        if len(contexts) == SHOWN:
            break
    whole = ids.shape[0] * (ids.shape[1] - 1)
    return dict(layer=layer, neuron=neuron, fires=int(on.sum()), of=whole, words=words, contexts=contexts)


@torch.inference_mode()
def muted(text: str, at_once: int = 96) -> np.ndarray:
    """(layer, neuron): the answer's probability with one neuron muted at every token."""
    model, told = subject.model(), of(read(text))
    trace = subject.untouched(told)
    answer = int(trace["next_probs"].value.argmax())
    around = model.surroundings(len(told))
    rows = []
    for layer, block in enumerate(model.blocks):
        x, act = trace[f"block{layer}.resid_post"].tensor, trace[f"block{layer}.ffn_act"].tensor
        probs = []
        for part in torch.arange(act.shape[-1]).split(at_once):
            y = x - act[:, part].T[:, :, None] * block.ffn.down.weight[:, part].T[:, None, :]
            for after in model.blocks[layer + 1 :]:
                y = after(y, *around)
            probs.append(model.predict(y).softmax(-1)[:, answer])
        rows.append(torch.cat(probs))
    return torch.stack(rows).numpy()


def loss(edits: Callable[..., list[Edit]], *how: object) -> float:
    """Nats a token on the stories under these edits."""
    return subject.mean_loss(lambda: WhatIf(edits(*how)))


def make() -> None:
    """Write the table and the list that `core.topics.feedforward.recorded` reads."""
    ids = sampled(TEXTS, LENGTH, SEED)
    about = f"{TEXTS} texts of {LENGTH} tokens that stories15M wrote (seed {SEED})"
    found = {"texts": about, "neurons": [described(ids, *one) for one in KEPT]}
    recorded.FOUND.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf8")
    bends = [loss(recorded.bend_edits, name) for name in recorded.BENDS]
    layers = (*range(subject.config().n_layers), None)
    volumes = [[loss(recorded.volume_edits, layer, by) for by in recorded.VOLUMES] for layer in layers]
    told = dict(muted=muted(recorded.MUTED_IN), bends=np.array(bends), volumes=np.array(volumes))
    np.savez_compressed(recorded.TABLE, **{name: table.astype(np.float32) for name, table in told.items()})
