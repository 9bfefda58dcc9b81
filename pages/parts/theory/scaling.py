"""What size buys: seven nets under one budget, the law they follow, what each writes, and published formulas beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from core.nets import scaling as own
from core.topics.theory import scaling as sc
from pages.shared import controls, frame, spine
from pages.shared.asks import predict
from pages.shared.pictures import code, figures, lines, live
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, lang, prose

ROLES = ("quiet", "k", "warn", "v", "attn", "q", "a")  # the seven nets, smallest first
HIGHEST = 4.2  # nats a letter: just above who guesses blindly among 64 letters


def _dial(word: str, budgets: np.ndarray, asked: int) -> controls.Dial:
    """A slider over budgets; the address says their powers of ten."""
    stops = tuple(round(math.log10(c), 3) for c in budgets)
    return controls.Dial(word, N_("Budget C"), stops, stops[asked], shown=tuple(figures.power(c) for c in budgets))


def _budget() -> controls.Dial:
    return _dial("scale_c", frame.cached(sc.race).budgets, sc.near(sc.ASKED))


# ---- a budget, seven nets ----


def budget() -> None:
    """A guess; then the seven curves over the budget, and what is best under the finger."""
    guessed = prediction() is not None
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _race(guessed)
    with right:
        prose("theory", "scaling", **numbers())
        if guessed:
            prose("theory", "scaling_told", **numbers())
    if guessed and spine.deep():
        shares()
        prose("theory", "scaling_split", **numbers())


def prediction() -> str | None:
    """Which of the seven is best with a budget that is small for the largest?"""
    race, stop = frame.cached(sc.race), sc.near(sc.ASKED)
    best, big = int(race.best[stop]), sc.largest(stop)
    options = {"largest": N_("the largest"), "middle": N_("one in between"), "smallest": N_("the smallest")}
    because = {
        "middle": N_(
            "Of the sizes, «best» parameters: with this budget it reads «best_read» letters and comes to «best_loss» nats. "
            "The largest reads only «big_read» and stays at «big_loss»; "
            "the smallest had read all letters before, where its line ends, and stays at «small»."
        ),
        "largest": N_(
            "In the end the largest is best, that is right. But this budget lets it read only «big_read» letters: «big_loss» "
            "nats. With «best» parameters it is «best_read» letters and «best_loss»."
        ),
        "smallest": N_(
            "It is the first to have read all letters, that is right. But it has no room for what they teach: «small» nats. "
            "With «best» parameters it is «best_loss»."
        ),
        "?": N_(
            "«best» parameters, in between: «best_loss» nats. The largest has «big_loss»; the smallest had read all letters "
            "before and stays at «small»."
        ),
    }
    answer = {0: "smallest", len(race.sizes) - 1: "largest"}.get(best, "middle")
    question = N_(
        "Guess first: a budget of «c» operations, seven nets to choose from. Which one ends with the least loss?"
    )
    return predict.ask(
        predict.Prediction("budget", question, options, answer, because, opens=("race_split",)),
        c=figures.power(race.budgets[stop]),
        best=f"{race.sizes[best]:,}",
        best_read=_rounded(race.read[best, stop]),
        best_loss=f"{race.losses[best, stop]:.2f}",
        big_read=_rounded(race.read[big, stop]),
        big_loss=f"{race.losses[big, stop]:.2f}",
        small=f"{_last(race.losses[0, : stop + 1]):.2f}",
    )


def _last(losses: np.ndarray) -> float:
    """The last one that was measured: a small net is through with all letters before a large one has begun."""
    return float(losses[~np.isnan(losses)][-1])


def _rounded(x: float) -> str:
    """Letters with three digits that count: 1,090,000."""
    return f"{float(f'{x:.2e}'):,.0f}"


def _race(guessed: bool) -> None:
    race, dial = frame.cached(sc.race), _budget()
    series = [Series(_("floor"), "warn", dash=True), Series(_("letter frequencies"), "quiet", dash=True)]
    flat = np.ones(len(race.budgets))
    values = np.stack([flat * own.floor(), flat * own.alone()])
    if guessed:
        series = [Series(f"N = {n:,}", role) for n, role in zip(race.sizes, ROLES, strict=True)] + series
        values = np.concatenate([race.losses, values])
    lines.show(
        live.Picture(
            key="race",
            quantity="loss",
            says=_("Loss of seven nets on letters, by the operations that were spent on training."),
            slider=dial.slider(together=True),
            captions=_race_said(race) if guessed else None,
            released=dial.receive,
        ),
        values,
        race.budgets,
        series,
        x=Axis(_("operations C = 6ND"), log=True),
        y=Axis(_("loss, nats a letter"), low=0.0, high=HIGHEST),
        moving=race.budgets,
        tall=210,
    )


def _race_said(race: sc.Race) -> list[str]:
    said = _("best: N = {n}, D = {d} letters, loss {loss} · the largest, N = {big}: D = {read}, loss {worse}")
    captions = []
    for stop, best in enumerate(race.best):
        big = sc.largest(stop)
        captions.append(
            said.format(
                n=f"{race.sizes[best]:,}",
                d=_rounded(race.read[best, stop]),
                loss=f"{race.losses[best, stop]:.2f}",
                big=f"{race.sizes[big]:,}",
                read=_rounded(race.read[big, stop]),
                worse=f"{race.losses[big, stop]:.2f}",
            )
        )
    return captions


def numbers() -> dict[str, object]:
    """For the texts."""
    laws, nets = frame.cached(sc.laws), own.nets()
    five, chosen = laws.five.at(laws.sizes[-2:]), laws.five_chosen.at(laws.sizes[-2:])
    return dict(
        nets=len(nets),
        least=f"{nets[0].parameters:,}",
        most=f"{nets[-1].parameters:,}",
        all=_rounded(float(nets[0].read()[-1])),
        different=_rounded(own.different()),
        times=f"{float(nets[0].read()[-1]) / own.different():.1f}",
        context=own.READ,
        floor=f"{own.floor():.3f}",
        alone=f"{own.alone():.2f}",
        first=f"{nets[0].losses[-1]:.2f}",
        last=f"{nets[-1].losses[-1]:.2f}",
        known=f"{laws.known.exponent:.3f} ± {laws.known.error:.3f}",
        upper=f"{laws.upper.exponent:.3f} ± {laws.upper.error:.3f}",
        upper_nets=sc.LARGEST,
        miss=f"{laws.known.miss:.0%}",
        chosen=f"{laws.chosen.exponent:.3f}",
        chosen_floor=f"{laws.chosen.floor:.2f}",
        said=" · ".join(f"{x:.2f}" for x in five),
        said_chosen=" · ".join(f"{x:.2f}" for x in chosen),
        measured=" · ".join(f"{x:.2f}" for x in laws.losses[-2:]),
    )


def shares() -> None:
    """How the best one splits its budget, as the same slider moves."""
    race, dial = frame.cached(sc.race), _budget()
    stops = range(len(race.budgets))
    sizes = np.array(race.sizes, float)
    values = np.stack(
        [sizes[race.best], race.read[race.best, stops], sizes[[sc.largest(i) for i in stops]]],
    )
    lines.show(
        live.Picture(
            key="race_split",
            quantity="compute",
            says=_("Parameters and letters of the best net, by the budget."),
            slider=dial.slider(together=True),
            released=dial.receive,
        ),
        values,
        race.budgets,
        [
            Series(_("N of the best"), "a"),
            Series(_("D of the best"), "v"),
            Series(_("N, take the largest"), "quiet", dash=True),
        ],
        x=Axis(_("operations C = 6ND"), log=True),
        y=Axis(_("parameters, letters"), log=True),
        moving=race.budgets,
        tall=200,
    )


# ---- the law they follow ----


def law() -> None:
    """Loss above the floor against size, both logarithmic; a net that is pressed shows what it writes."""
    st.latex(sc.POWER.formula)
    nets = own.nets()
    options = {str(i): f"{net.parameters:,}" for i, net in enumerate(nets)}
    left, right = st.columns([3, 2], gap="medium")
    with right:
        chosen = int(controls.choice("Net with N parameters", options, "3", key="scale_net"))
        _texts(nets[chosen])
    with left:
        says = _("Loss above the floor by the number of parameters: seven nets and three fits.")
        figures.show(_law_chart, chosen, key="law", says=says, chosen=_press)
    prose("theory", "scaling_law", **numbers())


def _texts(net: own.Net) -> None:
    """What a net writes, at temperature 1, and the source itself."""
    one = _("N = {n}, one block of width {width}: loss {loss}. It writes:")
    many = _("N = {n}, {blocks} blocks of width {width}: loss {loss}. It writes:")
    said = one if net.blocks == 1 else many
    st.markdown(said.format(n=f"{net.parameters:,}", blocks=net.blocks, width=net.width, loss=f"{net.losses[-1]:.2f}"))
    st.code("\n".join(_shown(text) for text in net.writes), language=None, wrap_lines=True)
    st.caption(_("The source itself:"))
    st.code(_shown(own.source_writes()[0]), language=None, wrap_lines=True)


def _shown(text: str) -> str:
    return text.replace("\n", "↵")


def _press(i: Any) -> None:
    if isinstance(i, int) and 0 <= i < len(own.PLANS):
        controls.Setting("scale_net").keep(str(i))


def _law_chart(chosen: int) -> Any:
    """The nets as marks that can be pressed, and three fits."""
    x, y = _law_axes()
    return (_law_fits(x, y) + _law_nets(chosen, x, y)).properties(height=300)


def _law_axes() -> tuple[Any, Any]:
    alt = figures.altair()
    laws = frame.cached(sc.laws)
    over_floor = laws.losses - own.floor()
    log = alt.Scale(type="log", domain=[float(over_floor.min()) / 1.5, float(over_floor.max()) * 1.3], nice=False)
    over = f"{_('loss above the floor, nats a letter')} · {_('log scale')}"
    ticks = alt.Axis(values=[0.1, 0.2, 0.3, 0.5, 1, 2])
    return _size_axis(_around(laws.sizes)), alt.Y("over:Q", title=over, scale=log, axis=ticks)


def _size_axis(sizes: np.ndarray) -> Any:
    """Parameters, from the first of these sizes to the last."""
    alt = figures.altair()
    title, domain = f"{_('parameters N')} · {_('log scale')}", (float(sizes[0]), float(sizes[-1]))
    log = alt.Scale(type="log", domain=domain, nice=False)
    return alt.X("n:Q", title=title, scale=log, axis=alt.Axis(values=figures.ticks(*domain)))


def _around(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    """Sizes where a fit is drawn: some way beyond the nets on both sides."""
    return np.geomspace(sizes[0] / 1.5, sizes[-1] * 3, 60)


def _law_fits(x: Any, y: Any) -> Any:
    alt = figures.altair()
    laws, floor = frame.cached(sc.laws), own.floor()
    grid = _around(laws.sizes)
    fits = {
        _("all, floor known"): laws.known,
        _("largest {n}, floor known").format(n=sc.LARGEST): laws.upper,
        _("all, floor fitted"): laws.chosen,
    }
    drawn = [
        {"n": float(n), "over": float(over), "fit": name}
        for name, one in fits.items()
        for n, over in zip(grid, one.at(grid) - floor, strict=True)
    ]
    colours = alt.Scale(domain=list(fits), range=[figures.colour(role) for role in ("quiet", "v", "warn")])
    legend = alt.Legend(orient="top", columns=2)
    lined = alt.Chart(alt.InlineData(drawn)).mark_line(clip=True)
    return lined.encode(x=x, y=y, color=alt.Color("fit:N", title=None, scale=colours, legend=legend))


def _law_nets(chosen: int, x: Any, y: Any) -> Any:
    alt = figures.altair()
    laws, floor = frame.cached(sc.laws), own.floor()
    points = [
        {"n": float(n), "over": float(loss - floor), "loss": float(loss), figures.CHOSEN: i, "now": i == chosen}
        for i, (n, loss) in enumerate(zip(laws.sizes, laws.losses, strict=True))
    ]
    told = [alt.Tooltip("n:Q", title="N", format=","), alt.Tooltip("loss:Q", title=_("loss"), format=".3f")]
    size = alt.condition("datum.now", alt.value(260), alt.value(90))
    marks = alt.Chart(alt.InlineData(points)).mark_point(
        filled=True, opacity=1, cursor="pointer", color=figures.colour("a")
    )
    return marks.encode(x=x, y=y, size=size, tooltip=told).add_params(figures.pressed())


# ---- published formulas ----


def _published() -> controls.Dial:
    return _dial("published_c", sc.BUDGETS, int(np.abs(np.log(sc.BUDGETS / sc.GOPHER)).argmin()))


def tokens_prediction() -> str | None:
    """20 tokens a parameter is the rule; what do the published constants say?"""
    found = published_numbers()
    options = {"20": N_("about 20"), "90": N_("about 90"), "2": N_("about 2")}
    because = {
        "90": N_(
            "«ratio»: «n» parameters, «d» tokens. The refit gives «refit_ratio». The famous 20 comes from the paper's two "
            "other ways, which use no such formula."
        ),
        "20": N_(
            "20 is what Chinchilla was trained with, that is right, and what two other ways in the paper give. These five "
            "constants give «ratio»; the refit gives «refit_ratio»."
        ),
        "2": N_(
            "About 2 was the fashion before: GPT-3 read 300 billion tokens, that is right. These constants give «ratio»."
        ),
        "?": N_("«ratio»: «n» parameters, «d» tokens. The refit gives «refit_ratio»."),
    }
    question = N_(
        "Guess first: put Chinchilla's published constants into its formula at «c» operations. How many tokens a parameter?"
    )
    asked = predict.Prediction("tokens_each", question, options, "90", because)
    return predict.ask(asked, **found)


def published_numbers() -> dict[str, str]:
    """For the texts on published formulas."""
    printed, refit = (sc.split(k, sc.GOPHER) for k in sc.PUBLISHED.values())
    sizes = (20e9, 40e9, 70e9, 140e9)
    flat = [sc.of(sc.PRINTED, n, sc.GOPHER / 6 / n).loss for n in sizes]
    made = sc.of(sc.PRINTED, *sc.CHINCHILLA)
    return dict(
        c=figures.power(sc.GOPHER, 2),
        ratio=f"{printed.ratio:.0f}",
        n=figures.power(printed.n),
        d=figures.power(printed.d),
        refit_ratio=f"{refit.ratio:.0f}",
        flat_sizes=" · ".join(f"{n / 1e8:.0f} 亿" if lang() == "zh" else f"{n / 1e9:.0f} billion" for n in sizes),
        flat=" · ".join(f"{x:.3f}" for x in flat),
        chinchilla=f"{made.ratio:.0f}",
        tenfold=f"{float(sc.kaplan(np.array([1e10]))[0] / sc.kaplan(np.array([1e9]))[0]):.2f}",
        halving=f"{float(f'{sc.kaplan_times(0.5):.3g}'):,.0f}",
        printed_floor=f"{sc.PRINTED.e:.2f}",
    )


def published() -> None:
    """Two sets of constants under one budget; then both formulas with data without end."""
    st.latex(sc.PARAMETRIC.formula)
    told = tokens_prediction() is not None
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _valley(told)
    with right:
        prose("theory", "published", **published_numbers())
        if told:
            prose("theory", "published_told", **published_numbers())
    st.latex(sc.BEST_SIZE.formula)
    says = _("Published formulas: loss by the number of parameters when data are without end.")
    figures.show(_formulas, key="formulas", says=says)
    prose("theory", "kaplan", **published_numbers())
    code.show(sc.BEST_SIZE)


def _valley(told: bool) -> None:
    """Loss over the size at one budget; the upright line stands where the first constants have their least."""
    dial = _published()
    best = frame.cached(sc.splits)
    said = _("published: N = {n}, D/N = {ratio}, loss {loss} · refit: N = {n2}, D/N = {ratio2}, loss {loss2}")
    captions = [
        said.format(
            n=figures.power(a.n),
            ratio=f"{a.ratio:.0f}",
            loss=f"{a.loss:.3f}",
            n2=figures.power(b.n),
            ratio2=f"{b.ratio:.0f}",
            loss2=f"{b.loss:.3f}",
        )
        for a, b in zip(*best, strict=True)
    ]
    values = frame.cached(sc.valleys)
    lines.show(
        live.Picture(
            key="valley",
            quantity="parametric",
            says=_("Loss by the size when the budget is spent on it, for two sets of constants."),
            slider=dial.slider(),
            captions=captions if told else None,
            released=dial.receive,
        ),
        values if told else np.full_like(values, math.nan),
        sc.SIZES,
        [Series(_("published constants"), "a"), Series(_("refit"), "q", dash=True)],
        x=Axis(_("parameters N"), log=True),
        y=Axis(_("loss, nats a token"), low=1.5, high=5.2),
        moving=np.array([one.n for one in best[0]]) if told else None,
        tall=260,
    )


def _formulas() -> Any:
    alt = figures.altair()
    n = sc.SIZES
    named = {
        _("Kaplan 2020"): sc.kaplan(n),
        _("Chinchilla, as published"): sc.PRINTED.e + sc.PRINTED.a / n**sc.PRINTED.alpha,
        _("Chinchilla, refit"): sc.REFIT.e + sc.REFIT.a / n**sc.REFIT.alpha,
    }
    rows = [
        {"n": float(size), "loss": float(loss), "of": name}
        for name, losses in named.items()
        for size, loss in zip(n, losses, strict=True)
    ]
    colours = alt.Scale(domain=list(named), range=[figures.colour(role) for role in ("warn", "a", "q")])
    loss = f"{_('loss, nats a token')} · {_('log scale')}"
    ticks = alt.Axis(values=[1, 1.5, 2, 3, 4, 6, 8])
    lined = alt.Chart(alt.InlineData(rows)).mark_line(clip=True)
    legend = alt.Legend(orient="top", columns=2)  # three in a row are too wide for a telephone
    chart = lined.encode(
        x=_size_axis(n),
        y=alt.Y("loss:Q", title=loss, scale=alt.Scale(type="log", domain=[1, 6.5], nice=False), axis=ticks),
        color=alt.Color("of:N", title=None, scale=colours, legend=legend),
        tooltip=["of:N", alt.Tooltip("n:Q", format=".1e"), alt.Tooltip("loss:Q", format=".3f")],
    )
    return chart.properties(height=260)


def surface() -> None:
    """L(N, D) as a surface that can be turned; the best of every budget lies along its valley."""
    import plotly.graph_objects as go  # loaded only where it is shown

    which = controls.choice(
        "Constants", {"printed": N_("published constants"), "refit": N_("refit")}, "printed", key="constants"
    )
    found = frame.cached(sc.surface, sc.PUBLISHED[which])
    hover = "N %{x:.2g}<br>D %{y:.2g}<br>L %{z:.3f}"
    best = dict(mode="lines", line=dict(color=figures.colour("warn"), width=7), name=_("best of every budget"))
    n, d, loss = found.valley
    drawn = go.Figure(
        [
            go.Surface(
                x=found.n, y=found.d, z=found.losses, colorscale=figures.shades(), showscale=False, hovertemplate=hover
            ),
            go.Scatter3d(x=n, y=d, z=loss + 0.02, hovertemplate=hover, **best),
        ]
    )
    log = dict(type="log", exponentformat="power", dtick=1)
    axes = dict(
        xaxis=dict(title=_("parameters N"), **log),
        yaxis=dict(title=_("tokens D"), **log),
        zaxis=dict(title=_("loss, nats a token")),
        camera=dict(eye=dict(x=1.75, y=1.75, z=0.8)),
    )
    drawn.update_layout(
        height=460, margin=dict(l=0, r=0, t=0, b=0), scene=axes, legend=dict(x=0, y=1), font=dict(color=figures.ink())
    )
    says = _("Loss over parameters and tokens as a surface, with the line of the best split of every budget.")
    st.plotly_chart(drawn, key="surface", alt=says, config={"displayModeBar": False})
    prose("theory", "surface")
