"""Skips turned down and norms switched off in the embedded model, for the visitor's sentence and for the stories."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab import subject, text
from core.lab.text import Text
from core.topics.norms import switches as sw
from pages.shared import controls, frame, headings, spine
from pages.shared.asks import predict
from pages.shared.pictures import bars, live
from pages.shared.text import N_, _, filled, prose, say

OFF = "norms_off"
NAMES = {
    "trained": N_("as trained"),
    "inner": N_("block norms off"),
    "norms": N_("all norms off"),
    "skips": N_("all skips off"),
    "parts": N_("no parts at all"),
}


def section(given: Text) -> None:
    """For experts: one slider over all skips, every switch beside blind guessing, and one skip after the other."""
    if not spine.deep():
        return
    headings.section("Turn the skips down")
    st.fragment(_kept)(given)
    headings.section("Norms and skips off")
    st.fragment(_off)(given)
    st.fragment(_one_off)(given)


def _kept(given: Text) -> None:
    found, lost, stops = frame.cached(sw.strengths, given), sw.losses(), sw.kept_by(len(given))
    dial = controls.Dial("norm_skip", N_("Every skip keeps"), stops, 1.0, shown=tuple(f"{s:.0%}" for s in stops))
    copies, guess = 2 * subject.config().n_layers, sw.guessing(subject.config().vocab_size)
    tokens = [text.called(i, given.subject) for i in found.ids]
    said = _("stories: {loss} nats a token; blind guessing: {guess}")
    loss = dict(zip(sw.STRENGTHS, lost.strengths, strict=True))
    captions = [said.format(loss=f"{loss[stop]:.2f}", guess=f"{guess:.2f}") for stop in stops]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        says = N_("How likely each word is to come next, with so much of every skip.")
        picture = bars.next_picture("norm_skip", says, slider=dial.slider(), captions=captions, released=dial.receive)
        bars.next_tokens(picture, tokens, found.probs, found.probs[-1], marked=0)
    with right:
        prose("norms", "skips", copies=copies, left=f"{0.9**copies:.0%}")


# ---- all of a kind ----


def _off(given: Text) -> None:
    """A guess, then every wiring in a table and as bars."""
    guess, lost = sw.guessing(subject.config().vocab_size), sw.losses()
    _ask(lost, guess)
    if predict.answer(OFF) is None:
        say("Guess first, then it is switched off.")
        return
    found = frame.cached(sw.wirings, given)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        bars.show(
            live.Picture(
                key="norm_ways",
                wordless=True,
                quantity="story_loss",
                says=_("Mean loss on the stories with norms or skips switched off; lower is better."),
            ),
            [*(_(NAMES[name]) for name in sw.WAYS), _("blind guessing")],
            np.array([*lost.ways.values(), guess]),
            marked=len(sw.WAYS),
            column=_("nats a token"),
            tools=True,
        )
    with right:
        numbers = dict(guess=f"{guess:.2f}", inner=f"{lost.ways['inner']:.1f}")
        prose("norms", "worse", **numbers, same=f"{found.same[list(sw.WAYS).index('inner')]:.2f}")
    _table(given, found)


def _ask(lost: sw.Losses, guess: float) -> None:
    sure = N_(
        "«now» nats. Blind guessing is unsure and pays «guess» for every word; this model is sure of a wrong word and pays more."
    )
    because = {
        "little": N_(
            "The norm at the end is still there, but every part before it reads sizes it has never seen: «now»."
        ),
        "guessing": sure,
        "worse": sure,
        predict.UNSURE: sure,
    }
    options = {
        "little": N_("a little worse"),
        "guessing": N_("as bad as blind guessing"),
        "worse": N_("far worse than that"),
    }
    inner = lost.ways["inner"]
    answer = "worse" if inner > 1.5 * guess else "guessing" if inner > 0.7 * guess else "little"
    question = N_(
        "Guess first: all norms inside the blocks off, the last one on. The loss on the stories, now «then», is … (blind guessing: «guess»)"
    )
    numbers = dict(now=f"{inner:.1f}", then=f"{lost.ways['trained']:.2f}", guess=f"{guess:.2f}")
    predict.ask(predict.Prediction(OFF, question, options, answer, because, opens=("norm_ways",)), **numbers)


def _table(given: Text, found: sw.Wirings) -> None:
    names = {f"w{i}": text.called(id, given.subject) for i, id in enumerate(found.loud)}
    titles = (_("wiring"), "p(«word»)", _("likeliest"), _("its p"), _("cosine"))
    head = "| " + " | ".join(titles) + " |\n|---|---:|---|---:|---:|\n"
    numbers = zip(sw.WAYS, found.p, found.sure, found.same, strict=True)
    rows = [
        f"| {_(NAMES[name])} | {p:.3f} | «w{i}» | {sure:.4f} | {same:.2f} |"
        for i, (name, p, sure, same) in enumerate(numbers)
    ]
    st.markdown(filled(head + "\n".join(rows), word=text.called(found.answer, given.subject), **names))


# ---- one of a kind ----


def _one_off(given: Text) -> None:
    lost, left_over = sw.losses().one_off, frame.cached(sw.one_off, given)
    names = [f"{_(part)} {i // 2}" for i, part in enumerate((N_("attention"), N_("FFN")) * (len(lost) // 2))]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        bars.show(
            live.Picture(
                key="norm_one",
                wordless=True,
                quantity="story_loss",
                says=_("Mean loss on the stories with one skip off, bottom first."),
            ),
            names,
            lost,
            column=_("skip"),
            tools=True,
            row=22,
        )
    with right:
        worst, best = int(lost.argmax()), int(lost.argmin())
        prose(
            "norms",
            "one_skip",
            n=len(lost),
            worst=names[worst],
            high=f"{lost[worst]:.2f}",
            best=names[best],
            low=f"{lost[best]:.2f}",
            most=f"{left_over.max():.3f}",
        )
