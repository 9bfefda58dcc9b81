"""The bends: their curves over a real gate, what the model loses with another one, curves out of bent units, units that
are dead, how wide, and every FFN turned up and down."""

from __future__ import annotations

import inspect

import numpy as np
import streamlit as st

from core import feedforward as ff
from core.lab import subject
from core.lab.text import Text
from core.topics.feedforward import bends, recorded
from core.topics.feedforward import volume as loud
from pages.shared import controls, frame
from pages.shared.pictures import bars, code, figures, lines, live
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, filled, prose, say

NAMES = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU (tanh)", "silu": "SiLU"}
ROLES = {"relu": "k", "gelu": "v", "gelu_tanh": "quiet", "silu": "a"}
SWAPPED = {
    "silu": "SiLU",
    "hardswish": "hard-swish",
    "gelu": "GELU",
    "relu": "ReLU",
    "none": N_("no bend"),
    "relu2": "ReLU²",
    "up": N_("up alone"),
    "gate": N_("silu(gate) alone"),
}
BENCHES = {
    "curves": N_("The curves"),
    "fit": N_("Bend a line into a curve"),
    "small": N_("Two numbers in"),
    "dead": N_("Dead units"),
    "width": N_("How wide?"),
}
FITTED = {"relu": "ReLU", "silu": "SiLU", "none": N_("no bend")}
GATE = controls.Dial("ffn_gate", N_("Gate"), bends.XS, 1.0, shown=tuple(f"{x:.2f}".replace("-", "−") for x in bends.XS))
UNITS = controls.Dial("ffn_units", N_("Hidden units"), bends.UNITS, 1)
TURN = controls.Dial("ffn_turn", N_("Direction of x"), bends.TURNS, 48, unit="°")
BIAS = controls.Dial(
    "ffn_bias",
    N_("Bias of every unit"),
    bends.BIASES,
    0.0,
    shown=tuple(f"{b:.3f}".replace("-", "−") for b in bends.BIASES),
)
WIDTH = controls.Dial("ffn_width", N_("d_ff / d"), bends.WIDTHS, 4.0, unit="×")


def bench(text: Text, layer: int) -> None:
    """One of five, chosen by name."""
    which = controls.choice("Bench of the bends", BENCHES, "curves", key="ffn_bench", hide_label=True)
    if which == "curves":
        curves(text, layer)
    else:
        {"fit": fit, "small": small, "width": width}.get(which, lambda: dead(text))()


# ---- the curves ----


def curves(text: Text, layer: int) -> None:
    """Four bends, one upright line: the gate."""
    every = {name: bends.curve(name) for name in NAMES}
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _curves(every)
    with right:
        gap, where = bends.gelu_gap()
        numbers = dict(gap=power(gap), where=f"{where:.2f}")
        for name in ("relu", "gelu", "silu"):
            found = every[name]
            numbers |= {f"{name}_slope": f"{found.slopes[bends.XS.index(0.0)]:g}"}
            numbers |= {f"{name}_low": figures.number(found.low), f"{name}_at": figures.number(found.at, 2)}
        prose("feedforward", "bends", **numbers)
    _through(text, layer)
    _swapped()


def power(x: float) -> str:
    """A small number as people write it: 4.73 × 10⁻⁴."""
    digits, exponent = f"{x:.2e}".split("e")
    return f"{digits} × 10{figures.raised(int(exponent))}"


def _curves(every: dict[str, bends.Bend]) -> None:
    told, shown = _("{name} {value}, slope {slope}"), [name for name in NAMES if name != "gelu_tanh"]
    captions = [
        " · ".join(
            told.format(name=NAMES[n], value=figures.number(every[n].values[i]), slope=_one(every[n].slopes[i]))
            for n in shown
        )
        for i in range(len(bends.XS))
    ]
    lines.show(
        live.Picture(
            key="bends",
            wordless=True,
            quantity="bends",
            says=_("Four bends over the number that goes in."),
            slider=GATE.slider(),
            captions=captions,
            released=GATE.receive,
        ),
        np.stack([found.values for found in every.values()]),
        np.array(bends.XS),
        [Series(NAMES[n], ROLES[n], dash=n == "gelu_tanh") for n in NAMES],
        x=Axis(_("gate")),
        y=Axis(_("after the bend"), low=-0.5, high=3),
        moving=np.array(bends.XS),
    )


def _through(text: Text, layer: int) -> None:
    """What really goes through the bend of the last word's neurons."""
    found = frame.cached(bends.through, text, layer)
    prose(
        "feedforward",
        "through",
        word=text.tokens[-1],
        layer=layer,
        n=len(found.before),
        negative=f"{found.negative:.0%}",
        dead=found.dead,
        zeros=found.zeros,
        small=f"{found.small:.0%}",
    )


