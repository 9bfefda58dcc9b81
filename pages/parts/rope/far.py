"""Past the trained length: the loss to guess, the angles never seen, five methods by name, and what each repairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.lab import text
from core.topics.rope import long_losses
from core.topics.rope import stretching as lr
from pages.shared import address, controls, frame
from pages.shared.asks import mistakes
from pages.shared.pictures import code, lines, live
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose, say

NAMES = {
    "plain": N_("untouched"),
    "pi": "PI",
    "abf": "ABF",
    "ntk": N_("NTK-aware"),
    "dynamic": N_("dynamic NTK"),
    "yarn": "YaRN",
    "window": N_("window of 200"),
}
DASHED = {"plain", "abf", "dynamic", "yarn", "window"}  # whose colours look alike to some differ in this
ROLES = {"plain": "quiet", "pi": "q", "abf": "a", "ntk": "k", "dynamic": "warn", "yarn": "v", "window": "a"}
GUESSES = tuple(round(1 + k / 5, 1) for k in range(46))  # nats, 1 to 10
MODEL = lr.Model()
BASE = controls.Dial("rope_base", N_("Base b"), lr.BASES, lr.BASES[0], shown=tuple(f"{b:,}" for b in lr.BASES))
FACTOR = controls.Dial(
    "rope_s", N_("Factor s"), lr.STRETCHES, lr.STRETCHES[32], shown=tuple(f"{s:.2f}" for s in lr.STRETCHES)
)
REPAIR = controls.Dial(
    "rope_fix", N_("Factor s"), long_losses.FACTORS, 2.5, shown=tuple(f"{s:.2f}" for s in long_losses.FACTORS)
)
LOSS = controls.Setting("rope_loss")


def _series(methods: tuple[str, ...]) -> list[Series]:
    return [Series(_(NAMES[m]), ROLES[m], dash=m in DASHED) for m in methods]


# ---- the loss, guessed first ----


def guess() -> None:
    """The visitor draws the end of the curve; then it is shown."""
    found = frame.cached(long_losses.curves)
    plain, at, trained = found.values[0, 0], found.at, text.context()
    inside = at < trained
    flat = min(GUESSES, key=lambda g: abs(g - float(plain[inside].mean())))
    guessed = controls.Dial("rope_guess", N_("At the end"), GUESSES, flat, shown=tuple(f"{g:.1f}" for g in GUESSES))
    chosen, shown = guessed.now(), LOSS.now() == "yes"
    if address.changed("loss shown", shown):
        st.rerun()  # the last picture of the page waits for it
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="rope_guess",
                wordless=True,
                quantity="loss",
                says=_("Loss along four long stories, nats a token."),
                slider=guessed.slider(),
                released=guessed.receive,
            ),
            _drawn(plain, at, shown),
            at,
            [Series(_("measured"), "a"), Series(_("your guess"), "warn", dash=True)],
            x=Axis(_("position in the text")),
            y=Axis(_("loss, nats a token"), low=0, high=10.5),
            marks=((trained, _("trained up to here")),),
        )
    with right:
        prose("rope", "guess", trained=trained, n=len(long_losses.stories()), tokens=long_losses.TOKENS)
        if shown:
            _verdict(plain, at, chosen)
        else:
            st.button(_("Show what happens"), key="rope_show", on_click=LOSS.keep, args=("yes",))


def _drawn(plain: np.ndarray, at: np.ndarray, shown: bool) -> np.ndarray:
    """(frame, 2, bin): what was measured, and a straight line from the trained length to each guess."""
    inside = at < text.context()
    measured = plain if shown else np.where(inside, plain, np.nan)
    start, last = at[inside][-1], at[-1]
    part = np.where(at < start, np.nan, (at - start) / (last - start))
    level = float(plain[inside][-1])
    return np.stack([np.stack([measured, level + (guess - level) * part]) for guess in GUESSES])


def _verdict(plain: np.ndarray, at: np.ndarray, chosen: float) -> None:
    inside = at < text.context()
    end, before = float(plain[-1]), float(plain[inside].mean())
    numbers = dict(chosen=f"{chosen:.1f}", end=f"{end:.1f}", before=f"{before:.1f}")
    say("You drew «chosen» nats. It is **«end»**, against «before» inside the trained length.", **numbers)
    prose("rope", "cliff", times=f"{end / before:.1f}", blind=f"{np.log(32_000):.1f}")


# ---- angles that training never showed ----


def base() -> None:
    """One slider, two pictures: how many turns are made at a far position, and how long a turn takes."""
    found = frame.cached(lr.spectrum, MODEL)
    left, right = st.columns(2, gap="medium")
    with left:
        st.fragment(_turns)(found)
    with right:
        _waves(found)
    low, high = (f"{int(x)}" for x in found.unfinished[[0, -1]])
    numbers = dict(trained=f"{MODEL.trained:,}", reach=f"{lr.REACH:,}", low=low, high=high)
    prose("rope", "base", **numbers, before=int(found.unseen[0]), after=int(found.unseen[-1]), d=MODEL.head_dim)


def _turns(found: lr.Spectrum) -> None:
    flat = np.ones_like(found.turns)
    said = _("{unseen} pairs stand at angles that training never showed; {slow} never finish a turn within {reach}.")
    reach = f"{lr.REACH:,}"
    lines.show(
        live.Picture(
            key="rope_turns",
            wordless=True,
            quantity="turns",
            says=_("Turns each pair has made at a far position, and what it had seen in training."),
            slider=BASE.slider(together=True),
            captions=[
                said.format(unseen=int(u), slow=int(s), reach=reach)
                for u, s in zip(found.unseen, found.unfinished, strict=True)
            ],
            released=BASE.receive,
        ),
        np.stack([found.turns, flat * found.seen, flat], 1),
        np.arange(found.turns.shape[1]),
        [
            Series(_("turns at position {n}").format(n=reach), "a"),
            Series(_("turns seen in training, {n} tokens").format(n=f"{MODEL.trained:,}"), "k", dash=True),
            Series(_("one full turn"), "quiet", dash=True),
        ],
        x=Axis(_("pair i")),
        y=Axis(_("turns"), log=True),
    )


def _waves(found: lr.Spectrum) -> None:
    """Moved by the slider of the turns."""
    lines.show(
        live.Picture(
            key="rope_waves",
            wordless=True,
            quantity="wavelength",
            says=_("How many tokens each pair needs for one turn."),
            slider=BASE.slider(together=True, hidden=True),
        ),
        np.stack([found.waves, np.full_like(found.waves, lr.REACH)], 1),
        np.arange(found.waves.shape[1]),
        [
            Series(_("tokens for one turn"), "q"),
            Series(_("position {n}").format(n=f"{lr.REACH:,}"), "quiet", dash=True),
        ],
        x=Axis(_("pair i")),
        y=Axis(_("tokens"), log=True),
    )


# ---- the methods ----


def methods() -> None:
    """Formulas, and what each method does to every pair and along the text."""
    ntk = lr.ntk_base(MODEL.head_dim, MODEL.base, 4.0)
    prose("rope", "methods", ntk=f"{round(ntk):,}", d=MODEL.head_dim, abf=f"{MODEL.base * lr.ABF:,.0f}")
    pairs = MODEL.head_dim // 2
    left, right = st.columns(2, gap="medium")
    with left:
        st.fragment(_slow)(pairs)
    with right:
        _far(pairs)
    prose("rope", "curves", trained=f"{MODEL.trained:,}")
    code.show(lr.RAMP)


def _slow(pairs: int) -> None:
    lines.show(
        live.Picture(
            key="rope_slow",
            wordless=True,
            quantity="slowdown",
            says=_("How many times slower each pair turns than it was trained to."),
            slider=FACTOR.slider(together=True),
            released=FACTOR.receive,
        ),
        frame.cached(lr.slowdowns, MODEL),
        np.arange(pairs),
        _series(lr.METHODS),
        x=Axis(_("pair i")),
        y=Axis(_("times slower"), log=True, low=0.9, high=130),
    )


def _far(pairs: int) -> None:
    """The angle of one slow pair along the text, moved by the slider beside it."""
    pair = pairs - 10  # slow enough never to finish a turn in training
    places, angles = frame.cached(lr.far_angles, pair, MODEL)
    seen = np.full_like(angles[:, :1], angles[0, 0][places == MODEL.trained])
    series = [*_series(lr.METHODS), Series(_("largest angle in training"), "quiet")]
    lines.show(
        live.Picture(
            key="rope_far",
            wordless=True,
            quantity="angles",
            says=_("The angle of one slow pair along the text."),
            slider=FACTOR.slider(together=True, hidden=True),
        ),
        np.concatenate([angles, seen], 1),
        places,
        series,
        x=Axis(_("position in the text")),
        y=Axis(_("angle of pair {i}, rad").format(i=pair), low=0),
        marks=((MODEL.trained, _("trained up to here")),),
        moving=np.array(lr.STRETCHES) * MODEL.trained,
    )


def repaired() -> None:
    """Every method on the embedded model, measured; beside the untouched one, whose curve is to be drawn first."""
    if LOSS.now() != "yes":
        say("The curve that you are drawing above stands in this picture too. Let it be shown first.")
        return
    found, trained = frame.cached(long_losses.curves), text.context()
    s = REPAIR.now()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="rope_fix",
                quantity="loss",
                says=_("Loss along four long stories, with every method."),
                slider=REPAIR.slider(),
                released=REPAIR.receive,
            ),
            found.values,
            found.at,
            _series(long_losses.METHODS),
            x=Axis(_("position in the text")),
            y=Axis(_("loss, nats a token"), low=1, high=7.8),
            marks=((trained, _("trained up to here")),),
            tall=340,
        )
    with right:
        spans = ((0, trained), (trained, 2 * trained), (2 * trained, long_losses.TOKENS))
        head = "| s = " + f"{s:.2f} | " + " | ".join(f"{a} – {b}" for a, b in spans) + " |\n|---|---:|---:|---:|\n"
        rows = [
            f"| {_(NAMES[m])} | " + " | ".join(f"{long_losses.mean(m, s, *span):.2f}" for span in spans) + " |"
            for m in long_losses.METHODS
        ]
        st.markdown(head + "\n".join(rows))
        prose("rope", "repaired", trained=trained)


def common_mistakes(law: Any) -> None:
    ends = (long_losses.mean("plain", 1.0, 0, 256), long_losses.mean("plain", 1.0, 512, long_losses.TOKENS))
    ntk = lr.ntk_base(MODEL.head_dim, MODEL.base, 4.0)
    mistakes.show(
        "rope",
        ["sign", "far", "names", "library", "degrees", "value"],
        right=f"{law.relative:.4f}",
        wrong=f"{law.wrong:.4f}",
        inside=f"{ends[0]:.2f}",
        outside=f"{ends[1]:.2f}",
        ntk=f"{round(ntk):,}",
        degrees=f"{np.degrees(1.0):.1f}",
    )
