"""A mixture, really trained: who learns what with and without balancing, who finds a seat, where each letter goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core import moe
from core.lab.text import SENTENCE
from core.nets import mixture as net
from core.topics.feedforward import mixture as toy
from pages.parts.feedforward import experts, strips
from pages.shared import controls, frame, headings
from pages.shared.asks import check as checks
from pages.shared.asks import predict
from pages.shared.pictures import bars, code, figures, lines, live, palette, stack
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, filled, plain, prose

BALANCE = "moe_balance"
KINDS = {
    "none": N_("no balancing"),
    "weak": N_("balancing loss × 0.01"),
    "aux": N_("balancing loss × 0.1"),
    "bias": N_("bias only"),
}
OTHERS = {
    "top2": N_("two experts a letter"),
    "dense": N_("one FFN, as wide as an expert"),
    "wide": N_("one FFN, as wide as all"),
}
BLANK = "␣"


def _names() -> list[str]:
    return [_("expert {n}").format(n=e + 1) for e in range(net.EXPERTS)]


# ---- while it learns ----

OPTIONS = {
    "even": N_("an eighth each"),
    "third": N_("about a third to one"),
    "most": N_("more than half to one"),
    "all": N_("everything to one, for good"),
}
TRUE = N_(
    "At step «step» one expert gets «most» of all letters, mean of «seeds» runs. "
    "Whoever is chosen learns, and who has learned is chosen. Later it partly heals: «end» at the end."
)
WRONG = {
    "even": N_("Nothing asks for that. At step «step» one expert gets «most», at the end «end»."),
    "third": N_("More: at step «step» one expert gets «most» of all letters. At the end it is «end»."),
    "most": N_("Less: the most that one expert ever gets is «most», at step «step». At the end it is «end»."),
    "all": N_("Nearly, for a moment: «most» at step «step». But it heals in part, to «end» at the end."),
    "?": N_("Drag the slider to step «step»: there one expert gets «most», mean of «seeds» runs."),
}


OPENS = ("moe_loads_left", "moe_loads_right", "moe_several", *(f"moe_seats_{kind}" for kind in net.SHIPPED))


def _crowding(most: float) -> str:
    return "even" if most < 0.2 else "third" if most < 0.5 else "most" if most < 0.98 else "all"


def learning() -> None:
    """The guess; then the same steps without and with balancing, side by side under one slider."""
    most, step = frame.cached(toy.worst, "none")
    end = float(net.loads("none")[:, -1, toy.BLOCK].max(-1).mean())
    answer = _crowding(most)
    question = N_(
        "«n» experts, one for each letter, and nothing that balances them. What share does the busiest get at the worst moment?"
    )
    values = dict(n=net.EXPERTS, step=step, most=f"{most:.0%}", seeds=len(net.SEEDS), end=f"{end:.0%}")
    asked = predict.Prediction(BALANCE, question, OPTIONS, answer, WRONG | {answer: TRUE}, opens=OPENS)
    if predict.ask(asked, **values) is None:
        return
    st.fragment(_loads)()
    prose("feedforward", "loads", **values, even=f"{1 / net.EXPERTS:.1%}")


def _loads() -> None:
    other = controls.choice("Beside it", {k: KINDS[k] for k in ("weak", "aux", "bias")}, "aux", key="moe_with")
    dial = controls.Dial("moe_step", N_("Step of training"), net.STOPS, 19)
    for column, kind in zip(st.columns(2, gap="medium"), ("none", other), strict=True):
        with column:
            st.markdown(f"**{_(KINDS[kind])}**")
            found = frame.cached(toy.learning, kind)
            said = _("step {step}: the busiest expert has {share}")
            bars.show(
                live.Picture(
                    key=f"moe_loads_{'left' if kind == 'none' else 'right'}",
                    wordless=True,
                    quantity="load",
                    says=_("The share of all letters that each expert gets, step by step; outlined: an even share."),
                    slider=dial.slider(together=True, hidden=kind != "none"),
                    captions=[
                        said.format(step=s, share=f"{b:.0%}") for s, b in zip(found.steps, found.busiest, strict=True)
                    ],
                    released=dial.receive,
                ),
                _names(),
                found.loads,
                ghost=np.full(net.EXPERTS, 1 / net.EXPERTS),
                high=1.0,
                percent=True,
                row=22,
                column=_("expert"),
            )


def formulas() -> None:
    """The router, its gates, and the two ways to balance."""
    prose("feedforward", "router")
    prose("feedforward", "balancing")
    code.show(moe.CHOSEN)


def losses() -> None:
    """What balancing is for: not the loss. All kinds, three seeds each."""
    found, (whole, used) = frame.cached(toy.losses), toy.parameters()
    head = [f"| {_('trained')} | {_('loss, nats a letter')} | {_('lowest to highest')} |", "|---|---:|---:|"]
    rows = [
        f"| {_((KINDS | OTHERS)[kind])} | {mean:.3f} | {low:.3f} – {high:.3f} |"
        for kind, (low, mean, high) in found.items()
    ]
    st.markdown("\n".join([*head, *rows]))
    gain = f"{round(found['none'][1], 3) - round(found['aux'][1], 3):.3f}"
    spread = f"{max(round(high, 3) - round(low, 3) for low, _mean, high in found.values()):.3f}"
    sizes = dict(whole=f"{whole:,}", used=f"{used:,}", seeds=len(net.SEEDS), steps=net.STEPS)
    means = {kind: f"{found[kind][1]:.3f}" for kind in ("aux", "dense", "wide")}
    prose("feedforward", "losses", gain=gain, spread=spread, **sizes, **means)


def several() -> None:
    """More experts a letter than the run was trained with."""
    found = frame.cached(toy.several, "aux")
    ks = np.arange(1, net.EXPERTS + 1)
    lines.show(
        live.Picture(
            key="moe_several",
            wordless=True,
            quantity="loss",
            says=_("The loss when each letter is sent to more experts than in training."),
        ),
        found.loss[None],
        ks,
        [Series(_(KINDS["aux"]), "ffn", dots=True)],
        x=Axis(_("experts a letter, k")),
        y=Axis(_("loss, nats a letter")),
        tall=200,
    )
    prose("feedforward", "several", one=f"{found.loss[0]:.2f}", all=f"{found.loss[-1]:.2f}")


# ---- seats ----


def seats() -> None:
    """Capacity under a slider: who finds a seat in each expert, and what the runs lose by it."""
    dial = controls.Dial(
        "moe_seats", N_("Capacity"), net.CAPACITIES, 1.25, shown=tuple(f"× {c:.2f}" for c in net.CAPACITIES)
    )
    most = max(float(frame.cached(toy.rationed, kind).places[-1]) for kind in net.SHIPPED)
    said = _("{places} seats each: {dropped} of the letters find none, loss {loss}")
    for column, kind in zip(st.columns(2, gap="medium"), net.SHIPPED, strict=True):
        found = frame.cached(toy.rationed, kind)
        rows = zip(found.places, found.dropped, found.loss, strict=True)
        with column:
            st.markdown(f"**{_(KINDS[kind])}**")
            stack.show(
                live.Picture(
                    key=f"moe_seats_{kind}",
                    wordless=True,
                    quantity="letters",
                    says=_("For each expert, letters that found a seat and letters that did not, at each capacity."),
                    slider=dial.slider(together=True, hidden=kind != "none"),
                    captions=[said.format(places=p, dropped=f"{d:.0%}", loss=f"{x:.2f}") for p, d, x in rows],
                    released=dial.receive,
                ),
                np.stack([found.seated, found.turned_away], -1).astype(np.float64),
                _names(),
                [_("seated"), _("no seat")],
                roles=("ffn", "warn"),
                high=max(most, float((found.seated + found.turned_away).max())),
            )
    prose("feedforward", "seats", **seat_numbers())


def seat_numbers() -> dict[str, str]:
    """At a capacity of a quarter more than an even share, and at an even one."""
    made = {}
    for kind in net.SHIPPED:
        loss, dropped = (one.mean(0) for one in net.by_capacity(kind))
        at = net.CAPACITIES.index(1.25)
        made |= {
            f"{kind}_loss": f"{loss[at]:.2f}",
            f"{kind}_free": f"{net.final(kind).mean():.2f}",
            f"{kind}_dropped": f"{dropped[at]:.0%}",
        }
    return made


# ---- where the letters go ----


def spelled(text: str) -> None:
    """The visitor's sentence, letter by letter, on the ground of the expert it was sent to."""
    letters = toy.letters_of(text, SENTENCE)
    prose("feedforward", "toy", n=net.EXPERTS)
    kind = controls.choice("Trained with", {k: KINDS[k] for k in net.SHIPPED}, "aux", key="moe_kind")
    found = frame.cached(toy.routing, kind, letters)
    _grounds(letters, found.experts)
    prose(
        "feedforward", "spelled", told=f"{frame.cached(toy.explained, kind):.0%}", letters=len(letters), of=net.LENGTH
    )


