"""Warm-up: four nets that were trained, what happened in their first steps, and the schedule under a slider."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.nets import stacks
from core.topics.norms import warmup as wu
from pages.parts.norms.depth import power
from pages.shared import controls, frame, headings, spine
from pages.shared.asks import check as checks
from pages.shared.asks import predict
from pages.shared.pictures import code, lines, live
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose, say

WARM = controls.Dial("warm_steps", N_("Steps of warm-up"), wu.WARMS, 4000, shown=tuple(f"{w:,}" for w in wu.WARMS))
BETA = controls.Dial("adam_beta", N_("Adam's β₂"), wu.BETAS, 0.999)
GUESS = "norms_warm"
FOUR = tuple((place, warm) for place in stacks.WARMED for warm in stacks.WARM_UPS)
NAMES = {
    "pre0": N_("norm before, none"),
    "pre75": N_("norm before, warm-up"),
    "post0": N_("norm after, none"),
    "post75": N_("norm after, warm-up"),
}
ROLES = {"pre": "a", "post": "v"}


def section() -> None:
    """For experts: four nets and a guess, their first steps, Adam, and the schedule."""
    if not spine.deep():
        return
    headings.section("Start slowly?")
    st.fragment(_four)()
    headings.section("The schedule under your finger")
    st.fragment(_schedule)()
    headings.section("Adam's first steps")
    st.fragment(_adam)()
    check()


def _four() -> None:
    found = {f"{place}{warm}": frame.cached(wu.warmed, place, warm) for place, warm in FOUR}
    _ask(found)
    if predict.answer(GUESS) is None:
        say("Guess first, then the curves stand here.")
        return
    ends = {name: f"{float(np.median(one.end)):.2f}" for name, one in found.items()}
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _curves(found)
    with right:
        prose("norms", "four", **ends, warm=stacks.WARM_UPS[1], steps=stacks.WARMED_STEPS)
    _first_steps(found)


def _ask(found: dict[str, wu.Learned]) -> None:
    ends = {name: float(np.median(one.end)) for name, one in found.items()}
    answer = max(ends, key=lambda name: ends[name])
    true = N_("Norm after, no warm-up: stuck at «post0» nats. With a slow start the same net reaches «post75».")
    because = {
        "pre0": N_("A norm before every part forgives a fast start: «pre0» nats. The norm after does not: «post0»."),
        "pre75": N_(
            "A slow start costs this net nothing: «pre75» nats. Stuck is the norm after, without one: «post0»."
        ),
        "post0": true,
        "post75": N_("Just this one is rescued by its slow start: «post75» nats. Without it: «post0»."),
        predict.UNSURE: true,
    }
    question = N_(
        "Guess first: four nets at the same high rate, norm before or after each part, warm-up or none. Which gets stuck?"
    )
    options = {name: NAMES[name] for name in ends}
    numbers = {name: f"{end:.2f}" for name, end in ends.items()}
    predict.ask(
        predict.Prediction(GUESS, question, options, answer, because, opens=("norm_warm", "norm_alike", "norm_below")),
        **numbers,
    )


def _curves(found: dict[str, wu.Learned]) -> None:
    low, middle, high = np.stack([np.sort(one.loss, 1) for one in found.values()]).transpose(2, 0, 1)
    lines.show(
        live.Picture(
            key="norm_warm",
            wordless=True,
            quantity="loss",
            says=_("The loss of four small nets while they learn; the bands are three seeds."),
        ),
        middle,
        found["pre0"].at,
        [Series(_(NAMES[name]), ROLES[name.rstrip("075")], dash=name.endswith("75")) for name in found],
        x=Axis(_("training step")),
        y=Axis(_("loss, nats a letter")),
        band=(low, high),
        marks=((stacks.WARM_UPS[1], _("end of the warm-up")),),
    )


def _first_steps(found: dict[str, wu.Learned]) -> None:
    """What happens to the norm-after net with and without a warm-up: all tokens become one, and nothing comes down."""
    two = [found["post0"], found["post75"]]
    left, right = st.columns(2, gap="medium")
    series = [Series(_(NAMES["post0"]), "v"), Series(_(NAMES["post75"]), "v", dash=True)]
    step = Axis(_("training step"), log=True)
    with left:
        picture = live.Picture(
            key="norm_alike", wordless=True, quantity="alike", says=_("How alike the tokens are, by step.")
        )
        rows = np.stack([one.alike for one in two])
        lines.show(picture, rows, two[0].probed, series, x=step, y=Axis(_("mean cosine of two tokens"), low=0, high=1))
    with right:
        picture = live.Picture(
            key="norm_below",
            wordless=True,
            quantity="below",
            says=_("The gradient at the bottom beside the top's, by step."),
        )
        rows = np.stack([one.below for one in two])
        lines.show(picture, rows, two[0].probed, series, x=step, y=Axis(_("gradient at the bottom, top = 1"), log=True))
    at = {step: i for i, step in enumerate(two[0].probed.tolist())}
    prose(
        "norms",
        "first_steps",
        alike=f"{two[0].alike[at[3]]:.2f}",
        same=f"{two[1].alike[at[50]]:.2f}",
        apart=f"{two[1].alike[-1]:.2f}",
        stuck=power(float(two[0].below[at[75]])),
        back=power(float(two[1].below[-1])),
    )


# ---- the schedule ----


def _schedule() -> None:
    width = controls.pick("Width d", wu.WIDTHS, 512, key="noam_d")
    found = frame.cached(wu.schedules, width)
    said = _("warm-up of {warm} steps · highest rate {peak}")
    captions = [said.format(warm=f"{w:,}", peak=power(float(p), 2)) for w, p in zip(wu.WARMS, found.peaks, strict=True)]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="norm_noam",
                wordless=True,
                quantity="rate",
                says=_("The learning rate by step: a climb, then a fall."),
                slider=WARM.slider(),
                captions=captions,
                released=WARM.receive,
            ),
            found.rates,
            found.steps,
            [Series("Noam", "a"), Series(_("the same climb, then half a cosine"), "v", dash=True)],
            x=Axis(_("training step"), high=1.04 * float(found.steps[-1])),  # room for the last number
            y=Axis(_("rate"), low=0),
            moving=np.array(wu.WARMS, np.float64),
        )
    with right:
        usual = frame.cached(wu.schedules, 512).peaks[wu.WARMS.index(4000)]
        prose("norms", "noam", d=512, warm=f"{4000:,}", peak=f"{usual * 1e4:.2f}")
    code.show(wu.RATE)


# ---- Adam ----


def _adam() -> None:
    found = frame.cached(wu.estimates)
    flat = np.ones_like(found.low)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="norm_adam",
                wordless=True,
                quantity="second",
                says=_("Adam's running mean of the squared gradient over the true one, by step."),
                slider=BETA.slider(),
                released=BETA.receive,
            ),
            np.stack([found.middle, flat], 1),
            found.steps,
            [Series(_("estimate over truth, middle weight"), "a"), Series(_("exact"), "quiet", dash=True)],
            x=Axis(_("training step"), log=True),
            y=Axis(_("estimate over truth"), log=True, low=0.003, high=10),
            band=(np.stack([found.low, flat], 1), np.stack([found.high, flat], 1)),
        )
    with right:
        at = wu.BETAS.index(0.999)
        prose(
            "norms",
            "adam",
            share=f"{wu.first_step('post'):.1%}",
            low=f"{found.low[at, 0]:.3f}",
            high=f"{found.high[at, 0]:.1f}",
            later=f"{found.low[at, 99]:.2f}",
            above=f"{found.high[at, 99]:.2f}",
            moved=f"{found.moved[99]:.2f}",
        )


def check() -> None:
    """The peak of the schedule, by hand."""
    width, warm = 512, 4000
    checks.number(
        N_("Noam's schedule, d = «d», warm-up of «warm» steps. What is the highest rate, in ten-thousandths?"),
        float((width * warm) ** -0.5) * 1e4,
        key="norm_peak",
        hint=N_("The climb ends at t = w. There both terms of the minimum are the same."),
        how=N_("At t = w the rate is 1 / √(d · w) = 1 / √(«d» · «warm»): «answer» ten-thousandths."),
        d=width,
        warm=warm,
    )
