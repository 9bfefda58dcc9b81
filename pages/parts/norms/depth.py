"""Deep stacks before and after training: what comes down through them, and who learns."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab import text
from core.lab.text import Text
from core.nets import stacks
from core.topics.norms import depth as dp
from core.topics.norms import warmup as wu
from pages.shared import controls, frame, headings, spine
from pages.shared.asks import predict
from pages.shared.pictures import code, figures, lines, live
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose, say

DEPTH = controls.Dial("stack_blocks", N_("Blocks"), dp.DEPTHS, 16)
SLOPE = controls.Dial(
    "norm_slope", N_("Slope f′ of one part"), dp.SLOPES, 0.25, shown=tuple(f"{s:+.2f}" for s in dp.SLOPES)
)
SIZE = controls.Dial("norm_j", N_("Largest stretch of J"), dp.SIZES, 0.9)
GUESS, LEARNS = "norms_deep", "norms_learn"
NAMES = {
    "pre": N_("norm before"),
    "post": N_("norm after"),
    "sandwich": N_("norm on both sides"),
    "skips": N_("no norms"),
    "norms": N_("no skips"),
    "neither": N_("no skips or norms"),
    "small": N_("no norms, quiet start"),
}
ROLES = {"pre": "a", "post": "v", "sandwich": "q", "skips": "warn", "norms": "k", "neither": "quiet", "small": "q"}
KINDS = {"down": N_("gradient"), "size": N_("size of the stream"), "alike": N_("how alike the tokens are")}
MISTAKES = ("slope", "vanish", "flows", "post", "warm")
FEW = ("pre", "post", "skips", "neither")
MOST, LEAST = 1e24, 1e-24  # what an axis of these sizes shows


def section(given: Text) -> None:
    """A guess, and the gradient by height under a slider; for experts what makes it, and who learns."""
    headings.section("Stack it up")
    st.fragment(_stack)()
    if not spine.deep():
        return
    prose("norms", "wires")
    headings.section("Why a skip carries a gradient, and why it can fail")
    st.fragment(_factors)()
    st.fragment(_directions)()
    _through(given)
    headings.section("Who learns?")
    st.fragment(_learners)()
    headings.fold("How many texts at once", _batches)


def power(x: float, after: int = 1) -> str:
    """2.1, 0.043, 1.4 × 10¹³. after: digits behind the point of a power."""
    if 0.01 <= x < 1000:
        return f"{x:.3g}"
    digits, exponent = f"{x:.{after}e}".split("e")
    return f"{digits} × 10{figures.raised(int(exponent))}"


# ---- before any training ----


def _stack() -> None:
    guessed = predict.answer(GUESS) is not None
    kind = "down"
    if spine.deep() and guessed:
        kind = controls.choice("What is drawn", KINDS, "down", key="stack_kind", hide_label=True)
    shown = tuple(stacks.ARRANGED) if spine.deep() else FEW
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _profile(kind, tuple(name for name in shown if guessed or name != "skips"))
    with right:
        prose("norms", "stack_before")
        _ask(frame.cached(dp.profile, "down"))
        if guessed:
            prose("norms", "stack", deepest=stacks.DEEPEST)
        if guessed and spine.deep():
            prose("norms", f"stack_{kind}", seeds=len(stacks.SEEDS), width=stacks.ARRANGED["pre"].width)


def _ask(found: dp.Profile) -> None:
    left = float(dp.bottom(found)[-1, list(stacks.ARRANGED).index("skips"), 1])
    grows = N_(
        "«left» times the top's. Every block adds to the stream, so the stream grows, and so does what comes down."
    )
    because = {
        "fades": N_(
            "That is a stack without skips. Here the copy keeps the gradient alive, and every block adds to it: «left» times."
        ),
        "same": N_("The copy alone would do that. But every block adds its own share on top: «left» times."),
        "grows": grows,
        predict.UNSURE: grows,
    }
    options = {"fades": N_("almost nothing"), "same": N_("about as large"), "grows": N_("far larger")}
    answer = "grows" if left > 10 else "fades" if left < 0.1 else "same"
    question = N_(
        "Guess first: «deepest» blocks with skips, **no norms**. The gradient at the bottom, beside the top's?"
    )
    predict.ask(predict.Prediction(GUESS, question, options, answer, because), left=power(left), deepest=stacks.DEEPEST)


def _profile(kind: str, shown: tuple[str, ...]) -> None:
    found = frame.cached(dp.profile, kind)
    rows = [list(stacks.ARRANGED).index(name) for name in shown]
    low, middle, high = (np.clip(part[:, rows], LEAST, MOST) for part in (found.low, found.middle, found.high))
    said = _("{depth} blocks, below: {left}") if kind == "down" else _("{depth} blocks, above: {left}")
    at = np.array([0 if kind == "down" else depth for depth in dp.DEPTHS])
    ends = middle[np.arange(len(at)), :, at]
    told = [k for k, name in enumerate(shown) if name in ("pre", "skips", "neither")]  # as many as fit one line
    captions = [
        said.format(depth=depth, left=" · ".join(f"{_(NAMES[shown[k]])} {power(row[k])}" for k in told))
        for depth, row in zip(dp.DEPTHS, ends.tolist(), strict=True)
    ]
    titles = {"down": N_("gradient, top = 1"), "size": N_("root mean square"), "alike": N_("mean cosine of two tokens")}
    lines.show(
        live.Picture(
            key="norm_stack",
            wordless=True,
            quantity=kind,
            says=_("A number by height in the stack, for several ways to build it; the bands are three seeds."),
            slider=DEPTH.slider(),
            captions=captions,
            released=DEPTH.receive,
        ),
        middle,
        np.arange(middle.shape[-1]),
        [Series(_(NAMES[name]), ROLES[name], dash=name in ("neither", "norms")) for name in shown],
        x=Axis(_("blocks below")),
        y=Axis(_(titles[kind]), low=0, high=1) if kind == "alike" else Axis(_(titles[kind]), log=True),
        band=(low, high),
        tall=300 if spine.deep() else 175,
    )


def _batches() -> None:
    found = frame.cached(dp.batches)
    texts = controls.pick("Texts at once", stacks.BATCHES, stacks.TEXTS, key="stack_texts")
    guessed = predict.answer(GUESS) is not None  # the guess asks for the line without norms
    shown = [name for name in stacks.ARRANGED if guessed or name != "skips"]
    found = found[:, [list(stacks.ARRANGED).index(name) for name in shown]]
    rows = np.clip(found[stacks.BATCHES.index(texts)], LEAST, MOST)
    first, last = (found[i, 0, 0] for i in (0, -1))
    lines.show(
        live.Picture(
            key="norm_batch", quantity="gradient", says=_("The gradient by height, for batches of several sizes.")
        ),
        rows,
        np.arange(rows.shape[-1]),
        [Series(_(NAMES[name]), ROLES[name]) for name in shown],
        x=Axis(_("blocks below")),
        y=Axis(_("gradient of the mean loss"), log=True, low=float(found.min()), high=float(found.max())),
    )
    prose("norms", "batch", blocks=stacks.BATCH_DEPTH, most=stacks.BATCHES[-1], first=power(first), last=power(last))


# ---- why ----


def _factors() -> None:
    values = np.clip(frame.cached(dp.products), 1e-12, 1e12)
    said = _("1 + f′ = {factor} · after {blocks} blocks: without a skip {alone}, with one {kept}")
    captions = [
        said.format(factor=f"{1 + s:.2f}".replace("-", "−"), blocks=dp.BLOCKS, alone=_end(a), kept=_end(b))
        for s, (a, b) in zip(dp.SLOPES, frame.cached(dp.products)[:, :, -1].tolist(), strict=True)
    ]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="norm_factor",
                wordless=True,
                quantity="product",
                says=_("What is left of a gradient after equal blocks, with and without skips."),
                slider=SLOPE.slider(),
                captions=captions,
                released=SLOPE.receive,
            ),
            values,
            np.arange(dp.BLOCKS + 1),
            [Series(_("without a skip: |f′|ⁿ"), "warn"), Series(_("with a skip: |1 + f′|ⁿ"), "a")],
            x=Axis(_("blocks")),
            y=Axis(_("what is left"), log=True, low=1e-9, high=1e9),
        )
    with right:
        prose("norms", "factors", blocks=dp.BLOCKS)


def _end(x: float) -> str:
    return "0" if x == 0 else power(x)


def _directions() -> None:
    values = frame.cached(dp.stretches)
    said = _("I + J stretches by {low} to {high}")
    captions = [said.format(low=f"{row[-1]:.2f}", high=f"{row[0]:.2f}") for row in values[:, 1]]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="norm_j",
                wordless=True,
                quantity="spread",
                says=_("The singular values of J and of I + J, largest first."),
                slider=SIZE.slider(),
                captions=captions,
                released=SIZE.receive,
            ),
            values,
            np.arange(dp.WIDE),
            [Series("J", "warn"), Series("I + J", "a")],
            x=Axis(_("direction")),
            y=Axis(_("stretch")),
        )
    with right:
        at = dp.SIZES.index(0.9)
        prose("norms", "directions", low=f"{values[at, 1, -1]:.2f}", high=f"{values[at, 1, 0]:.2f}", n=dp.WIDE)
    code.show(dp.SPREAD)


def _through(given: Text) -> None:
    found = frame.cached(dp.through, given)
    heights = np.arange(len(found.sizes))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="norm_through",
                quantity="gradient",
                says=_(
                    "The gradient on the stream of the embedded model, by height, beside a plain copy of the top's."
                ),
            ),
            np.stack([found.sizes / found.sizes[-1], np.ones_like(found.sizes)]),
            heights,
            [Series(_("whole gradient"), "a", dots=True), Series(_("the plain copy alone"), "quiet", dash=True)],
            x=Axis(_("blocks below")),
            y=Axis(_("gradient, top = 1"), log=True, low=0.7),
        )
    with right:
        prose(
            "norms",
            "through",
            word=text.called(found.answer, given.subject),
            times=power(float(found.sizes[0] / found.sizes[-1])),
            rest=power(float(found.rest[0])),
            below=f"{found.cosines[-2]:.2f}".replace("-", "−"),
            bottom=f"{found.cosines[0]:.2f}".replace("-", "−"),
        )


# ---- who learns ----


def _learners() -> None:
    found = {name: frame.cached(wu.learner, name) for name in stacks.LEARNERS}
    _ask_learns(found)
    if predict.answer(LEARNS) is None:
        say("Guess first, then the curves stand here.")
        return
    _even, alone, _pairs = wu.knowing()
    parts = [np.sort(one.loss, 1).T for one in found.values()]
    low, middle, high = (np.stack([part[i] for part in parts]) for i in (0, 1, 2))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="norm_learners",
                wordless=True,
                quantity="loss",
                says=_("The loss of six small nets over their first steps; the bands are three seeds."),
            ),
            np.concatenate([middle, np.full_like(middle[:1], alone)]),
            found["pre"].at,
            [
                *(Series(_(NAMES[name]), ROLES[name], dash=name in ("norms", "small")) for name in found),
                Series(_("knows only how often each letter comes"), "quiet", dash=True),
            ],
            x=Axis(_("training step")),
            y=Axis(_("loss, nats a letter"), low=2.2, high=3.6),
            band=tuple(np.concatenate([part, np.full_like(part[:1], alone)]) for part in (low, high)),
            tall=320,
        )
    with right:
        ends = {name: f"{float(np.median(one.end)):.2f}" for name, one in found.items()}
        alike = {f"{name}_alike": f"{one.alike[0]:.2f}" for name, one in found.items() if name in ("pre", "norms")}
        plan = stacks.LEARNERS["pre"]
        prose("norms", "learners", **ends, **alike, alone=f"{alone:.2f}", steps=stacks.LEARNED, blocks=plan.depth)


def _ask_learns(found: dict[str, wu.Learned]) -> None:
    plan = stacks.LEARNERS["norms"]
    left = float(dp.bottom(frame.cached(dp.profile, "down"))[plan.depth - 1, list(stacks.ARRANGED).index("norms"), 1])
    end, beside = (float(np.median(found[name].end)) for name in ("norms", "pre"))
    _even, alone, _pairs = wu.knowing()
    nothing = N_(
        "«end» nats: it knows no more than how often each letter comes («alone»). With skips: «beside». "
        "Its tokens have become one and the same vector."
    )
    because = {
        "well": nothing,
        "slower": nothing,
        "nothing": nothing,
        predict.UNSURE: nothing,
    }
    options = {"well": N_("as well as with skips"), "slower": N_("a little slower"), "nothing": N_("hardly anything")}
    answer = "nothing" if end > alone - 0.1 else "slower" if end > beside + 0.05 else "well"
    question = N_(
        "Guess first: norms but no skips. «left» of the gradient reaches the bottom of «blocks» blocks, a healthy size. What does it learn?"
    )
    numbers = dict(
        left=f"{left:.2f}", blocks=plan.depth, end=f"{end:.2f}", alone=f"{alone:.2f}", beside=f"{beside:.2f}"
    )
    predict.ask(predict.Prediction(LEARNS, question, options, answer, because, opens=("norm_learners",)), **numbers)


# ---- mistakes ----


def told(given: Text) -> dict[str, str]:
    """What fills the holes of MISTAKES."""
    skips = dp.bottom(frame.cached(dp.profile, "down"))[-1, list(stacks.ARRANGED).index("skips"), 1]
    ends = {
        f"{place}{warm}": f"{float(np.median(frame.cached(wu.warmed, place, warm).end)):.2f}"
        for place in stacks.WARMED
        for warm in stacks.WARM_UPS
    }
    return ends | dict(
        low=f"{frame.cached(dp.stretches)[dp.SIZES.index(0.9), 1, -1]:.2f}",
        left=power(float(skips)),
        deepest=str(stacks.DEEPEST),
        rest=power(float(frame.cached(dp.through, given).rest[0])),
        gentle=f"{float(np.median(frame.cached(wu.learner, 'post').end)):.2f}",
    )
