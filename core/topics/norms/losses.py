"""What a louder stream and a larger eps cost the embedded model on stories, and one number in 4,032: recorded once.

`python -m core.make norm_losses` measures them (two minutes) and writes assets/data/norm_losses.npz; tests measure some
again.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from core.assets import ASSETS
from core.lab.text import FIRST, SENTENCE, Cannot, Text

FILE = ASSETS / "data" / "norm_losses.npz"
STRUCK_AT = 2  # blocks before the station where every number was struck out
READ = SENTENCE  # the text they belong to


@cache
def _stored() -> dict[str, np.ndarray]:
    with np.load(FILE, allow_pickle=False) as stored:
        return dict(stored)


def _of(text: Text) -> None:
    if text.subject != FIRST:
        raise Cannot("What norms cost on stories is recorded for the model that ships with this site alone.")


def louder(text: Text) -> np.ndarray:
    """(station, factor of loudness.COARSE): nats a token on the stories. Of the text only its model counts."""
    _of(text)
    return _stored()["louder"]


def loosened(text: Text) -> np.ndarray:
    """(stop of readings.EPSILONS,): nats a token on the stories."""
    _of(text)
    return _stored()["loosened"]


def struck(text: Text) -> np.ndarray:
    """(token, number): the first sentence's answer with that one number after block 1 at zero."""
    _of(text)
    return _stored()["struck"].astype(np.float32)
