"""What fades, what fits into a state, the bill, the history, the check and the common mistakes."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core import counting
from core.lab import head as oh
from core.lab import outcomes, subject
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.why import recurrence as rec
from pages.parts.why import window
from pages.shared import controls, frame, headings, spine
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes, predict
from pages.shared.pictures import lines, live
from pages.shared.text import N_, _, prose, say

Series, Axis = lines.Series, lines.Axis
LONG = 1000  # tokens, in an example
TENFOLD = (1000, 10_000)  # tokens, in the guess
AMY, SAM = 3, 1  # where the two names stand in the first sentence and in its twin
MAP = {  # what a block is made of -> the page on it
    "03_tokens": N_("words become vectors"),
    "06_attention": N_("attention"),
    "08_heads": N_("many heads"),
    "09_position": N_("order"),
    "11_norms": N_("norms and shortcuts"),
    "12_feedforward": N_("feed-forward network"),
    "13_model": N_("the whole model"),
}


RADIUS = controls.Dial(
    "rnn_radius", N_("Factor λ of each step"), rec.RADII, shown=tuple(f"{radius:.2f}" for radius in rec.RADII)
)
STATE = controls.Dial("rnn_state", N_("Numbers in the state"), rec.WIDTHS)
LENGTH = controls.Dial(
    "bill_n", N_("Length of the text"), rec.LENGTHS, shown=tuple(f"{length:,}" for length in rec.LENGTHS)
)

# ---- what fades ----


@st.fragment
def fading(reading: Reading) -> None:
    """The gradient of the last state with respect to each word, by distance."""
    one, two, three, _rest = st.columns([2, 2.6, 2, 2], vertical_alignment="bottom")
    with one:
        times = controls.pick("The text, times", rec.TIMES, 4, key="rnn_times")
    with two:
        keeps = controls.pick("The gate keeps", rec.KEEPS, 0.9, key="rnn_gate")
    with three:
        seed = controls.pick("Seed", range(4), 0, key="rnn_seed")
    demo = rec.Demo(sentence.of(reading), times, keeps, seed)
    with st.spinner(_("Following the gradients …")):
        found = frame.cached(rec.fading, demo)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _fading(found)
    with right:
        far = len(demo.read) - 1
        line = found.trained[1:] if far else found.trained
        ends = dict(low=_number(line.min()), high=_number(line.max()))
        prose("why", "fading", n=far + 1, share=f"{1 / (far + 1):.3f}", **ends)
        if len(demo.read) < times * len(reading.ids):
            say("Only the last «n» words are read here: the text is longer.", n=len(demo.read))


def _fading(found: rec.Fading) -> None:
    frames, n = found.rnn.shape
    still = [np.broadcast_to(one, (frames, n)) for one in (found.attention, found.trained)]
    left = _("{n} words back is left: RNN {rnn}, GRU {gru}, attention {attention}, trained {trained}")
    ends = zip(found.rnn[:, -1], found.gru[:, -1], strict=True)
    last = dict(attention=_number(found.attention[-1]), trained=_number(found.trained[-1]))
    values = np.stack([found.rnn, found.gru, *still, found.power], 1)
    lines.show(
        live.Picture(
            key="fading",
            quantity="influence",
            says=_("How strongly the last state answers to a word, by how far back it stands."),
            slider=RADIUS.slider(),
            captions=[left.format(n=n - 1, rnn=_number(a), gru=_number(b), **last) for a, b in ends],
            released=RADIUS.receive,
        ),
        np.clip(values, 1e-30, 1e30),
        np.arange(n),
        [
            Series(_("plain RNN, random"), "warn"),
            Series(_("GRU, random"), "warn", dash=True),
            Series(_("attention layer, random"), "a"),
            Series(_("stories15M, trained"), "a", dash=True),
            Series("λᵗ", "quiet", dash=True),
        ],
        x=Axis(_("words back")),
        y=Axis(_("influence, that of the last word = 1"), log=True, low=1e-8, high=1e3),
        tall=330,
    )


def _number(x: float) -> str:
    if 1e-4 <= x < 1e6:
        return f"{x:,.0f}" if x >= 100 else f"{x:.2f}" if x >= 0.01 else f"{x:.4f}"
    return f"{x:.0e}"


@st.fragment
def bucket() -> None:
    """How many past inputs can be read off a state of some width."""
    shares = frame.cached(rec.recall)
    together = _("All shares together: {sum}, in a state of {width} numbers")
    full = np.ones_like(shares)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="bucket",
                quantity="recall",
                says=_("How much of each past number can still be read off the state."),
                slider=STATE.slider(),
                captions=[together.format(sum=f"{shares[i].sum():.1f}", width=w) for i, w in enumerate(rec.WIDTHS)],
                released=STATE.receive,
            ),
            np.stack([shares, full], 1),
            np.arange(rec.LAGS),
            [Series(_("state of fixed width"), "warn"), Series(_("attention with its cache"), "a", dash=True)],
            x=Axis(_("steps ago")),
            y=Axis(_("share that can be read"), low=0.0, high=1.05),
        )
    with right:
        prose("why", "bucket")


# ---- the bill ----


GUESS = "bill_guess"


def guess_bill() -> None:
    """Ten times the text: how many times the work? Read off the bill, where attention's pairs are the larger part."""
    width = subject.config().d_model
    short, long = TENFOLD
    work = {n: rec.work(n, width) for n in TENFOLD}
    times = [work[long][i] / work[short][i] for i in (0, 2)]
    answer = "between" if 15 < times[1] < 85 else "10" if times[1] <= 15 else "100"
    grows = N_(
        "The pairs become a hundred times as many, the matrices only ten times: together «times» times. The belt: «belt» times."
    )
    because = {
        "10": N_("That is the belt: «belt» times. Attention compares every word with every word: «times» times."),
        "between": grows,
        "100": N_(
            "The pairs, yes. But the matrices grow ten times only; together it is «times» times. The belt: «belt» times."
        ),
        predict.UNSURE: grows,
    }
    options = {"10": N_("10 times"), "between": N_("somewhere between"), "100": N_("100 times")}
    question = N_("Guess first: «long» tokens, not «short». How much more work?")
    values = dict(short=f"{short:,}", long=f"{long:,}", times=f"{times[1]:.0f}", belt=f"{times[0]:.0f}")
    predict.ask(predict.Prediction(GUESS, question, options, answer, because), **values)


