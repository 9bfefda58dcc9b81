"""The first screen of the norms page: the stream is multiplied at one station, and everything behind it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as sentence
from core.topics.norms import losses
from core.topics.norms import loudness as numbers
from core.topics.norms.loudness import Demo, Turned
from pages.parts.norms import columns
from pages.shared import controls, headings, readers, spine, story
from pages.shared.asks import predict
from pages.shared.pictures import bars, live, matrix
from pages.shared.text import N_, _, prose, say, unmarked

STATION = 3  # blocks before it
DENT = 0.05  # of probability: what counts as a change, at most
LOUDER, LAST = "louder", "louder_last"  # the two guesses


# ---- the text and the station ----


def demo() -> Demo:
    """The sentence, and in one line where its stream is multiplied."""
    left, right = st.columns([3, 1.3], vertical_alignment="bottom", gap="medium")
    with left:
        text = sentence.of(story.ask())
    every = numbers.stations(text)
    station = _station(every).now()
    with right, spine.settings(unmarked(_("the stream × a factor, «where»"), where=where(station))):
        named = [where(k) for k in every]
        first = min(STATION, every[-1])
        controls.listed(_("Multiply the stream"), every, first, key="station", shown=named.__getitem__)
    return Demo(text, station)


def chosen(demo: Demo) -> Demo:
    """The same text, with the station as it is now: a click on a column may have changed it."""
    return Demo(demo.text, _station(numbers.stations(demo.text)).now())


def _station(every: range) -> controls.Setting:
    return controls.Setting("station", min(STATION, every[-1]), readers.of(every))


def where(station: int) -> str:
    """After the embedding, or after a block."""
    if not station:
        return _("after the embedding")
    return unmarked(_("after block «i»"), i=station - 1)


def _row(station: int) -> str:
    """The same beside a table, where there is little room."""
    return unmarked(_("block «i»"), i=station - 1) if station else _("embedding")


def dial(text: sentence.Text) -> controls.Dial:
    stops = numbers.factors(len(text))
    return controls.Dial("times", N_("The stream, times"), stops, 1.0, shown=tuple(times(x) for x in stops), quiet=True)


def times(factor: float) -> str:
    """× 0.05, × 2.15, × 46: two digits after the point below ten."""
    return f"× {factor:.2f}" if factor < 9.95 else f"× {factor:.0f}"


def turned(demo: Demo) -> Turned:
    if len(demo.text) <= numbers.LONG // 2:
        return numbers.turned(demo)
    with st.spinner(_("Turning the stream from stop to stop …")):
        return numbers.turned(demo)


def _p(found: Turned, text: sentence.Text, factor: float) -> float:
    """The answer's probability at a factor."""
    return float(found.probs[int(np.argmin([abs(x - factor) for x in numbers.factors(len(text))])), 0])


# ---- the guess ----


def _verdict(before: float, after: float) -> str:
    dent = min(DENT, before / 4)  # of an answer that was unlikely before, a few percent are much
    if after > before + dent:
        return "more"
    return "gone" if after < before / 2 else "less" if before - after > dent else "stays"


OPTIONS = {
    "stays": N_("stays"),
    "less": N_("falls a little"),
    "gone": N_("falls below half of it"),
    "more": N_("grows"),
}
ADDED = N_("What is added behind it stays as small as it was, and is drowned. ")
BECAUSE = {
    "stays": N_("For what is read you are right: every reader still sees size 1. "),
    "less": N_("It falls, but there is nothing to make up for it. "),
    "gone": "",
    "more": N_("No reader hears it louder: each begins with a norm. "),
    "?": "",
}
OUTCOME = {
    "gone": N_("“«word»”: «after», before «before». Most likely now: “«now»”."),
    "less": N_("Here that costs a little: “«word»” has «after», before «before»."),
    "more": N_("Here that helps: what the later blocks added spoke for others. “«word»” has «after», before «before»."),
    "stays": N_("Here the answer was in the stream already: “«word»” has «after», before «before»."),
}
NOTHING = N_("Nothing is added behind this station, and the last norm takes the factor out: «after», before «before».")


def prediction(demo: Demo) -> None:
    """The very factor that the slider goes through, at the station that is chosen."""
    found, text = turned(demo), demo.text
    before, after = _p(found, text, 1.0), _p(found, text, numbers.TOLD)
    answer = _verdict(before, after)
    behind = demo.station < numbers.stations(text)[-1]
    stop = numbers.factors(len(text)).index(numbers.TOLD)
    because = {one: _because(one, answer, behind) for one in (*OPTIONS, predict.UNSURE)}
    predict.ask(
        predict.Prediction(
            f"{LOUDER}{demo.station}",
            N_(
                "Guess first: multiply the stream «where» by «times». The next reader begins with a norm. “«word»”, «before», …"
            ),
            OPTIONS,
            answer,
            because,
        ),
        where=where(demo.station),
        times=f"{numbers.TOLD:g}",
        word=_called(found.answer, text),
        now=_called(int(found.top[stop]), text),
        before=f"{before:.1%}",
        after=f"{after:.1%}",
    )


def _because(guess: str, answer: str, behind: bool) -> str:
    """What is right in a guess, why it is as it is, and the numbers, as one text with holes."""
    if not behind:
        return _(NOTHING)
    first = "" if guess == answer else BECAUSE[guess] and _(BECAUSE[guess])
    return first + _(ADDED) + _(OUTCOME[answer])


