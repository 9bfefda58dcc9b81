"""Below the lab: add a constant, number formats, rows to be checked, NumPy, checks, mistakes, downloads."""

from __future__ import annotations

import inspect

import numpy as np
import streamlit as st

from core.topics.softmax import lab
from pages.parts.softmax.bench import ADDED, Row, guess_added, power, put_on_bench, table, tell, written
from pages.shared import address, controls, frame, headings, readers
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes, predict
from pages.shared.pictures import bars, live, matrix
from pages.shared.text import N_, _, prose, say

FORMATS = {form: form for form in lab.FORMATS}
CLAIMS = {
    "first": N_("three scores"),
    "cold": N_("T = 0.5"),
    "warm": N_("T = 2"),
    "four": N_("four scores"),
    "thousand": N_("a thousand"),
    "lonely": N_("a gap of 22"),
    "reversed": N_("sign reversed"),
}


def _dial(word: str, label: str, stops: tuple[float, ...]) -> controls.Dial:
    return controls.Dial(word, label, stops, shown=tuple(f"{x:.4g}".replace("-", "−") for x in stops))


CONSTANT = _dial("add_c", "c", lab.ADDED)
LARGEST = _dial("largest", N_("Largest score"), lab.LARGEST)


def drag_one(row: Row) -> None:
    """Bars to be taken by the hand: one score moves, all shares answer."""
    headings.section("Drag one bar")
    one = controls.Setting("drag", int(np.argmax(row.scores)), readers.whole(0, len(row.scores) - 1), heard="bar")
    place = one.now()
    found = frame.cached(lab.dragged, row.scores, place)
    to = controls.Dial(
        "drag_to", N_("Its score"), found.stops, row.scores[place], shown=tuple(map(written, found.stops))
    )
    if address.changed("dragged row", row.scores):
        to.forget()

    def receive(name: str, value: object) -> None:
        to.receive(name, value)
        if name == "bar":
            to.forget()
            one.receive(name, value)

    told = _("its score {now}, before {then}")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        bars.show(
            live.Picture(
                key="dragged",
                quantity="shares",
                says=_("One score is moved, and every share answers. Outlined: as they were."),
                slider=to.slider(),
                captions=[told.format(now=written(stop), then=written(row.scores[place])) for stop in found.stops],
                released=receive,
            ),
            list(row.names),
            found.shares,
            ghost=found.shares[found.stops.index(row.scores[place])],
            high=1.0,
            marked=place,
            grab=True,
        )
    with right:
        prose("softmax", "drag", name=row.names[place])


def add_constant(row: Row) -> None:
    """One handle: the scores and their exponentials move, the shares stand still."""
    headings.section("Add a constant")
    guess_added(row)
    frames = frame.cached(lab.added, row.scores)
    calm = np.where(np.isfinite(frames[lab.ADDED.index(0.0)]), frames[lab.ADDED.index(0.0)], 1)
    left, right = st.columns([3, 2], gap="medium")
    with right:
        if predict.answer(ADDED) is None:
            say("Guess, then drag and watch the shares. The reason is told here.")
        else:
            prose("softmax", "add")
    with left:
        matrix.show(
            live.Picture(
                key="added",
                quantity="added",
                says=_("A constant is added to every score: scores and exponentials move, the shares stand still."),
                slider=CONSTANT.slider(),
                released=CONSTANT.receive,
            ),
            frames,
            rows=["z + c", "e^(z + c)", _("share")],
            columns=list(row.names),
            look=table(
                100.0 + float(np.abs(calm[0]).max()), max(float(calm[1].max()), 1e-6), 1.0, strip=_("the shares")
            ),
            row=2,
        )


def number_formats(row: Row) -> None:
    """How large may a score be? Naive against stable, computed in a number format that machines use."""
    headings.section("Large scores: the naive version breaks")
    form = controls.choice("Number format", FORMATS, "fp32", key="float_format")
    frames, end = frame.cached(lab.in_format, row.scores, form), frame.cached(lab.breaks, row.scores, form)
    exact = np.array(lab.run(lab.Demo(row.scores))["shares"].value)
    left, right = st.columns([3, 2], gap="medium")
    template = _("naive {naive} · stable {stable} · the stable row is off by {off}")
    best, offs = int(np.argmax(row.scores)), np.abs(frames[:, 3] - exact).max(-1)
    with left:
        matrix.show(
            live.Picture(
                key="formats",
                wordless=True,
                quantity="number_format",
                says=_(
                    "The row, moved up until its exponentials overflow: the naive shares break, the stable ones do not."
                ),
                slider=LARGEST.slider(),
                captions=[
                    template.format(naive=tell(f[2, best]), stable=tell(f[3, best]), off=power(off, 0))
                    for f, off in zip(frames, offs, strict=True)
                ],
                released=LARGEST.receive,
            ),
            frames,
            rows=[_("score"), "e^z", _("naive p"), _("stable p")],
            columns=list(row.names),
            look=table(1000.0, end.most, 1.0, 1.0),
        )
    with right:
        numbers = dict(form=form, most=tell(end.most), limit=f"{end.limit:.2f}")
        prose("softmax", "formats", **numbers)
        if end.at:
            say("On this slider the naive row breaks at «at».", at=f"{end.at:.4g}")


