"""Record what every line of the exam costs on six stories at every fill value, and which lamps it lights: 20 minutes."""

from __future__ import annotations

import numpy as np

from core.topics.exam.blanks import FILLS, LINES, NEVER, RIGHT, TABLE, Costs, first_sentence, story_losses


def make() -> None:
    """Compute everything and write the file that `core.topics.exam.blanks` reads."""
    losses = []
    for line in LINES:
        losses.append(np.array(story_losses(line), np.float32))
        print(line, f"{losses[-1][0]:.3f} at 0, {losses[-1][-1]:.3f} at minus infinity", flush=True)
    right = float(losses[LINES.index(RIGHT)][FILLS.index(NEVER)])
    lit = [first_sentence(line, Costs(nats, right)) for line, nats in zip(LINES, losses, strict=True)]
    np.savez_compressed(TABLE, losses=np.array(losses), lit=np.array(lit, np.uint8))
