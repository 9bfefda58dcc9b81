"""The walk: every line of a real pass through each of the three families, one at a time, and its shape."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import streamlit as st

from core import watch
from core.lab import text as sentence
from core.nets import dates_task
from core.tokenizer import Reading
from core.topics.model import walk as steps
from pages.parts.model import wiring
from pages.parts.model.repair import BENDS, FORMULAS, shape_of
from pages.shared import controls, frame
from pages.shared.asks import predict
from pages.shared.pictures import live
from pages.shared.text import N_, _, prose, say

FAMILIES = {"decoder": N_("decoder only"), "both": N_("encoder and decoder"), "encoder": N_("encoder only")}
DATES = (dates_task.TEXT, "5 Mar 2021", "21st November 1999")
SIDES = {
    "x": "x",
    "after_self": "x + self.attn_out",
    "after_cross": "x + cross.attn_out",
    "norm3": "norm(x)",
    "out": "x + ffn_out",
    "memory": "norm(x)",
    "source": "t",
    "written": "t",
    "embed": "E[t]",
    "norm_final": "norm(x)",
    "logits": "x · W_U",
    "probs": "softmax",
    "written_probs": "softmax",
    "ids": "t",
    "angles": "m · θ",
}
CROSS = {"q": "x · W_Q", "k": "memory · W_K", "v": "memory · W_V"}


def walk(reading: Reading) -> None:
    """Every line of a real pass, one at a time; the shape at every arrow."""
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        family = controls.choice("Family", FAMILIES, "decoder", key="family")
    with right:
        date = controls.pick("A date to read", DATES, DATES[0], key="walk_date") if family != "decoder" else DATES[0]
    if family == "both":
        _order()
    lines = (
        frame.cached(steps.decoder_only, sentence.of(reading))
        if family == "decoder"
        else frame.cached(steps.encoder_decoder, date)
    )
    rows, kept = _rows(lines, family)

    def tell() -> None:
        prose("model", f"walk_{family}", **_sizes(lines, family))
        if family == "decoder":
            _loop(reading)
        st.page_link("pages/06_attention.py", label=_("Every number of one head: attention, step by step"))

    _two_columns(rows, kept, family, tell)


def _sizes(lines: tuple[watch.Line, ...], family: str) -> dict[str, object]:
    shapes = {one.name: one.shape for one in lines}
    if family == "decoder":
        return dict(n=shapes["ids"][0], d=shapes["embed"][1], vocab=f"{shapes['logits'][1]:,}")
    scores = shape_of(shapes["dec0.cross.scores"])
    return dict(n=shapes["source"][0], m=shapes["written"][0], d=shapes["memory"][1], scores=scores)


def _order() -> None:
    """Which of the three sub-layers comes when? Read from the pass itself."""
    found = [one.name for one in frame.cached(steps.encoder_decoder, DATES[0]) if one.name.startswith("dec0.")]
    places = {
        word: found.index(f"dec0.{name}") for word, name in zip("scf", ("self.z", "cross.z", "ffn_out"), strict=True)
    }
    truth = "".join(sorted(places, key=places.__getitem__))
    options = {
        "csf": N_("cross-attention, self-attention, FFN"),
        "scf": N_("self-attention, cross-attention, FFN"),
        "sfc": N_("self-attention, FFN, cross-attention"),
    }
    because = {
        "csf": N_("First it reads what it has written itself, masked. Only then does it know what to ask the source."),
        "scf": N_("First what is written so far, masked; then the source; then each token on its own."),
        "sfc": N_("The FFN stands last: it works on what both attentions have brought."),
        "?": N_("Self-attention over what is written, cross-attention to the source, then the FFN: three sub-layers."),
    }
    predict.ask(
        predict.Prediction(
            "sublayers", N_("A decoder block has three sub-layers. In which order?"), options, truth, because
        )
    )


def _rows(lines: tuple[watch.Line, ...], family: str) -> tuple[list[wiring.Row], list[watch.Line]]:
    """The lines to show: one block of each side in full, of the others the way out."""
    kept = [one for one in lines if _worth(one.name, family)]
    texts = FORMULAS if family == "decoder" else FORMULAS | {"ffn_act": BENDS["gelu"]}  # the date model's bend
    rows, group = [], ""
    for one in kept:
        now = _group(one.name)
        *_scopes, last = one.name.split(".")
        text = CROSS.get(last, "") if ".cross." in one.name else ""
        text = text or SIDES.get(last) or texts[last]
        plus = last in ("resid_mid", "resid_post", "after_self", "after_cross", "out")
        shown = one.name.split(".", 1)[1] if "." in one.name else one.name
        rows.append(wiring.Row(shown, text, shape_of(one.shape), now if now != group else "", plus))
        group = now
    return rows, kept


def _worth(name: str, family: str) -> bool:
    scope = name.split(".")[0]
    if family == "encoder" and (scope.startswith("dec") or name in ("written", "embed", "logits", "written_probs")):
        return False
    full = {"decoder": ("block0",), "both": ("enc0", "dec0"), "encoder": ("enc0", "enc1")}[family]
    way_out = name.endswith((".resid_post", ".out"))
    return "." not in name or scope in full or way_out


def _group(name: str) -> str:
    scope = name.split(".")[0] if "." in name else ""
    number = scope.lstrip("abcdeklno")
    for start, title in (
        ("block", N_("block {i}")),
        ("enc", N_("encoder, block {i}")),
        ("dec", N_("decoder, block {i}")),
    ):
        if scope.startswith(start):
            return _(title).format(i=number)
    if name in ("ids", "embed", "angles", "written", "source"):
        return _("what goes in")
    return _("what the encoder hands over") if name == "memory" else _("what comes out")


def _arcs(kept: list[watch.Line]) -> list[tuple[int, int]]:
    """What skips ahead: the stream around each sub-layer, and the encoder's memory to the decoder's cross-attention."""
    at = {one.name: i for i, one in enumerate(kept)}
    arcs = []
    for start, end in (("resid_pre", "resid_mid"), ("resid_mid", "resid_post"), ("x", "after_self"),
                       ("after_self", "after_cross"), ("after_cross", "out")):  # fmt: skip
        arcs += [(i, at[f"{name.split('.')[0]}.{end}"]) for name, i in at.items()
                 if name.endswith(f".{start}") and f"{name.split('.')[0]}.{end}" in at]  # fmt: skip
    arcs += [(i, at[name.replace("after_self", "out")]) for name, i in at.items()
             if name.startswith("enc") and name.endswith(".after_self")]  # fmt: skip
    if "dec0.cross.k" in at:
        arcs.append((at["memory"], at["dec0.cross.k"]))
    return sorted(arcs)


def _told_of(row: wiring.Row, one: watch.Line) -> str:
    if np.isnan(one.rms):
        return _("{name}: {shape}.").format(name=row.name, shape=row.shape)
    template = _("{name}: {shape}. Mean {mean}, rms {rms}, from {low} to {high}.")
    numbers = dict(mean=f"{one.mean:.3f}", rms=f"{one.rms:.3f}", low=f"{one.low:.2f}", high=f"{one.high:.2f}")
    return template.format(name=row.name, shape=row.shape, **numbers)


def _column(rows: list[wiring.Row], kept: list[watch.Line], lit: list[int], captions: list[str] | None) -> None:
    """One side of the walk. lit: its row at every stop, -1 where the walk is on the other side."""
    along = controls.Dial("line", N_("Line by line"), range(len(lit)), shown=tuple(str(i + 1) for i in range(len(lit))))
    wiring.show(
        live.Picture(
            key="walk" if captions else "walk_on",
            quantity="rms",
            says=_("Every line of the pass, and the shape of what leaves it."),
            slider=along.slider(together=True, hidden=not captions),
            captions=captions,
            released=along.receive,
        ),
        rows,
        _arcs(kept),
        values=np.array([one.rms for one in kept]),
        ends=(0.01, 100.0),
        measured=_("size (rms)"),
        lit=lit,
    )


def _two_columns(rows: list[wiring.Row], kept: list[watch.Line], family: str, tell: Callable[[], None]) -> None:
    """The encoder, and beside it the decoder; of one family, the lines and the words about them."""
    told = [_told_of(row, one) for row, one in zip(rows, kept, strict=True)]
    cut = 1 + [one.name for one in kept].index("memory") if family == "both" else len(rows)
    left, right = st.columns([1, 1] if family == "both" else [5, 4], gap="medium")
    with left:
        _column(rows[:cut], kept[:cut], [i if i < cut else -1 for i in range(len(rows))], told)
        if family == "both":
            tell()
    with right:
        if family == "both":
            again = replace(rows[cut - 1], group=_("what the encoder hands over"))
            lit = [i - cut + 1 if i >= cut - 1 else -1 for i in range(len(rows))]
            _column([again, *rows[cut:]], kept[cut - 1 :], lit, None)
        else:
            tell()


def _loop(reading: Reading) -> None:
    """The whole model as its loop, run as it is printed."""
    found = frame.cached(steps.loop, sentence.of(reading))
    st.code(inspect.getsource(steps.written_out), language=None, wrap_lines=True)
    template = N_(
        "Run on a batch of two, this very code gives «shape», that is [B, T, V]. Largest difference from the model of all pages: «gap»."
    )
    say(template, shape=f"({', '.join(f'{n:,}' for n in found.shape)})", gap=f"{found.gap:.0e}" if found.gap else "0")
