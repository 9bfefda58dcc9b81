"""What a model is made of: every tensor, one block, the f slider, and what one token meets of it."""

from __future__ import annotations

import csv
import io

import numpy as np
import streamlit as st

from core import costs
from core.config import ModelConfig
from core.counting import Row, parameters, total
from pages.parts.ledger import treemap
from pages.parts.ledger.conversation import as_gap, as_share, title
from pages.parts.ledger.models import Model
from pages.shared import controls, frame, spine
from pages.shared.pictures import code, live, stack
from pages.shared.text import N_, _, prose, say

PARTS = {
    "embedding": N_("embedding"),
    "attention": N_("attention"),
    "ffn": N_("FFN"),
    "experts": N_("experts"),
    "router": N_("router"),
    "norms": N_("norms"),
    "pooler": N_("pooler"),
    "head": N_("output head"),
}
ROLES = {
    "embedding": "q", "attention": "a", "ffn": "v", "experts": "v", "router": "warn", "norms": "quiet", "pooler": "k", "head": "k",
}  # fmt: skip
TENSORS = {
    "embedding": N_("embedding"),
    "positions": N_("positions"),
    "segments": N_("segments"),
    "embedding norm": N_("norm of the embedding"),
    "norm": N_("norms"),
    "final norm": N_("last norm"),
    "router": N_("router"),
    "router bias": N_("router bias"),
    "pooler": N_("pooler"),
    "head": N_("output head"),
    "expert gate": N_("expert gate"),
    "expert up": N_("expert up"),
    "expert down": N_("expert down"),
    "shared expert gate": N_("shared expert gate"),
    "shared expert up": N_("shared expert up"),
    "shared expert down": N_("shared expert down"),
}


def tensor(name: str) -> str:
    """Names such as q, gate, kv down stand as they are in both languages."""
    return _(TENSORS[name]) if name in TENSORS else name


def grouped(rows: list[Row]) -> list[Row]:
    """Rows in the order of PARTS, so that those of a part stand together."""
    return sorted(rows, key=lambda row: list(PARTS).index(row.part))


def show(model: Model) -> None:
    f_slider(model)
    table(model)
    if model.config.moe:
        experts(model)


# ---- the f slider ----


def f_slider(model: Model) -> None:
    """Slide f until the total is the published one; the map of the parts follows."""
    title(N_("Which f makes «name»?"), name=model.name)
    found = frame.cached(costs.at_every_width, model.config)
    start = min(found.stops, key=lambda x: abs(x - costs.width(model.config) * 7 / 6))
    label = N_("Width of an expert") if model.config.moe else N_("Width f of the FFN")
    dial = controls.Dial("f_width", label, found.stops, start, shown=tuple(f"{x:,}" for x in found.stops))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _bar_and_map(model, found, dial)
    with right:
        if spine.deep():
            st.markdown(f"${costs.PARAMETERS.formula}$")
        slope = total(costs.widened(model.config, 2)) - total(costs.widened(model.config, 1))
        prose("ledger", "f_slider", start=f"{start:,}", slope=f"{slope:,}", name=model.name)
        if model.preset and spine.deep():
            st.link_button(_("Where these sizes come from"), model.preset.source)


def _bar_and_map(model: Model, found: costs.Widths, dial: controls.Dial) -> None:
    """All parameters as one bar against the published total, and as a map."""
    order = sorted(range(len(found.rows)), key=lambda i: list(PARTS).index(found.rows[i].part))
    rows, values = [found.rows[i] for i in order], found.values.numpy()[:, order]
    parts = [part for part in PARTS if any(row.part == part for row in rows)]
    sums = np.stack([values[:, [row.part == part for row in rows]].sum(1) for part in parts], -1)
    names, roles = [_(PARTS[part]) for part in parts], tuple(ROLES[part] for part in parts)
    mark = _("published: {total}") if model.preset else _("its own total: {total}")
    stack.show(
        live.Picture(
            key="f_bar",
            quantity="parameters",
            says=_("All parameters of the model, by part, at every width of the FFN."),
            slider=dial.slider(together=True),
            captions=[_caption(x, int(s), model.published) for x, s in zip(found.stops, sums.sum(1), strict=True)],
            released=dial.receive,
        ),
        sums[:, None],
        [model.name],
        names,
        roles=roles,
        high=float(sums.sum(1).max()),
        mark=(float(model.published), mark.format(total=f"{model.published:,}")),
    )
    treemap.show(
        live.Picture(
            key="f_map",
            quantity="parameters",
            says=_("A map of all tensors: the area is the number of parameters."),
            slider=dial.slider(together=True, hidden=True),
        ),
        values,
        [tensor(row.name) for row in rows],
        [parts.index(row.part) for row in rows],
        names,
        roles=roles,
        tall=300 if spine.deep() else 190,
    )


def _caption(f: int, found: int, published: int) -> str:
    if found == published:
        return _("f = {f}: {total} parameters. That is it, to the last one.").format(f=f"{f:,}", total=f"{found:,}")
    text = _("f = {f}: {total} parameters, {gap} against the line.")
    return text.format(f=f"{f:,}", total=f"{found:,}", gap=as_gap(found / published))


