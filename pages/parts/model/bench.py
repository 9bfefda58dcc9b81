"""The workbench, first half: assemble a block, walk through the three families, see a model at its true size."""

from __future__ import annotations

import csv
import inspect
import io
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from core import watch
from core.nets import dates_task
from core.topics.model import assemble as asm
from core.topics.model import walk as steps
from pages.parts.model import wiring
from pages.parts.model.repair import FORMULAS, shape_of
from pages.shared import controls, frame
from pages.shared.asks import predict
from pages.shared.pictures import live, matrix
from pages.shared.text import N_, _, prose, say

# ---- assemble ----

ORDERS = {"post": N_("norm after"), "pre": N_("norm before")}
NORMS = {"layernorm": N_("LayerNorm"), "rmsnorm": N_("RMSNorm")}
FFNS = {"relu": N_("ReLU"), "gelu": N_("GELU"), "swiglu": N_("SwiGLU")}
KV = {"8": N_("8: multi-head"), "2": N_("2: grouped"), "1": N_("1: multi-query")}
PLACES = {"sinusoid": N_("sinusoids"), "rope": N_("RoPE")}
PRESETS = {"2017": "Transformer 2017", "bert": "BERT", "gpt2": "GPT-2", "llama": "Llama", "qwen3": "Qwen3"}
CHOICES = {"order": "b_order", "norm": "b_norm", "ffn": "b_ffn", "kv_heads": "b_kv", "position": "b_place"}
SWITCHES = {"qk_norm": "b_qknorm", "residual": "b_skip", "causal": "b_causal", "bias": "b_bias"}
BENDS = {"relu": "relu(x)", "gelu": "gelu(x)", "swiglu": FORMULAS["ffn_act"]}


def assemble(reading: Any) -> None:
    """Parts in, one block out: its lines with shapes and sizes, and what a stack of such blocks does."""
    prose("model", "assemble")
    demo = _demo(reading)
    made, tower = frame.cached(asm.run, demo), frame.cached(asm.stack, demo)
    left, right = st.columns([5, 4], gap="medium")
    with left:
        _block(demo, made)
    with right:
        _tower(demo, reading, tower)
    _told(demo, made)


def _take(preset: str) -> None:
    """Set every part as this model has it."""
    parts, default = asm.PRESETS[preset], asm.Parts()
    for field, key in CHOICES.items():
        controls.keep(key, str(getattr(parts, field)), str(getattr(default, field)))
    for field, key in SWITCHES.items():
        controls.keep(key, getattr(parts, field), getattr(default, field))


def _demo(reading: Any) -> asm.Demo:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(_("As in:"), width="content")
        for id, name in PRESETS.items():
            st.button(name, key=f"as_{id}", on_click=_take, args=(id,))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        order = controls.choice("Order", ORDERS, "post", key="b_order")
        norm = controls.choice("Norm", NORMS, "layernorm", key="b_norm")
        ffn = controls.choice("Bend of the FFN", FFNS, "relu", key="b_ffn")
        kv = controls.choice("Key/value heads, of 8", KV, "8", key="b_kv")
        place = controls.choice("Position", PLACES, "sinusoid", key="b_place")
        batch = controls.pick("Batch B", (1, 2, 4), 2, key="b_batch")
        d_model = controls.pick("Width d", asm.WIDTHS, 64, key="b_d")
        seed = controls.pick("Seed", range(6), 0, key="b_seed")
    with st.container(horizontal=True):
        residual = controls.switch("residual", True, key="b_skip", help="Off: a sub-layer replaces the stream.")
        qk_norm = controls.switch("QK-norm", False, key="b_qknorm", help="RMSNorm on every query and key, per head.")
        causal = controls.switch("causal", False, key="b_causal", help="On: a decoder's block. Off: an encoder's.")
        bias = controls.switch("bias", True, key="b_bias", help="A bias vector in every linear map.")
    parts = asm.Parts(order, norm, ffn, int(kv), place, qk_norm, residual, causal, bias)
    return asm.Demo(reading.ids, parts, d_model, batch, seed)


def _block(demo: asm.Demo, made: asm.Assembled) -> None:
    """One block, line by line: what a real pass sent through every arrow."""
    parts, names = demo.parts, [one.name for one in made.lines]
    texts = FORMULAS | {"ffn_act": BENDS[parts.ffn]}
    if not parts.residual:
        texts |= {"resid_mid": "attn_out", "resid_post": "ffn_out"}
    kept = [one for one in made.lines if one.name != "allowed"]
    names = [one.name for one in kept]
    first, second = (
        ("resid_pre", "resid_mid") if parts.order == "pre" else ("resid_pre", "norm1"),
        ("resid_mid", "resid_post") if parts.order == "pre" else ("norm1", "resid_post"),
    )
    arcs = [(names.index(first[0]), names.index("resid_mid")), (names.index(second[0]), names.index("resid_post"))]
    joints = ("resid_mid", "resid_post") if parts.residual else ()
    rows = [wiring.Row(one.name, texts[one.name], shape_of(one.shape), plus=one.name in joints) for one in kept]
    wiring.show(
        live.Picture(key="block", quantity="rms", says=_("The block you have put together, line by line.")),
        rows,
        arcs if parts.residual else [],
        values=np.array([one.rms for one in kept]),
        ends=(0.05, 20.0),
        measured=_("size (rms)"),
    )


