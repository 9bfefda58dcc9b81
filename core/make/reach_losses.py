"""Record the mean loss on the stories for every reach of the masks page: a few minutes."""

from __future__ import annotations

import numpy as np

from core.topics.masks.reach import SIZES, TABLE, pattern


def computed(size: int) -> float:
    """Nats a token if every token of every block reaches so far."""
    from core.lab import subject
    from core.whatif import WhatIf

    return subject.mean_loss(lambda: WhatIf([("block*.allowed", lambda allowed: pattern(allowed.shape[-1], size))]))


def make() -> None:
    """Compute every size and write the table that `loss` reads."""
    np.save(TABLE, np.array([computed(size) for size in SIZES], np.float32), allow_pickle=False)
