"""What if? Three questions of interviews: a guess, the usual answer, and beside it what happened when it was tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.nets import cheat, lookups
from core.topics.exam import whatifs as wi
from pages.shared import controls, frame
from pages.shared.asks import predict
from pages.shared.pictures import figures, lines, live
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose, say

CASES = {"scale": N_("No scaling"), "head": N_("One head"), "mask": N_("No mask")}
ROLES = ("k", "v", "q", "a")


def room() -> None:
    """The one that is chosen."""
    case = controls.choice("What if", CASES, "scale", key="exam_if", hide_label=True)
    {"scale": scale, "head": head, "mask": mask}[case]()


def _told(case: str, numbers: dict[str, Any]) -> None:
    """The usual answer beside what happened."""
    left, right = st.columns(2, gap="medium")
    with left, st.container(border=True, height="stretch", key=f"usual_{case}"):
        st.markdown(f"**{_('The usual answer')}**")
        prose("exam", f"usual_{case}", **numbers)
    with right, st.container(border=True, height="stretch", key=f"happened_{case}"):
        st.markdown(f"**{_('What happened')}**")
        prose("exam", f"happened_{case}", **numbers)


def _curve(key: str, values: np.ndarray, xs: object, series: list[Series], y: Axis, **more: object) -> None:
    says = _("What became of the nets in training, step by step.")
    lines.show(
        live.Picture(key=key, quantity="training", says=says),
        values,
        np.array(xs),
        series,
        x=Axis(_("training step")),
        y=y,
        tall=230,
        **more,  # type: ignore[arg-type]
    )


# ---- no scaling ----


def scale() -> None:
    """d_k = 512, with the division and without it."""
    found = wi.scaling()
    numbers: dict[str, Any] = dict(
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
    prose("exam", "if_scale", **numbers)
    because = dict.fromkeys(
        ("never", "same", "faster", "?"),
        N_("It learns, slower and rougher: after «step» steps «first» right against «scaled», after «later» «second»."),
    )
    because["slower"] = N_(
        "After «step» steps «first» right against «scaled», after «later» «second», at the end «last»."
    )
    because["never"] = N_(
        "Some rows are stuck at first, that is right: «dead». The others learn and pull them along: «first» right after "
        "«step» steps, «second» after «later»; with scaling «scaled» at once."
    )
    options = {
        "never": N_("it never learns"),
        "slower": N_("slower, but it learns"),
        "same": N_("no difference"),
        "faster": N_("faster"),
    }
    question = N_("Guess first: d_k = «d_k», and nobody divides by √d_k. What does training do?")
    asked = predict.Prediction("exam_scale_if", question, options, "slower", because)
    if predict.ask(asked, **numbers) is None:
        return
    curves = lookups.curves().scaled
    series = [Series(_("with scaling"), "quiet"), Series(_("without"), "k")]
    left, right = st.columns(2, gap="medium")
    for column, measure, y in (
        (left, 0, Axis(_("share right"), low=0, high=1)),
        (right, 2, Axis(_("size of the gradient"), log=True, low=1e-4)),
    ):
        one = curves[..., measure]
        with column:
            _curve(f"if_scale_{measure}", one.mean(1), lookups.SEEN, series, y, band=(one.min(1), one.max(1)))
    _told("scale", numbers)


# ---- one head ----


def head() -> None:
    """Two marked letters must be said at once; all nets have equally many parameters."""
    found, many = wi.heads(), len(lookups.HEADS)
    numbers: dict[str, Any] = dict(
        n=f"{lookups.parameters():,}",
        places=lookups.PLACES,
        right=f"{found.right[0]:.0%}",
        marked=f"{found.marked:.2f}",
        steps=int(found.steps[0]),
        eight=int(found.steps[-1]),
        half=f"{1 / lookups.SIGNS:.0%}",
    )
    prose("exam", "if_head", **numbers)
    every = N_("All «right», after about «steps» steps; eight heads need about «eight».")
    because = {
        "none": N_(
            "It would, if a row could point at one place only. It shares itself out, «marked» on each letter: «right» "
            "right, after about «steps» steps."
        ),
        "one": N_(
            "Half on each is what its row does, «marked»; but the values tell which mark is which: «right» right, after "
            "about «steps» steps."
        ),
        "all": every,
        "?": every,
    }
    options = {
        "none": N_("neither letter"),
        "one": N_("one of the two"),
        "all": N_("both, as eight heads do"),
    }
    question = N_("Guess first: one head must report two letters at once. What does it learn?")
    if predict.ask(predict.Prediction("exam_head_if", question, options, "all", because), **numbers) is None:
        return
    two = lookups.curves().two
    series = [
        Series(_("{h} heads").format(h=h) if h > 1 else _("1 head"), role)
        for h, role in zip(lookups.HEADS, ROLES, strict=True)
    ]
    upto = lookups.TWO_SEEN.index(400) + 1
    assert len(two) == many
    _curve(
        "if_head",
        two.mean(1)[:, :upto],
        lookups.TWO_SEEN[:upto],
        series,
        Axis(_("texts with both right"), low=0, high=1),
    )
    _told("head", numbers)


# ---- no mask ----


def mask() -> None:
    """Two nets that differ in one thing: the mask in training."""
    found = frame.cached(wi.mask)
    numbers: dict[str, Any] = dict(
        masked=f"{found.losses[0, 0]:.2f}",
        opened=f"{found.losses[1, 1]:.4f}",
        shut=f"{found.losses[1, 0]:.2f}",
        entropy=f"{found.entropy:.2f}",
        right=found.masked.right,
        of=found.masked.sentences,
        wrong=found.opened.right,
        all=found.opened.sentences,
    )
    prose("exam", "if_mask", **numbers)
    because = {
        "higher": N_(
            "More to read, more to get confused by? It found the one word that matters, the next one: loss «opened»."
        ),
        "same": N_("Fair play cannot get below «entropy». Without the mask it is no fair play: loss «opened»."),
        "zero": N_(
            "Loss «opened»: the next word stands on the page, and it copies. Writing on its own, there is no next word to copy."
        ),
        "?": N_("Loss «opened», against «masked» with the mask: it copies the next word off the page."),
    }
    options = {"higher": N_("higher"), "same": N_("as with the mask"), "zero": N_("nearly 0")}
    question = N_("Guess first: trained without the mask, where does the loss end?")
    if predict.ask(predict.Prediction("exam_mask_if", question, options, "zero", because), **numbers) is None:
        return
    history = cheat.history()
    steps = np.arange(history.shape[1])
    values = np.stack([*history, np.full(len(steps), found.entropy)])
    series = [
        Series(_("with the mask"), "quiet"),
        Series(_("without"), "k"),
        Series(_("the least that is fair"), "v", dash=True),
    ]
    left, right = st.columns(2, gap="medium")
    with left:
        _curve("if_mask", values, steps, series, Axis(_("loss, nats a word"), low=0))
    with right:
        for name, wrote in ((N_("with the mask"), found.masked), (N_("without"), found.opened)):
            say("**«name»**, on its own: «words»", name=_(name), words=" ".join(wrote.words[:18]))
    _told("mask", numbers)