@st.fragment
def sentence(text: str) -> None:
    """Where each letter of the visitor's sentence goes, what each expert is for, and the bands."""
    spelled(text)
    specialities()
    sankey(text)


def training() -> None:
    """How it learned, what it costs, who finds a seat; and the real ones."""
    formulas()
    headings.section("Who is chosen learns")
    learning()
    if predict.answer(BALANCE):
        losses()
        headings.section("More than one expert")
        several()
        headings.section("Seats")
        st.fragment(seats)()
    headings.section("Stored and used")
    published()
    check()


def _grounds(letters: str, experts: np.ndarray) -> None:
    """Every letter on the ground of its expert, whose number stands below it, for those who see no colour."""
    signs = tuple(BLANK if letter == " " else letter for letter in letters)
    strips.show(
        live.Picture(
            key="moe_letters",
            quantity="experts",
            says=_("Your sentence in each block, letter by letter: the ground and the number tell the expert."),
        ),
        [strips.Strip(_("block {i}").format(i=block), signs, own) for block, own in enumerate(experts)],
        kinds=True,
    )
    st.caption(_("The small number is the expert.") + " " + filled(_("«sign» is a blank."), sign=BLANK))


def specialities() -> None:
    """What each expert of the last block is sent, over all kept texts."""
    kind = controls.Setting("moe_kind").now()
    head = [
        f"| {_('expert')} | {_('share of all letters')} | {_('its letters, and how much of each it gets')} |",
        "|---|---:|---|",
    ]
    rows = []
    for one in frame.cached(toy.specialities, kind):
        letters = " · ".join(f"{plain(BLANK if a == ' ' else a)} {share:.0%}" for a, share in one.letters)
        rows.append(f"| {one.expert + 1} | {one.share:.0%} | {letters or '–'} |")
    st.markdown("\n".join([*head, *rows]))
    prose("feedforward", "specialities", told=f"{frame.cached(toy.explained, kind):.0%}")


