"""The softmax lab's scores and its four pictures that move together: shares, slopes, steps, and what shares mix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from core import softmax as sm
from core.lab import head as oh
from core.lab import provenance, subject
from core.lab import text as sentence
from core.topics.softmax import lab
from pages.parts.softmax import swatch
from pages.shared import controls, frame, handout, headings, readers, spine, story
from pages.shared.asks import predict
from pages.shared.pictures import bars, figures, live, matrix, plane
from pages.shared.text import N_, _, filled, prose, say

TYPED = "2 1 0.1"
HIGHEST = 10_000.0  # typed scores lie between minus this and this
EXAMPLES = {  # scores -> what they show
    "2 1 0.1": N_("Three scores, worked by hand"),
    "2 2 0": N_("A tie"),
    "2.1 -0.5 1.3 0.8": N_("Four scores, as attention makes them"),
    "1000 1000.1 1000.2": N_("Scores too large for e^z"),
    "22 0": N_("A gap of 22"),
    "0 0 0 0 0 0 0 0": N_("All the same"),
}
CLOSER = {"steps": N_("step by step"), "mix": N_("mix colours"), "triangle": N_("the triangle")}
HEAT = controls.Dial(
    "temperature", N_("Temperature"), lab.TEMPERATURES, shown=tuple(f"{t:.2f}" for t in lab.TEMPERATURES), quiet=True
)
STEP_ROWS = (N_("ẑ = z ÷ T"), "e^ẑ", "ẑ − max", "e^(ẑ − max)", N_("share"))


@dataclass(frozen=True)
class Row:
    """The scores on the bench. names: what each stands for."""

    scores: lab.Scores
    names: tuple[str, ...]

    @property
    def labels(self) -> list[str]:
        """Score and name, for bars."""
        return [s if s == n else f"{s} {n}" for s, n in zip(map(written, self.scores), self.names, strict=True)]


def written(x: float) -> str:
    """A score as it was typed, or with two digits; a small one with as many as tell."""
    short = f"{x:g}" == f"{x:.2f}".rstrip("0").rstrip(".")
    return (f"{x:g}" if short else f"{x:.2g}" if abs(x) < 0.1 else f"{x:.2f}").replace("-", "−")


def table(*ends: float, strip: str = "") -> matrix.Look:
    """Numbers under the names of the scores, every row on a scale of its own, which ends at ends[row]."""
    return matrix.Look("", N_("score of"), "a", "quiet", most=64, flat=34, ends=ends, strip=strip, legible=True)


# ---- where scores come from ----


def bench() -> Row:
    """The row that the page works with: typed in, or of the model, as it is chosen further down."""
    if controls.Setting("scores_of").now() == "typed":
        return _typed_row()
    left, right = st.columns([4, 1.4], vertical_alignment="center")
    with left:
        say("**The scores are of the model**: block «layer», head «head», the row of “«word»”.", **_chosen()[1])
    with right:
        back = controls.Setting("scores_of")
        st.button(_("Type scores instead"), key="type_scores", on_click=back.keep, args=("typed",), width="stretch")
    return _fitting(*_of_model())


def _chosen() -> tuple[oh.Demo, dict[str, Any]]:
    """The head, and what is said of it; the sentence's box stands where a real row is shown."""
    reading = sentence.read(controls.text(sentence.SENTENCE))
    config = subject.config()
    layer, head = (
        controls.Setting(word, first, readers.of(range(many))).now()
        for word, first, many in (("layer", 5, config.n_layers), ("head", 1, config.n_heads))
    )
    places = range(1, len(reading.tokens))
    query = controls.Setting("row_of", len(reading.tokens) - 1, readers.of(places)).now()
    said = dict(layer=layer, head=head, word=reading.tokens[query], at=query)
    return oh.Demo(sentence.of(reading), layer, head), said


def _of_model() -> tuple[lab.Scores, tuple[str, ...]]:
    """One row of one head of the embedded model, after its division by the root of d_k."""
    calm, said = _chosen()
    query = said["at"]
    scaled = frame.cached(oh.head_of, calm).scaled[query, : query + 1]
    return tuple(float(x) for x in scaled), tuple(sentence.names(calm.text.tokens)[: query + 1])


