"""Swap one name for the other in many sentences, and see how many cells turn the answer, and which: minutes."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

from core.topics.inference import many


def counted(sentences: tuple[str, ...] = many.SENTENCES, pairs: int = many.PAIRS) -> many.Many:
    texts, alone, where = 0, 0, Counter[int]()
    for sentence in sentences:
        for old, new in many.texts(sentence, pairs=pairs):
            cells = many.turning(old, new)
            if cells is None:
                continue
            texts += 1
            if len(cells) == 1:
                alone += 1
                [(layer, token)] = cells
                where[layer] += old.ids[token] != new.ids[token]
    [(block, there)] = where.most_common(1)
    return many.Many(texts, alone, block, there)


def make() -> None:
    many.FILE.write_text(json.dumps(asdict(counted())) + "\n", "utf8")