def _swapped() -> None:
    """The trained weights under another bend: what that costs on the stories."""
    losses = recorded.bend_losses()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        bars.show(
            live.Picture(
                key="swapped",
                wordless=True,
                quantity="loss",
                says=_("Loss on the stories with another bend in every FFN, nats a token."),
            ),
            [_(name) for name in SWAPPED.values()],
            np.array([losses[name] for name in SWAPPED]),
            marked=0,
        )
    with right:
        numbers = {name: f"{losses[name]:.2f}" for name in SWAPPED}
        prose("feedforward", "swapped", **numbers, blind=_blind())
    code.show(ff.FFN_ACT)


def _blind() -> str:
    """The loss of equal chances for all words."""
    return f"{np.log(subject.config().vocab_size):.1f}"


# ---- a curve out of bent units ----


def fit() -> None:
    """More units, more bends; without a bend a line stays a line."""
    left, right = st.columns([3, 2], gap="medium")
    with right:
        bend = controls.choice("Bend of the units", FITTED, "relu", key="ffn_fitted")
        scattered = controls.switch("Kinks at random places", False, key="ffn_scattered")
    found = bends.fitted(bend, scattered)
    with left:
        lines.show(
            live.Picture(
                key="fit",
                quantity="fit",
                says=_("A wiggly curve, and the best that so many hidden units can do."),
                slider=UNITS.slider(),
                captions=[
                    _("{n} units: off by {error} (root mean square)").format(n=n, error=figures.number(float(e), 3))
                    for n, e in zip(bends.UNITS, found.error, strict=True)
                ],
                released=UNITS.receive,
            ),
            np.stack([np.broadcast_to(found.wanted, found.fits.shape), found.fits], 1),
            found.xs,
            [Series(_("wanted"), "quiet"), Series(_("out of the units"), "a")],
            x=Axis("x"),
            y=Axis("y"),
        )
    with right:
        prose("feedforward", "fit", line=f"{bends.fitted('none').error[-1]:.2f}", all=bends.UNITS[-1])


# ---- two numbers in ----


def small() -> None:
    """Four units around ReLU, small enough to check by hand."""
    found = bends.small()
    names = [f"h{i + 1}" for i in range(found.after.shape[1])]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        bars.show(
            live.Picture(
                key="small",
                quantity="ffn_act",
                says=_("Four hidden units while the input turns: which are open, which are shut."),
                slider=TURN.slider(),
                captions=[f"x = ({_two(x)}) → ({_two(out)})" for x, out in zip(found.x, found.out, strict=True)],
                released=TURN.receive,
            ),
            names,
            found.after,
            steps={"xW₁+b₁": found.before},
            column=_("unit"),
            row=38,
        )
    with right:
        rows = "\n".join(
            f"| h{i + 1} | {_two(one)} | {_one(bias)} | {_two(out)} |"
            for i, (one, bias, out) in enumerate(zip(bends.W1, bends.B1, bends.W2, strict=True))
        )
        titles = (_("unit"), _("row of W₁"), "b₁", _("column of W₂"))
        st.markdown("| " + " | ".join(titles) + " |\n|---|---|---:|---|\n" + rows)
        prose("feedforward", "small")


def _one(x: float) -> str:
    return f"{x:.2f}".replace("-", "−")


def _two(pair: np.ndarray | tuple[float, ...]) -> str:
    return ", ".join(_one(float(x)) for x in pair)


# ---- dead units ----


def dead(text: Text) -> None:
    """A fresh FFN, weights 0.01, and a bias under the finger: when does a unit never open?"""
    found = frame.cached(bends.dead, text)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="dead",
                quantity="dead",
                says=_("Shares of open and of dead units of a fresh FFN at every bias."),
                slider=BIAS.slider(),
                captions=[
                    _("open {open}, dead for this whole text {dead} of {units}").format(
                        open=f"{o:.0%}", dead=round(d * found.units), units=f"{found.units:,}"
                    )
                    for o, d in zip(found.open.tolist(), found.dead.tolist(), strict=True)
                ],
                released=BIAS.receive,
            ),
            np.stack([found.open, found.dead]),
            np.array(bends.BIASES),
            [Series(_("open, share of units and words"), "v"), Series(_("dead: shut at every word"), "k")],
            x=Axis(_("bias of every unit")),
            y=Axis(_("share"), low=0, high=1),
            moving=np.array(bends.BIASES),
        )
    with right:
        prose("feedforward", "dead", units=f"{found.units:,}")
    st.code(inspect.getsource(ff.Relu), language=None, wrap_lines=True)


# ---- how wide ----


