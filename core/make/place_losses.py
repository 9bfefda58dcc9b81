"""Record the losses of the embedded model without its rotation, and at every place of the long stories."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from core import tokenizer
from core.lab import subject
from core.lab.text import FOLDER
from core.topics.position.place_losses import CHANGES, FILE, LONG, READ
from core.whatif import Change


def long_ids() -> torch.Tensor:
    """(story, READ): the long stories that are long enough."""
    reader = tokenizer.of_model(FOLDER)
    rows = [reader.encode(text).ids for text in LONG.read_text("utf8").strip().splitlines() if text.strip()]
    return torch.tensor([row[:READ] for row in rows if len(row) >= READ])


@torch.inference_mode()
def measured(change: Change, ids: torch.Tensor) -> np.ndarray:
    """(place,): mean nats over the stories, every story in one pass of its whole length."""
    model = subject.model()
    found = []
    for row in ids:
        logits = model.read_out(model.stream(row[:-1], trace=change.trace(model.config.head_dim)))
        found.append(F.cross_entropy(logits, row[1:], reduction="none"))
    return torch.stack(found).mean(0).numpy()


def make() -> None:
    ids = long_ids()
    losses = [[subject.story_loss(Change(rotation=r, mask=m)) for m in (True, False)] for r in (True, False)]
    rows = np.stack([measured(change, ids) for change in CHANGES.values()])
    np.savez_compressed(
        FILE, story_loss=np.array(losses, np.float32), by_place=rows.astype(np.float32), stories=np.array(len(ids))
    )