# ---- the ledger itself ----


def table(model: Model) -> None:
    """Every tensor with its formula: of the whole model, or of one block."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        title(N_("Every tensor of «name»"), name=model.name)
    with right:
        of = controls.choice(
            "Of", {"model": N_("the whole model"), "block": N_("one block")}, "model", key="ledger_of", hide_label=True
        )
    rows = grouped(costs.layer(model.config) if of == "block" else parameters(model.config))
    whole = sum(row.value for row in rows)
    left, right = st.columns([7, 4], gap="medium")
    with left:
        st.markdown(_table(rows, whole))
        st.download_button(_("The table (.csv)"), _csv(rows), "ledger.csv", "text/csv", key="ledger_csv")
    with right:
        parts = [part for part in PARTS if any(row.part == part for row in rows)]
        sums = np.array([[sum(row.value for row in rows if row.part == part) for part in parts]], np.float64)
        name = _("one block") if of == "block" else _("the whole model")
        stack.show(
            live.Picture(
                key="ledger_bar",
                quantity="parameters",
                says=_("The same numbers as one bar: its parts add up to the whole."),
            ),
            sums,
            [name],
            [_(PARTS[part]) for part in parts],
            roles=tuple(ROLES[part] for part in parts),
        )
        _words(model)
    code.show(costs.PARAMETERS)


def _table(rows: list[Row], whole: int) -> str:
    head = [f"| {_('tensor')} | | {_('each')} | × | {_('parameters')} | % |", "|---|---|---:|---:|---:|---:|"]
    lines = [
        f"| {tensor(row.name)} | ${row.formula}$ | {row.each:,} | {row.times:,} | {row.value:,} | {_percent(row, whole)} |"
        for row in rows
    ]
    return "\n".join([*head, *lines, f"| **{_('total')}** | | | | **{whole:,}** | 100 |"])


def _percent(row: Row, whole: int) -> str:
    share = 100 * row.value / whole
    return f"{share:.2f}" if share >= 0.01 else f"{share:.4f}" if share >= 0.00005 else "< 0.0001"


def _csv(rows: list[Row]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["part", "tensor", "formula", "each", "times", "parameters"])
    writer.writerows([row.part, row.name, row.formula, row.each, row.times, row.value] for row in rows)
    return file.getvalue()


def _words(model: Model) -> None:
    """What to notice in the table, with this model's numbers."""
    c = model.config
    by_part, whole = costs.by_part(c), total(c)
    block = sum(row.value for row in costs.layer(c))
    ffn = sum(row.value for row in costs.layer(c) if row.part in ("ffn", "experts", "router"))
    shares = dict(
        ffn=as_share(costs.ffn(c) / whole), inside=as_share(ffn / block), embed=as_share(by_part["embedding"] / whole)
    )
    attention = next(row for row in costs.layer(c) if row.part == "attention")
    norms = sum(row.value for row in parameters(c) if "norm" in row.name.lower())
    flops = dict(q=f"{attention.each:,}", flops=f"{2 * attention.each:,}", norms=f"{norms:,}")
    prose("ledger", "table", name=model.name, **shares, **flops)
    if c.ffn_bias and not c.moe:
        rows = [row for row in costs.layer(c) if row.part == "ffn"]
        bare = sum(row.value for row in rows if "bias" not in row.name)
        say(
            "The FFN of a block: «bare» weights, with biases «all». Attention: «four», with biases «more».",
            bare=f"{bare:,}",
            all=f"{sum(row.value for row in rows):,}",
            **_attention_of(c),
        )
    if c.position == "rope":
        say("RoPE, which tells positions apart, is not in the table: it has **0** parameters.")
    if c.pooler:
        say("There is no output head: the model ends with the pooler, one matrix for the first token.")
    elif c.tied:
        saved = c.vocab_size * c.d_model
        say("The head is tied: the embedding is used once more. Untied, it would cost «n» more.", n=f"{saved:,}")


def _attention_of(config: ModelConfig) -> dict[str, str]:
    rows = [row for row in costs.layer(config) if row.part == "attention"]
    bare = sum(row.value for row in rows if "bias" not in row.name)
    return {"four": f"{bare:,}", "more": f"{sum(row.value for row in rows):,}"}


# ---- experts ----


def experts(model: Model) -> None:
    """Mixture of experts: what is stored, and what one token meets."""
    c, moe = model.config, model.config.moe
    title(N_("Stored and used"))
    whole, used = total(c), costs.active(c)
    stack.show(
        live.Picture(
            key="active_bar",
            quantity="parameters",
            says=_("All parameters, split into those that one token meets and the rest."),
        ),
        np.array([[used, whole - used]], np.float64),
        [model.name],
        [_("met by one token"), _("experts it is not sent to")],
        roles=("a", "quiet"),
    )
    numbers = dict(experts=moe.n_experts, chosen=moe.n_active, whole=f"{whole:,}", used=f"{used:,}")
    if moe.n_shared:
        say("Besides, every token passes through «shared» shared experts.", shared=moe.n_shared)
    prose("ledger", "experts", multiplied=f"{used - costs.looked_up(c):,}", share=as_share(used / whole), **numbers)