def _called(id: int, text: sentence.Text) -> str:
    return sentence.called(id, text.subject)


# ---- the picture ----


def names(text: sentence.Text) -> tuple[list[str], list[str]]:
    """Every place along the stream: its long name and its short one."""
    layers = range(subject.config(text.subject).n_layers)
    long, short = [_("after the embedding")], ["E"]
    for i in layers:
        long += [unmarked(_("after the attention of block «i»"), i=i), unmarked(_("after the FFN of block «i»"), i=i)]
        short += [f"A{i}", f"F{i}"]
    return long, short


def _receive(demo: Demo) -> Callable[[str, Any], None]:
    return controls.receivers(dial(demo.text), _station(numbers.stations(demo.text)))


def picture(demo: Demo) -> None:
    """The signature: sizes, writes and the logit lens along the stream, at every factor."""
    found, text = turned(demo), demo.text
    long, short = names(text)
    word, told = _called(found.answer, text), _("“{word}” {p} · most likely: “{top}” {most}")
    columns.show(
        live.Picture(
            key="stream",
            quantity="stream_size",
            says=_("The last token's stream after every part, while it is multiplied at one station."),
            slider=dial(text).slider(together=True),
            captions=[
                told.format(word=word, p=f"{p:.1%}", top=_called(int(top), text), most=f"{most:.1%}")
                for p, top, most in zip(found.probs[:, 0], found.top, found.most, strict=True)
            ],
            signature=True,
            room=300,
            released=_receive(demo),
        ),
        found.sizes,
        found.writes,
        found.lens,
        found.sure,
        names=long,
        short=short,
        said=[_called(id, text) for id in found.said],
        answer=word,
        station=2 * demo.station,
    )


def next_word(demo: Demo) -> None:
    """The next word at every factor, moved by the same slider."""
    found, text = turned(demo), demo.text
    say("**The next word**")
    follows = dial(text).slider(together=True, hidden=True)
    called = [_called(id, text) for id in found.ids]
    says = N_("How likely each word is to come next, with the stream so loud.")
    shown = bars.next_picture("louder_next", says, slider=follows, released=dial(text).receive)
    untouched = found.probs[numbers.factors(len(text)).index(1.0)]
    bars.next_tokens(shown, called, found.probs, untouched, marked=0)


def signature(demo: Demo) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        picture(demo)
    with right:
        next_word(demo)
        prose("norms", "columns")


# ---- after the last block, and why ----


def last_block(demo: Demo) -> None:
    """The second guess: the same factor where nothing is added any more."""
    headings.section("The same factor, after the last block")
    table, text = numbers.everywhere(demo.text), demo.text
    some = numbers.some(len(text))
    before, after = float(table[-1, some.index(1.0)]), float(table[-1, some.index(numbers.TOLD)])
    answer = _verdict(before, after)
    because = dict.fromkeys((*OPTIONS, predict.UNSURE), NOTHING)
    because |= {"stays": N_("Only the last norm still reads, and it takes the factor out: «after», before «before».")}
    asked = N_("Guess first: × «times» after the last block. “«word»”, «before», …")
    given = predict.ask(
        predict.Prediction(LAST, asked, OPTIONS, answer, because, opens=("stations",)),
        times=f"{numbers.TOLD:g}",
        word=_called(int(turned(demo).answer), text),
        before=f"{before:.1%}",
        after=f"{after:.1%}",
    )
    if given is None:
        say("Guess, and the whole table stands here: every station, every factor.")
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _table(demo, table, some)
    with right:
        found = numbers.law(demo)
        prose("norms", "why", where=where(demo.station), gap=f"{found.gap:.1g}", times=f"{numbers.TOLD:g}")
        if spine.deep():
            prose("norms", "lens", where=where(demo.station), lens=f"{found.lens:.1%}")
    if spine.deep():
        headings.fold("The same on stories", lambda: _stories(demo))


def _stories(demo: Demo) -> None:
    """What every factor costs at every station, on texts that nobody chose for it."""
    costs = losses.louder(demo.text)
    picture = live.Picture(
        key="station_losses",
        quantity="loss",
        says=_("The mean loss on short stories, for every station and factor."),
    )
    _stations(picture, demo, costs, numbers.COARSE, bound=10.0)
    calm, blind = (
        float(costs[0, numbers.COARSE.index(1.0)]),
        float(np.log(subject.config(demo.text.subject).vocab_size)),
    )
    prose("norms", "stories", calm=f"{calm:.2f}", blind=f"{blind:.1f}", worst=f"{costs.max():.1f}")


def _table(demo: Demo, table: np.ndarray, some: tuple[float, ...]) -> None:
    """The answer's probability, station by station and factor by factor."""
    picture = live.Picture(
        key="stations", quantity="probs", says=_("How likely the answer stays, for every station and factor.")
    )
    _stations(picture, demo, table, some, row=demo.station)


def _stations(
    picture: live.Picture,
    demo: Demo,
    table: np.ndarray,
    some: tuple[float, ...],
    *,
    bound: float | None = None,
    row: int | None = None,
) -> None:
    """A row for every station, a column for every factor."""
    matrix.show(
        picture,
        table,
        rows=[_row(k) for k in numbers.stations(demo.text)],
        columns=[times(x).replace("× ", "×") for x in some],
        look=matrix.Look(
            row_title=N_("multiplied after"),
            column_title=N_("factor"),
            row_role="a",
            column_role="quiet",
            bound=bound,
            from_zero=True,
            row_height=26,
        ),
        row=row,
    )
