"""Two hundred continuations a way to draw: from the likeliest to the unlikeliest under the finger, and all ways in a table."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.topics.inference import bank as bk
from pages.shared import controls, frame
from pages.shared.asks import predict
from pages.shared.pictures import figures, lines, live
from pages.shared.text import N_, _, prose, unmarked

LONGEST = 170  # signs of a text under the picture


def name(way: str) -> str:
    """As a visitor reads it: what the sampler does."""
    how = bk.WAYS[way]
    if not how.temperature:
        return _("always the likeliest")
    cuts = [
        f"top-p {how.top_p}" if how.top_p < 1 else "",
        f"top-k {how.top_k}" if how.top_k else "",
        f"min-p {how.min_p}" if how.min_p else "",
    ]
    return " · ".join([unmarked(_("temperature «t»"), t=how.temperature), *(cut for cut in cuts if cut)])


def shelf() -> None:
    """A guess; then one way to draw, its texts under the finger, and all ways side by side."""
    if not _guess():
        return
    way = str(controls.listed(_("How it was drawn"), tuple(bk.WAYS), "t10", key="bank", shown=name))
    found = frame.cached(bk.bank, way)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _texts(found)
    with right:
        prose(
            "inference",
            "bank",
            prompt=bk.PROMPT,
            texts=bk.TEXTS,
            tokens=bk.LENGTH,
            read=f"{frame.cached(bk.sample_tokens):,}",
            monkey=figures.number(bk.monkey(), 2),
            wild=figures.number(frame.cached(bk.bank, "t20").mean, 2),
        )
    _table()


def _guess() -> bool:
    wild, held = frame.cached(bk.bank, "t15"), frame.cached(bk.bank, "t15p09")
    options = {"none": N_("hardly any"), "tenth": N_("about one in ten"), "half": N_("half of them")}
    near = {"none": 0.01, "tenth": 0.1, "half": 0.5}
    answer = min(near, key=lambda one: abs(np.log(near[one] / max(wild.strange, 1e-3))))
    true = N_(
        "«strange» of them; at temperature 2 it is «half». Cut to top-p 0.9, the same temperature has «less»: what is cut "
        "away is a long tail of tokens, each unlikely, together drawn often."
    )
    asked = predict.Prediction(
        "bank_strange",
        N_("Guess first: drawn at temperature 1.5, how many of the words are no words of this model's language?"),
        options,
        answer,
        dict.fromkeys([*options, predict.UNSURE], true),
        opens=tuple(f"bank_{way}" for way in bk.WAYS),
    )
    return (
        predict.ask(
            asked,
            strange=f"{wild.strange:.1%}",
            half=f"{frame.cached(bk.bank, 't20').strange:.0%}",
            less=f"{held.strange:.1%}",
        )
        is not None
    )


def _texts(found: bk.Bank) -> None:
    stops = tuple(range(len(found.texts)))
    names = tuple(str(i + 1) for i in stops)
    dial = controls.Dial("bank_text", N_("From the likeliest to the unlikeliest"), stops, 0, shown=names)
    captions = [
        f"{bk.PROMPT}{_tail(text)} · {_('log p a token')} {figures.number(float(nats), 2)}"
        for text, nats in zip(found.texts, found.nats, strict=True)
    ]
    lines.show(
        live.Picture(
            key=f"bank_{found.way}",
            wordless=True,
            quantity="log_chance",
            says=_(
                "The texts of one way to draw, by how likely the model holds them; the text of the upright line below."
            ),
            slider=dial.slider() if len(stops) > 1 else None,
            captions=captions,
            released=dial.receive,
        ),
        np.stack([found.nats, np.full(len(stops), bk.monkey())]),
        np.arange(len(stops), dtype=float) + 1,
        [
            lines.Series(_("mean log p a token"), "v", dots=len(stops) == 1),
            lines.Series(_("all tokens alike"), "quiet", dash=True, dots=len(stops) == 1),
        ],
        x=lines.Axis(_("texts, likeliest first")),
        y=lines.Axis(_("nats a token"), low=min(bk.monkey(), float(found.nats.min())) - 0.5, high=0.0),
        moving=np.arange(len(stops), dtype=float) + 1 if len(stops) > 1 else None,
        tall=220,
    )


def _tail(text: str) -> str:
    text = " ".join(text.split())
    return (" " + text)[:LONGEST]


def _table() -> None:
    head = [_("way to draw"), _("log p a token"), _("different openings"), _("different words"), _("no words")]
    rows = []
    for way in bk.WAYS:
        one = frame.cached(bk.bank, way)
        counts = [f"{one.openings:,}", f"{one.different:,}", f"{one.strange:.1%}"]
        rows.append([name(way), figures.number(one.mean, 2), *counts])
    figures.table(head, rows)