def real_row() -> None:
    """Scores as attention makes them: the sentence, the head, and the shares of one of its words."""
    headings.section("A real row")
    left, right = st.columns([4, 1.6], vertical_alignment="bottom")
    with left:
        reading = story.box()
    config, said = subject.config(), _chosen()[1]
    with right, spine.settings(filled(_("block «layer» · head «head» · “«word»”"), **said)):
        controls.pick("Block", range(config.n_layers), 5, key="layer")
        controls.pick("Head", range(config.n_heads), 1, key="head")
        _query(reading.tokens)
    row = _fitting(*_of_model())
    found = frame.cached(lab.heated, row.scores)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _share_bars(row, found, "model_shares", _captions(found), most=18)
    with right:
        prose("softmax", "real", asks=said["word"], n=len(row.scores), **_lead(row, 1.0))
        if spine.deep():
            put = controls.Setting("scores_of")
            st.button(
                _("Take this row to the pictures of this page"), key="bench_row", on_click=put.keep, args=("model",)
            )


def _query(tokens: tuple[str, ...]) -> int:
    """The word whose row is taken; the first one sees only itself, so there is nothing to share."""
    last = len(tokens) - 1
    places = range(1, last + 1)
    return controls.listed(_("The row of"), places, last, key="row_of", shown=lambda i: f"{i} · {tokens[i]}")


def _fitting(scores: lab.Scores, names: tuple[str, ...]) -> Row:
    """At most 16 scores: the largest of a long row, in their order."""
    if len(scores) <= lab.MOST_SCORES:
        return Row(scores, names)
    kept = lab.largest(scores, lab.MOST_SCORES)
    whole = lab.run(lab.Demo(scores))["shares"].value
    template = N_(
        "This row has «n» scores. Here its «most» largest share among themselves; the others held «lost» of the weight."
    )
    say(template, n=len(scores), most=lab.MOST_SCORES, lost=f"{1 - whole[kept].sum():.1%}")
    return Row(tuple(scores[i] for i in kept), tuple(names[i] for i in kept))


def _typed_row() -> Row:
    left, right = st.columns([4, 1.4], vertical_alignment="bottom")
    with left:
        text = controls.typed("2 to 16 scores", TYPED, key="scores", longest=240)
    with right:
        _examples()
    scores = read_scores(text or "")
    if scores is None:
        template = N_("Type 2 to 16 numbers from −«most» to «most», with blanks or commas between. Here is an example.")
        say(template, most=f"{HIGHEST:,.0f}")
        scores = read_scores(TYPED)
    return Row(scores, tuple(written(z) for z in scores))


def read_scores(text: str) -> lab.Scores | None:
    """'2, 1 0.1' -> (2.0, 1.0, 0.1); None for anything that is not 2 to 16 numbers of a sensible size."""
    parts = text.translate(str.maketrans("−,;，、；", "-     ")).split()
    read = readers.number(-HIGHEST, HIGHEST)
    numbers = [read(part) for part in parts[: lab.MOST_SCORES + 1]]
    fit = 2 <= len(numbers) <= lab.MOST_SCORES and None not in numbers
    return tuple(numbers) if fit else None


def _examples() -> None:
    with st.popover(_("Examples"), width="stretch"):
        for i, (scores, shows) in enumerate(EXAMPLES.items()):
            label = f"{_(shows)} · {scores.replace('-', '−')}"
            st.button(label, key=f"softmax_example_{i}", on_click=put_on_bench, args=(scores,), width="stretch")


def put_on_bench(scores: str) -> None:
    """These scores, typed in, at temperature 1: used by buttons."""
    controls.Setting("scores").keep(scores)
    controls.Setting("scores_of").keep("typed")
    for forgotten in (HEAT, controls.Setting("slope"), controls.Setting("score")):
        forgotten.forget()


# ---- guess first ----

HALVED = "halved"  # the guess of the first screen
ADDED = "add100"  # that of the constant


