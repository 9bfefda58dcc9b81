"""The check and the common mistakes of the page."""

from __future__ import annotations

from dataclasses import replace

from core.costs import PRECISIONS, kept
from core.lab import text as sentence
from core.presets import presets
from core.tokenizer import Reading
from core.topics.heads import volume
from pages.shared import frame
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes
from pages.shared.text import N_


def check(reading: Reading) -> None:
    """Bytes of a cache, from the numbers of a real model."""
    qwen = presets()["qwen3-8b"].config
    shared = replace(qwen, n_kv_heads=qwen.n_kv_heads // 2)
    numbers = dict(layers=qwen.n_layers, heads=shared.n_kv_heads, width=qwen.head_dim)
    each = sum(kept(shared).values()) * float(PRECISIONS["bf16"]) / 1024
    question = N_(
        "A model has «layers» layers, «heads» KV heads of width «width», and two bytes a number. How many KiB does one "
        "token leave in the cache?"
    )
    how = N_("2 · «layers» · «heads» · «width» numbers, times two bytes, divided by 1,024: «answer» KiB.")
    checks.number(
        question,
        each,
        key="check",
        hint=N_("Each layer keeps a key and a value for every KV head. Count the numbers first, then the bytes."),
        how=how,
        **numbers,
    )


def common_mistakes(reading: Reading) -> None:
    small, ranks = presets()["qwen3-0.6b"].config, volume.ranks(sentence.of(reading), 0, 0)
    found = frame.cached(volume.habits, sentence.of(reading))
    values = dict(
        one=ranks.count(ranks.one),
        whole=ranks.count(ranks.whole),
        best=f"{max(r.bleu for r in volume.ABLATIONS):.1f}",
        single=f"{volume.ABLATIONS[0].bleu:.1f}",
        heads=small.n_heads,
        d=small.d_model,
        quotient=small.d_model // small.n_heads,
        width=small.head_dim,
        projected=small.n_heads * small.head_dim,
        norms=2 * small.head_dim,
        distances=", ".join(f"{x:.1f}" for x in found.distance.mean(1)) if found else "–",
    )
    names = ["small", "rank", "much", "budget", "width", "deep", "bias", "norm", "fresh", "token", "history"]
    mistakes.show("heads", names, **values)
