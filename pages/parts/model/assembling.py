"""A block put together from parts: its lines with shapes and sizes, and a stack of such blocks."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.tokenizer import Reading
from core.topics.model import assemble as asm
from pages.parts.model import wiring
from pages.parts.model.repair import BENDS, FORMULAS, shape_of
from pages.shared import controls, frame
from pages.shared.pictures import live, matrix
from pages.shared.text import N_, _, prose, say

ORDERS = {"post": N_("norm after"), "pre": N_("norm before")}
NORMS = {"layernorm": N_("LayerNorm"), "rmsnorm": N_("RMSNorm")}
FFNS = {"relu": N_("ReLU"), "gelu": N_("GELU"), "swiglu": N_("SwiGLU")}
KV = {"8": N_("8: multi-head"), "2": N_("2: grouped"), "1": N_("1: multi-query")}
PLACES = {"sinusoid": N_("sinusoids"), "rope": N_("RoPE")}
PRESETS = {"2017": "Transformer 2017", "bert": "BERT", "gpt2": "GPT-2", "llama": "Llama", "qwen3": "Qwen3"}
CHOICES = {"order": "b_order", "norm": "b_norm", "ffn": "b_ffn", "kv_heads": "b_kv", "position": "b_place"}
SWITCHES = {"qk_norm": "b_qknorm", "residual": "b_skip", "causal": "b_causal", "bias": "b_bias"}
DEPTH = controls.Dial("b_depth", N_("Blocks on top of each other"), asm.DEPTHS)


def assemble(reading: Reading) -> None:
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
    parts = asm.PRESETS[preset]
    for field, word in CHOICES.items():
        controls.Setting(word).keep(str(getattr(parts, field)))
    for field, word in SWITCHES.items():
        controls.Setting(word).keep(getattr(parts, field))


def _demo(reading: Reading) -> asm.Demo:
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


def _tower(demo: asm.Demo, reading: Reading, tower: asm.Stack) -> None:
    names = list(reading.tokens[: asm.CROPPED])
    template = _("depth {depth}: mean cosine of two tokens {mean}, size of the stream {rms}")
    told = [
        template.format(depth=depth, mean=f"{mean:.2f}", rms=f"{rms:.2f}")
        for depth, mean, rms in zip(asm.DEPTHS, tower.mean, tower.rms, strict=True)
    ]
    matrix.show(
        live.Picture(
            key="likeness",
            quantity="cosine",
            says=_("How alike the tokens are after so many blocks: cosines."),
            slider=DEPTH.slider(),
            captions=told,
            released=DEPTH.receive,
        ),
        tower.likeness,
        rows=names,
        columns=names,
        look=matrix.Look(row_title=N_("token"), column_title=N_("token"), bound=1.0, most=30, tall=400),
    )
    prose("model", "tower")


def _told(demo: asm.Demo, made: asm.Assembled) -> None:
    """Shape, range and parameters; and what torch's own layer says."""
    template = N_("Out comes «shape», between «low» and «high»; the block has «parameters» parameters.")
    numbers = dict(low=f"{made.low:.2f}".replace("-", "−"), high=f"{made.high:.2f}", parameters=f"{made.parameters:,}")
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
