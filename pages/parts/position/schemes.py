"""A vector for every place, four schemes on the same input, ALiBi's slopes, checks, mistakes and downloads."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from core import positions
from core.lab import subject
from core.lab import text as sentence
from core.nets import places as lengths
from core.topics.position import schemes as po
from core.topics.position import shuffle as sh
from pages.parts.position import order
from pages.parts.position.shuffle import SCHEMES, power
from pages.shared import controls, frame, headings, readers, spine
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes
from pages.shared.pictures import lines, live, matrix, plane
from pages.shared.text import N_, _, prose, say, unmarked

VIEWS = {
    "table": N_("the table"),
    "waves": N_("waves and clocks"),
    "offset": N_("k places on"),
    "dots": N_("dot products"),
    "learned": N_("a learned table"),
}
PAIRS = {"all": N_("all eight"), "0": "0, 1", "1": "2, 3", "2": "4, 5", "3": "6, 7"}
HANDS = ("a", "warn", "v", "quiet")  # one colour a pair, told apart by the colour-blind too
ASKED = (0, 1, 10, 31, 62, 63, 64, 65, 100, 255)
INPUTS = {"words": N_("of the sentence"), "same": N_("one word, repeated")}
SHOWN = {"scores": N_("scores"), "weights": N_("weights")}
BASE = controls.Dial("pe_base", N_("Base"), po.BASES, shown=tuple(f"{b:,.0f}" for b in po.BASES))
PLACE = controls.Dial("pe_place", N_("Place"), po.PLACES)
OFFSET = controls.Dial("pe_offset", "k", po.OFFSETS)
PLACED = N_("This model has added a row for every position before the first block: no scheme can stand in its place.")
SLOPE = controls.Dial("slope_m", N_("Slope m"), po.SLOPES, shown=tuple(f"{m:.4f}" for m in po.SLOPES))
START = controls.Dial("starts_at", N_("Text begins at"), po.STARTS)


# ---- a vector for every place ----


def sinusoids() -> None:
    headings.section("A vector for every place")
    view = controls.Setting("look_at").now()
    if spine.deep() or view != "table":  # a link to a view opens it
        view = controls.choice("Look at", VIEWS, "table", key="look_at", hide_label=True)
    {"table": _table, "waves": _waves, "offset": _offset, "dots": _dots, "learned": _learned}[view]()


def _width() -> int:
    return controls.pick("Width d", po.WIDTHS, 32, key="pe_width")


def _waves_of(d: int) -> list[str]:
    """What is written under the table at every base."""
    template = _("one turn takes {first} places on the left, {last} on the right")
    turns = frame.cached(po.longest_and_shortest, d)
    return [template.format(first=f"{a:.1f}", last=f"{b:,.1f}" if b < 1000 else f"{b:,.0f}") for a, b in turns]


def _table() -> None:
    left, right = st.columns([3, 2], gap="medium")
    with right:
        prose("position", "table")
        if spine.deep():
            d, n = _width(), controls.pick("Places", po.LENGTHS, 64, key="pe_length")
            prose("position", "waves_of")
        else:
            d, n = (controls.Setting(word).now() for word in ("pe_width", "pe_length"))
    with left:
        st.fragment(_rows)(n, d)
    if spine.deep():
        _code_cell()


def _rows(n: int, d: int) -> None:
    tall = 416 if spine.deep() else 288
    matrix.show(
        live.Picture(
            key="sinusoids",
            wordless=True,
            quantity="sinusoids",
            says=_(positions.SINUSOIDS.says),
            slider=BASE.slider(),
            captions=_waves_of(d),
            released=BASE.receive,
        ),
        frame.cached(po.tables, n, d),
        rows=[str(m) for m in range(n)],
        columns=[str(i) for i in range(d)],
        look=matrix.Look(N_("place"), N_("dimension"), "a", "quiet", bound=1.0, most=64, row_height=max(3, tall // n)),
    )


@cache
def _sources() -> tuple[str, str, dict[str, object]]:
    """The table in NumPy, the module that adds it, and what is said of both."""
    made = po.PositionalEncoding(8, 16)
    gap = float(np.abs(po.table_by_numpy(16, 8) - po.tables(16, 8)[po.BASES.index(10_000.0)]).max())
    numbers = dict(buffers=", ".join(dict(made.named_buffers())), parameters=len(list(made.parameters())))
    return inspect.getsource(po.table_by_numpy), inspect.getsource(po.PositionalEncoding), numbers | {"gap": power(gap)}


def _code_cell() -> None:
    """A buffer, no parameter."""

    def inside() -> None:
        table, module, numbers = _sources()
        st.code(table, language=None, wrap_lines=True)
        st.code(module, language=None, wrap_lines=True)
        prose("position", "buffer", **numbers)

    headings.fold("The same in NumPy and torch", inside)


def _waves() -> None:
    left, right = st.columns([3, 2], gap="medium")
    with right:
        d = max(_width(), po.FEW)
        chosen = controls.choice("Dimensions", PAIRS, "1", key="pe_pair")
    pairs = range(po.FEW // 2) if chosen == "all" else [int(chosen)]
    turns, rows = po.wavelengths(d), po.table_by_numpy(len(po.PLACES), d)[:, : po.FEW]
    kept = [i for pair in pairs for i in (2 * pair, 2 * pair + 1)]
    with left:
        st.fragment(_curves)(rows, kept)
    with right:
        _clock(rows)
        first = ", ".join(f"{t:,.1f}" for t in turns[: po.FEW // 2])
        prose("position", "waves", d=d, first=first, last=f"{turns[-1]:,.0f}")


def _curves(rows: np.ndarray, kept: list[int]) -> None:
    lines.show(
        live.Picture(
            key="waves",
            quantity="waves",
            says=_("The first eight dimensions of the table, each a wave along the places."),
            slider=PLACE.slider(together=True),
            captions=[_("vector: {numbers} …").format(numbers=_numbers(row)) for row in rows],
            released=PLACE.receive,
        ),
        rows.T[kept],
        np.arange(len(rows)),
        [lines.Series(f"{i} {'sin' if i % 2 == 0 else 'cos'}", HANDS[i // 2], dash=i % 2 == 1) for i in kept],
        x=lines.Axis(_("place")),
        y=lines.Axis(_("value"), low=-1.1, high=1.1),
        moving=np.array(po.PLACES),
    )


def _numbers(row: np.ndarray) -> str:
    return " ".join(f"{x:.2f}" for x in row).replace("-", "−")


def _clock(rows: np.ndarray) -> None:
    """The same eight numbers as four hands: each pair is a point on a circle. The slider of the waves moves it."""
    turn = np.linspace(0, 2 * np.pi, 73)
    circle = plane.Shape(np.stack([np.sin(turn), np.cos(turn)], -1)[None])
    plane.show(
        live.Picture(
            key="clock",
            quantity="clock",
            says=_("Each pair of dimensions is the hand of a clock that turns with the place."),
            slider=PLACE.slider(together=True, hidden=True),
        ),
        np.zeros((1, 2)),
        [""],
        moving=rows.reshape(len(rows), -1, 2),
        movers=[f"{2 * i}, {2 * i + 1}" for i in range(po.FEW // 2)],
        titles=("sin", "cos"),
        roles=("quiet", *HANDS),
        look=plane.Look(pointed=True, shapes=(circle,), bounds=(-1.25, 1.25, -1.25, 1.25)),
        tall=240,
        most=300,
    )


def _offset() -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.fragment(_map)()
    with right:
        prose("position", "offset", fitted=f"{po.FITTED:,}", turn=f"{2 * np.pi:.2f}")


def _map() -> None:
    found = frame.cached(po.offsets)
    template = _("A misses by at most {misses} · the fit differs from A, and B from zero, by at most {apart}")
    numbers = zip(found.misses, found.apart, strict=True)
    matrix.show(
        live.Picture(
            key="offset",
            quantity="offset",
            says=_("The best map from the vector of a place to the vector k places on: rotations, and no constant."),
            slider=OFFSET.slider(),
            captions=[template.format(misses=power(float(a)), apart=power(float(b))) for a, b in numbers],
            released=OFFSET.receive,
        ),
        found.fitted,
        rows=[str(i) for i in range(po.FEW)],
        columns=[*map(str, range(po.FEW)), "B"],
        look=matrix.Look(N_("P at m + k"), N_("P at m"), "a", "quiet", bound=1.0, most=64, flat=44),
    )


def _dots() -> None:
    left, right = st.columns([3, 2], gap="medium")
    with right:
        d = _width()
        prose("position", "dots", half=d // 2)
    with left:
        st.fragment(_products)(d)


def _products(d: int, n: int = 48) -> None:
    template = _("along a diagonal the numbers differ by at most {uneven}")
    matrix.show(
        live.Picture(
            key="dots",
            quantity="dots",
            says=_("The dot product of the vectors of any two places: only their distance counts."),
            slider=BASE.slider(),
            captions=[template.format(uneven=power(float(x))) for x in frame.cached(_unevenness, n, d)],
            released=BASE.receive,
        ),
        frame.cached(po.dots, n, d),
        rows=[str(m) for m in range(n)],
        columns=[str(m) for m in range(n)],
        look=matrix.Look(
            N_("place"), N_("place"), "a", "quiet", bound=d / 2, tall=380, strip=_("the row of place {row}")
        ),
        row=n // 2,
    )


def _unevenness(n: int, d: int) -> list[float]:
    return [po.uneven(square) for square in frame.cached(po.dots, n, d)]


def _learned() -> None:
    """The trained table of one of the tiny models, and what happens beyond its last row."""
    left, right = st.columns([3, 2], gap="medium")
    n = lengths.TRAINED
    with left:
        matrix.show(
            live.Picture(
                key="learned",
                quantity="alike",
                says=_("How alike the learned vectors of any two places are: the cosine of their angle."),
            ),
            frame.cached(lengths.alike),
            rows=[str(m) for m in range(n)],
            columns=[str(m) for m in range(n)],
            look=matrix.Look(N_("place"), N_("place"), "a", "quiet", bound=0.5, tall=420),
        )
    with right:
        alike = frame.cached(lengths.alike)
        near, two, far = (f"{np.diag(alike, k).mean():.2f}".replace("-", "−") for k in (1, 2, 20))
        size = f"{n * lengths.CONFIG.d_model:,}"
        prose("position", "learned", n=n, d=lengths.CONFIG.d_model, size=size, near=near, two=two, far=far)
        asked = controls.stops("Ask the table for place", ASKED, 63, key="ask_place")
        answer = lengths.ask(asked)
        if isinstance(answer, str):
            st.code(f"IndexError: {answer}", language=None, wrap_lines=True)
        else:
            say("Row «place»: «numbers» …", place=asked, numbers=_numbers(answer[:6]))


# ---- four schemes ----


def schemes(reading: Any) -> None:
    """Four ways to tell where words stand, and none, on the same vectors; one slider moves the text in all pictures."""
    every, few = N_("Four schemes, and none: the same Q and K"), N_("Three ways to tell the place")
    headings.section(every if spine.deep() else few)
    say("**Drag the words along the places**: the text moves as a whole, its words keep their distances.")
    demo, step = _one_head(reading)
    try:
        found = {scheme: frame.cached(po.moved, demo, scheme) for scheme in po.SCHEMES}
    except sentence.Cannot as no:
        st.warning(_(str(no)))
        return
    st.fragment(_along)(demo)
    bound = max(float(np.abs(m.scores[np.isfinite(m.scores)]).max()) for m in found.values())
    shown = (*po.SCHEMES[1:], po.SCHEMES[0]) if spine.deep() else FEWER
    places = [*st.columns(3, gap="medium"), *(st.columns(3, gap="medium") if spine.deep() else ())]
    for place, scheme in zip(places, shown, strict=False):
        with place:
            _scheme(demo, scheme, getattr(found[scheme], step), found[scheme].moved, step, bound)
    if not spine.deep():
        prose("position", "distances")
        return
    with places[-1]:
        prose("position", "schemes", slope=f"{po.slope_of(demo.head, subject.config().n_heads):.3g}", rows=po.ROWS)
    if len(reading.tokens) > po.MOST:
        say("This text is long: here are its first «n» tokens.", n=po.MOST)
    headings.fold("Who does what, and who uses it", lambda: prose("position", "cards"))


FEWER = ("sinusoidal", "learned", "alibi")  # what RoPE does is asked in the next room before it is shown


def _one_head(reading: Any) -> tuple[po.Demo, str]:
    """The head whose scores are shown, and what of them; at the idea as the address says."""
    config = subject.config()
    if not spine.deep():
        now = {word: controls.Setting(word).now() for word in ("same_word", "scheme_step")}
        layer = controls.Setting("layer", 5, readers.of(range(config.n_layers))).now()
        head = controls.Setting("head", 1, readers.of(range(config.n_heads))).now()
        return po.Demo(sentence.of(reading), layer, head, same=now["same_word"] == "same"), now["scheme_step"]
    one, two, three, four = st.columns([2.7, 2.7, 2.8, 1.9], vertical_alignment="bottom")
    with one:
        layer = controls.pick("Block", range(config.n_layers), 5, key="layer")
    with two:
        head = controls.pick("Head", range(config.n_heads), 1, key="head")
    with three:
        same = controls.choice("Vectors in", INPUTS, "words", key="same_word") == "same"
    with four:
        step = controls.choice("Shown", SHOWN, "scores", key="scheme_step")
    return po.Demo(sentence.of(reading), layer, head, same=same), step


def _along(demo: po.Demo) -> None:
    """The text on its places, and the one slider; it moves the five pictures without running them again."""
    slider = START.slider(together=True)
    order.ruler(
        live.Picture(
            key="along",
            quantity="places",
            says=_("The text on its places. It moves as a whole."),
            slider=slider,
            released=START.receive,
        ),
        list(demo.names),
        po.ROWS,
    )
    if not spine.deep():
        return
    with st.container(horizontal=True, horizontal_alignment="right"):
        _download(replace(demo, start=po.STARTS[slider.at]))


def _scheme(demo: po.Demo, scheme: str, values: np.ndarray, moved: np.ndarray, step: str, bound: float) -> None:
    st.markdown(f"**{_(SCHEMES[scheme])}**")
    n = values.shape[-1]
    template = _("largest change of a score {moved}")
    matrix.show(
        live.Picture(
            key=f"scheme_{scheme}",
            quantity=f"{scheme}.{step}",
            says=unmarked(
                _("The «step» of one head with this scheme: «scheme»."), step=_(SHOWN[step]), scheme=_(SCHEMES[scheme])
            ),
            slider=START.slider(together=True, hidden=True),
            captions=[template.format(moved=power(float(m))) for m in moved],
        ),
        values,
        rows=list(demo.names),
        columns=list(demo.names),
        look=matrix.Look(
            from_zero=step == "weights", bound=0.5 if step == "weights" else bound, tall=300, tools=spine.deep()
        ),
        shut=~np.tri(n, dtype=bool),
    )


def _download(demo: po.Demo) -> None:
    st.download_button(_("The numbers (.npz)"), lambda: po.run(demo).as_npz(), "positions.npz", key="positions_npz")


def slopes(reading: Any) -> None:
    """ALiBi's ramp at every slope; beside it, the slopes that models use."""
    headings.section("ALiBi: a ramp on the scores")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.fragment(_ramp)(list(reading.tokens[: po.MOST]))
    with right:
        eight = ", ".join(f"1/{1 / m:.0f}" for m in po.slopes(8))
        six = ", ".join(f"1/{1 / m:.3g}" for m in po.slopes(subject.config().n_heads))
        far = po.t5_buckets((1, 7, 8, 15, 20, 127, 128, 1000))
        prose("position", "slopes", eight=eight, six=six, heads=subject.config().n_heads, last=far[-1])