def measure() -> str:
    """What is counted: the work, unless another is chosen."""
    if spine.deep():
        return controls.choice("What is counted", window.MEASURES, "work", key="bill", hide_label=True)
    return str(controls.Setting("bill").now())


@st.fragment
def bill(measure: str) -> None:
    """Steps, work or memory against the length of the text."""
    config = subject.config()
    values, turn = frame.cached(rec.bill, config.d_model)[measure], 2 * config.d_model
    titles = {"steps": N_("steps, one after another"), "work": N_("multiplications"), "kept": N_("numbers to keep")}
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="bill",
                wordless=True,
                quantity=measure,
                says=_("What reading a text costs, by its length."),
                slider=LENGTH.slider(),
                captions=_prices(values),
                released=LENGTH.receive,
            ),
            values,
            np.array(rec.LENGTHS),
            [Series(_(window.NAMES[kind]), role) for kind, role in zip(rec.KINDS, ("warn", "quiet", "a"), strict=True)],
            x=Axis(_("tokens in the text"), log=True),
            y=Axis(_(titles[measure]), log=True),
            marks=((turn, "n = 2d"),) if measure == "work" else (),
            moving=np.array(rec.LENGTHS),
        )
    with right:
        if spine.deep():
            prose("why", f"bill_{measure}", d=config.d_model, turn=turn)
            prose("why", "depth", **_depth())
        else:
            prose("why", "bill", turn=turn)


def _prices(values: np.ndarray) -> list[str]:
    """values: (kind, length). One line for each length."""
    names = [_(name) for name in window.NAMES.values()]
    return [" · ".join(f"{name} {int(x):,}" for name, x in zip(names, row, strict=True)) for row in values.T]


def _depth() -> dict[str, object]:
    """One block's parameters, those of all blocks, and those of twice as many."""
    config = subject.config()
    blocks = sum(row.value for row in counting.parameters(config) if row.part in ("attention", "ffn", "norms"))
    blocks -= sum(row.value for row in counting.parameters(config) if row.name == "final norm")
    one = blocks // config.n_layers
    return dict(layers=config.n_layers, one=f"{one:,}", all=f"{blocks:,}", twice=f"{2 * blocks:,}")


# ---- what changed, and when ----


def change() -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        prose("why", "change")
    with right:
        first, twin = (_gaze(text) for text in (sentence.SENTENCE, sentence.TWIN))
        prose(
            "why",
            "gaze",
            head=f"{outcomes.LINK[0]}.{outcomes.LINK[1]}",
            amy=f"{first[AMY]:.2f}",
            sam=f"{twin[SAM]:.2f}",
        )
        prose("why", "transformer", layers=subject.config().n_layers)
        built = [entry.file for entry in frame.entries()]
        with st.container(horizontal=True):
            for file, label in MAP.items():
                if file in built:
                    st.page_link(f"pages/{file}.py", label=_(label), width="content")


def _gaze(text: str) -> np.ndarray:
    """The last row of the head that looks for the receiver, (key,)."""
    reading = sentence.read(text)
    block, head = outcomes.LINK[:2]
    return frame.cached(oh.head_of, oh.Demo(sentence.of(reading), block, head)).weights[-1]


def timeline() -> None:
    headings.fold("From 1994 to 2017", lambda: prose("why", "timeline"))


# ---- check, mistakes ----


def check(reading: Reading) -> None:
    """How many pairs, for a text twice as long as the visitor's."""
    n = len(reading.tokens)
    question = N_(
        "Your text has «n» tokens. Each looks at itself and at all before it: «pairs» pairs. "
        "How many pairs has a text of «twice» tokens?"
    )
    how = N_("1 + 2 + … + «twice» = «twice» · «next» / 2 = «answer»: twice the text, almost four times the pairs.")
    pairs = n * (n + 1) // 2
    values = dict(n=n, pairs=f"{pairs:,}", twice=2 * n, next=2 * n + 1)
    checks.number(
        question,
        n * (2 * n + 1),
        key="why_check",
        hint=N_("The first token looks at one, the second at two, and so on: add them up."),
        how=how,
        **values,
    )


def common_mistakes() -> None:
    width = subject.config().d_model
    names = ["free", "log", "gpu", "depth", "first", "lossless", "stars", "gates"]
    state, _inputs, cache = (f"{x:,}" for x in rec.kept(LONG, width))
    values = dict(n=f"{LONG:,}", turn=2 * width, state=state, cache=cache, keeps=rec.KEEPS[-1])
    mistakes.show("why", names, **values)
