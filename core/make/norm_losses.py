"""Record the story losses of a louder stream and a larger eps, and the first sentence without each of its numbers."""

from __future__ import annotations

import numpy as np
import torch

from core.lab import subject
from core.lab import text as sentence
from core.topics.norms import loudness, readings
from core.topics.norms.losses import FILE, READ, STRUCK_AT
from core.whatif import WhatIf

AT_ONCE = 96  # variants in one batch


def louder(station: int, factor: float) -> float:
    """Nats a token on the stories."""
    layers = subject.config().n_layers
    name = f"block{station}.resid_pre" if station < layers else f"block{layers - 1}.resid_post"
    return subject.mean_loss(lambda: WhatIf([(name, lambda x: x * factor)]))


def loosened(eps: float) -> float:
    """Nats a token on the stories."""
    return subject.mean_loss(lambda: WhatIf(readings.eps_edits(sentence.FIRST, torch.tensor(eps))))


@torch.inference_mode()
def struck() -> np.ndarray:
    """(token, number): the answer's probability with that number alone at zero."""
    text, model = sentence.of(sentence.read(READ)), subject.model()
    x, around = loudness.before(text, STRUCK_AT), model.surroundings(len(text))
    answer = int(subject.untouched(text)["next_probs"].value.argmax())
    found = []
    for places in torch.arange(x.numel()).split(AT_ONCE):
        y = x.repeat(len(places), 1, 1)
        y.view(len(places), -1)[torch.arange(len(places)), places] = 0.0
        for block in model.blocks[STRUCK_AT:]:
            y = block(y, *around)
        found.append(model.predict(y).softmax(-1)[:, answer])
    return torch.cat(found).view(x.shape).numpy()


def make() -> None:
    rows = [[louder(station, factor) for factor in loudness.COARSE] for station in range(subject.config().n_layers + 1)]
    eps = [loosened(one) for one in readings.EPSILONS]
    np.savez_compressed(
        FILE,
        louder=np.array(rows, np.float32),
        loosened=np.array(eps, np.float32),
        struck=struck().astype(np.float16),
    )
