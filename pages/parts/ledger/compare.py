"""All presets in one table, two models side by side, the check, the mistakes and the words."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core import costs
from core.counting import encoder_decoder, total
from core.presets import presets
from pages.parts.ledger import models
from pages.parts.ledger.conversation import as_bytes, as_gap, as_share, title
from pages.parts.ledger.models import Model
from pages.parts.ledger.parameters import PARTS, ROLES
from pages.shared import headings
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes
from pages.shared.pictures import bars, live, stack
from pages.shared.text import N_, _, plain, prose

# ---- every preset ----


def every(model: Model) -> None:
    """Two rules of thumb on all presets: the FFN's share, and 12 d² L."""
    title(N_("Is the FFN 60 to 70% of a model?"))
    listed = sorted(presets().values(), key=lambda one: costs.ffn(one.config) / total(one.config))
    shares = np.array([costs.ffn(one.config) / total(one.config) for one in listed])
    chosen = [i for i, one in enumerate(listed) if model.preset and one.id == model.preset.id]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        bars.show(
            live.Picture(
                key="share_bars",
                quantity="ffn_share",
                says=_("The share of the FFN in all parameters, model by model."),
            ),
            [one.name for one in listed],
            shares,
            high=1.0,
            percent=True,
            marked=chosen[0] if chosen else None,
            tools=True,
        )
    with right:
        inside = [one.name for one, share in zip(listed, shares, strict=True) if 0.6 <= share <= 0.7]
        low, high = as_share(shares[0]), as_share(shares[-1])
        numbers = dict(n=len(listed), inside=len(inside), names=", ".join(inside), low=low, high=high)
        prose("ledger", "share", **numbers, smallest=listed[0].name, largest=listed[-1].name)
    title(N_("Is 12 d² L a good estimate?"))
    prose("ledger", "twelve")
    st.markdown(_every())
    _original()