def numpy_cell(row: Row) -> None:
    """The four lines of NumPy, and what they print for this row, lifted by 1000."""

    def inside() -> None:
        st.code(inspect.getsource(lab.by_numpy), language=None, wrap_lines=True)
        x = np.array(row.scores) + 1000
        with np.errstate(over="ignore", invalid="ignore"):
            exps = np.exp(x)
            broken = exps / exps.sum()
        say("Your scores plus 1000, with this function and without taking the maximum off:")
        with np.printoptions(precision=4, suppress=True, linewidth=76):
            st.code(f"by_numpy(x)\n{lab.by_numpy(x)}\n\nnp.exp(x) / np.exp(x).sum()\n{broken}", language=None)

    headings.fold("The same in NumPy, with its output", inside)


def claims() -> None:
    """Rows of shares that may be wrong, beside what the scores really give."""
    headings.section("Is this row right?")
    chosen = controls.choice("Example", CLAIMS, "cold", key="printed", hide_label=True)
    claim, verdict = lab.CLAIMS[chosen], frame.cached(lab.judge, lab.CLAIMS[chosen])
    left, right = st.columns([3, 2], gap="medium")
    names = [written(z) for z in claim.scores]
    with left:
        bars.show(
            live.Picture(
                key="printed", wordless=True, quantity="shares", says=_("The true shares; outlined, this row.")
            ),
            names,
            np.array(verdict.shares),
            ghost=np.array(claim.row),
            high=1.0,
        )
        _table(claim, verdict, names)
    with right:
        says = N_("**Right**: rounding explains every difference.")
        if not verdict.right:
            says = N_("**Wrong**: off by up to «gap», more than rounding can explain.")
        say(says, gap=tell(verdict.gap))
        prose("softmax", f"claim_{chosen}", **_numbers(chosen, claim))
        st.button(_("Put these scores on the bench"), on_click=put_on_bench, args=(_typed(claim.scores),), key="bench")


def _typed(scores: lab.Scores) -> str:
    return " ".join(f"{z:g}" for z in scores)


def _table(claim: lab.Claim, verdict: lab.Verdict, names: list[str]) -> None:
    digits = len(f"{claim.unit:.10f}".rstrip("0").split(".")[1])
    head = f"| {_('score')} | {_('this row')} | {_('true')} | {_('difference')} |\n|---|---|---|---|\n"
    rows = [
        f"| {name} | {said:.{digits}f} | {share:.{digits + 1}f} | {said - share:+.{digits + 1}f} |"
        for name, said, share in zip(names, claim.row, verdict.shares, strict=True)
    ]
    total = f"| {_('sum')} | {sum(claim.row):.{digits}f} | {sum(verdict.shares):.{digits + 1}f} | |"
    st.markdown(head + "\n".join([*rows, total]).replace("-", "−"))


def _numbers(chosen: str, claim: lab.Claim) -> dict[str, object]:
    """What the text of one example needs from core."""
    near, known = frame.cached(lab.nearest, claim), frame.cached(lab.facts)
    exps = [float(np.exp(z)) for z in lab.CLAIMS["first"].scores]
    return {
        "first": dict(total=f"{sum(exps):.4f}", rounded=f"{sum(round(x, 2) for x in exps):.2f}"),
        "cold": dict(total=f"{sum(claim.row):.2f}", **_ratios()),
        "warm": {},
        "four": dict(nearest=f"{near.temperature:.2f}", misses=f"{near.gap:.3f}"),
        "thousand": dict(owner=_typed(lab.OWNER), nearest=f"{near.temperature:g}"),
        "lonely": dict(rest=tell(known.rest), slope=tell(known.slope), far=tell(known.far), gap=f"{known.gap:.1f}"),
        "reversed": {},
    }[chosen]


def _ratios() -> dict[str, str]:
    """How many times as large a share of the cold row is as the one after it."""
    one, two, three = lab.CLAIMS["cold"].row
    return dict(first=f"{one / two:.1f}", second=f"{two / three:.2f}")


def check(row: Row) -> None:
    """One share by hand, from the visitor's own row at temperature 1."""
    trace = lab.run(lab.Demo(row.scores))
    total, best = float(trace["total"].value), int(np.argmax(row.scores))
    question = N_(
        "At T = 1, the exponentials after taking the maximum off add up to «total». What is the largest share?"
    )
    how = N_("The largest exponential is e⁰ = 1, so the share of “«name»” is 1 ÷ «total» = «answer».")
    answer = float(trace["shares"].value[best])
    checks.number(
        question,
        answer,
        key="softmax_check",
        hint=N_(
            "With the maximum taken off, what is left in the exponent of the largest score? A share is its exponential divided by the sum."
        ),
        how=how,
        total=f"{total:.3f}",
        name=row.names[best],
    )


def common_mistakes() -> None:
    known = frame.cached(lab.facts)
    right = [frame.cached(lab.judge, claim).right for claim in lab.CLAIMS.values()]
    mistakes.show(
        "softmax",
        ["order", "vector", "diagonal", "reversed", "limit", "mask", "rows"],
        right=sum(right),
        all=len(right),
        rest=tell(known.rest),
        gap=f"{known.gap:.1f}",
        half=tell(known.half),
        empty=tell(known.empty),
        even=f"{known.even:.2f}",
        backwards=", ".join(f"{p:.3f}" for p in lab.judge(lab.CLAIMS["reversed"]).shares[::-1]),
        forwards=", ".join(f"{p:.3f}" for p in lab.judge(lab.CLAIMS["reversed"]).shares),
    )


def words() -> None:
    headings.fold("The words of this page", lambda: prose("softmax", "words"))


def downloads(row: Row, t: float) -> None:
    def packed() -> bytes:
        return lab.run(lab.Demo(row.scores, t)).as_npz()

    with st.container(horizontal=True, horizontal_alignment="right"):
        st.download_button(_("The numbers (.npz)"), packed, "softmax.npz", key="softmax_npz")
