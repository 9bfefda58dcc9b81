"""What a model's norms do to the sentence: eps under the finger, what is pooled, one number that matters, the cost."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as sentence
from core.topics.norms import losses
from core.topics.norms import readings as numbers
from pages.shared import controls, frame, headings, spine, story
from pages.shared.pictures import bars, figures, lines, live
from pages.shared.text import N_, _, prose, say

POOLED = {  # axis -> what is pooled, who does so
    "feature": N_("the numbers of one token (layers of a Transformer)"),
    "position": N_("one feature over all positions"),
    "batch": N_("one feature over all texts of the batch (BatchNorm)"),
}
PLACES = (N_("attention {i}"), N_("FFN {i}"))
STRUCK = 2  # blocks before the station where one number is struck out


def eps(text: sentence.Text) -> None:
    """The guard under the root, in every norm of the real model at once."""
    headings.section("How small is small? eps in the real model")
    found, config = frame.cached(numbers.loosened, text), subject.config(text.subject)
    stops = numbers.epsilons(len(text))
    dial = controls.Dial("eps", "eps", stops, config.norm_eps, shown=tuple(map(figures.number, stops)))
    told = _("“{word}” {p} · most likely: “{top}” {most} · {loss} nats a token on stories")
    cost = dict(zip(numbers.EPSILONS, losses.loosened(text), strict=True))
    called = [sentence.called(id, text.subject) for id in found.ids]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        picture = bars.next_picture(
            "loosened",
            N_("How likely each word is to come next, with this eps in every norm."),
            slider=dial.slider(),
            released=dial.receive,
            captions=[
                told.format(
                    word=called[0],
                    p=f"{p:.1%}",
                    top=sentence.called(int(top), text.subject),
                    most=f"{most:.1%}",
                    loss=f"{cost[at]:.2f}",
                )
                for at, p, top, most in zip(stops, found.probs[:, 0], found.top, found.most, strict=True)
            ],
        )
        calm = found.probs[int(np.argmin([abs(np.log(x / config.norm_eps)) for x in stops]))]
        bars.next_tokens(picture, called, found.probs, calm, marked=0)
    with right:
        prose("norms", "eps", own=figures.number(config.norm_eps), size=figures.number(found.size))


def spread(text: sentence.Text) -> None:
    """The stream's numbers as a norm finds them and as it leaves them, norm by norm."""
    headings.section("Before and after each norm")
    found, many = frame.cached(numbers.before_and_after, text), subject.config(text.subject).n_layers
    names = [_(PLACES[i % 2]).format(i=i // 2) for i in range(2 * many)] + [_("the head")]
    dial = controls.Dial("norm_at", N_("The norm before"), tuple(range(len(names))), 0, shown=tuple(names))
    told = _("spread {before} → {after}; with the gain {gained}")
    middles = (numbers.BINS[:-1] + numbers.BINS[1:]) / 2
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="spread",
                quantity="spread",
                says=_("How the numbers of the stream are spread before a norm, after it, and with its gain."),
                slider=dial.slider(),
                captions=[
                    told.format(before=_number(a), after=_number(b), gained=_number(c)) for a, b, c in found.spread
                ],
                released=dial.receive,
            ),
            found.shares,
            middles,
            [
                lines.Series(_("as they come"), "quiet", dash=True),
                lines.Series(_("at size 1"), "a"),
                lines.Series(_("with the gain"), "q"),
            ],
            x=lines.Axis(_("value")),
            y=lines.Axis(_("share of all numbers"), low=0.0, high=1.0),
            tall=240,
        )
    with right:
        prose("norms", "spread")


def pooled(text: sentence.Text) -> None:
    """Which numbers share a mean: a token's own, or those of its neighbours and of strangers."""

    def inside() -> None:
        found = frame.cached(numbers.pooled, text)
        titles = (_("pooled"), _("how many"), _("it becomes"), _("one more word"), _("another text in the batch"))
        head = "| " + " | ".join(titles) + " |\n|---|---:|---:|---:|---:|\n"
        rows = [
            f"| {_(POOLED[axis])} | {one.many} | "
            + " | ".join(_number(x) for x in (one.here, one.later, one.other))
            + " |"
            for axis, one in found.items()
        ]
        prose("norms", "pooled")
        st.markdown(head + "\n".join(rows))

    headings.fold("Which numbers are pooled together?", inside)