def sankey(text: str) -> None:
    """Letters to experts, as bands as wide as how often they go there."""
    letters, kind = toy.letters_of(text, SENTENCE), controls.Setting("moe_kind").now()
    links = frame.cached(toy.routing, kind, letters).links(toy.BLOCK)
    signs = list(dict.fromkeys(letter for letter, _e, _n in links))
    says = filled(
        _("Bands from «letters» different letters to «experts» experts; the widest is «widest»."),
        letters=len(signs),
        experts=len({e for _a, e, _n in links}),
        widest=_widest(links),
    )
    _draw_sankey(signs, links, says)


def _widest(links: list[tuple[str, int, int]]) -> str:
    letter, expert, often = max(links, key=lambda link: link[2])
    return f"{BLANK if letter == ' ' else letter} → {expert + 1} (× {often})"


def _draw_sankey(signs: list[str], links: list[tuple[str, int, int]], says: str) -> None:
    import plotly.graph_objects as go  # loaded only where it is shown

    used = sorted({e for _a, e, _n in links})
    names = [*(BLANK if s == " " else s for s in signs), *(_("expert {n}").format(n=e + 1) for e in used)]
    ink = [figures.colour("quiet")] * len(signs) + [figures.colour("ffn")] * len(used)
    flow: dict[str, Any] = dict(
        source=[signs.index(a) for a, _e, _n in links],
        target=[len(signs) + used.index(e) for _a, e, _n in links],
        value=[n for _a, _e, n in links],
    )
    words = dict(color=palette.PAPER[0 if st.context.theme.type == "dark" else 1], size=14, shadow="none")
    node = dict(label=names, color=ink, pad=8, thickness=14)
    drawn = go.Figure(go.Sankey(node=node, link=flow, textfont=words))
    drawn.update_layout(height=420, margin=dict(l=8, r=8, t=8, b=8))
    st.plotly_chart(drawn, key="moe_sankey", alt=says, config={"displayModeBar": False})


