"""The model as a map: a sentence on its way from tokens to the next word."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.topics.home import flow as fl
from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
FLOW = live.component("flow", HERE / "map.js", HERE / "map.css")
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


def show(
    picture: live.Picture,
    flow: fl.Flow,
    *,
    block: int,
    head: int,
    unrolled: bool,
    link: Link | None,
    pages: dict[str, str],
) -> None:
    """Draw the map. pages: stage -> the page it opens. At most the last 48 tokens are drawn; the page says so."""
    trace, n_layers, n_heads = flow.trace, len(flow.lens) - 1, flow.trace["block0.weights"].value.shape[0]
    from_row = max(0, len(flow.tokens) - MOST_ROWS)
    meta = {
        "alt": _alt(flow),
        "tokens": flow.tokens[from_row:],
        "blocks": n_layers,
        "heads": n_heads,
        "unrolled": unrolled,
        "link": vars(link) if link else None,
        "lens": [{"token": words[0].token, "p": words[0].p} for words in flow.lens],
        "next": [{"token": word.token, "p": word.p} for word in flow.words[:8]],
        "scale": palette.scale(palette.DIVERGING, -1.0, 1.0),
        "colours": palette.roles(q="q", k="k", v="v", a="a", quiet="quiet", room="a", accent="warn"),
        "titles": {name: _(title) for name, title in TITLES.items()},
        "says": says(trace),
        "shapes": _shapes(trace),
        "pages": pages,
        "words": {"block": _("Block"), "head": _("Head"), "lens": _("If it ended here")},
        "tools": False,
    }
    state = {"block": min(block, n_layers - 1), "head": min(head, n_heads - 1)}
    picture.mount(FLOW, meta, _arrays(flow, from_row, n_layers), state=state, triggers=("open",))


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


def says(trace: Any) -> dict[str, str]:
    """Each stage's one sentence, from the quantity itself."""
    inside = {name: _(trace[f"block0.{name}"].quantity.says) for name in (*STREAM, *HEADS, "weights")}
    return inside | {name: _(trace[name].quantity.says) for name in ("ids", "embed", "next_logits")}


def _shapes(trace: Any) -> dict[str, str]:
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


def _alt(flow: fl.Flow) -> str:
    ends = ", ".join(f"{i}: {words[0].token} {words[0].p:.0%}" for i, words in enumerate(flow.lens))
    return _("After each block the likeliest next word is") + " " + ends
