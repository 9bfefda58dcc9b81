"""Record what stands in for attention in the model as it is, and what torch's own kernel takes: a few minutes."""

from __future__ import annotations

import json
from dataclasses import asdict

import torch

from core.lab import subject
from core.topics.efficient import flash as fl
from core.topics.efficient import instead as ins
from core.topics.efficient import patterns as pt


def loss(name: str, size: int) -> float:
    """Nats a token on the four stories."""
    return pt.story_loss(ins.edits(ins.MIXES[name](size)))


@torch.inference_mode()
def off(m: int) -> float:
    """The middle of all late rows' total variation between softmax's weights and m features'; 0: even rows."""
    story, config = fl.story(), subject.config()
    far = []
    for layer in range(config.n_layers):
        for head in range(config.n_heads):
            q, k, _v = fl.vectors(fl.Demo(story, layer, head))
            made = ins.weights_of(ins.positive(q, k, m, layer)) if m else ins.even(q, k)
            far.append((made - ins.exact(q, k)).abs().sum(-1)[len(q) // 2 :] / 2)
    return float(torch.cat(far).median())


def make() -> None:
    """Compute everything and write what the efficient page reads."""
    kernel = [asdict(fl.measure(n)) for n in fl.SIZES]
    losses = {}
    for name in ins.MIXES:
        losses[name] = {size: round(loss(name, size), 4) for size in ins.SIZES.get(name, (0,))}
        print(name, losses[name], flush=True)
    apart = {m: round(off(m), 4) for m in (0, *ins.FEATURES)}
    print(apart, kernel)
    fl.RECORDED.write_text(json.dumps({"kernel": kernel, "losses": losses, "off": apart}, indent=1) + "\n", "utf8")