# ---- real ones ----


def published() -> None:
    """Stored and used, of three published mixtures."""
    found = toy.published()
    stack.show(
        live.Picture(
            key="moe_published",
            wordless=True,
            quantity="parameters",
            says=_("All parameters of three published models, split into those that one token meets and the rest."),
        ),
        np.array([[one.used, one.whole - one.used] for one in found], np.float64),
        [one.name for one in found],
        [_("met by one token"), _("experts it is not sent to")],
        roles=("a", "quiet"),
    )
    names = (_("experts in a block that a token meets"), _("used by a token"), _("share"))
    head = [f"| | {' | '.join(names)} |", "|---|---:|---:|---:|"]
    rows = []
    for one in found:
        meets = f"{one.active} / {one.experts}" + (f" + {one.shared} {_('shared')}" if one.shared else "")
        rows.append(f"| {plain(one.name)} | {meets} | {one.used:,} | {one.used / one.whole:.0%} |")
    st.markdown("\n".join([*head, *rows]))
    small, large = min(found, key=lambda one: one.router), max(found, key=lambda one: one.router)
    sizes = dict(least=f"{small.router:,}", most=f"{large.router:,}")
    prose("feedforward", "published", small=small.name, large=large.name, **sizes)
    st.page_link(
        "pages/14_ledger.py",
        label=_("Every tensor of them, counted: the ledger"),
        query_params={"preset": toy.SPARSE[0]},
    )


def check() -> None:
    """Mixtral's experts that a token does not meet, by hand."""
    one = toy.published()[0]
    checks.number(
        N_("«name» stores «whole» parameters, and a token meets «used». What percentage does it meet?"),
        100 * one.used / one.whole,
        key="moe_check",
        hint=N_("Divide what a token meets by what is stored, and take it times 100."),
        how=N_("«used» / «whole» × 100 = «answer»."),
        name=one.name,
        whole=f"{one.whole:,}",
        used=f"{one.used:,}",
    )


MISTAKES = ("collapse", "better", "topics", "half", "cut", "memory")


def mistake_numbers() -> dict[str, object]:
    """What the mistakes about experts speak of."""
    (most, step), one, kept = frame.cached(toy.worst, "none"), toy.published()[0], experts.numbers()
    end = float(net.loads("none")[:, -1, toy.BLOCK].max(-1).mean())
    told = f"{frame.cached(toy.explained, 'aux'):.0%}"
    real = dict(name=one.name, stored=f"{one.whole:,}", used=f"{one.used:,}")
    half = dict(own=kept["own"], fixed=kept["fixed"])
    return (
        dict(peak=f"{most:.0%}", step=step, settled=f"{end:.0%}", told=told)
        | real
        | half
        | experts.grain_numbers()
        | seat_numbers()
    )