def _every() -> str:
    head = (
        _("model"),
        _("nominal"),
        _("parameters"),
        _("used by a token"),
        _("12 d² L"),
        _("all blocks"),
        _("error"),
    )
    tail = (_("FFN in a block"), _("cache a token"), _("bars meet at"))
    lines = [f"| {' | '.join([*head, *tail])} |", "|---|" + "---:|" * (len(head) + len(tail) - 1)]
    for one in presets().values():
        c, talk = one.config, costs.Talk(one.config)
        block = costs.layer(c)
        ffn = sum(r.value for r in block if r.part in ("ffn", "experts", "router")) / sum(r.value for r in block)
        even = talk.even()
        cells = [
            f"[{plain(one.name)}]({one.source})",
            one.printed,
            f"{total(c):,}",
            f"{costs.active(c):,}" if c.moe else "",
            f"{costs.estimate(c):,}",
            f"{costs.blocks(c):,}",
            as_gap(costs.estimate(c) / costs.blocks(c)),
            as_share(ffn),
            as_bytes(talk.token) if not c.pooler else "—",
            f"{even:,}" if even and not c.pooler else "—",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _original() -> None:
    """The Transformer of 2017 is an encoder and a decoder; the paper's own totals are rounded, and do not quite fit."""
    base, big = ({b: encoder_decoder(d, f, 6, 37_000, attention_bias=b) for b in (True, False)} for d, f in ORIGINAL)
    sums = {name: sum(r.value for r in rows[True]) for name, rows in (("base", base), ("big", big))}
    bare = sum(r.value for r in base[False])
    ffn = sum(r.value for r in base[True] if r.part == "ffn")
    prose(
        "ledger",
        "original",
        base=f"{sums['base']:,}",
        big=f"{sums['big']:,}",
        bare=f"{bare:,}",
        share=as_share(ffn / sums["base"]),
    )


ORIGINAL = ((512, 2048), (1024, 4096))  # d and f of Transformer base and big, arXiv 1706.03762, table 3


# ---- two models ----


def versus(model: Model) -> None:
    """Two models on one scale, and their numbers beside each other."""
    id = models.select(_("Compare with"), "versus", models.SECOND, {})
    pair = (model, models.preset(id))
    parts = [part for part in PARTS if any(part in costs.by_part(one.config) for one in pair)]
    sums = np.array([[costs.by_part(one.config).get(part, 0) for part in parts] for one in pair], np.float64)
    stack.show(
        live.Picture(
            key="versus_bars", quantity="parameters", says=_("The parameters of two models on one scale, by part.")
        ),
        sums,
        [one.name for one in pair],
        [_(PARTS[part]) for part in parts],
        roles=tuple(ROLES[part] for part in parts),
    )
    head = [f"| | {plain(pair[0].name)} | {plain(pair[1].name)} |", "|---|---:|---:|"]
    columns = [_facts(one) for one in pair]
    st.markdown("\n".join([*head, *(f"| {name} | {columns[0][name]} | {columns[1][name]} |" for name in columns[0])]))


def _facts(model: Model) -> dict[str, str]:
    c, talk = model.config, costs.Talk(model.config)
    even, m = talk.even(), c.mla
    kv = f"MLA, {m.d_nope} + {m.d_rope}" if m else f"{c.n_kv_heads}, {c.head_dim}"
    states = total(c) * sum(costs.RECIPES["mixed"])
    return {
        _("width d, layers L"): f"{c.d_model:,}, {c.n_layers}",
        _("query heads, KV heads, width of a head"): f"{c.n_heads}, {kv}",
        _("width f of the FFN"): f"{c.d_ff:,}" + (f" ({c.moe.n_experts} × {c.moe.d_expert:,})" if c.moe else ""),
        _("parameters"): f"{total(c):,}",
        _("used by a token"): f"{costs.active(c):,}",
        _("FFN of all"): as_share(costs.ffn(c) / total(c)),
        _("12 d² L against all blocks"): as_gap(costs.estimate(c) / costs.blocks(c)),
        _("weights in bf16"): as_bytes(talk.weights),
        _("cache a token, bf16"): "—" if c.pooler else as_bytes(talk.token),
        _("bars meet at"): "—" if c.pooler else f"{even:,}" if even else "∞",
        _("curves cross at"): f"{costs.crossover(costs.Work(c)):,.0f}",
        _("training states, mixed precision"): as_bytes(states),
    }


# ---- check, mistakes, words ----

DEEPER = (
    N_("Every tensor in a table"),
    N_("Training: memory and days"),
    N_("Two models, all models"),
    N_("Common mistakes"),
)


def check(model: Model) -> None:
    """The cache of one token, by hand."""
    c, kept = model.config, sum(costs.kept(model.config).values())
    question = N_(
        "«name» has «layers» layers and «heads» KV heads of width «width», in bf16. "
        "How many KiB does one token leave in the cache?"
    )
    if c.pooler:
        question = N_(
            "«name» keeps no cache. If it wrote word by word, with its «layers» layers and «heads» heads of width "
            "«width», in bf16: how many KiB would one token leave?"
        )
    how = N_("2 × «layers» × «heads» × «width» numbers, 2 bytes each, divided by 1,024: «answer» KiB.")
    numbers = dict(name=model.name, layers=c.n_layers, heads=c.n_kv_heads, width=c.head_dim)
    if c.mla:
        question = N_(
            "«name» has «layers» layers; each keeps a latent vector of «rank» and a key of «width», in bf16. "
            "How many KiB does one token leave in the cache?"
        )
        how = N_("«layers» × («rank» + «width») numbers, 2 bytes each, divided by 1,024: «answer» KiB.")
        numbers = dict(name=model.name, layers=c.n_layers, rank=c.mla.kv_rank, width=c.mla.d_rope)
    checks.number(
        question,
        kept * 2 / 1024,
        key="ledger_check",
        hint=N_("Count the numbers one layer keeps for one token, then all layers, then bytes, then KiB."),
        how=how,
        **numbers,
    )


MISTAKES = (
    "width",
    "percent",
    "head",
    "memory",
    "bias",
    "share",
    "rows",
    "mac",
    "six",
    "cache",
    "bottleneck",
    "quarter",
)


def common_mistakes() -> None:
    """About the same few models whichever is chosen, so that each sentence keeps its numbers."""
    mistakes.show("ledger", list(MISTAKES), **_of_qwen(), **_of_a_block(), **_of_others())


def _of_qwen() -> dict[str, str]:
    config = presets()["qwen3-8b"].config
    whole, embed, talk = total(config), config.vocab_size * config.d_model, costs.Talk(config)
    return dict(
        f=f"{config.d_ff:,}",
        wide=f"{total(costs.widened(config, 14336)):,}",
        whole=f"{whole:,}",
        last=f"{embed + config.d_model:,}",
        last_share=as_share((embed + config.d_model) / whole, 2),
        blocks=f"{costs.blocks(config):,}",
        blocks_share=as_share(costs.blocks(config) / whole, 2),
        embed=f"{embed:,}",
        embed_share=as_share(embed / whole, 2),
        words=f"{config.vocab_size:,}",
        states=as_bytes(16 * whole),
        weights=as_bytes(talk.weights),
        token=as_bytes(talk.token),
        token_bytes=f"{float(talk.token):,.0f}",
        full=as_bytes(talk.cache(32768)),
        mha=as_bytes(2 * costs.variants(config)["mha"]),
        cross=f"{costs.crossover(costs.Work(config)):,.0f}",
        ffn_qwen=as_share(costs.ffn(config) / whole),
    )


def _of_a_block() -> dict[str, str]:
    """One block of Qwen3-8B."""
    rows = costs.layer(presets()["qwen3-8b"].config)
    each, block = {row.name: row.each for row in rows}, sum(row.value for row in rows)
    attention = sum(row.value for row in rows if row.part == "attention")
    return dict(
        gate=f"{each['gate']:,}",
        mlp=f"{3 * each['gate']:,}",
        q=f"{each['q']:,}",
        q_flops=f"{2 * each['q']:,}",
        q_share=as_share(each["q"] / block, 2),
        k_share=as_share(each["k"] / block, 2),
        gate_share=as_share(each["gate"] / block, 2),
        mlp_share=as_share(3 * each["gate"] / block, 2),
        attention=f"{attention:,}",
        attention_share=as_share(attention / block, 2),
    )


def _of_others() -> dict[str, str]:
    """Classic blocks: GPT-2, BERT-base, and one of width 512."""
    gpt, bert = presets()["gpt2"].config, presets()["bert-base"].config
    ffn = [row.value for row in costs.layer(bert) if row.part == "ffn"]
    four = next(row.each for row in encoder_decoder(512, 2048, 6, 1) if row.name == "self-attention")
    return dict(
        four=f"{four - 4 * 512:,}",
        four_bias=f"{four:,}",
        eight=f"{8 * bert.d_model**2:,}",
        eight_bias=f"{sum(ffn):,}",
        small=f"{costs.crossover(costs.Work(gpt)):,.0f}",
        gpt2=f"{total(gpt):,}",
        ffn_gpt=as_share(costs.ffn(gpt) / total(gpt)),
    )


def words() -> None:
    headings.fold("The words of the ledger", lambda: prose("ledger", "words"))
