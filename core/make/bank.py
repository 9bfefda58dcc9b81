"""Draw 200 continuations of one beginning in every way to draw, and a large sample of the model's own texts, of which
the words and the most frequent followers are kept: a quarter of an hour."""

from __future__ import annotations

import numpy as np

from core import tokenizer
from core.lab import subject
from core.lab.text import FIRST, folder
from core.make.healed import sampled
from core.topics.inference import bank

ROUNDS, TEXTS, LENGTH = 16, 64, 256  # of the large sample: rounds, each with a seed of its own


def followers(ids: np.ndarray, vocab: int) -> np.ndarray:
    """(vocab,) what follows each token most often; of equally frequent ones the smallest id; itself where it never stood."""
    pairs, counts = np.unique(ids[:, :-1].astype(np.int64) * vocab + ids[:, 1:], return_counts=True)
    found = np.arange(vocab)
    order = np.lexsort((-pairs, counts))  # the most frequent last: it is what stays
    found[pairs[order] // vocab] = pairs[order] % vocab
    return found


def make() -> None:
    sample = np.concatenate([sampled(TEXTS, LENGTH, 100 + seed).numpy() for seed in range(ROUNDS)])
    decode = tokenizer.of_model(folder(FIRST)).decode
    known = {word for row in sample.tolist() for word in bank.words(decode(row))}
    drawn = [bank.drawn(way, bank.TEXTS, bank.LENGTH) for way in bank.WAYS]
    np.savez_compressed(
        bank.FILE,
        ids=np.stack([ids.numpy().astype(np.uint16) for ids, _nats in drawn]),
        nats=np.stack([nats.numpy().mean(-1).astype(np.float16) for _ids, nats in drawn]),
        known=np.frombuffer("\n".join(sorted(known)).encode(), np.uint8),
        sample=np.int64(sample.size),
        following=followers(sample, subject.config().vocab_size).astype(np.uint16),
    )
