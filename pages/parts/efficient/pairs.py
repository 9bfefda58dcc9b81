"""Which pairs matter? The mask of a pattern beside the losses of all, the sentence under it, and one's own pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.lab import text as words
from core.lab.text import FIRST
from core.topics.efficient import patterns as pt
from pages.shared import controls, frame, spine, story
from pages.shared.asks import predict
from pages.shared.pictures import bars, lines, live, matrix
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, filled, prose, say

NAMES = {
    "best": N_("best by score"),
    "window": N_("nearest"),
    "first": N_("<s> + nearest"),
    "bigbird": N_("BigBird"),
    "strided": N_("strided"),
    "random": N_("random"),
    "second": N_("every second"),
}
LOOKS = {"best": "a", "window": "q", "first": "q", "bigbird": "v", "strided": "v", "random": "k", "second": "warn"}
DASHED = {"first", "strided"}
AT_IDEA = 3  # words at the idea
ANSWERS = {"window": 8, "random": 64, "second": 128}  # a guess -> words a query
WORDS_READ = controls.Dial("pairs_k", N_("Words each word reads"), pt.K, 8, quiet=True)
OWN = controls.Setting("pairs_own", pt.spell(frozenset((0, 1))), lambda text: text if pt.unspell(text) else None)


def settings() -> str:
    """One line that says which pattern is shown."""
    now = controls.Setting("pairs_kind").now()
    with spine.settings(filled(_("pattern: «name»"), name=_(NAMES[now]))):
        kind = controls.choice("Pattern", NAMES, "window", key="pairs_kind", hide_label=True)
        prose("efficient", "kinds", first=pt.LEAST["first"])
    return kind


# ---- which choice hurts least? ----


def prediction() -> None:
    """Eight near ones, many at random, or every second: the answer is recorded from the model."""
    losses = {kind: pt.loss(kind, k) for kind, k in ANSWERS.items()}
    answer = min(losses, key=losses.__getitem__)
    options = {
        "window": N_("the 8 nearest"),
        "random": N_("64 at random"),
        "second": N_("every second one"),
        "same": N_("no difference"),
    }
    because = {
        "window": N_(
            "8 neighbours are «few» of the allowed pairs and cost «near» nats; 64 random words are «some» and cost «random»; every "
            "second word is «half» and costs «second»: worse than reading nothing but oneself, «alone». All: «whole»."
        ),
        "random": N_(
            "Some of 64 will be useful, that is right. But the next word hangs on the words just before, and luck picks "
            "them rarely: «random» nats, against «near» for the 8 nearest."
        ),
        "second": N_(
            "It keeps half of the allowed pairs, that is right. But no word ever reads its neighbour: «second» nats, worse than "
            "reading nothing but oneself («alone»). The 8 nearest cost «near»."
        ),
        "same": N_(
            "Each keeps enough words, but not the right ones: «near» nats for the 8 nearest, «random» for 64 at random, "
            "«second» for every second one. With all it is «whole»."
        ),
        "?": N_("The 8 nearest: «near» nats. 64 at random cost «random», every second one «second», all «whole»."),
    }
    question = N_("Guess first: each word may read only some of those before it. What hurts least?")
    few, some, half = (f"{pt.share(kind, k):.0%}" for kind, k in ANSWERS.items())
    numbers = dict(
        near=f"{losses['window']:.2f}",
        random=f"{losses['random']:.2f}",
        second=f"{losses['second']:.2f}",
        alone=f"{pt.alone():.2f}",
        whole=f"{pt.whole():.2f}",
        few=few,
        some=some,
        half=half,
    )
    predict.ask(predict.Prediction("pairs", question, options, answer, because), **numbers)


def signature(kind: str) -> None:
    """The mask under the finger; beside it the loss of every pattern, once it is guessed."""
    left, right = st.columns(2, gap="medium")
    with left:
        _mask(kind)
    with right:
        _losses()


def _mask(kind: str) -> None:
    names = frame.cached(_story_words)
    matrix.show(
        live.Picture(
            key="pairs",
            quantity="allowed",
            says=_("Which of the words before it each word may read, on the first tokens of a story."),
            slider=WORDS_READ.slider(together=True),
            signature=True,
            room=360,
            captions=_said(kind),
            released=WORDS_READ.receive,
        ),
        frame.cached(pt.pictures, kind),
        rows=names,
        columns=names,
        look=matrix.Look(from_zero=True, tall=256),
        shut=np.triu(np.ones((pt.SHOWN, pt.SHOWN), bool), 1),
    )


def _story_words() -> list[str]:
    return words.names(tuple(words.called(int(i)) for i in pt.stories()[0, : pt.SHOWN]))


def _said(kind: str) -> list[str]:
    """How many pairs are kept at every stop, and after the guess what it costs."""
    guessed, losses = predict.answer("pairs"), frame.cached(_table)[pt.KINDS.index(kind)]
    said = []
    for k, nats in zip(pt.K, losses, strict=True):
        if np.isnan(nats):
            said.append(_("this pattern needs at least {least} words").format(least=pt.LEAST[kind]))
            continue
        kept = _("{share} of the allowed pairs").format(share=f"{frame.cached(pt.share, kind, k):.1%}")
        said.append(kept + (" · " + _("loss {loss}").format(loss=f"{nats:.2f}") if guessed else ""))
    return said


def _table() -> np.ndarray:
    return pt.losses(words.Text(FIRST, (), ()))


def _losses() -> None:
    """Before the guess: its two ends alone."""
    guessed = predict.answer("pairs") is not None
    ends = np.array([[pt.alone()] * len(pt.K), [pt.whole()] * len(pt.K)])
    series = [Series(_("itself alone"), "quiet", dash=True), Series(_("all before it"), "quiet")]
    if guessed:
        series = [Series(_(NAMES[kind]), LOOKS[kind], dash=kind in DASHED) for kind in pt.KINDS] + series
        ends = np.concatenate([frame.cached(_table), ends])
    lines.show(
        live.Picture(
            key="pairs_losses",
            quantity="loss",
            says=_("Loss on four stories for each pattern, by the number of words that each word reads."),
            slider=WORDS_READ.slider(together=True, hidden=True),
            released=WORDS_READ.receive,
        ),
        ends,
        np.array(pt.K),
        series,
        x=Axis(_("words each word reads"), log=True),
        y=Axis(_("loss, nats a token"), low=1.8, high=5.1),
        moving=np.array(pt.K, float),
        tall=262,
    )
    if guessed:
        say("**No retraining:** a model trained with its pattern does far better.")
    else:
        say("Guess, then the seven lines appear.")


# ---- the visitor's sentence ----


def sentence(kind: str) -> None:
    """The next word under the pattern, at every stop."""
    reading = story.ask()
    demo = pt.Demo(words.of(reading), kind)
    with st.spinner(_("Reading with every number of words …"), show_time=False):
        found = frame.cached(pt.frames, demo)
    said = _("each word reads {k} · p({word}) = {p}, untouched {before}")
    captions = [
        said.format(k=k, word=found.words[0].token, p=f"{p:.3f}", before=f"{found.before[0]:.3f}")
        for k, p in zip(found.ks, found.probs[:, 0], strict=True)
    ]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown(f"**{_('Next word')}** · {_('outlined: the untouched model')}")
        picture = bars.next_picture(
            "pairs_next", slider=WORDS_READ.slider(together=True), captions=captions, released=WORDS_READ.receive
        )
        most = len(found.words) if spine.deep() else AT_IDEA
        tokens = [one.token for one in found.words[:most]]
        bars.next_tokens(picture, tokens, found.probs[:, :most], found.before[:most], marked=0)
    with right:
        prose("efficient", "sentence", name=_(NAMES[kind]))


# ---- a pattern of one's own ----


def _paint(name: str, value: Any) -> None:
    stroke = matrix.stroke(value, 1, pt.CELLS) if name == "paint" else None
    if stroke:
        cells, opening = stroke
        before, touched = pt.unspell(OWN.now()) or frozenset(), frozenset(column for _row, column in cells)
        after = before | touched if opening else before - touched
        OWN.keep(pt.spell(after) if after else None)


def own() -> None:
    """One cell a distance; what is open is open for every word, in every head of every block."""
    cells = pt.unspell(OWN.now()) or frozenset((0, 1))
    prose("efficient", "own")
    names = [_("itself"), *(str(back) for back in range(1, pt.NEAR)), _("farther"), "<s>"]
    row = np.array([[float(cell in cells) for cell in range(pt.CELLS)]])
    matrix.show(
        live.Picture(
            key="pairs_own",
            wordless=True,
            quantity="allowed",
            says=_("How far back a word may read: press to open or close a distance."),
            released=_paint,
        ),
        row,
        rows=[_("open")],
        columns=names,
        look=matrix.Look(
            from_zero=True,
            row_title="",
            column_title=N_("words back"),
            row_role="quiet",
            digits=0,
            flat=40,
            tools=False,
        ),
        shut=row == 0,
        paint=True,
    )
    with st.spinner(_("Reading the stories with your pattern …"), show_time=False):
        found = frame.cached(pt.own_loss, cells)
    numbers = dict(
        loss=f"{found.loss:.2f}", pairs=f"{found.pairs:.1%}", whole=f"{pt.whole():.2f}", alone=f"{pt.alone():.2f}"
    )
    say(
        "Your pattern keeps **«pairs»** of the allowed pairs and costs **«loss»** nats a token; all cost «whole», itself alone «alone».",
        **numbers,
    )
