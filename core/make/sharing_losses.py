"""Record the mean loss on the stories with fewer keys and values, converted and healed."""

from __future__ import annotations

import numpy as np

from core.lab import subject
from core.lab.text import SENTENCE, exactly
from core.topics.heads.fewer_keys import LOSSES, SIDES, Stop, edits, stops
from core.whatif import WhatIf


def story_loss(stop: Stop, side: str) -> float:
    """The same, computed."""
    return subject.mean_loss(lambda: WhatIf(edits(exactly(SENTENCE), (stop,), side)))


def make() -> None:
    every = stops(exactly(SENTENCE))
    table = [[story_loss(stop, side) for stop in every] for side in SIDES]
    np.save(LOSSES, np.array(table, np.float32), allow_pickle=False)
    for row in zip(every, *table, strict=True):
        print(row[0].name, row[0].value, *(f"{x:.3f}" for x in row[1:]))