def guess_halved(row: Row) -> None:
    """The temperature is halved: what does the largest share do? The answer is the row's own.

    On the page it is halved from 1, wherever the slider stands; on paper from where the picture stands.
    """
    heat = HEAT.now() if handout.wanted() else 1.0
    before, after = lab.at(row.scores, heat), lab.at(row.scores, heat / 2)
    grows = after - before > 0.0005
    options = {
        "less": N_("gets smaller"),
        "same": N_("stays the same"),
        "more": N_("gets larger"),
        "all": N_("becomes 1"),
    }
    because = {
        "less": N_("Smaller numbers, smaller shares? All scores grow: half of T doubles them. «after», from «before»."),
        "same": N_(
            "True, all are divided alike and their ratio stays. But softmax looks at distances, and they double: «before» becomes «after»."
        ),
        "more": N_("Half of T doubles every distance, and the leader gains: «before» becomes «after»."),
        "all": N_("It grows, that is right, but the others keep something: «before» becomes «after», never quite 1."),
        "?": N_("Half of T doubles every distance, and the leader gains: «before» becomes «after»."),
    }
    if not grows:
        still = N_(
            "Every distance doubles. But here «before» becomes «after»: a tie stays a tie, and nothing grows above 1."
        )
        because = dict.fromkeys(because, still)
    prediction = predict.Prediction(
        HALVED,
        N_("Guess first: at T = «heat» the largest share is «before». Halve T: it …"),
        options,
        "more" if grows else "same",
        because,
        also=("all",) if after > 0.9995 else (),
    )
    predict.ask(prediction, heat=f"{round(heat, 2):g}", before=f"{before:.3f}", after=f"{after:.3f}")


def guess_added(row: Row) -> None:
    """Add a constant: what happens? The answer is measured on the visitor's own row."""
    moved = lab.moved_by(row.scores, 100.0)
    answer = "same" if moved < 1e-6 else "grow"
    options = {
        "grow": N_("all grow"),
        "most": N_("favour the largest"),
        "even": N_("even out"),
        "same": N_("stay as they are"),
    }
    because = {
        "grow": N_(
            "They cannot all grow: they always add up to one. The largest change of any share is «moved», no more than rounding."
        ),
        "most": N_(
            "That needs larger distances, and adding keeps every distance. The largest change is «moved», no more than rounding."
        ),
        "even": N_(
            "100 looks large, but only distances count, and they stay. The largest change is «moved», no more than rounding."
        ),
        "same": N_(
            "Every exponential grows by the same factor, and it cancels. The largest change is «moved», no more than rounding."
        ),
        "?": N_(
            "Nothing moves: the largest change is «moved», no more than rounding. Only distances between scores count."
        ),
    }
    question = N_("Guess first: add 100 to every score. What do the shares do?")
    predict.ask(predict.Prediction(ADDED, question, options, answer, because), moved=power(moved, 0))


# ---- the pictures that move together ----


def heat() -> live.Slider:
    """The temperature; all pictures that show it move with it."""
    return HEAT.slider(together=True)


def _cell(word: str, rows: int, columns: int) -> controls.Setting:
    """The cell that is written out."""
    return controls.Setting(word, None, controls.within(rows, columns), heard="cell")


def shares(row: Row, found: lab.Heated) -> None:
    """The signature: what every score becomes on its way to its share, at every temperature."""
    n = len(row.scores)
    _share_bars(
        row,
        found,
        "shares",
        _captions(found),
        most=54 if n < 5 else 36 if n < 8 else 28,
        signature=True,
        steps={"z ÷ T": found.steps[:, 0], "e^(z ÷ T)": found.steps[:, 1]},
    )


def _captions(found: lab.Heated) -> list[str]:
    """The largest share at every temperature; for who looks deeper, how spread out all are."""
    largest = _("largest share {most}")
    if not spine.deep():
        return [largest.format(most=f"{share:.3f}") for share in found.shares.max(-1)]
    template, most = _("entropy {bits} bit, at most {most}"), f"{np.log2(found.shares.shape[-1]):.2f}"
    numbers = zip(found.shares.max(-1), found.entropy, strict=True)
    return [
        f"{largest.format(most=f'{p:.3f}')} · {template.format(bits=f'{max(0.0, bits):.2f}', most=most)}"
        for p, bits in numbers
    ]


def _share_bars(
    row: Row, found: lab.Heated, key: str, captions: list[str], *, most: int, signature: bool = False, **how: Any
) -> None:
    """Every score's share at every temperature, outlined at temperature 1. most: px a bar may be tall."""
    bars.show(
        live.Picture(
            key=key,
            quantity="shares",
            says=_("Each score's share; the higher the temperature, the flatter. Outlined: temperature 1."),
            slider=heat(),
            captions=captions,
            signature=signature,
            room=264 if signature else 0,
            released=HEAT.receive,
        ),
        row.labels,
        found.shares,
        ghost=found.shares[lab.TEMPERATURES.index(1.0)],
        high=1.0,
        tools=True,
        row=most,
        column=_("score"),
        **how,
    )


