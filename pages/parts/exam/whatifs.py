"""What if? Three questions of interviews: a guess, the usual answer, and beside it what happened when it was tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.nets import cheat, lookups
from core.topics.exam import whatifs as wi
from pages.shared import controls, frame
from pages.shared.asks import predict
from pages.shared.asks.predict import Prediction
from pages.shared.pictures import figures, lines, live
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose, say

CASES = {"scale": N_("No scaling"), "head": N_("One head"), "mask": N_("No mask")}
ROLES = ("k", "v", "q", "a")
UPTO = 400  # steps of the heads' picture: later they are all at one
WRITTEN = 18  # words of what a net writes


def room() -> None:
    """The one that is chosen: its guess, then its curves and what they say."""
    case = controls.choice("What if", CASES, "scale", key="exam_if", hide_label=True)
    numbers = {"scale": _of_scale, "head": _of_head, "mask": _of_mask}[case]()
    prose("exam", f"if_{case}", **numbers)
    if predict.ask(GUESSES[case], **numbers) is None:
        return
    {"scale": _scale, "head": _head, "mask": _mask}[case]()
    _told(case, numbers)


def _told(case: str, numbers: dict[str, Any]) -> None:
    """The usual answer beside what happened."""
    left, right = st.columns(2, gap="medium")
    with left, st.container(border=True, height="stretch", key=f"usual_{case}"):
        st.markdown(f"**{_('The usual answer')}**")
        prose("exam", f"usual_{case}", **numbers)
    with right, st.container(border=True, height="stretch", key=f"happened_{case}"):
        st.markdown(f"**{_('What happened')}**")
        prose("exam", f"happened_{case}", **numbers)


def _curve(key: str, values: np.ndarray, xs: Any, series: list[Series], y: Axis, **more: Any) -> None:
    says = _("What became of the nets in training, step by step.")
    picture = live.Picture(key=key, quantity="training", says=says, wordless=True)
    lines.show(picture, values, np.array(xs), series, x=Axis(_("training step")), y=y, tall=230, **more)


# ---- no scaling ----

SLOWER = N_("It learns, slower and rougher: after «step» steps «first» right against «scaled», after «later» «second».")
SCALE = Prediction(
    "exam_scale_if",
    N_("Guess first: d_k = «d_k», and nobody divides by √d_k. What does training do?"),
    {
        "never": N_("it never learns"),
        "slower": N_("slower, but it learns"),
        "same": N_("no difference"),
        "faster": N_("faster"),
    },
    "slower",
    {
        "never": N_(
            "Some rows are stuck at first, that is right: «dead». The others learn and pull them along: «first» right "
            "after «step» steps, «second» after «later»; with scaling «scaled» at once."
        ),
        "slower": N_("After «step» steps «first» right against «scaled», after «later» «second», at the end «last»."),
        "same": SLOWER,
        "faster": SLOWER,
        "?": SLOWER,
    },
    opens=("if_scale_accuracy", "if_scale_gradient"),
)


def _of_scale() -> dict[str, Any]:
    found = wi.scaling()
    return dict(
        d_k=lookups.D_K,
        keys=lookups.KEYS,
        first=f"{found.accuracy[1, 0]:.2f}",
        second=f"{found.accuracy[1, 1]:.2f}",
        scaled=f"{found.accuracy[0, 0]:.2f}",
        last=f"{found.last[1]:.2f}",
        end=lookups.STEPS,
        times=f"{found.gradient[1] / found.gradient[0]:.0f}",
        before=f"{found.loss[0]:.2f}",
        after=f"{found.loss[1]:.2f}",
        dead=f"{found.dead[1]:.0%}",
        step=wi.STEPS[0],
        later=wi.STEPS[1],
        left=figures.number(wi.left_over(22)),
        root=f"{lookups.D_K**0.5:.1f}",
    )


def _scale() -> None:
    """Accuracy and gradient, with the division and without it; bands over the seeds."""
    curves = lookups.curves().scaled
    series = [Series(_("with scaling"), "quiet"), Series(_("without"), "k")]
    axes = (Axis(_("share right"), low=0, high=1), Axis(_("size of the gradient"), log=True, low=1e-4))
    for column, name, y in zip(st.columns(2, gap="medium"), ("accuracy", "gradient"), axes, strict=True):
        one = curves[..., lookups.MEASURES.index(name)]
        with column:
            _curve(f"if_scale_{name}", one.mean(1), lookups.SEEN, series, y, band=(one.min(1), one.max(1)))


# ---- one head ----

ALL_RIGHT = N_("All «right», after about «steps» steps; eight heads need about «eight».")
HEAD = Prediction(
    "exam_head_if",
    N_("Guess first: one head must report two letters at once. What does it learn?"),
    {
        "none": N_("neither letter"),
        "one": N_("one of the two"),
        "all": N_("both, as eight heads do"),
    },
    "all",
    {
        "none": N_(
            "It would, if a row could point at one place only. It shares itself out, «marked» on each letter: «right» "
            "right, after about «steps» steps."
        ),
        "one": N_(
            "Half on each is what its row does, «marked»; but the values tell which mark is which: «right» right, after "
            "about «steps» steps."
        ),
        "all": ALL_RIGHT,
        "?": ALL_RIGHT,
    },
    opens=("if_head",),
)


def _of_head() -> dict[str, Any]:
    found = wi.heads()
    return dict(
        n=f"{lookups.parameters():,}",
        places=lookups.PLACES,
        right=f"{found.right[0]:.0%}",
        marked=f"{found.marked:.2f}",
        steps=int(found.steps[0]),
        eight=int(found.steps[-1]),
    )


def _head() -> None:
    """Texts with both letters right, one line for each number of heads."""
    names = [_("{h} heads").format(h=h) if h > 1 else _("1 head") for h in lookups.HEADS]
    upto = lookups.TWO_SEEN.index(UPTO) + 1
    right = lookups.curves().two.mean(1)[:, :upto]
    series = [Series(name, role) for name, role in zip(names, ROLES, strict=True)]
    _curve("if_head", right, lookups.TWO_SEEN[:upto], series, Axis(_("texts with both right"), low=0, high=1))


# ---- no mask ----

MASK = Prediction(
    "exam_mask_if",
    N_("Guess first: trained without the mask, where does the loss end?"),
    {"higher": N_("higher"), "same": N_("as with the mask"), "zero": N_("nearly 0")},
    "zero",
    {
        "higher": N_(
            "More to read, more to get confused by? It found the one word that matters, the next one: loss «opened»."
        ),
        "same": N_("Fair play cannot get below «entropy». Without the mask it is no fair play: loss «opened»."),
        "zero": N_(
            "Loss «opened»: the next word stands on the page, and it copies. Writing on its own, there is no next word to copy."
        ),
        "?": N_("Loss «opened», against «masked» with the mask: it copies the next word off the page."),
    },
    opens=("if_mask",),
)


def _of_mask() -> dict[str, Any]:
    found = frame.cached(wi.mask)
    return dict(
        masked=f"{found.losses[0, 0]:.2f}",
        opened=f"{found.losses[1, 1]:.4f}",
        shut=f"{found.losses[1, 0]:.2f}",
        entropy=f"{found.entropy:.2f}",
        right=found.masked.right,
        of=found.masked.sentences,
        wrong=found.opened.right,
        all=found.opened.sentences,
    )


def _mask() -> None:
    """The loss of both in training, and what both write."""
    found, history = frame.cached(wi.mask), cheat.history()
    steps = np.arange(history.shape[1])
    values = np.stack([*history, np.full(len(steps), found.entropy)])
    fair = Series(_("the least that is fair"), "v", dash=True)
    series = [Series(_("with the mask"), "quiet"), Series(_("without"), "k"), fair]
    left, right = st.columns(2, gap="medium")
    with left:
        _curve("if_mask", values, steps, series, Axis(_("loss, nats a word"), low=0))
    with right:
        for name, wrote in ((N_("with the mask"), found.masked), (N_("without"), found.opened)):
            say("**«name»**, on its own: «words»", name=_(name), words=" ".join(wrote.words[:WRITTEN]))


GUESSES = {"scale": SCALE, "head": HEAD, "mask": MASK}
