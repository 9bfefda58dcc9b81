"""Questions whose answer is a number of the pass: a few printed numbers, and the one that follows from them."""

from __future__ import annotations

import math
import random

import numpy as np

from core.topics.exam.question import NEAR, Made, Sheet, agrees, asks, cell, comes, said, signs, value

CUTS = (0.9, 0.95, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
MOST = 8  # words a question lists
TRIED = 6  # places whose next words are looked at
EDGE = 0.004  # a sum of eight printed shares, each rounded: this near to the cut it could fall on either side


# ---- attention ----


@asks("scale", level=1, room="attention", tolerance=NEAR)
def _scale(sheet: Sheet, rng: random.Random) -> Made | None:
    if sheet.n < 2:
        return None
    layer, head = sheet.head(rng)
    row = rng.randrange(1, sheet.n)
    key, d = rng.randrange(row), sheet.config.head_dim
    score = float(sheet.of(layer, "scores")[head, row, key])
    printed, answer = signs(score), score / math.sqrt(d)
    if abs(score) < 0.5:
        return None
    values = dict(query=sheet.names[row], key=sheet.names[key], layer=layer, head=head, score=printed, d=d)
    values |= dict(root=said(math.sqrt(d)), answer=comes(value(printed) / math.sqrt(d)))
    return Made(answer, values, state=cell(layer, head, row, key, "scaled"))


@asks("rest", level=1, room="attention", tolerance=NEAR)
def _rest(sheet: Sheet, rng: random.Random) -> Made | None:
    """The weight that is left to one key."""
    for layer, head in sheet.heads(rng):
        row = rng.randrange(1, sheet.n) if sheet.n > 1 else 0
        weights = sheet.of(layer, "weights")[head, row, : row + 1].astype(np.float64)
        places = [i for i, w in enumerate(weights) if 0.15 < w < 0.85]
        if not places:
            continue
        key = rng.choice(places)
        others = said(1 - float(weights[key]), 4)
        values = dict(query=sheet.names[row], key=sheet.names[key], layer=layer, head=head, others=others)
        values["answer"] = comes(1 - value(others))
        return Made(float(weights[key]), values, state=cell(layer, head, row, key, "weights"))
    return None


@asks("ratio", level=3, room="attention", tolerance=NEAR)
def _ratio(sheet: Sheet, rng: random.Random) -> Made | None:
    """How many times more weight one key gets than another: the power of the scores' difference."""
    for layer, head in sheet.heads(rng):
        if sheet.n < 3:
            return None
        row = rng.randrange(2, sheet.n)
        scores = sheet.of(layer, "scaled")[head, row, : row + 1].astype(np.float64)
        less, more = sorted(rng.sample(range(row + 1), 2), key=lambda i: scores[i])
        gap, answer = float(scores[more] - scores[less]), float(np.exp(scores[more] - scores[less]))
        a, b = said(float(scores[more])), said(float(scores[less]))
        printed = math.exp(value(a) - value(b))
        if 0.3 < gap < 4:
            values: dict[str, object] = dict(
                query=sheet.names[row], more=sheet.names[more], less=sheet.names[less], a=a, b=b
            )
            values |= dict(layer=layer, head=head, gap=said(value(a) - value(b)), answer=comes(printed))
            return Made(answer, values, state=cell(layer, head, row, more, "weights"))
    return None


@asks("share", level=4, room="softmax", tolerance=NEAR)
def _share(sheet: Sheet, rng: random.Random) -> Made | None:
    """A whole row of three scores through softmax."""
    for layer, head in sheet.heads(rng):
        if sheet.n < 3:
            return None
        scores = sheet.of(layer, "scaled")[head, 2, :3].astype(np.float64)
        shown = [said(float(x)) for x in scores]
        read = np.exp([value(x) for x in shown])
        key = rng.randrange(3)
        weight = float(sheet.of(layer, "weights")[head, 2, key])
        if 0.1 < weight < 0.9 and np.abs(scores).max() < 8:
            values: dict[str, object] = dict(
                a=shown[0], b=shown[1], c=shown[2], key=sheet.names[key], query=sheet.names[2]
            )
            part, total = signs(float(read[key])), signs(float(read.sum()))
            values |= dict(layer=layer, head=head, part=part, total=total, answer=comes(value(part) / value(total)))
            typed = " ".join(x.replace("−", "-") for x in shown)
            return Made(weight, values, state=(("scores_of", "typed"), ("scores", typed)))
    return None


@asks("mixture", level=5, room="attention", tolerance=NEAR)
def _mixture(sheet: Sheet, rng: random.Random) -> Made | None:
    """One number of what the third token takes home."""
    for layer, head in sheet.heads(rng):
        if sheet.n < 3:
            return None
        weights = sheet.of(layer, "weights")[head, 2, :3].astype(np.float64)
        number = rng.randrange(sheet.config.head_dim)
        values_of = sheet.of(layer, "v")[head // sheet.config.group, :3, number].astype(np.float64)
        w, v = [said(float(x)) for x in weights], [said(float(x)) for x in values_of]
        answer, printed = float(weights @ values_of), sum(value(a) * value(b) for a, b in zip(w, v, strict=True))
        if abs(answer) > 0.05 and weights.min() > 0.02 and agrees(answer, printed):
            values = dict(query=sheet.names[2], number=number, layer=layer, head=head, answer=comes(printed))
            values |= {name: x for names, xs in (("abc", w), ("uvw", v)) for name, x in zip(names, xs, strict=True)}
            values |= {f"key{i}": sheet.names[i] for i in range(3)}
            state = (("layer", str(layer)), ("head", str(head)), ("step", "z"), ("zcell", f"2,{number}"))
            return Made(answer, values, state=(*state, ("at", "how-is-it-made")))
    return None


# ---- the stream, the FFN ----


@asks("rms", level=3, room="norms", tolerance=NEAR)
def _rms(sheet: Sheet, rng: random.Random) -> Made | None:
    if sheet.config.norm != "rmsnorm":
        return None
    block, place = rng.randrange(sheet.config.n_layers), sheet.n - 1
    x = sheet.of(block, "resid_pre")[place].astype(np.float64)
    d, total = len(x), float((x**2).sum())
    printed, answer = signs(total), math.sqrt(total / d)
    values = dict(word=sheet.names[place], block=block, d=d, total=printed, mean=signs(value(printed) / d, 5))
    values["answer"] = comes(math.sqrt(value(str(values["mean"]))))
    return Made(answer, values, state=(("station", str(block)),))


@asks("gate", level=4, room="feedforward", tolerance=NEAR)
def _gate(sheet: Sheet, rng: random.Random) -> Made | None:
    """silu(gate) times up of one neuron."""
    if sheet.config.ffn != "swiglu" or sheet.config.moe is not None:
        return None
    block = rng.randrange(sheet.config.n_layers)
    gate, up = (sheet.of(block, f"ffn_{name}")[-1].astype(np.float64) for name in ("gate", "up"))
    for neuron in rng.sample(range(len(gate)), min(200, len(gate))):
        g, u = said(float(gate[neuron])), said(float(up[neuron]))
        open_at = value(signs(value(g) / (1 + math.exp(-value(g))), 5))
        answer = float(gate[neuron] / (1 + math.exp(-gate[neuron])) * up[neuron])
        if 0.3 < abs(gate[neuron]) < 8 and abs(up[neuron]) > 0.4 and agrees(answer, open_at * value(u)):
            values = dict(word=sheet.names[-1], block=block, neuron=neuron, g=g, u=u, open=signs(open_at, 5))
            values["answer"] = comes(open_at * value(u))
            return Made(answer, values, state=(("ffn_block", str(block)), ("ffn_neuron", str(neuron))))
    return None


# ---- what the model expects ----


@asks("nats", level=2, room="model", tolerance=NEAR, shown=False)
def _nats(sheet: Sheet, rng: random.Random) -> Made | None:
    """What one token cost when it came."""
    for place in rng.sample(range(1, sheet.n), sheet.n - 1):
        loss = -float(sheet.logs[place - 1])
        p = signs(math.exp(-loss), 3)
        if 0.5 < loss < 9:
            return Made(loss, dict(word=sheet.names[place], place=place, p=p, answer=comes(-math.log(value(p)))))
    return None


@asks("perplexity", level=3, room="theory", tolerance=NEAR, shown=False)
def _perplexity(sheet: Sheet, rng: random.Random) -> Made | None:
    if sheet.n < 3:
        return None
    loss = -float(sheet.logs.mean())
    printed, answer = said(loss), math.exp(loss)
    if loss > 9:
        return None
    return Made(answer, dict(loss=printed, answer=comes(math.exp(value(printed)))))


@asks("heat", level=3, room="softmax", tolerance=NEAR, shown=False)
def _heat(sheet: Sheet, rng: random.Random) -> Made | None:
    """How many times likelier the first word is than the second at T = 2, from their ratio at T = 1."""
    second, first = np.sort(sheet.next)[-2:]
    if second <= 0:
        return None
    ratio = float(first / second)
    printed, answer = signs(ratio), math.sqrt(ratio)
    if not 1.2 < ratio < 1e6:
        return None
    return Made(answer, dict(ratio=printed, answer=comes(math.sqrt(value(printed)))), state=(("temperature", "2"),))


@asks("nucleus", level=2, room="inference")
def _nucleus(sheet: Sheet, rng: random.Random) -> Made | None:
    """How many words the nucleus holds after some token; the cut is chosen so that they fit on the screen."""
    for place in rng.sample(range(sheet.n), min(sheet.n, TRIED)):
        likely = np.sort(sheet.after(place))[::-1][: MOST + 1]
        shown = [said(float(p)) for p in likely]
        sums = np.cumsum([value(p) for p in shown])
        for cut in CUTS:
            count = int((np.cumsum(likely) < cut).sum()) + 1
            if 2 <= count <= MOST and np.abs(sums - cut).min() > EDGE:
                values = dict(word=sheet.names[place], cut=f"{cut:g}", plus=" + ".join(shown[:count]))
                values |= dict(listed=" · ".join(shown[: count + 2]))
                values |= dict(total=said(float(sums[count - 1])), before=said(float(sums[count - 2])))
                state = (("cut_kind", "top_p"), ("cut_place", str(place)), ("cut_top_p", f"{cut:g}"))
                return Made(count, values, state=(*state, ("at", "what-may-be-drawn")))
    return None
