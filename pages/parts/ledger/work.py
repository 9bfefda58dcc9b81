"""FLOPs of one forward pass, and what training takes in work and in memory."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core import costs
from pages.parts.ledger.conversation import DEVICES, as_bytes, as_gap, as_power, title
from pages.parts.ledger.models import Model
from pages.shared import controls, frame, spine
from pages.shared.pictures import code, lines, live, stack
from pages.shared.text import N_, _, prose, say

STEPS = {
    "projections": (N_("Q, K, V, O"), "n"),
    "scores": (N_("scores QKᵀ"), "n²"),
    "softmax": (N_("softmax"), "n²"),
    "mixture": (N_("mixture AV"), "n²"),
    "ffn": (N_("FFN"), "n"),
    "head": (N_("output head"), "n"),
}


def _formulas(work: costs.Work, unit: str) -> dict[str, str]:
    """As the numbers beside them are counted: FLOPs or multiply-adds, all pairs or those before the mask."""
    two, three = ("2", "3") if unit == "flops" else ("", r"\tfrac{3}{2}")
    pairs = r"\tfrac{n(n+1)}{2}" if _halved(work) else "n^2"
    if _windowed(work):
        pairs = r"\sum_{i\le n}\min(i,w)\,"
    key, value = ("(d_n+d_r)", "d_v") if work.config.mla else ("d_h", "d_h")
    return {
        "projections": rf"{two}nP_{{attn}}",
        "scores": rf"{two}{pairs}h{key}L",
        "softmax": rf"{three}{pairs}hL",
        "mixture": rf"{two}{pairs}h{value}L",
        "ffn": rf"{two}nP_{{ffn}}",
        "head": rf"{two}nVd",
    }


def _halved(work: costs.Work) -> bool:
    """The mask takes pairs away. An encoder has none."""
    return work.masked and not work.config.pooler


def _windowed(work: costs.Work) -> bool:
    return _halved(work) and work.config.window is not None


def _counted(word: str, label: str, stops: tuple[int, ...]) -> controls.Dial:
    return controls.Dial(word, label, stops, 4096, shown=tuple(f"{n:,}" for n in stops))


TEXT_TOKENS = _counted("work_n", N_("Tokens in the text"), costs.TEXTS)
STEP_TOKENS = _counted("step_tokens", N_("Tokens in one step"), costs.AT_ONCE)


# ---- FLOPs ----


def flops(model: Model) -> None:
    """Two curves and where they cross; the text's length is the slider."""
    title(N_("One forward pass of «name»"), name=model.name)
    unit, masked = _counting()
    work = costs.Work(model.config, masked)
    found = frame.cached(costs.forward, work).numpy() / (2 if unit == "mac" else 1)
    n = int(TEXT_TOKENS.now())
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _curves(work, found)
    with right:
        prose("ledger", "pairs")
        _crossing(work)
        if spine.deep():
            prose("ledger", "flops")
    if not spine.deep():
        return
    row = found[costs.TEXTS.index(n)]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _steps(work, row, n, unit)
    with right:
        _rule(model, row, n, unit)
    code.show(costs.FLOPS)


def _counting() -> tuple[str, bool]:
    """The unit, and whether half the pairs are left out; at the idea, as the address says."""
    if not spine.deep():
        return controls.Setting("work_unit").now(), controls.Setting("work_causal").now()
    one, two = st.columns(2, vertical_alignment="bottom")
    with one:
        unit = controls.choice(
            "Count", {"flops": N_("FLOPs"), "mac": N_("multiply-adds")}, "flops", key="work_unit", hide_label=True
        )
    with two:
        return unit, controls.switch("only pairs the mask allows", False, key="work_causal")