def _tower(demo: asm.Demo, reading: Any, tower: asm.Stack) -> None:
    names = list(reading.tokens[: asm.CROPPED])
    stops = tuple(float(depth) for depth in asm.DEPTHS)
    template = _("depth {depth}: mean cosine of two tokens {mean}, size of the stream {rms}")
    told = [
        template.format(depth=depth, mean=f"{mean:.2f}", rms=f"{rms:.2f}")
        for depth, mean, rms in zip(asm.DEPTHS, tower.mean, tower.rms, strict=True)
    ]
    at = controls.kept("b_depth", 2.0, controls.near(stops))
    matrix.show(
        live.Picture(
            key="likeness",
            quantity="cosine",
            says=_("How alike the tokens are after so many blocks: cosines."),
            slider=live.Slider("b_depth", _("Blocks on top of each other"), stops, at, tuple(map(str, asm.DEPTHS))),
            captions=told,
            released=lambda name, value: _keep_depth(name, value, stops),
        ),
        tower.likeness,
        rows=names,
        columns=names,
        look=matrix.Look(row_title=N_("token"), column_title=N_("token"), bound=1.0, most=30, tall=400),
    )
    prose("model", "tower")


def _keep_depth(name: str, value: Any, stops: tuple[float, ...]) -> None:
    if name == "b_depth" and isinstance(value, int | float):
        controls.keep("b_depth", controls.near(stops)(str(value)), 2.0)


def _told(demo: asm.Demo, made: asm.Assembled) -> None:
    """Shape, range and parameters; and what torch's own layer says."""
    template = N_("Out comes «shape», between «low» and «high»; the block has «parameters» parameters.")
    numbers = dict(low=f"{made.low:.2f}", high=f"{made.high:.2f}", parameters=f"{made.parameters:,}")
    say(template, shape=f"({', '.join(map(str, made.shape))})", **numbers)
    if made.gap is not None:
        template = N_(
            "torch has a layer of the same parts, `nn.TransformerEncoderLayer`. With these weights it differs by at most «gap»."
        )
        say(template, gap=f"{made.gap:.0e}")
    else:
        say("torch's own `nn.TransformerEncoderLayer` cannot be built with these parts.")
    if _alike(demo.parts, "2017", "order", "norm", "residual", "kv_heads"):
        prose("model", "post")
    elif _alike(demo.parts, "qwen3", "order", "norm", "residual", "ffn", "position", "qk_norm"):
        prose("model", "qknorm")


def _alike(parts: asm.Parts, preset: str, *fields: str) -> bool:
    """What is said of a preset is said of every block that shares these parts with it."""
    return all(getattr(parts, field) == getattr(asm.PRESETS[preset], field) for field in fields)


# ---- walk ----

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


