"""The model as a map: a sentence on its way from tokens to the next word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from core.lab.text import Word
from core.topics.home import flow as fl
from core.trace import Trace
from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
FLOW = live.painter(HERE / "map.js")
MOST_ROWS = 48
STREAM = ("norm1", "attn_out", "norm2", "ffn_act", "ffn_out", "resid_post")
HEADS = ("q", "k", "v", "z")


@dataclass(frozen=True)
class Link:
    """One arc that is lit: its weight, and whether it has been cut."""

    block: int
    head: int
    query: int
    key: int
    weight: float
    cut: bool


@dataclass(frozen=True)
class Ending:
    """What the model says at one place. words: the likeliest next tokens; lens: the likeliest after each stage; before:
    the same words' probabilities in the untouched model, where something is cut."""

    words: Sequence[Word]
    lens: Sequence[Sequence[Word]]
    before: Sequence[float] | None = None


class Said(TypedDict):
    """An ending, as the script is told it."""

    lens: list[dict[str, Any]]
    next: list[dict[str, Any]]
    before: list[float] | None


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    tokens: list[str]
    start: int
    blocks: int
    heads: int
    veiled: bool
    hunt: bool
    links: list[dict[str, Any]]
    said: list[Said]
    scale: palette.Scale
    colours: palette.Colours
    titles: dict[str, str]
    says: dict[str, str]
    shapes: dict[str, str]
    pages: dict[str, str]
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    flow: fl.Flow,
    endings: Sequence[Ending],
    *,
    block: int,
    head: int,
    veiled: bool = False,
    hunt: bool = False,
    links: Sequence[Link] = (),
    pages: dict[str, str],
) -> None:
    """Draw the map. At most the last 48 tokens are drawn; the page says so.

    endings: one for each stop of the slider, every stop showing one token more; veiled: the answer is not shown yet;
    hunt: arcs can be cut, and every head stands below as a small picture; pages: stage -> the page it opens.
    """
    trace, n_layers, n_heads = flow.trace, len(endings[0].lens) - 1, flow.trace["block0.weights"].value.shape[0]
    from_row = max(0, len(flow.tokens) - MOST_ROWS)
    shown = [vars(one) | {"query": one.query - from_row, "key": one.key - from_row} for one in links]
    meta: Meta = {
        "tokens": flow.tokens[from_row:],
        "start": len(flow.tokens) - from_row - len(endings) + 1,
        "blocks": n_layers,
        "heads": n_heads,
        "veiled": veiled,
        "hunt": hunt,
        "links": [one for one in shown if one["key"] >= 0],
        "said": [_said(ending, veiled) for ending in endings],
        "scale": palette.scale(palette.DIVERGING, -1.0, 1.0),
        "colours": palette.roles(q="q", k="k", v="v", a="a", quiet="quiet", room="a", accent="warn"),
        "titles": {name: _(title) for name, title in TITLES.items()},
        "says": says(trace),
        "shapes": _shapes(trace),
        "pages": pages,
        "words": {name: _(word) for name, word in WORDS.items()},
        "tools": not veiled,
    }
    state = {"block": min(block, n_layers - 1), "head": min(head, n_heads - 1)}
    picture.mount(FLOW, meta, _arrays(flow, from_row, n_layers), state=state, triggers=("open", "cut"))


def _said(ending: Ending, veiled: bool) -> Said:
    """Behind the veil nothing is sent: who looks into the page finds no answer there."""
    if veiled:
        return {"lens": [], "next": [], "before": None}
    return {
        "lens": [{"token": words[0].token, "p": words[0].p} for words in ending.lens],
        "next": [{"token": word.token, "p": word.p} for word in ending.words[:8]],
        "before": list(ending.before[:8]) if ending.before is not None else None,
    }


TITLES = {
    "tokens": N_("tokens"),
    "ids": N_("ids"),
    "embed": N_("embedding"),
    "norm1": N_("norm"),
    "q": N_("Q"),
    "k": N_("K"),
    "v": N_("V"),
    "weights": N_("attention"),
    "z": N_("Z"),
    "attn_out": N_("out"),
    "norm2": N_("norm"),
    "ffn_act": N_("FFN"),
    "ffn_out": N_("out"),
    "resid_post": N_("stream"),
    "next_logits": N_("logits"),
    "words": N_("next word"),
}
WORDS = {
    "block": N_("Block"),
    "head": N_("Head"),
    "heads": N_("All heads, small"),
    "lens": N_("If it ended here"),
    "replay": N_("Once more"),
    "cuts": N_("{query} reads {key}: {weight}. A click cuts this link."),
    "mends": N_("{query} → {key} is cut. A click puts it back."),
    "keys": N_("Arrow keys go from link to link, Enter cuts one."),
}


def says(trace: Trace) -> dict[str, str]:
    """Each stage's one sentence, from the quantity itself."""
    inside = {name: _(trace[f"block0.{name}"].quantity.says) for name in (*STREAM, *HEADS, "weights")}
    return inside | {name: _(trace[name].quantity.says) for name in ("ids", "embed", "next_logits")}


def _shapes(trace: Trace) -> dict[str, str]:
    """rows x columns of one head's or the whole token's tensor, as it stands under each title."""
    names = {name: f"block0.{name}" for name in (*STREAM, *HEADS, "weights")} | {"embed": "embed"}
    shapes = {stage: "×".join(map(str, trace[name].value.shape[-2:])) for stage, name in names.items()}
    return shapes | {"next_logits": f"{trace['next_logits'].value.shape[0]:,}"}


def _arrays(flow: fl.Flow, from_row: int, n_layers: int) -> dict[str, np.ndarray]:
    """Every strip of every block and head, so that choosing one needs no server."""
    trace = flow.trace

    def small(name: str) -> np.ndarray:
        value = trace[name].value[..., from_row:, :]
        if value.ndim == 2:
            return fl.picture(value)
        return np.stack([fl.picture(one) for one in value])

    arrays = {"embed": fl.picture(trace["embed"].value[from_row:])}
    arrays["next_logits"] = fl.picture(trace["next_logits"].value[None])
    for name in (*STREAM, *HEADS):
        arrays[name] = np.stack([small(f"block{i}.{name}") for i in range(n_layers)])
    weights = [trace[f"block{i}.weights"].value[:, from_row:, from_row:] for i in range(n_layers)]
    halves = {name: array.astype(np.float16) for name, array in (arrays | {"weights": np.stack(weights)}).items()}
    return halves | {"ids": trace["ids"].value[from_row:].astype(np.int32)}