def _crossing(work: costs.Work) -> None:
    six, cross, window = 6 * work.config.d_model, costs.crossover(work), work.config.window
    if cross and not spine.deep():
        say(
            "They cost the same at **«cross»** tokens. Below, the matrices cost most; beyond, the pairs.",
            cross=f"{cross:,.0f}",
        )
        return
    template = N_("The two curves meet at **«cross»** tokens; 6 d is «six». Exactly 6 d it is for a classic block.")
    if cross is None:
        template = N_(
            "The two curves **never meet**: a token looks back at most «window» tokens, so from there on the pairs, "
            "too, grow with n."
        )
    elif _halved(work):
        template = N_(
            "The two curves meet at **«cross»** tokens: with half the pairs, twice as far. "
            "For a classic block it is 12 d − 1; here 12 d is «twelve»."
        )
    say(template, cross=f"{cross or 0:,.0f}", six=f"{six:,}", twelve=f"{2 * six:,}", window=f"{window or 0:,}")
    if window and not work.masked:
        template = N_(
            "All n² pairs are counted here, as in a program that computes them all. This model looks back «window» "
            "tokens only: switch on “only pairs the mask allows”."
        )
        say(template, window=f"{window:,}")
    if work.masked and work.config.pooler:
        say("An encoder has no mask: every token looks at all, and all pairs are counted.")


def _rule(model: Model, row: np.ndarray, n: int, unit: str) -> None:
    """2 N a token, against the count."""
    used, counted = costs.active(model.config), row.sum() / n * (2 if unit == "mac" else 1)
    numbers = dict(two=f"{2 * used:,}", counted=f"{counted:,.0f}", gap=as_gap(2 * used / counted), n=f"{n:,}")
    numbers["looked"] = f"{costs.looked_up(model.config):,}"
    prose("ledger", "two_n", **numbers)


def _curves(work: costs.Work, found: np.ndarray) -> None:
    linear = found[:, [costs.STEPS.index(s) for s in ("projections", "ffn")]].sum(1)
    square = found[:, [costs.STEPS.index(s) for s in ("scores", "mixture")]].sum(1)
    cross = costs.crossover(work)
    marks = ((cross, _("equal")),) if cross and costs.TEXTS[0] < cross < costs.TEXTS[-1] else ()
    lines.show(
        live.Picture(
            key="work_curves",
            quantity="flops",
            says=_("Work of one forward pass against the length of the text."),
            slider=TEXT_TOKENS.slider(),
            captions=[_cells(work, t) for t in costs.TEXTS],
            released=TEXT_TOKENS.receive,
        ),
        np.stack([linear, square, found.sum(1)]),
        np.array(costs.TEXTS),
        [
            lines.Series(_("matrices of the blocks: n"), "v"),
            lines.Series(_("QKᵀ and AV: pairs") if _windowed(work) else _("QKᵀ and AV: n²"), "k"),
            lines.Series(_("everything"), "quiet", dash=True),
        ],
        x=lines.Axis(_("tokens in the text, n"), log=True),
        y=lines.Axis(_("operations"), log=True),
        moving=np.array(costs.TEXTS, float),
        marks=marks,
    )


def _cells(work: costs.Work, n: int) -> str:
    one, every = costs.cells(work.config, n)
    text = _("n² = {cells} cells in one attention matrix: {one} in fp16, {all} for all heads and layers.")
    return text.format(cells=f"{one:,}", one=as_bytes(2 * one), all=as_bytes(2 * every))


def _steps(work: costs.Work, row: np.ndarray, n: int, unit: str) -> None:
    """The work of each step at the chosen length."""
    name = _("FLOPs") if unit == "flops" else _("multiply-adds")
    formulas = _formulas(work, unit)
    grows = {"n²": _("pairs") if _windowed(work) else "n²", "n": "n"}
    head = [f"| {_('step')} | {_('formula')} | {_('grows with')} | {name}, n = {n:,} | % |", "|---|---|---|---:|---:|"]
    lines_ = [
        f"| {_(STEPS[step][0])} | ${formulas[step]}$ | {grows[STEPS[step][1]]} | {as_power(value)} | {100 * value / row.sum():.1f} |"
        for step, value in zip(costs.STEPS, row, strict=True)
        if value  # an encoder without a head has no such step
    ]
    st.markdown("\n".join([*head, *lines_, f"| **{_('total')}** | | | **{as_power(row.sum())}** | 100 |"]))


# ---- training ----