def slopes(row: Row, found: lab.Heated, slider: live.Slider) -> None:
    """The whole Jacobian, moving with the shares, and beside it the chosen cell written out."""
    headings.section("Can this row still learn?")
    left, right = st.columns([5, 4], gap="medium")
    with left:
        cell = _square(row, found, slider)
    with right:
        prose("softmax", "slopes")
        if cell:
            HEAT.rest(lambda: written_slope(row, HEAT.now(), cell))


def _square(row: Row, found: lab.Heated, slider: live.Slider) -> tuple[int, int] | None:
    n, names = len(row.scores), list(row.names)
    chosen = _cell("slope", n, n)
    cell = chosen.now()
    template = _("largest slope {most}, of at most 0.25")
    matrix.show(
        live.Picture(
            key="slopes",
            wordless=True,
            quantity="slopes",
            says=_(sm.SLOPES.says),
            slider=slider,
            captions=[template.format(most=tell(m)) for m in found.slopes.max((1, 2))],
            released=controls.receivers(HEAT, chosen),
        ),
        found.slopes,
        rows=names,
        columns=names,
        look=matrix.Look(N_("share moves"), N_("score moves"), "a", "quiet", bound=0.25, most=60, tall=430),
        cell=cell,
    )
    return cell


def closer(row: Row, found: lab.Heated, slider: live.Slider) -> None:
    """One of three more pictures, under the same slider."""
    headings.section("Look closer")
    chosen = controls.choice("Look closer", CLOSER, "steps", key="closer", hide_label=True)
    {"steps": _steps, "mix": _mix, "triangle": _triangle}[chosen](row, found, slider)


def _steps(row: Row, found: lab.Heated, slider: live.Slider) -> None:
    n = len(row.scores)
    chosen = _cell("score", len(STEP_ROWS), n)
    cell = chosen.now()
    calm = found.steps[lab.TEMPERATURES.index(1.0)]
    finite = np.abs(np.where(np.isfinite(calm), calm, 0)).max(1)
    template = _("max {most} · sum of e^ẑ {naive} · sum of e^(ẑ − max) {total} · the shares add up to {one}")
    numbers = zip(found.most, found.naive_total, found.total, found.shares.sum(-1), strict=True)
    matrix.show(
        live.Picture(
            key="steps",
            wordless=True,
            quantity="softmax_steps",
            says=_("The row on its way from scores to shares, one step a line."),
            slider=slider,
            captions=[
                template.format(most=tell(m), naive=tell(a), total=tell(b), one=tell(s)) for m, a, b, s in numbers
            ],
            released=controls.receivers(HEAT, chosen),
        ),
        found.steps,
        rows=[_(name) for name in STEP_ROWS],
        columns=list(row.names),
        look=table(*(max(x, 1e-6) for x in finite[:3]), 1.0, 1.0),
        cell=cell,
    )
    left, right = st.columns([3, 2], gap="medium")
    with left:
        HEAT.rest(lambda: _written_share(row, HEAT.now(), cell[1] if cell else int(np.argmax(row.scores))))
    with right:
        HEAT.rest(lambda: _properties(row, HEAT.now()))


def tell(x: float) -> str:
    """A number in as many digits as tell."""
    if not np.isfinite(x):
        return "NaN" if np.isnan(x) else "∞" if x > 0 else "−∞"
    if x and not 0.001 <= abs(x) < 1e7:
        return power(x)
    return (f"{x:.4f}" if abs(x) < 1e4 else f"{x:,.0f}" if x == round(x) else f"{x:,.1f}").replace("-", "−")


def power(x: float, digits: int = 2) -> str:
    """A number as a multiple of a power of ten."""
    if not x:
        return "0"
    mantissa, exponent = f"{x:.{digits}e}".split("e")
    return f"{mantissa} × 10{figures.raised(int(exponent))}".replace("-", "−")


def _written_share(row: Row, t: float, i: int) -> None:
    """One share, written out down to the number in the picture."""
    trace = lab.run(lab.Demo(row.scores, t))
    part, number = {name: trace[name].value for name in ("tempered", "exps", "total", "shares")}, provenance.number
    most = float(part["tempered"].max())
    st.markdown(filled(_("**The share of “«name»”**, click another cell to see another"), name=row.names[i]))
    lines = [
        rf"p_{{{i}}} &= \frac{{e^{{\hat z_{{{i}}} - \max}}}}{{\sum_j e^{{\hat z_j - \max}}}}"
        rf" = \frac{{e^{{{number(part['tempered'][i])} - {_factor(most)}}}}}{{{number(float(part['total']))}}}",
        rf"&= \frac{{{number(part['exps'][i])}}}{{{number(float(part['total']))}}} = {number(part['shares'][i])}",
    ]
    st.latex(r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}")


