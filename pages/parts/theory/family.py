"""The family tree: press a branch, and the mask and what a token is change; years, sizes, trends."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.topics.theory import family as fm
from pages.shared import controls, frame
from pages.shared.pictures import figures, live, matrix, tiles
from pages.shared.text import N_, _, filled, prose

NAMES = {
    "both": N_("encoder–decoder"),
    "encoder": N_("encoder only"),
    "decoder": N_("decoder only"),
    "vision": N_("vision"),
    "idea": N_("ideas"),
}
ROLES = {"both": "a", "encoder": "q", "decoder": "v", "vision": "warn", "idea": "quiet"}
MODELS = {"both": "Transformer, 2017", "encoder": "BERT-base", "decoder": "GPT-1", "vision": "ViT-B/16"}
CALLED = {
    "attention": N_("attention"),
    "transformer": "Transformer",
    "gpt1": "GPT-1",
    "bert": "BERT",
    "gpt2": "GPT-2",
    "t5": "T5",
    "kaplan": N_("scaling law"),
    "gpt3": "GPT-3",
    "efficient": N_("efficient Transformers"),
    "vit": "ViT",
    "chinchilla": "Chinchilla",
    "flash": "Flash",
    "gpt4": "GPT-4",
    "flash2": "Flash-2",
    "llama2": "Llama 2",
    "mixtral": "Mixtral",
    "llama3": "Llama 3",
    "mla": "MLA",
    "deepseek3": "DeepSeek-V3",
}
ABOVE = {
    "transformer",
    "kaplan",
    "gpt2",
    "vit",
    "llama2",
    "llama3",
    "flash2",
    "chinchilla",
    "t5",
    "bert",
}  # names that stand over their mark
NARROW = {"attention", "transformer", "gpt1", "bert", "gpt2", "t5", "kaplan", "gpt3", "vit", "flash", "llama3", "mla"}
NARROW |= {"deepseek3"}  # names that a telephone has room for; the others when pointed at
WIDE = 460  # px of years from which all names fit
NAMED = ("gpt1", "gpt2", "gpt3", "gpt4", "llama3", "deepseek3")  # on the trends; the others when pointed at
LANES = ("encoder", "vision", "both", "decoder", "idea")
TEXT = ("the", "cat", "sat", "on", "the", "mat", "and", "slept")
SOURCE, WRITTEN = ("4", "May", "20", "21"), ("<s>", "2021", "-", "05", "-")
BRANCH = controls.Setting("branch", "both")


def family() -> None:
    """The tree, the branch that is pressed, its mask and its input."""
    branch = controls.choice("Branch", {one: NAMES[one] for one in fm.BRANCHES}, "both", key="branch", hide_label=True)
    says = _("A family tree over the years: encoders, vision, both, decoders.")
    figures.show(_tree, branch, key="tree", says=says, chosen=_press)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _mask(branch)
    with right:
        said = N_("**«model»** · «n» parameters, counted")
        st.markdown(filled(_(said), model=MODELS[branch], n=f"{frame.cached(fm.parameters, branch):,}"))
        prose("theory", f"family_{branch}", **_numbers())
        if branch == "vision":
            _patches()


def _numbers() -> dict[str, object]:
    side, found = fm.VIT["image"], {one.id: one for one in frame.cached(fm.trends)}
    first, last = found["gpt1"], found["deepseek3"]
    return dict(
        image=fm.IMAGE,
        patch=fm.PATCH,
        patches=fm.PATCHES,
        side=side,
        vit_patch=fm.VIT["patch"],
        vit_patches=fm.patch_count(),
        vit_tokens=fm.patch_count() + 1,
        t5=f"{fm.parameters('t5'):,}",
        words=f"{fm.BASE['vocab_size']:,}",
        gpt2=f"{fm.parameters('gpt2-xl'):,}",
        first=CALLED[first.id],
        first_layers=first.layers,
        last_layers=max(one.layers for one in found.values() if one.confirmed),
        first_size=f"{first.size:,}",
        last_size=f"{last.size:,}",
        first_context=f"{first.context:,}",
        last_context=f"{max(one.context for one in found.values()):,}",
        gpt3=f"{fm.parameters('gpt3-175b'):,}",
    )


def _mask(branch: str) -> None:
    open_ = frame.cached(fm.mask, branch)
    names = {
        "both": [*SOURCE, *WRITTEN],
        "vision": [_("class"), *(str(i + 1) for i in range(fm.PATCHES))],
    }.get(branch, list(TEXT))
    if branch == "encoder":
        names = ["[MASK]" if i == 2 else word for i, word in enumerate(names)]
    matrix.show(
        live.Picture(
            key="branch_mask",
            wordless=True,
            quantity="allowed",
            says=_("Who may read whom in this branch: rows read, columns are read."),
        ),
        open_.astype(float),
        rows=names,
        columns=names,
        look=matrix.Look(
            from_zero=True, row_title=N_("reads"), column_title=N_("is read"), digits=0, tall=190, most=24, tools=False
        ),
        shut=~open_,
    )


def _patches() -> None:
    """The small image, cut up: every patch is a token."""
    cut = frame.cached(fm.cut_image)
    tiles.show(
        live.Picture(
            key="patches",
            quantity="weights",
            says=_("A picture of a sun over two hills, cut into patches."),
        ),
        cut,
        columns=fm.IMAGE // fm.PATCH,
        names=[str(i + 1) for i in range(len(cut))],
        most=34,
    )


# ---- the tree over the years ----


def _tree(branch: str) -> Any:
    """Marks over years, one lane a branch, lines from parent to child; pressing one chooses its branch."""
    alt = figures.altair()
    rows = [
        _row(event) | {"now": event.kind == branch, "lane": LANES.index(event.kind), figures.CHOSEN: event.kind}
        for event in fm.EVENTS
    ]
    x, y = _places()
    texts = []
    for up in (True, False):
        held = [row for row in rows if row["above"] == up]
        written = alt.Chart(alt.InlineData(held)).mark_text(dy=-13 if up else 15)
        fits = alt.condition(f"width > {WIDE} || datum.narrow", "name:N", alt.value(""))
        texts.append(written.encode(x=x, y=y, text=fits))
    return alt.layer(_limbs(rows, x, y), _marks(rows, x, y), *texts).properties(height=48 * len(LANES) + 24)


def _places() -> tuple[Any, Any]:
    """Both axes: years, and one lane a branch."""
    alt = figures.altair()
    x = alt.X("when:Q", title=None, scale=alt.Scale(domain=[2014, 2025.6]), axis=alt.Axis(tickCount=11))
    labels = "[" + ",".join(f"'{_(NAMES[lane])}'" for lane in LANES) + "][datum.value]"
    axis = alt.Axis(values=list(range(len(LANES))), labelExpr=labels, grid=False)
    return x, alt.Y("lane:Q", title=None, scale=alt.Scale(domain=[len(LANES) - 0.5, -0.6]), axis=axis)


def _marks(rows: list[dict[str, Any]], x: Any, y: Any) -> Any:
    alt = figures.altair()
    colours = alt.Scale(domain=list(LANES), range=[figures.colour(ROLES[one]) for one in LANES])
    told = {"name": _("name"), "date": _("first published"), "size": _("parameters"), "paper": _("source")}
    return (
        alt.Chart(alt.InlineData(rows))
        .mark_point(filled=True, opacity=1, cursor="pointer")
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N", scale=colours, legend=None),
            size=alt.condition("datum.now", alt.value(220), alt.value(90)),
            shape=alt.condition("datum.unconfirmed", alt.value("diamond"), alt.value("circle")),
            tooltip=[alt.Tooltip(f"{field}:N", title=title) for field, title in told.items()],
        )
        .add_params(figures.pressed())
    )


def _press(kind: Any) -> None:
    if kind in fm.BRANCHES:
        BRANCH.keep(kind)


def _row(event: fm.Event) -> dict[str, Any]:
    size = f"{event.size:,.0f}" if event.member else "–"
    if event.told:
        size = _("{n}, unconfirmed").format(n=figures.power(event.told, 2))
    return {
        "name": _(CALLED[event.id]) + ("?" if event.told else ""),
        "when": event.when,
        "date": f"{event.year}-{event.month:02}",
        "kind": event.kind,
        "size": size,
        "paper": f"arXiv {event.paper}" if "." in event.paper else event.paper,
        "above": event.id in ABOVE,
        "narrow": event.id in NARROW,
        "unconfirmed": bool(event.told),
    }


def _limbs(rows: list[dict[str, Any]], x: Any, y: Any) -> Any:
    """From attention to the Transformer, from there to the first of each branch, and along the branch."""
    alt = figures.altair()
    root = next(row for row in rows if row["name"] == "Transformer")
    pairs = [(rows[0], root)]
    for kind in fm.BRANCHES:
        line = [row for row in rows if row["kind"] == kind and row is not root]
        pairs += list(zip([root, *line], line, strict=False))
    ends = [
        {"limb": i, "when": one["when"], "lane": one["lane"], "order": end}
        for i, pair in enumerate(pairs)
        for end, one in enumerate(pair)
    ]
    return (
        alt.Chart(alt.InlineData(ends))
        .mark_line(color=figures.colour("quiet"), opacity=0.5, strokeWidth=2)
        .encode(x=x, y=y, detail="limb:N", order="order:Q")
    )


# ---- trends ----


def trends() -> None:
    """Dates; then layers, parameters and context of the decoders over the years."""
    prose("theory", "timeline")
    for column, (field, title) in zip(
        st.columns(3),
        (("layers", N_("layers")), ("size", N_("parameters N")), ("context", N_("context, tokens"))),
        strict=True,
    ):
        with column:
            says = _("Trend over the years: {title}, hollow where it was never confirmed.").format(title=_(title))
            figures.show(_trend, field, _(title), key=f"trend_{field}", says=says)
    prose("theory", "trends", **_numbers())


def table() -> None:
    """Every date of the tree in words, for who cannot point at it."""
    heads = [_(one) for one in (N_("first published"), N_("name"), N_("Branch"), N_("parameters"), N_("source"))]
    lines = [heads, ["---", "---", "---", "---:", "---"]]
    for event in fm.EVENTS:
        row = _row(event)
        lines.append([row["date"], row["name"], _(NAMES[event.kind]), row["size"], row["paper"]])
    st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))


def _trend(field: str, title: str) -> Any:
    alt = figures.altair()
    rows = [
        {
            "id": one.id,
            "name": _(CALLED[one.id]),
            "when": one.when,
            "value": float(getattr(one, field)),
            "sure": one.confirmed or field == "context",
        }
        for one in frame.cached(fm.trends)
    ]
    values = [row["value"] for row in rows]
    domain = min(values) / 2, max(values) * 2
    log = alt.Scale(type="log", domain=domain, nice=False)
    years = alt.Scale(domain=[2017.8, 2025.8])
    x = alt.X("when:Q", title=None, scale=years, axis=alt.Axis(values=list(range(2018, 2026, 2))))
    y = alt.Y("value:Q", title=f"{title} · {_('log scale')}", scale=log, axis=alt.Axis(values=figures.ticks(*domain)))
    base = alt.Chart(alt.InlineData(rows)).encode(x=x, y=y)
    ink = figures.colour("v")
    marks = base.mark_point(filled=False, color=ink).encode(
        fill=alt.condition("datum.sure", alt.value(ink), alt.value("transparent")),
        tooltip=["name:N", alt.Tooltip("value:Q", title=title, format=",.0f"), alt.Tooltip("when:Q", format=".1f")],
    )
    named = alt.Chart(alt.InlineData([row for row in rows if row["id"] in NAMED])).encode(x=x, y=y, text="name:N")
    return (marks + named.mark_text(dy=-11)).properties(height=220)
