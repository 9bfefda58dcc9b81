"""Experiments with linear layers, one open at a time: arrows, one weight, deformation, stacking, independence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from core.topics.projections import linear as ln
from core.topics.projections import product
from core.topics.projections import query as pj
from pages.parts.projections.library import library
from pages.parts.projections.sizes import cost, shapes
from pages.parts.projections.turning import Room
from pages.shared import controls, frame
from pages.shared.pictures import lines, live, matrix, plane
from pages.shared.text import N_, _, prose, say

NAMES = {
    "arrows": N_("Two arrows"),
    "weight": N_("One weight"),
    "map": N_("Turn, stretch, project"),
    "stack": N_("Stack layers"),
    "alone": N_("Each on its own"),
    "shapes": N_("Shapes"),
    "cost": N_("Qwen3-8B"),
    "library": N_("A library"),
}


# ---- two arrows ----

Q_ARROW = controls.Dial("arrow_q", N_("Turn q"), ln.DEGREES, unit="°")
K_ARROW = controls.Dial("arrow_k", N_("Turn k"), ln.DEGREES, unit="°")
TOWARDS = {0: N_("same direction"), 90: N_("right angle"), 180: N_("opposite")}


def arrows(room: Room) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with right:
        prose("projections", "arrows")
        long = controls.pick("Length of k", ln.LONG, 1.0, key="arrow_long")
        with st.container(horizontal=True):
            for degrees, label in TOWARDS.items():
                st.button(_(label), key=f"towards_{degrees}", on_click=_point, args=(degrees,))
    with left:
        made = frame.cached(ln.arrows, long)
        side = 1.15 * max(1.0, long)
        plane.show(
            live.Picture(
                key="arrows",
                wordless=True,
                quantity="dot",
                says=_("Two arrows that can be turned, their dot product, the cosine and the angle between them."),
                slider=Q_ARROW.slider(),
                released=controls.receivers(Q_ARROW, K_ARROW),
            ),
            np.zeros((0, 2)),
            [],
            moving=made.tips,
            movers=["q", "k"],
            roles=("k", "q", "k"),
            look=plane.Look(
                pointed=True,
                readout={"q·k": made.dot, "cos": made.cosine, _("angle in degrees"): made.angle},
                bounds=(-1.5 * side, 1.5 * side, -side, 1.45 * side),  # room above for the numbers
                second=K_ARROW.slider(),
            ),
            most=620,
        )


def _point(degrees: int) -> None:
    """q at an angle to where k stands."""
    Q_ARROW.keep((int(K_ARROW.now()) + degrees) % 360)


# ---- one weight ----


def weight(room: Room) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with right:
        which = controls.pick("Matrix", pj.MAPS, "k", key="weight_of")
        made = frame.cached(product.nudged, room.demo, which)
        prose("projections", "weight", i=made.place[0], j=made.place[1], real=f"{made.real:.3f}")
    side = 1.1 * float(np.abs(made.points).max())
    dial = controls.Dial("weight_at", N_("The weight"), made.stops, made.stops[made.at])
    with left:
        plane.show(
            live.Picture(
                key="weight",
                quantity=which,
                says=_("Two numbers of every token's vector, while one weight of the matrix is changed."),
                slider=dial.slider(),
                released=dial.receive,
            ),
            made.points,
            room.names,
            roles=(which, "a"),
            look=plane.Look(
                first=tuple(np.argsort(-np.abs(made.points[-1, :, 0] - made.points[0, :, 0])).tolist()),
                bounds=(-side, side, -0.7 * side, 0.7 * side),
            ),
            titles=(
                _("number {j} of {name}").format(j=made.place[1], name=which),
                _("number {j} of {name}").format(j=made.other, name=which),
            ),
            most=620,
        )


# ---- a matrix deforms the plane ----

PRESETS = {
    "rotate": N_("turn"),
    "scale": N_("stretch"),
    "shear": N_("shear"),
    "mirror": N_("mirror"),
    "project": N_("project"),
}
ENTRIES = ("map_a", "map_b", "map_c", "map_d")
FIRST = (1.2, 0.6, -0.3, 0.9)
PLAY = controls.Dial(
    "map_play",
    N_("From nothing to M"),
    tuple(range(3 * ln.STEPS + 1)),
    3 * ln.STEPS,
    shown=tuple(f"{stop / ln.STEPS:.2f}" for stop in range(3 * ln.STEPS + 1)),
)


def deform(room: Room) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with right:
        prose("projections", "map")
        with st.container(horizontal=True):
            for name, label in PRESETS.items():
                st.button(_(label), key=f"map_{name}", on_click=_preset, args=(name,))
        shown = [f"{x:g}" for x in ln.ENTRIES]
        entries = []
        for pair in (0, 2):
            for column, i in zip(st.columns(2), (pair, pair + 1), strict=True):
                with column:
                    entries.append(controls.live_slider("abcd"[i], ln.ENTRIES, shown, FIRST[i], key=ENTRIES[i]))
        made = frame.cached(ln.deform, *entries)
        _about(room, made)
    with left:
        stages = (N_("1: turn by {angle}°"), N_("2: stretch by {one} and {two}"), N_("3: turn by {angle}°"))
        plane.show(
            live.Picture(
                key="map",
                quantity="map",
                says=_(
                    "A grid and a circle while a matrix deforms them: turned, stretched along two axes, turned again."
                ),
                slider=PLAY.slider(),
                captions=[_stage(made, stop, stages) for stop in range(3 * ln.STEPS + 1)],
                released=PLAY.receive,
            ),
            np.zeros((0, 2)),
            [],
            moving=made.arrows,
            movers=["v₁", "v₂"],
            roles=("quiet", "q", "k"),
            look=plane.Look(
                pointed=True,
                shapes=(plane.Shape(made.grid), plane.Shape(made.circle, "a", width=2.5, fill=True)),
                bounds=(-4.2, 4.2, -3, 3),
            ),
            most=620,
        )


def _stage(made: ln.Deform, stop: int, stages: tuple[str, ...]) -> str:
    stage = min(2, stop // ln.STEPS)
    part = (stop - stage * ln.STEPS) / ln.STEPS
    one, two = (1 + part * (s - 1) for s in made.stretch)
    angle = part * made.turns[0 if stage == 0 else 1]
    return _(stages[stage]).format(angle=f"{angle:.0f}", one=f"{one:.2f}", two=f"{two:.2f}")


def _preset(name: str) -> None:
    for key, value, first in zip(ENTRIES, ln.PRESETS[name], FIRST, strict=True):
        controls.Setting(key, first).keep(value)
    PLAY.keep(0)


def _about(room: Room, made: ln.Deform) -> None:
    one, two = made.stretch
    say(
        "Singular values «one» and «two», determinant «det», rank «rank».",
        one=f"{one:.2f}",
        two=f"{abs(two):.2f}",
        det=f"{made.determinant:.2f}",
        rank=made.rank,
    )
    real = frame.cached(product.spectrum, room.demo, "q")
    numbers = dict(most=f"{real.values[0]:.2f}", least=f"{real.values[-1]:.2f}", lost=real.lost)
    prose("projections", "spectrum", **numbers, n=len(real.values), kept=f"{real.kept:.0%}")


# ---- a stack of layers ----

DEPTH = controls.Dial("stack_depth", N_("Layers"), tuple(range(1, ln.DEEPEST + 1)))


def stack(room: Room) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with right:
        seed = controls.pick("Seed", range(6), 0, key="stack_seed")
        made = frame.cached(ln.stack, seed)
        at = int(DEPTH.now()) - 1
        numbers = dict(gap=f"{made.gap[at]:.0e}", bent=f"{made.left[at, 1]:.0%}", depth=at + 1)
        prose("projections", "stack" if at else "stack_one", **numbers)
        prose("projections", "stack_real", real=f"{frame.cached(product.collapsed, room.demo):.0e}")
    with left:
        template = _("Depth {depth} · two ways to compute the straight line differ by {gap} · SiLU: {left} unexplained")
        captions = [
            template.format(depth=d + 1, gap=f"{made.gap[d]:.1g}", left=f"{made.left[d, 1]:.0%}")
            for d in range(ln.DEEPEST)
        ]
        lines.show(
            live.Picture(
                key="stack",
                quantity="stack",
                says=_("What comes out of a stack of layers as one input grows."),
                slider=DEPTH.slider(),
                captions=captions,
                released=DEPTH.receive,
            ),
            made.values,
            made.xs,
            [lines.Series(_("only linear layers"), "q"), lines.Series(_("SiLU between them"), "warn", dash=True)],
            x=lines.Axis(_("the input, along one direction")),
            y=lines.Axis(_("one output, brought to height 1"), low=-1.1, high=1.1),
        )


# ---- only its own output ----


def alone(room: Room) -> None:
    made = frame.cached(product.alone, room.demo)
    names = room.names[: len(made.linear)]
    prose("projections", "alone")
    for column, name, values, says in zip(
        st.columns(2, gap="medium"),
        ("alone", "mixed"),
        (made.linear, made.mixed),
        (N_("The linear layer: how far each query moves"), N_("The whole head: how far each output moves")),
        strict=True,
    ):
        with column:
            st.markdown(f"**{_(says)}**")
            matrix.show(
                live.Picture(key=name, quantity=name, says=_(says)),
                values,
                rows=names,
                columns=names,
                look=matrix.Look(
                    row_title=N_("set to zero"),
                    column_title=N_("moves"),
                    row_role="warn",
                    column_role="q",
                    digits=1,
                    tall=420,
                ),
            )
    others = made.linear[~np.eye(len(names), dtype=bool)]
    template = N_("Largest movement of another token: «linear» through the layer, «mixed» through the head.")
    say(
        template,
        linear=f"{others.max(initial=0):.1g}",
        mixed=f"{np.tril(made.mixed.T, -1).max(initial=0):.2f}",
    )
    if len(names) < len(room.names):
        say("This text is long: only its first «n» tokens are tried.", n=len(names))


LABS: dict[str, Callable[[Room], None]] = {
    "arrows": arrows,
    "weight": weight,
    "map": deform,
    "stack": stack,
    "alone": alone,
    "shapes": shapes,
    "cost": cost,
    "library": library,
}
