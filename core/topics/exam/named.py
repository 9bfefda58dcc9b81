"""Questions whose answer is one of four: a word, a head, a number of blocks."""

from __future__ import annotations

import random

import numpy as np
import torch

from core.lab import subject
from core.lab.text import called
from core.topics.exam.question import Made, Sheet, asks, said
from core.whatif import WhatIf

CLEAR = 0.2  # of weight between the first and the second
APART = 0.5  # nats between the most surprising token and the next
DECIDES, IDLE = 0.15, 0.02  # of probability that a head takes along when it is muted
LONG = 40  # tokens: beyond, muting every head takes longer than one waits
Head = tuple[int, int]  # (layer, head)
LENS = 0.1  # of a logit between the two likeliest words at any block


@asks("strongest", level=4, room="masks")
def _strongest(sheet: Sheet, rng: random.Random) -> Made | None:
    """The largest score of a row lies ahead: the mask takes it out, and the largest before it wins."""
    n = sheet.n
    for layer, head in sheet.heads(rng):
        for row in rng.sample(range(2, n - 1), max(0, n - 3)):
            scores = sheet.of(layer, "scaled")[head, row].astype(np.float64)
            weights = sheet.of(layer, "weights")[head, row]
            best, second = np.argsort(-weights[: row + 1])[:2]
            ahead = row + 1 + int(scores[row + 1 :].argmax())
            if weights[best] - weights[second] < CLEAR or scores[ahead] < scores[best] + CLEAR:
                continue
            others = rng.sample([i for i in range(row + 1) if i != best], 2)
            places = sorted([int(best), ahead, *others])
            names = tuple(sheet.names[i] for i in places)
            listed = " · ".join(f"“{sheet.names[i]}” {said(float(scores[i]), 2)}" for i in places)
            values = dict(query=sheet.names[row], layer=layer, head=head, listed=listed, ahead=sheet.names[ahead])
            return Made(sheet.names[best], values, names, (("layer", str(layer)), ("head", str(head))))
    return None


@asks("surprising", level=1, room="model", shown=False)
def _surprising(sheet: Sheet, rng: random.Random) -> Made | None:
    """Which token did the model expect least?"""
    if sheet.n < 6:
        return None
    logs = sheet.logs
    order = np.argsort(logs)
    if logs[order[1]] - logs[order[0]] < APART:
        return None
    easy = [int(i) for i in order[len(order) // 2 :]]
    chosen = sorted([int(order[0]), *rng.sample(easy, min(3, len(easy)))])
    names = tuple(sheet.names[i + 1] for i in chosen)
    costs = " · ".join(f"“{name}” {said(-float(logs[i]), 2)}" for name, i in zip(names, chosen, strict=True))
    return Made(sheet.names[int(order[0]) + 1], dict(costs=costs), names)


@asks("decider", level=5, room="heads")
def _decider(sheet: Sheet, rng: random.Random) -> Made | None:
    """Which of four heads, muted, takes the next word along?"""
    if not 4 <= sheet.n <= LONG:
        return None
    word, strong, idle = subject.outlook(sheet.text).words[0], dict[Head, float](), dict[Head, float]()
    for layer in rng.sample(range(sheet.config.n_layers), sheet.config.n_layers):
        for head, p in enumerate(_muted(sheet, layer, word.id)):
            if word.p - p > DECIDES:
                strong[layer, head] = p
            elif abs(word.p - p) < IDLE:
                idle[layer, head] = p
        if strong and len(idle) >= 3:
            break
    else:
        return None
    decider = rng.choice(list(strong))
    four = sorted([decider, *rng.sample(list(idle), 3)])
    options = tuple(f"{layer}.{head}" for layer, head in four)
    left = " · ".join(f"{name} {said((strong | idle)[one])}" for name, one in zip(options, four, strict=True))
    state = (("loud", f"{decider[0]},{decider[1]}"), ("volume", "0"), ("at", "in-a-real-model-turn-one-head-down"))
    return Made(
        f"{decider[0]}.{decider[1]}",
        dict(word=word.token, p=said(word.p), by=f"{DECIDES:g}", left=left),
        options,
        state,
    )


@torch.inference_mode()
def _muted(sheet: Sheet, layer: int, token: int) -> list[float]:
    """The probability of a token to follow with each head of a layer alone silent. Below it nothing is computed anew."""
    model, heads = subject.model(sheet.text.subject), sheet.config.n_heads
    keep = 1 - torch.eye(heads)[:, :, None, None]  # (variant, head, 1, 1)
    trace = WhatIf([(f"block{layer}.z", lambda z: z * keep)])
    x = sheet.trace[f"block{layer}.resid_pre"].tensor.expand(heads, -1, -1)
    for i in range(layer, sheet.config.n_layers):
        with trace.inside(f"block{i}"):
            x = model.blocks[i](x, *model.surroundings(sheet.n), trace=trace)
    return [float(p) for p in model.predict(x).softmax(-1)[:, token]]


@asks("lens", level=5, room="norms")
def _lens(sheet: Sheet, rng: random.Random) -> Made | None:
    """After how many blocks does the next word stand first, for good?"""
    model, layers = subject.model(sheet.text.subject), sheet.config.n_layers
    with torch.inference_mode():
        last = [sheet.trace[f"block{i}.resid_post"].tensor[-1] for i in range(layers)]
        found = model.read_out(torch.stack(last)).topk(2)
    if float((found.values[:, 0] - found.values[:, 1]).min()) < LENS or layers < 3:
        return None
    leads = (found.indices[:, 0] == found.indices[-1, 0]).tolist()
    first = max((i for i in range(layers) if not leads[i]), default=-1) + 2
    words = [called(int(i), sheet.text.subject) for i in found.indices[:, 0]]
    listed = " · ".join(f"{i}: “{word}”" for i, word in enumerate(words, 1))
    return Made(first, dict(word=words[-1], layers=layers, listed=listed), state=(("station", str(layers)),))
