"""Repair the line: five blanks, the pieces that fit, five lamps; what lights none of them; all 108 lines at a glance."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.exam import blanks as bl
from pages.parts.exam import blanks as painter
from pages.shared import controls, frame, headings, readers, spine
from pages.shared.asks import predict
from pages.shared.pictures import figures, lines, live, matrix
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose, say

GUESS = "exam_lamp"
SIGNS = {  # blank -> piece -> as it is written in the code
    "scale": {"root": "√d_k", "width": "d_k", "one": "1"},
    "keep": {"le": "j <= i", "lt": "j < i", "ge": "j >= i"},
    "fill": {"-inf": "−∞", "-1e9": "−1e9", "0": "0"},
    "when": {"before": N_("mask first"), "after": N_("softmax first")},
    "axis": {"key": N_("keys"), "query": N_("queries")},
}
ASKS = {
    "scale": N_("divide by"),
    "keep": N_("keep where"),
    "fill": N_("fill with"),
    "when": N_("order"),
    "axis": N_("softmax over"),
}
LAMPS = {
    "answer": N_("answer"),
    "loss": N_("story loss"),
    "sums": N_("sums of rows"),
    "leak": N_("leak"),
    "nan": "NaN",
}


def written(fill: float) -> str:
    """A fill value as it stands in the code."""
    return {bl.NEVER: "−∞", -1e9: "−1e9"}.get(fill, f"{fill:g}".replace("-", "−"))


FILL = controls.Dial("exam_fill", N_("Fill value"), bl.FILLS, 0.0, shown=tuple(map(written, bl.FILLS)), quiet=True)
BLANKS = {
    blank: controls.Setting(f"exam_{blank}", pieces[0], readers.one_of(*pieces), heard=blank)
    for blank, pieces in bl.PIECES.items()
}


def chosen() -> bl.Line:
    """The line as the address says it."""
    return bl.Line(**{blank: setting.now() for blank, setting in BLANKS.items()})


def put(line: bl.Line, fill: float) -> None:
    """Another line; for callbacks."""
    for blank, setting in BLANKS.items():
        setting.keep(getattr(line, blank))
    FILL.keep(fill)


# ---- which lamp? ----

OPTIONS = {
    "answer": N_("answer"),
    "loss": N_("loss"),
    "sums": N_("sums of rows"),
    "leak": N_("only the leak"),
}
ONE_LAMP = N_(
    "The answer stays “«said»” (p = «p»), rows sum to 1, and the loss even falls, from «whole» to «loss»: it reads the word "
    "that it must predict. But change the last word, and what stands before it moves by «leak»."
)
BECAUSE = {
    "leak": ONE_LAMP,
    "answer": N_(
        "The scores of the future become 0, so something moves, that is right: p = «p», before «before». But “«said»” stays. "
        "Only the leak lamp lights: change the last word, and what stands before it moves by «leak»."
    ),
    "loss": N_(
        "It does move, but down: from «whole» to «loss». It reads the word that it must predict. Only the leak lamp lights: "
        "change the last word, and what stands before it moves by «leak»."
    ),
    "sums": N_(
        "The future gets a share, that is right; but softmax shares out exactly 1 in any case. Only the leak lamp lights: "
        "change the last word, and what stands before it moves by «leak»."
    ),
    "?": ONE_LAMP,
}
TWO_LAMPS = N_(
    "With this sentence the answer becomes “«said»”, and what stands before the last word moves by «leak» when that word is "
    "changed. On the page's first sentence only the leak lamp lights, and the loss falls from «whole» to «loss»."
)


def prediction(text: sentence.Text) -> None:
    """Asked of the right line but for its fill: 0, before softmax."""
    at, found = bl.FILLS.index(0.0), frame.cached(bl.run, bl.Demo(text))
    lit = found.lit(at)
    alone = lit["leak"] and not lit["answer"]
    asked = predict.Prediction(
        GUESS,
        N_("Guess first: the future gets 0, not −∞. Which lamp lights?"),
        OPTIONS,
        "leak" if alone else "answer",
        BECAUSE if alone else dict.fromkeys(BECAUSE, TWO_LAMPS),
        also=() if alone else ("leak",),
        opens=("exam_fill_p", "exam_fill_loss", "exam_every_before", "exam_every_after"),
    )
    predict.ask(
        asked,
        said=found.said[at],
        p=f"{found.p[at]:.3f}",
        before=f"{found.before:.3f}",
        loss=f"{found.costs.nats[at]:.2f}",
        whole=f"{found.costs.right:.2f}",
        leak=f"{found.leak[at]:.0%}",
    )


# ---- the picture ----


def signature(reading: Reading) -> None:
    """The guess, the line with its lamps, and what to look for."""
    text = sentence.of(reading)
    prediction(text)
    st.fragment(_line)(text, chosen())
    if predict.answer(GUESS):
        prose("exam", "repair", **facts())
    else:
        prose("exam", "repair_first", all=facts()["all"])


def _line(text: sentence.Text, before: bl.Line) -> None:
    line = chosen()
    if line != before and spine.deep():
        st.rerun()  # what stands below follows the line
    with st.spinner(_("Running the line at every fill value …"), show_time=False):
        found = frame.cached(bl.run, bl.Demo(text, line))
    guessed = predict.answer(GUESS) is not None
    painter.show(
        live.Picture(
            key="blanks",
            quantity="weights",
            says=_("A line of attention with five blanks, the choices that fit, and the lamps that watch it."),
            slider=FILL.slider(together=True),
            signature=True,
            room=360,
            released=controls.receivers(FILL, *BLANKS.values()),
        ),
        code(line),
        _blanks(),
        {blank: getattr(line, blank) for blank in BLANKS},
        _lamps(found) if guessed else None,
        found.maps,
        sentence.names(text.tokens)[: bl.SHOWN],
    )


def code(line: bl.Line) -> list[list[list[str]]]:
    """Three lines, each of parts [text, blank or ""]; the order of the last two is a blank of its own."""
    mask, soft = ("scores", "weights") if line.when == "before" else ("weights", "scores")
    filled = [[f"{mask} = where(", ""], ["", "keep"], [f", {mask}, ", ""], ["", "fill"], [")", ""]]
    shared = [["weights = softmax(scores, ", ""], ["", "axis"], [")", ""]]
    last = [filled, shared] if soft == "weights" else [shared, filled]
    return [[["scores = q @ k.T / ", ""], ["", "scale"]], *last]


def _blanks() -> list[painter.Blank]:
    stops = [bl.FILLS.index(fill) for fill in bl.FILL_PIECES]
    return [
        {
            "name": blank,
            "asks": _(asks),
            "pieces": [[piece, _(sign)] for piece, sign in SIGNS[blank].items()],
            "stops": stops if blank == "fill" else [],
        }
        for blank, asks in ASKS.items()
    ]


def _lamps(found: bl.Found) -> painter.Shown:
    lit = [found.lit(at) for at in range(len(bl.FILLS))]
    return painter.Shown(
        [_(name) for name in LAMPS.values()],
        np.array([[one[lamp] for lamp in LAMPS] for one in lit]),
        [_said(found, at) for at in range(len(bl.FILLS))],
    )


def _said(found: bl.Found, at: int) -> list[str]:
    """What each lamp says at one stop."""
    loss, (low, high) = found.costs.nats[at], found.sums[at]
    whole, word = f"{found.costs.right:.2f}", found.answer
    if found.nan[at]:
        gone = [_("no word"), _("none · right line: {whole}").format(whole=whole), "NaN", _("nothing to compare")]
        return [*gone, _("a row without any key is 0 ÷ 0")]
    said = _("{word} {p}, untouched {before}") if found.said[at] == word else _("{said}; {word} {p}, was {before}")
    one = np.abs(found.sums[at] - 1).max() <= bl.SMALL
    return [
        said.format(said=found.said[at], word=word, p=f"{found.p[at]:.3f}", before=f"{found.before:.3f}"),
        _("{loss} · right line: {whole}").format(loss=_nats(loss), whole=whole),
        _("all 1") if one else _("{low} to {high}").format(low=_short(low), high=_short(high)),
        _("last word → {other}: {share} moved").format(other=found.other, share=_share(found.leak[at])),
        _("nowhere"),
    ]


def _nats(loss: float) -> str:
    return "NaN" if np.isnan(loss) else f"{loss:.2f}"


def _short(x: float) -> str:
    return f"{x:.2f}".replace("-", "−") if abs(x) < 1000 else figures.number(float(x))


def _share(x: float) -> str:
    return _("nothing") if x <= bl.SMALL else f"{x:.1%}" if x < 0.1 else f"{x:.0%}"


def facts() -> dict[str, object]:
    """What the text below the picture tells."""
    return dict(
        all=len(bl.LINES) * len(bl.FILL_PIECES),
        silent=bl.silent(),
        alone=bl.alone("leak"),
        nan=bl.caught("nan"),
        leak=bl.caught("leak"),
    )


# ---- for experts: the fill value, and all 108 ----


def deeper(reading: Reading) -> None:
    """What would tell the answer waits for the guess."""
    headings.section("The fill value, from 0 to −∞")
    if predict.answer(GUESS) is None:
        say("Guess first, then it stands here.")
        return
    st.fragment(fills)(sentence.of(reading))
    headings.section("All lines at a glance")
    FILL.rest(every_line)


def fills(text: sentence.Text) -> None:
    """Answer, leak and loss of the chosen line over the fill value."""
    found = frame.cached(bl.run, bl.Demo(text, chosen()))
    prose("exam", "fills")
    xs = np.array([max(-fill, 0.01) for fill in bl.FILLS[:-2]])
    moving, last = np.array([*xs, xs[-1], xs[-1]]), len(xs)
    left, right = st.columns(2, gap="medium")
    shown = [
        (left, "p", np.stack([found.p, np.minimum(found.leak, 1)]), Axis(_("probability, share moved"), low=0, high=1)),
        (
            right,
            "loss",
            np.stack([found.costs.nats, [found.costs.right] * len(bl.FILLS)]),
            Axis(_("loss, nats a token")),
        ),
    ]
    named = {
        "p": [Series("p(" + found.answer + ")", "a"), Series(_("leak"), "warn")],
        "loss": [Series(_("this line"), "k"), Series(_("right line"), "quiet", dash=True)],
    }
    for column, name, values, y in shown:
        with column:
            lines.show(
                live.Picture(
                    key=f"exam_fill_{name}",
                    wordless=name == "loss",
                    quantity=name,
                    says=_("What the fill value does to the line as it is filled now."),
                    slider=FILL.slider(together=True, hidden=True),
                    released=FILL.receive,
                ),
                values[:, :last],
                xs,
                named[name],
                x=Axis(_("minus the fill value"), log=True),
                y=y,
                moving=moving,
                tall=230,
            )


def every_line() -> None:
    """How many lamps each of the 108 lights, and a press puts it in."""
    prose("exam", "every_line", **facts())
    for column, when in zip(st.columns(2, gap="medium"), bl.PIECES["when"], strict=True):
        with column:
            st.markdown(f"**{_(SIGNS['when'][when])}**")
            _table(when)


def _table(when: str) -> None:
    """Of one order: rows by mask and axis, columns by scaling and fill. The line that is in is framed."""
    rows = [(keep, axis) for keep in bl.PIECES["keep"] for axis in bl.PIECES["axis"]]
    columns = [(scale, fill) for scale in bl.PIECES["scale"] for fill in bl.FILL_PIECES]
    cells = {
        (row, column): (bl.Line(keep, when, scale, axis), fill)
        for row, (keep, axis) in enumerate(rows)
        for column, (scale, fill) in enumerate(columns)
    }
    count = bl.outcomes().sum(-1)
    lit = [count[bl.LINES.index(line), bl.FILL_PIECES.index(fill)] for line, fill in cells.values()]
    now = (chosen(), FILL.now())

    def receive(name: str, value: Any) -> None:
        place = tuple(value) if name == "cell" and isinstance(value, list) else ()
        if place in cells:
            put(*cells[place])

    matrix.show(
        live.Picture(
            key=f"exam_every_{when}",
            wordless=True,
            quantity="lamps",
            says=_("How many of the five lamps each of the lines lights on the first sentence."),
            released=receive,
        ),
        np.reshape(lit, (len(rows), len(columns))),
        rows=[f"{SIGNS['keep'][keep]}, {_(SIGNS['axis'][axis])}" for keep, axis in rows],
        columns=[f"{SIGNS['scale'][scale]}, {written(fill)}" for scale, fill in columns],
        look=matrix.Look(
            from_zero=True,
            row_title="",
            column_title=N_("divided by, filled with"),
            row_role="quiet",
            column_role="quiet",
            bound=5.0,
            digits=0,
            most=40,
            flat=28,
            point=tuple(place for place, one in cells.items() if one == now),
        ),
        cell=None,
    )