STATES = {
    "weights": N_("weights"),
    "gradients": N_("gradients"),
    "master": N_("master copy"),
    "momentum": N_("Adam: mean of g"),
    "variance": N_("Adam: mean of g²"),
    "activations": N_("activations"),
}
RECIPES = {
    "mixed": N_("mixed, Adam"),
    "fp32": N_("all fp32"),
    "bf16": N_("all bf16"),
    "adam8": N_("8-bit Adam"),
    "sgd": N_("plain SGD"),
}


def training(model: Model) -> None:
    """Memory state by state; then the work, 6 N D, and how many days it takes."""
    title(N_("Training «name»: memory, state by state"), name=model.name)
    one, two, three = st.columns([3.2, 1.5, 1.5], vertical_alignment="bottom")
    with one:
        recipe = controls.choice("Numbers in", RECIPES, "mixed", key="recipe")
    with two:
        saving = controls.switch(
            "recompute activations", False, key="saving", help="Keep each block's input, compute the rest again."
        )
    with three:
        flash = controls.switch("Flash", True, key="flash", help="Attention matrices are never written out.")
    context = min(4096, model.config.context)
    demo = costs.Training(model.config, recipe, saving, flash, context)
    found = frame.cached(costs.training, demo).numpy()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _states(model, found)
    with right:
        each, use = sum(costs.RECIPES[recipe]), costs.RECIPES[recipe][0]
        added = " + ".join(str(b) for b in costs.RECIPES[recipe] if b)
        numbers = dict(sum=added, each=each, ratio=f"{each / use:g}", use=use, states=as_bytes(found[0, :-1].sum()))
        per = costs.remembered(model.config, flash=flash, context=context)
        prose("ledger", "training", numbers=f"{per:,}", context=f"{context:,}", **numbers)
    code.show(costs.TRAINING)
    _days(model)


def _states(model: Model, found: np.ndarray) -> None:
    bars = np.zeros((len(found), 2, len(costs.STATES)))
    bars[:, 0, 0] = found[:, 0]
    bars[:, 1] = found
    caption = _("{n} tokens at once: {all}, {ratio} × what it takes to hold the weights.")
    stack.show(
        live.Picture(
            key="states_bars",
            quantity="training",
            says=_("Memory for the weights alone, and for training, state by state."),
            slider=STEP_TOKENS.slider(),
            captions=[
                caption.format(n=f"{t:,}", all=as_bytes(row.sum()), ratio=f"{row.sum() / row[0]:.3g}")
                for t, row in zip(costs.AT_ONCE, found, strict=True)
            ],
            released=STEP_TOKENS.receive,
        ),
        bars,
        [_("To use it: the weights"), _("To train it")],
        [_(STATES[state]) for state in costs.STATES],
        form="bytes",
    )


def _lasting(days: float) -> str:
    """In the unit that gives a number of at least one."""
    units = ((_("days"), 1), (_("hours"), 24), (_("minutes"), 24 * 60))
    name, many = next((unit for unit in units if days * unit[1] >= 1), units[-1])
    return f"{days * many:,.1f} {name}"


BILLIONS = (1, 10, 100, 300, 1000, 2000, 5000, 15000, 36000)
FLEETS = (1, 8, 64, 512, 1024, 2048, 4096, 16384)


def _days(model: Model) -> None:
    title(N_("How long: 6 N D"))
    one, two, three = st.columns(3)
    with one:
        billions = controls.stops("Training tokens D, billions", BILLIONS, 1000, key="train_d")
    with two:
        fleet = controls.stops("GPUs", FLEETS, 1024, key="fleet")
    with three:
        name = controls.choice("Kind", DEVICES, "h100", key="train_on")
    device, tokens = costs.DEVICES[name], billions * 10**9
    work = costs.training_flops(model.config, tokens)
    chinchilla = 20 * costs.active(model.config)
    numbers = dict(n=f"{costs.active(model.config):,}", d=f"{tokens:,}", flops=as_power(work))
    took = dict(fleet=f"{fleet:,}", device=device.name, time=_lasting(costs.days(work, fleet, device)))
    speed = f"{device.speed / 1e12:,.0f}"
    prose("ledger", "six_nd", **numbers, **took, speed=speed, twenty=f"{chinchilla:,}")