def _factor(x: float) -> str:
    return f"({provenance.number(x)})" if x < 0 else provenance.number(x)


def _properties(row: Row, t: float) -> None:
    """What is always true of softmax, on the two largest scores of the row."""
    prose("softmax", "properties", **_lead(row, t))


def _lead(row: Row, t: float) -> dict[str, str]:
    """The two largest scores: how far apart they are, and how many times as large that makes a share."""
    first, second = sorted(range(len(row.scores)), key=lambda i: -row.scores[i])[:2]
    gap = (row.scores[first] - row.scores[second]) / t
    ratio = (f"{np.exp(gap):.3g}" if gap < 9 else power(np.exp(gap))) if gap < 700 else "∞"
    return dict(first=row.names[first], second=row.names[second], gap=f"{gap:.3g}", ratio=ratio)


def written_slope(row: Row, t: float, cell: tuple[int, int]) -> None:
    """One cell of the Jacobian, written out."""
    i, j = cell
    trace = lab.run(lab.Demo(row.scores, t))
    p, slope, number = trace["shares"].value, float(trace["slopes"].value[cell]), provenance.number
    st.markdown(filled(_("**“«score»” moves, “«share»” follows:**"), share=row.names[i], score=row.names[j]))
    inside = rf"1 - {number(p[j])}" if i == j else rf"0 - {number(p[j])}"
    lines = [  # two lines, or a phone would cut the result off
        rf"\frac{{\partial p_{{{i}}}}}{{\partial \hat z_{{{j}}}}} &= p_{{{i}}}(\delta_{{{i},{j}}} - p_{{{j}}})",
        rf"&= {number(p[i])}\,({inside}) = {number(slope)}",
    ]
    st.latex(r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}")


def _mix(row: Row, found: lab.Heated, slider: live.Slider) -> None:
    left, right = st.columns([3, 2], gap="medium")
    colours, mixed = lab.colours(len(row.scores)), frame.cached(lab.mixed, row.scores)
    with left:
        template = _("mixed: red {r}, green {g}, blue {b}")
        swatch.show(
            live.Picture(
                key="mix",
                quantity="mixed",
                says=_("The colours of the row, mixed with its shares."),
                slider=slider,
                captions=[template.format(r=f"{r:.0f}", g=f"{g:.0f}", b=f"{b:.0f}") for r, g, b in mixed],
                released=HEAT.receive,
            ),
            found.shares,
            colours,
            mixed,
            list(row.names),
        )
    with right:
        prose("softmax", "mix", coldest=f"{lab.TEMPERATURES[0]:g}", lacks=tell(1 - float(found.shares[0].max())))
        _limit(row)


def _limit(row: Row) -> None:
    """Who takes all as T goes to 0."""
    shared = [(name, p) for name, p in zip(row.names, lab.limit(row.scores), strict=True) if p]
    if len(shared) == 1:
        say("As T → 0, “«name»” takes all: the maximum is unique.", name=shared[0][0])
    else:
        template = N_("As T → 0, «n» scores share the maximum, and each keeps «share»: softmax does not choose.")
        say(template, n=len(shared), share=f"{shared[0][1]:.3g}")


def _triangle(row: Row, found: lab.Heated, slider: live.Slider) -> None:
    seen = frame.cached(lab.triangle, row.scores)
    if seen is None:
        say("A triangle needs three scores; this row has two.")
        return
    names = [row.names[i] for i in seen.chosen]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        plane.show(
            live.Picture(
                key="triangle",
                quantity="triangle",
                says=_("Three shares as one point of a triangle, moving with the temperature."),
                slider=slider,
                captions=[" · ".join(f"{n} {p:.3f}" for n, p in zip(names, ps, strict=True)) for ps in seen.shares],
                released=HEAT.receive,
            ),
            lab.CORNERS,
            names,
            moving=seen.points[:, None],
            movers=["p"],
            pull=seen.shares[:, None],
            hull=True,
            tall=330,
        )
    with right:
        prose("softmax", "triangle")
        if len(row.scores) > 3:
            say("This row has «n» scores: the triangle takes its three largest alone.", n=len(row.scores))