def width() -> None:
    """The paper's base model at every width, and its own three points."""
    found, points = bends.widths(), {p.d_ff / bends.BASE: p for p in bends.PAPER}
    captions = []
    for ratio, whole, ffn in zip(bends.WIDTHS, found.all, found.ffn, strict=True):
        said = _("d_ff = {wide}: {all} million numbers, {ffn} million of them in the FFNs")
        told = said.format(wide=f"{round(ratio * bends.BASE):,}", all=f"{whole / 1e6:.1f}", ffn=f"{ffn / 1e6:.1f}")
        point = points.get(ratio)
        captions.append(told + (_("; measured: BLEU {bleu}").format(bleu=point.bleu) if point else ""))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="width",
                quantity="parameters",
                says=_("Parameters of the paper's base model while its FFN grows from 1 to 8 times as wide."),
                slider=WIDTH.slider(),
                captions=captions,
                released=WIDTH.receive,
            ),
            np.stack([found.all / 1e6, found.ffn / 1e6]),
            np.array(bends.WIDTHS),
            [Series(_("all"), "quiet"), Series(_("FFNs"), "a")],
            x=Axis("d_ff / d"),
            y=Axis(_("million parameters"), low=0),
            moving=np.array(bends.WIDTHS),
            marks=tuple((ratio, f"BLEU {p.bleu}") for ratio, p in points.items()),
        )
    with right:
        own = subject.config()
        two, exact, rounded = bends.same_size(4096)
        _own_two, own_exact, _rounded = bends.same_size(own.d_model)
        numbers = dict(two=f"{two:,}", exact=f"{exact:,.1f}", rounded=f"{rounded:,}")
        prose(
            "feedforward",
            "width",
            **{f"bleu{i}": p.bleu for i, p in enumerate(bends.PAPER)},
            **numbers,
            own=own.d_ff,
            own_exact=f"{own_exact:.0f}",
            d=own.d_model,
        )
    _shares()


def _shares() -> None:
    """Published models: how wide, and how much of a model its FFNs are."""
    head = (_("model"), "d_ff / d", _("maps"), _("one block's FFN"), _("FFNs, of all parameters"))
    rows = [(s.name, f"{s.ratio:.2f}", str(s.maps), f"{s.block:,}", f"{s.share:.1%}") for s in bends.shares()]
    figures.table(head, rows)
    name, ratio = bends.T5_11B
    say("«name» made d_ff / d = «ratio».", name=name, ratio=f"{ratio:g}")


# ---- whole FFNs, louder and quieter ----


def volume(text: Text) -> None:
    """One FFN or all of them at every volume: the answer's probability here, and the loss on the stories."""
    config = subject.config(text.subject)
    options = {"all": N_("all of them")} | {str(i): str(i) for i in range(config.n_layers)}
    which = controls.choice("FFN of block", options, "all", key="ffn_loud")
    layer = None if which == "all" else int(which)
    demo = loud.Demo(text, layer)
    found = frame.cached(loud.turned, demo)
    stops = loud.volumes(len(text))
    dial = controls.Dial("ffn_volume", N_("Volume"), stops, 1.0, shown=tuple(f"{v:.0%}" for v in stops))
    losses = recorded.volume_losses()[-1 if layer is None else layer]
    shown = [float(losses[recorded.VOLUMES.index(v)]) for v in stops]
    left, right = st.columns(2, gap="medium")
    with left:
        picture = bars.next_picture("loud", slider=dial.slider(together=True), released=dial.receive)
        bars.next_tokens(picture, list(found.tokens), found.probs, found.probs[stops.index(1.0)], marked=found.asked)
    with right:
        lines.show(
            live.Picture(
                key="loud_loss",
                wordless=True,
                quantity="loss",
                says=_("Loss on the stories at every volume of the chosen FFN."),
                slider=dial.slider(together=True, hidden=True),
                captions=[_("loss {loss} nats a token").format(loss=f"{loss:.2f}") for loss in shown],
                released=dial.receive,
            ),
            np.array([shown]),
            np.array(stops),
            [Series(_("loss on the stories"), "a")],
            x=Axis(_("volume")),
            y=Axis(_("nats a token"), low=1.0, high=max(6.0, max(shown))),
            moving=np.array(stops),
            tall=240,
        )
    best = stops[int(np.argmin(shown))]
    at = dict(
        best=f"{best:.0%}", loss=f"{min(shown):.2f}", whole=f"{shown[stops.index(1.0)]:.2f}", off=f"{shown[0]:.2f}"
    )
    st.markdown(filled(_("Off it costs «off», as trained «whole»; the lowest, «loss», is at «best»."), **at))
    prose("feedforward", "volume", off=f"{recorded.volume_losses()[-1][0]:.2f}", blind=_blind())
