"""The text and how far back it must be seen; the two ways for a word to reach another; the race."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.why import recurrence as rec
from core.topics.why import window as rc
from pages.parts.why import lanes
from pages.parts.why import reach as picture
from pages.shared import address, controls, frame, spine, story
from pages.shared.asks import predict
from pages.shared.pictures import live
from pages.shared.text import N_, _, filled, prose

STATE = rec.STATE
NAMES = {"rnn": N_("recurrent net"), "conv": N_("dilated convolution"), "attention": N_("attention")}
MEASURES = {"steps": N_("steps that wait"), "work": N_("work"), "kept": N_("memory")}
START = 5  # tokens in reach at first: the model is sure, and wrong
LEAP = 0.5  # more than this, and one token has made the difference


# ---- the text ----


def text() -> Reading:
    """The visitor's sentence; what was guessed and found is another text's once it changes."""
    reading = story.ask()
    if address.changed("text", reading.text):
        address.forget("reach", "hop", "race")
        predict.forget("sight")
    return reading


def found(reading: Reading) -> rc.Reach:
    """The next word at every window; of a long text that takes a moment, once."""
    demo = rc.Demo(sentence.of(reading))
    with st.container():  # always there: a spinner that comes and goes moves nothing below it
        if len(reading.ids) <= rc.EVERY:
            return frame.cached(rc.run, demo)
        with st.spinner(_("Reading the text with every window …")):
            return frame.cached(rc.run, demo)


# ---- how far back? ----


def first_in_reach(reading: Reading, window: int) -> str:
    return reading.tokens[-window]


def guesses(found: rc.Reach) -> list[int]:
    """Windows to choose from: the one it takes, all, the one at which the model is most sure of something else."""
    stops = found.windows
    short = [i for i, window in enumerate(stops) if window < found.needed]
    tempting = max(short, key=lambda i: found.best[i].p * (found.best[i].id != found.answer.id), default=0)
    less = max(0, tempting - 2) if short else len(stops) // 2
    return sorted({stops[less], stops[tempting], found.needed, stops[-1]})


def prediction(reading: Reading, found: rc.Reach) -> bool:
    """How many tokens must be in reach? Every option says what the model makes of it. True once it is answered."""
    options = guesses(found)
    if len(options) < 2:
        return True
    labels = {str(n): _reaching(reading, n) for n in options}
    chosen = predict.answer("sight")
    window = int(chosen) if chosen in labels else found.needed
    best = found.best[found.at(window)]
    before = found.windows[max(0, found.at(found.needed) - 1)]
    values = dict(
        n=window,
        word=first_in_reach(reading, window),
        says=best.token,
        p=f"{best.p:.1%}",
        answer=found.answer.token,
        q=f"{found.chance(found.answer.id, window):.1%}",
        needed=found.needed,
        start=first_in_reach(reading, found.needed),
        before=f"{found.chance(found.answer.id, before):.1%}",
        less=before,
    )
    too_few = N_(
        "From “«word»” on the model says “«says»”, with «p». “«answer»” gets «q»: what it needs is out of reach."
    )
    too_many = N_("It takes less: “«answer»” is there with «needed» tokens, from “«start»” on.")
    because = {str(n): too_few if n < found.needed else too_many for n in options}
    because[str(found.needed)] = N_("With «less» tokens “«answer»” has «before», with «needed» it has «q».")
    because[predict.UNSURE] = N_(
        "It takes «needed» tokens, back to “«start»”. Drag, and see what the model says before."
    )
    if found.needed == found.windows[0]:
        alone = N_("The last word alone is enough: “«answer»” has «q».")
        because[str(found.needed)] = because[predict.UNSURE] = alone
    question = N_("Guess first: how many tokens must it see for “«answer»”?")
    return predict.ask(predict.Prediction("sight", question, labels, str(found.needed), because), **values) is not None


def _reaching(reading: Reading, window: int) -> str:
    """A window and the words at its ends."""
    first, last = first_in_reach(reading, window), reading.tokens[-1]
    return filled("«n» · «word»" if window == 1 else "«n» · «word» … «last»", n=window, word=first, last=last)


def _start(found: rc.Reach) -> int:
    """A few tokens, and too few."""
    most = max(1, min(START, found.needed - 1))
    return max(window for window in found.windows if window <= most)


@st.fragment
def reach(reading: Reading, found: rc.Reach, guessed: bool) -> None:
    """The signature: drag the window, the words light up, the next word follows. Explained after a guess or a find."""
    dial = controls.Dial("reach", N_("Tokens in reach"), found.windows, _start(found), quiet=True)
    picture.show(
        live.Picture(
            key="reach",
            quantity="next_probs",
            says=_("The words that are in reach, and the next word that follows from them."),
            slider=dial.slider(),
            signature=True,
            room=386,
            released=dial.receive,
        ),
        found,
        reading.tokens,
    )
    if found.needed == found.windows[0]:
        prose("why", "near", answer=found.answer.token) if guessed else prose("why", "window")
    elif guessed:
        _explained(reading, found)
    else:
        dial.rest(lambda: _explained(reading, found) if dial.now() >= found.needed else prose("why", "window"))


def _explained(reading: Reading, found: rc.Reach) -> None:
    needed, less = found.needed, found.windows[found.at(found.needed) - 1]
    before, after = (found.chance(found.answer.id, window) for window in (less, needed))
    leap = after - before > LEAP
    prose(
        "why",
        "reach" if leap else "gradual",
        less=less,
        needed=needed,
        answer=found.answer.token,
        before=f"{before:.1%}",
        after=f"{after:.1%}",
        word=first_in_reach(reading, needed),
    )
    layers = subject.config().n_layers
    if leap and less > 1 and spine.deep():
        prose("why", "stages", layers=layers, step=less - 1, far=layers * (less - 1))


# ---- hand on, or look directly ----


@st.fragment
def hops(reading: Reading) -> None:
    """The way of one word to the last, in three nets, at every distance."""
    n = len(reading.tokens)
    stops = tuple(range(1, n))
    dial = controls.Dial("hop", N_("Words apart"), stops, min(max(10, n // 3), n - 1))
    now = dial.now()
    counts = np.array([rec.hops(distance) for distance in stops])
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lanes.ways(
            live.Picture(
                key="hops",
                quantity="hops",
                says=_("The way of one word to the last one, hop by hop."),
                slider=dial.slider(),
                released=dial.receive,
            ),
            list(reading.tokens),
            [_(name) for name in NAMES.values()],
            [[_hops(int(count)) for count in row] for row in counts],
            [_routes(kind, stops) for kind in NAMES],
            counts,
        )
    with right:
        far = reading.tokens[-1 - now], reading.tokens[-1]
        named = dict(zip(NAMES, rec.hops(now), strict=True))
        prose("why", "hops", word=far[0], last=far[1], distance=now, **named)
        if spine.deep():
            prose("why", "chain")


def _hops(count: int) -> str:
    return _("1 hop") if count == 1 else _("{n} hops").format(n=count)


def _routes(kind: str, distances: tuple[int, ...]) -> np.ndarray:
    """(frame, point, 2), filled up with zeros."""
    ways = [rec.way(kind, distance) for distance in distances]
    routes = np.zeros((len(ways), max(map(len, ways)), 2), int)
    for route, found in zip(routes, ways, strict=True):
        route[: len(found)] = found
    return routes


# ---- the race ----


@st.fragment
def race(reading: Reading) -> None:
    """Who has read what after k steps; and what reading costs."""
    n, width = len(reading.tokens), subject.config().d_model
    stops = tuple(range(n + 1))
    dial = controls.Dial("race", N_("Steps"), stops)
    ends = rec.steps(n)
    left, right = st.columns(2, gap="medium")
    with left:
        lanes.race(
            live.Picture(
                key="race",
                quantity="race",
                says=_("How much of the text before it each word has taken in after some steps."),
                slider=dial.slider(),
                released=dial.receive,
            ),
            list(reading.tokens),
            [_(name) for name in NAMES.values()],
            [[_step(k, end) for end in ends] for k in stops],
            rec.race(n),
        )
    with right:
        prose("why", "race")
        if spine.deep():
            prose("why", "price", n=n, d=width, pairs=f"{n * n:,}", **prices(n, width))


def prices(n: int, width: int) -> dict[str, str]:
    """rnn_steps, conv_work, attention_kept ...: every cell of the price list, work in millions."""
    rows = {"steps": rec.steps(n), "kept": rec.kept(n, width)}
    cells = {f"{kind}_{name}": f"{x:,}" for name, row in rows.items() for kind, x in zip(NAMES, row, strict=True)}
    work = {f"{kind}_work": f"{x / 1e6:,.2f}" for kind, x in zip(NAMES, rec.work(n, width), strict=True)}
    return cells | work


def _step(k: int, end: int) -> str:
    if k >= end:
        return _("done after {n}").format(n=end) + " ✓"
    return _("step {k} of {n}").format(k=k, n=end)