def struck(text: sentence.Text) -> None:
    """The largest number of each token, struck out alone; and the same number in other sentences."""
    headings.section("One number out of thousands")
    found = frame.cached(numbers.struck, text, STRUCK)
    names = text.names
    left, right = st.columns([3, 2], gap="medium")
    order = np.argsort(-np.abs(found.p - found.calm), kind="stable")[:8]
    with left:
        bars.show(
            live.Picture(
                key="struck",
                quantity="next_probs",
                says=_(
                    "The answer's probability once the largest number of a token is struck out. Outlined: untouched."
                ),
            ),
            [f"{names[i]} · {found.number[i]}" for i in order],
            found.p[order],
            ghost=np.full(len(order), found.calm),
            high=1.0,
            percent=True,
            column=_("token · number"),
        )
    with right:
        _told(text, found)
    headings.fold("The same number in other sentences", _others)  # a sentence a row: too wide for a column


def _told(text: sentence.Text, found: numbers.Struck) -> None:
    """The one number that matters most, and, where it was recorded, whether there is a second one."""
    names, worst = text.names, found.worst
    prose(
        "norms",
        "struck",
        all=f"{found.of:,}",
        block=STRUCK - 1,
        token=names[worst],
        number=int(found.number[worst]),
        value=_number(found.value[worst]),
        size=_number(found.size[worst]),
        others=_number(found.others),
        word=sentence.called(found.answer, text.subject),
        before=f"{found.calm:.1%}",
        after=f"{found.p[worst]:.1%}",
    )
    if text == sentence.of(sentence.read(losses.READ)):
        every = losses.struck(text)
        below = int((every < found.calm / 2).sum())
        say(
            "All «all» were struck out in turn: «below» of them halves the answer.",
            all=f"{every.size:,}",
            below=below,
        )


def _others() -> None:
    """The examples of the gallery: some answers collapse, some hardly move."""
    titles = (_("sentence"), _("answer"), _("untouched"), _("without it"))
    head = "| " + " | ".join(titles) + " |\n|---|---|---:|---:|\n"
    rows = []
    for words in story.GALLERY:
        text = sentence.of(sentence.read(words))
        found = frame.cached(numbers.struck, text, STRUCK)
        answer = sentence.called(found.answer, text.subject)
        rows.append(f"| {words} … | {answer} | {found.calm:.1%} | {found.p[0]:.1%} |")
    st.markdown(head + "\n".join(rows))
    prose("norms", "others")


def compare(text: sentence.Text) -> None:
    """LayerNorm and RMSNorm side by side, counted, and timed on this machine."""
    headings.section("LayerNorm and RMSNorm, side by side")
    found, width = frame.cached(numbers.cost, text), subject.config(text.subject).d_model
    rows = [
        (_("takes the mean off"), _("yes"), _("no")),
        (_("divides by"), "√(σ² + ε)", "√(ms + ε)"),
        (_("learned, a norm"), f"γ, β: 2d = {2 * width:,}", f"γ: d = {width:,}"),
        (_("operations a number"), *map(str, found.operations)),
        (_("this project's code, µs"), *(f"{x:.1f}" for x in found.ours)),
        (_("torch's built-in, µs"), *(f"{x:.1f}" for x in found.torchs)),
    ]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown(
            "| | LayerNorm | RMSNorm |\n|---|---:|---:|\n" + "\n".join(f"| {a} | {b} | {c} |" for a, b, c in rows)
        )
        say("Timed here and now, for one norm over «n» tokens of «d» numbers.", n=len(text), d=width)
    with right:
        less = 1 - found.operations[1] / found.operations[0]
        prose(
            "norms",
            "compare",
            less=f"{less:.0%}",
            norms=found.norms,
            held=f"{found.parameters:,}",
            all=f"{found.all:,}",
            share=f"{found.share:.2%}",
        )


def _number(x: float) -> str:
    return figures.number(float(x), 2)


def deeper(text: sentence.Text) -> None:
    """All of it, for who looks at everything."""
    if not spine.deep():
        return
    spread(text)
    eps(text)
    struck(text)
    compare(text)
    pooled(text)
