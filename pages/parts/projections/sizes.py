"""Two experiments with sizes: what fits through a linear layer, and what the projections of Qwen3-8B cost."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.topics.projections import linear as ln
from pages.parts.projections.turning import Room
from pages.shared import controls, frame
from pages.shared.pictures import figures, live, plane
from pages.shared.text import N_, _, prose, say

# ---- shapes ----

WIDTHS = (1, 2, 3, 4, 5, 8, 16, 64, 128, 288, 512)
CODES = {"one": N_("one nn.Linear"), "three": N_("q, k and v of one width"), "head": N_("d, d_k, d_v")}


def shapes(room: Room) -> None:
    code = controls.choice("Code", CODES, "one", key="proj_shapes", hide_label=True)
    {"one": _one_layer, "three": _three_layers, "head": _one_head}[code](room)


def _answer(called: ln.Call) -> None:
    st.code(called.code, language=None)
    failed = f" · {_('an error: the shapes do not fit')}" if called.failed else ""
    st.markdown(f"**{_('PyTorch answers')}**{failed}")
    st.code(called.answer, language=None, wrap_lines=True)


def _one_layer(room: Room) -> None:
    left, right = st.columns([2, 3], gap="medium")
    with left:
        n_in = controls.stops("in_features", WIDTHS, 4, key="n_in")
        n_out = controls.stops("out_features", WIDTHS, 3, key="n_out")
        given = controls.stops("Last dimension of x", WIDTHS, 4, key="n_given")
        bias = controls.switch("bias", False, key="with_bias", help="PyTorch's default is True.")
    with right:
        called = frame.cached(ln.call, n_in, n_out, bias, (2, 5, given))
        _answer(called)
        template = (
            N_("Parameters: «n_in» × «n_out» + «b» = **«params»**.")
            if bias
            else N_("Parameters: «n_in» × «n_out» = **«params»**.")
        )
        say(template, n_in=n_in, n_out=n_out, b=n_out, params=f"{called.params:,}")
        prose("projections", "one")


def _three_layers(room: Room) -> None:
    left, right = st.columns([2, 3], gap="medium")
    with left:
        hidden = controls.stops("hidden_size", WIDTHS, 64, key="proj_hidden")
        prose("projections", "three_layers")
    with right:
        _answer(frame.cached(ln.trio, hidden, (1, len(room.names), hidden)))


def _one_head(room: Room) -> None:
    left, right = st.columns([2, 3], gap="medium")
    with left:
        d = controls.stops("d", WIDTHS, 288, key="shape_d")
        d_k = controls.stops("d_k", WIDTHS, 64, key="shape_k")
        d_v = controls.stops("d_v", WIDTHS, 128, key="shape_v")
        prose("projections", "head")
    with right:
        sizes = ln.Shapes(len(room.names), d, d_k, d_v)
        rows = [[f"${name}$", f"{a} × {b}", f"{a * b:,}"] for name, (a, b) in sizes.all.items()]
        figures.table([_("matrix"), _("shape"), _("numbers")], rows, words=3)
        template = N_("Parameters: **«params»**. Multiply-adds of the three products for «n» tokens: **«macs»**.")
        say(template, params=f"{sizes.params:,}", macs=f"{sizes.macs:,}", n=sizes.n)


# ---- what it costs ----

UNITS = {"macs": N_("multiply-adds"), "flops": N_("FLOPs")}


def cost(room: Room) -> None:
    layers = ln.projections(ln.QWEN3_8B)
    left, right = st.columns([3, 2], gap="medium")
    with right:
        unit = controls.choice("Unit", UNITS, "macs", key="proj_unit")
        tokens = controls.stops("Tokens", (1, 10, 100, 1000, 10_000), 1, key="proj_tokens")
        price = [tokens * getattr(layer, unit) for layer in layers]
        rows = [
            [f"`{layer.name}`", f"{layer.n_in:,} → {layer.n_out:,}", f"{layer.params:,}", f"{one:,}"]
            for layer, one in zip(layers, price, strict=True)
        ]
        rows.append([_("together"), "", f"{sum(layer.params for layer in layers):,}", f"**{sum(price):,}**"])
        figures.table([_("layer"), _("in → out"), _("parameters"), _(UNITS[unit])], rows, words=4)
        q, sizes = layers[0], ln.QWEN3_8B
        numbers = dict(heads=sizes.n_heads, kv=sizes.n_kv_heads, width=sizes.head_dim, d=sizes.d_model)
        prose("projections", "cost", **numbers, macs=f"{q.macs:,}", flops=f"{q.flops / 1e6:.1f}")
    with left:
        _to_scale(layers)


def _to_scale(layers: tuple[ln.Layer, ...]) -> None:
    """The three weight matrices as rectangles of their true proportions."""
    drawn, at = [], 0.0
    for layer, role in zip(layers, ("q", "k", "v"), strict=True):
        x, high = at + layer.n_out, float(layer.n_in)
        box = np.array([[[at, 0], [x, 0], [x, high], [at, high], [at, 0]]])
        drawn.append(plane.Shape(box, role, layer.name, width=2, fill=True))
        at = x + 400
    plane.show(
        live.Picture(
            key="to_scale",
            quantity="to_scale",
            says=_("The three weight matrices of one block of Qwen3-8B, drawn to one scale."),
        ),
        np.zeros((0, 2)),
        [],
        look=plane.Look(shapes=tuple(drawn), bounds=(-100, at, -100, layers[0].n_in + 100)),
        titles=(_("outputs →"), _("inputs ↑")),
        most=620,
        tall=360,
    )