def walk(reading: Any) -> None:
    """Every line of a real pass, one at a time; the shape at every arrow."""
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        family = controls.choice("Family", FAMILIES, "decoder", key="family")
    with right:
        date = controls.pick("A date to read", DATES, DATES[0], key="walk_date") if family != "decoder" else DATES[0]
    if family == "both":
        _order()
    lines = (
        frame.cached(steps.decoder_only, reading.ids)
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
    truth = "".join(sorted(places, key=places.get))
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
    stops = tuple(float(i) for i in range(len(lit)))
    at = controls.kept("line", 0.0, controls.near(stops))
    shown = tuple(str(i + 1) for i in range(len(lit)))
    wiring.show(
        live.Picture(
            key="walk" if captions else "walk_on",
            quantity="rms",
            says=_("Every line of the pass, and the shape of what leaves it."),
            slider=live.Slider("line", _("Line by line"), stops, at, shown, together=True, hidden=not captions),
            captions=captions,
            released=lambda name, value: _keep_line(name, value, stops),
        ),
        rows,
        _arcs(kept),
        values=np.array([one.rms for one in kept]),
        ends=(0.01, 100.0),
        measured=_("size (rms)"),
        lit=lit,
    )


def _two_columns(rows: list[wiring.Row], kept: list[watch.Line], family: str, tell: Any) -> None:
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


def _keep_line(name: str, value: Any, stops: tuple[float, ...]) -> None:
    if name == "line" and isinstance(value, int | float):
        controls.keep("line", controls.near(stops)(str(value)), 0.0)


def _loop(reading: Any) -> None:
    """The whole model as its loop, run as it is printed."""
    found = frame.cached(steps.loop, reading.ids)
    st.code(inspect.getsource(steps.written_out), language=None, wrap_lines=True)
    template = N_(
        "Run on a batch of two, this very code gives «shape», that is [B, T, V]. Largest difference from the model of all pages: «gap»."
    )
    say(template, shape=f"({', '.join(f'{n:,}' for n in found.shape)})", gap=f"{found.gap:.0e}" if found.gap else "0")


# ---- at true size ----

FIRST = "qwen3-8b"
LENGTHS = (1, 14, 256, 4096, 32768)


def true_size(reading: Any) -> None:
    """A model that fits nowhere: all its shapes, none of its numbers."""
    names = steps.runnable()
    left, right = st.columns([4, 2], vertical_alignment="bottom")
    with left:
        id = _preset(names)
    with right:
        tokens = controls.pick("Tokens", LENGTHS, 14, key="m_tokens")
    try:
        with st.spinner(_("Building it without numbers …"), show_time=False):
            found = frame.cached(steps.sized, id, tokens)
    except steps.TooLong as error:
        template = N_(
            "«name» cannot read «tokens» tokens: its positions are a learned table, and that has «rows» rows. Choose fewer."
        )
        say(template, name=names[id], tokens=f"{error.tokens:,}", rows=f"{error.rows:,}")
        return
    layers = 1 + max(int(name.split(".")[0][5:]) for name, _shape in found.lines if name.startswith("block"))
    numbers = dict(name=names[id], weights=len(found.weights), lines=f"{len(found.lines):,}", layers=layers)
    numbers |= dict(
        parameters=f"{found.parameters:,}", seconds=f"{found.seconds:.2f}", gb=f"{2 * found.parameters / 1e9:.1f}"
    )
    prose("model", "size", **numbers)
    at = controls.kept("m_block", 0.0, controls.near(stops := tuple(float(i) for i in range(layers))))
    left, right = st.columns(2, gap="medium")
    slider = live.Slider(
        "m_block", _("Block"), stops, min(at, stops[-1]), tuple(str(i) for i in range(layers)), together=True
    )
    with left:
        st.markdown(f"**{_('Weights of a block')}**")
        _sized_rows(found.weights, "weights_of", slider, stops, _("parameters"))
    with right:
        st.markdown(f"**{_('Tensors of a pass through it')}**")
        _sized_rows(found.lines, "tensors_of", replace(slider, hidden=True), stops, _("numbers"))
    file = f"{id}.csv"
    st.download_button(_("Every shape of all blocks (.csv)"), lambda: as_csv(found), file, "text/csv", key="shapes_csv")


def _preset(names: dict[str, str]) -> str:
    """The model that the ledger is about too; the first one where that one cannot be computed here."""
    return controls.choice("A published model", names, FIRST, key="preset")


def _sized_rows(
    listed: tuple[tuple[str, tuple[int, ...]], ...], key: str, slider: live.Slider, stops: Any, title: str
) -> None:
    """Block by block the same shapes: that is the point. Rows of the first block, the slider walks through all."""
    blocks = [[(n, s) for n, s in listed if n.startswith((f"blocks.{int(i)}.", f"block{int(i)}."))] for i in stops]
    short = [name.split(".", 2 if name.startswith("blocks") else 1)[-1] for name, _shape in blocks[0]]
    same = all([shape for _name, shape in block] == [shape for _name, shape in blocks[0]] for block in blocks)
    outside = [(name, shape) for name, shape in listed if not name.startswith("block")]
    rows = [wiring.Row(name, "", shape_of(shape)) for name, (_full, shape) in zip(short, blocks[0], strict=True)]
    rows += [
        wiring.Row(name, "", shape_of(shape), "" if i else _("outside the blocks"))
        for i, (name, shape) in enumerate(outside)
    ]
    sizes = [[float(np.prod(shape)) for _name, shape in [*block, *outside]] for block in blocks]
    template = _("block {i} of {n}: {numbers} numbers") + (" · " + _("the same in every block") if same else "")
    told = [template.format(i=int(i), n=len(stops), numbers=f"{sum(np.prod(s) for _n, s in block):,.0f}")
            for i, block in zip(stops, blocks, strict=True)]  # fmt: skip
    wiring.show(
        live.Picture(
            key=key,
            quantity="numel",
            says=_("The shapes of one block at its true size."),
            slider=slider,
            captions=told,
            released=lambda name, value: _keep_block(name, value, stops),
        ),
        rows,
        [],
        values=np.array(sizes),
        ends=(1.0, 1e12),
        measured=title,
        whole=True,
    )


def _keep_block(name: str, value: Any, stops: tuple[float, ...]) -> None:
    if name == "m_block" and isinstance(value, int | float):
        controls.keep("m_block", controls.near(stops)(str(value)), 0.0)


def as_csv(found: steps.Sized) -> str:
    """Every tensor, weights first: kind, name, shape, how many numbers."""
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(("kind", "name", "shape", "numbers"))
    for kind, listed in (("weight", found.weights), ("tensor", found.lines)):
        table.writerows((kind, name, "x".join(map(str, shape)), int(np.prod(shape))) for name, shape in listed)
    return file.getvalue()
