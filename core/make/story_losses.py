"""Record the mean loss on the stories under every what-if of the attention page: a quarter of an hour."""

from __future__ import annotations

import numpy as np

from core.lab.story_losses import STOPS, TABLE
from core.whatif import Change


def changes(n_layers: int, n_heads: int) -> list[Change]:
    """Every recorded setting, in the order of the table."""
    scopes = [(layer, head) for layer in range(n_layers) for head in range(n_heads)] + [None]
    return [
        Change(scaling, mask, temperature=tau, head=None if tau == 1.0 else scope)
        for scaling in (True, False)
        for mask in (True, False)
        for scope in scopes
        for tau in STOPS
    ]


def make() -> None:
    """Compute every setting and write the table that `loss` reads."""
    from core.lab import subject

    config = subject.model().config
    known: dict[Change, float] = {}
    for change in changes(config.n_layers, config.n_heads):
        if change not in known:
            known[change] = subject.story_loss(change)
    values = [known[change] for change in changes(config.n_layers, config.n_heads)]
    shape = (2, 2, config.n_layers * config.n_heads + 1, len(STOPS))
    np.save(TABLE, np.array(values, np.float32).reshape(shape), allow_pickle=False)