def _ramp(names: list[str]) -> None:
    stops, n = po.SLOPES, len(names)
    template = _("every {half} places back the weight is halved")
    matrix.show(
        live.Picture(
            key="ramps",
            quantity="alibi",
            says=_(positions.ALIBI.says),
            slider=SLOPE.slider(),
            captions=[template.format(half=f"{np.log(2) / m:.1f}") for m in stops],
            released=SLOPE.receive,
        ),
        frame.cached(po.ramps, n),
        rows=names,
        columns=names,
        look=matrix.Look(bound=6.0, tall=340),
        shut=~np.tri(n, dtype=bool),
    )


# ---- at the foot of the page ----

DEEPER = (
    N_("The law of the shuffle, with its formula"),
    N_("Waves and clocks, k places on, dot products, a learned table"),
    N_("ALiBi: a ramp on the scores"),
    N_("What position is worth"),
    N_("Past the length of training"),
    N_("Common mistakes"),
)


def check(reading: Any) -> None:
    """What ALiBi takes off a score of the visitor's own sentence."""
    n = min(len(reading.tokens), po.MOST)
    slope, back = po.slopes(8)[1], n - 1
    question = N_(
        "ALiBi's second of eight heads has slope «slope». What does it take off the score “«row»” → “«to»”, "
        "«back» places back?"
    )
    how = N_("«slope» × «back» = «answer», whatever stands in the words.")
    names = dict(row=reading.tokens[n - 1], to=reading.tokens[0])
    checks.number(
        question,
        slope * back,
        key="position_check",
        hint=N_("ALiBi takes off the same amount for every place in between."),
        how=how,
        slope=f"{slope:g}",
        back=back,
        **names,
    )


def common_mistakes(reading: Any) -> None:
    law = frame.cached(sh.law, sh.Demo(sentence.of(reading)))
    found = frame.cached(po.offsets)
    mistakes.show(
        "position",
        ["invariant", "decoder", "extrapolate", "constant", "odd", "order", "beyond"],
        carried=power(law.carried),
        unmoved=f"{law.unmoved:.1f}",
        masked=f"{law.masked:.1f}",
        apart=power(float(found.apart.max())),
        odd=frame.cached(po.odd_width),
        rows=lengths.TRAINED,
        last=lengths.TRAINED - 1,
    )


def words() -> None:
    headings.fold("The words of this page", lambda: prose("position", "words"))
