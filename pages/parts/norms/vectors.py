"""A norm by hand: six numbers, two dimensions, one gain for two tokens, eps and half precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from core.topics.norms import vectors as numbers
from core.topics.norms.vectors import Vector
from pages.parts.norms import six
from pages.shared import controls, frame, headings, readers, spine
from pages.shared.asks import predict
from pages.shared.pictures import figures, lines, live, matrix, plane
from pages.shared.text import N_, _, prose, say

MOVES = {"one": N_("one number"), "shift": N_("all + c"), "scale": N_("all × c")}
LABELS = {"one": N_("Its value"), "shift": N_("Added to all"), "scale": N_("All times")}
NOTICES = "notices"  # the guess
KINDS = {"layer": "LayerNorm", "rms": "RMSNorm"}
HIGHEST = 99.0
NEAR = 1e-3  # what counts as no change: rounding is far smaller, eps too
TIMES = 300.0  # what float16 cannot square

BAR = controls.Setting("six_bar", 3, readers.whole(0, 5), heard="bar")
TYPED = controls.Setting("six", " ".join(f"{x:g}" for x in numbers.SIX))
GAIN = controls.Dial(
    "gain", N_("Gain and shift, from A's to B's"), numbers.BLENDS, 0.0, shown=tuple(f"{x:.0%}" for x in numbers.BLENDS)
)
WAY = controls.Dial("norm_way", N_("On the way"), numbers.PATH, 0.0, shown=tuple(f"{x:.0%}" for x in numbers.PATH))
SHRINK = controls.Dial("shrink", N_("The vector ×"), numbers.TINY, 1.0, shown=tuple(map(figures.number, numbers.TINY)))


# ---- six numbers ----


def read(text: str) -> Vector | None:
    """'2 -1 0.5 3 1 4.5' -> six numbers; None for anything else."""
    number = readers.number(-HIGHEST, HIGHEST)
    found = [number(part) for part in text.translate(str.maketrans("−,;，；、", "-     ")).split()[:7]]
    return tuple(found) if len(found) == 6 and None not in found else None


def vector() -> Vector:
    return read(TYPED.now()) or numbers.SIX


def _dial(move: str, x: Vector, place: int) -> controls.Dial:
    stops = numbers.stops(move, x, place)
    shown = tuple(figures.number(stop, 2) for stop in stops)
    return controls.Dial(f"six_{move}", LABELS[move], stops, numbers.rest(move, x, place), shown=shown)


def _receive(move: str, x: Vector, place: int) -> Callable[[str, Any], None]:
    """A number that is let go of is written into the vector; a touch on another takes that one."""
    dial = _dial(move, x, place)

    def receive(name: str, value: Any) -> None:
        if name == "bar":
            BAR.receive(name, value)
            dial.forget()
        elif move == "one" and name == "six_one" and isinstance(value, int | float):
            put = readers.near(dial.stops)(str(value))
            TYPED.keep(" ".join(f"{put if i == place else old:g}" for i, old in enumerate(x)))
        else:
            dial.receive(name, value)

    return receive


def bars(x: Vector) -> None:
    """The vector under the hand, and both norms of it."""
    headings.section("Six numbers through a norm")
    place = BAR.now()
    _guess(x)
    move = controls.choice("What moves", MOVES, "one", key="six_move", hide_label=True)
    found = frame.cached(numbers.moved, x, move, place)
    told = _("mean {mean} · spread {spread} · root mean square {size}")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        six.show(
            live.Picture(
                key="vector",
                wordless=True,
                quantity="normed",
                says=_("Six numbers, and what LayerNorm and RMSNorm make of them. Dashed: the mean."),
                slider=_dial(move, x, place).slider(together=True),
                captions=[
                    told.format(mean=_number(m), spread=_number(s), size=_number(r))
                    for m, s, r in zip(found.mean, found.spread, found.size, strict=True)
                ],
                released=_receive(move, x, place),
            ),
            {"x": found.x, "LayerNorm(x)": found.layer, "RMSNorm(x)": found.rms},
            marked=place if move == "one" else None,
        )
    with right:
        prose("norms", "six")
        if predict.answer(NOTICES) is not None:
            prose("norms", "invariant")
        if spine.deep():
            controls.typed("Six numbers", TYPED.default, key="six", longest=120)
            if read(TYPED.now()) is None:
                say("Type six numbers from −«most» to «most», with blanks between. Here is an example.", most=HIGHEST)
    if spine.deep():
        headings.fold("Number by number", lambda: _steps(x, move, place))


def _number(x: float) -> str:
    return figures.number(float(x), 2)


def _steps(x: Vector, move: str, place: int) -> None:
    """Every step of both norms under the same slider."""
    found = numbers.moved(x, move, place)
    rows = {"x": found.x, "x − μ": found.centred, "LayerNorm": found.layer, "RMSNorm": found.rms}
    values = np.stack([*rows.values()], 1)
    matrix.show(
        live.Picture(
            key="six_steps",
            quantity="norm_steps",
            says=_("The steps of both norms, number by number."),
            slider=_dial(move, x, place).slider(together=True, hidden=True),
        ),
        values,
        rows=list(rows),
        columns=[str(i) for i in range(6)],
        look=matrix.Look("", N_("number"), "a", "quiet", most=80, flat=30, legible=True),
    )
    beside = numbers.beside_torch(x)
    gaps = {name: figures.number(float(f"{gap:.1g}")) for name, gap in vars(beside).items()}
    prose("norms", "formulas", eps=figures.number(numbers.EPS), **gaps)


def _guess(x: Vector) -> None:
    """Three is added to all six: who notices? Measured on the visitor's own numbers."""
    moved = frame.cached(numbers.notices, x)
    layer, rms = (change > NEAR for change in moved["shift"])
    answer = {(True, False): "layer", (False, True): "rms", (True, True): "both", (False, False): "none"}[layer, rms]
    options = {"layer": N_("only LayerNorm's"), "rms": N_("only RMSNorm's"), "both": N_("both"), "none": N_("neither")}
    told = N_(
        "LayerNorm takes the mean off first, and the 3 with it: its largest change is «layer». RMSNorm keeps the mean: here it is «rms»."
    )
    because = dict.fromkeys((*options, predict.UNSURE), told)
    if answer == "rms":
        because["none"] = _("True of multiplying, not of adding. ") + _(told)
        because["both"] = _("Half of it. ") + _(told)
    asked = N_("Guess first: 3 is added to all six numbers. Whose output changes?")
    predict.ask(
        predict.Prediction(NOTICES, asked, options, answer, because),
        layer=_number(moved["shift"][0]) if layer else "0",
        rms=_number(moved["shift"][1]),
    )


# ---- two dimensions ----


def flat() -> None:
    """Where all points of the plane go."""
    headings.section("In two dimensions: a circle, and two points")
    kind = controls.choice("Norm", KINDS, "rms", key="flat", hide_label=True)
    found = frame.cached(numbers.flat, kind)
    turn = np.linspace(0, 2 * np.pi, 65)
    circle = np.sqrt(2) * np.stack([np.cos(turn), np.sin(turn)], -1)[None]
    shapes = [plane.Shape(circle, width=1.5)]
    if kind == "layer":
        shapes.append(plane.Shape(np.array([[[-3.0, 3.0], [3.0, -3.0]]]), "warn", width=2.0, dash=True))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        plane.show(
            live.Picture(
                key="flat",
                wordless=True,
                quantity="flat",
                says=_("Points of the plane on their way through a norm."),
                slider=WAY.slider(),
                released=WAY.receive,
            ),
            found.points,
            [""] * found.points.shape[1],
            roles=("a", "a"),
            look=plane.Look(shapes=tuple(shapes), bounds=(-3.2, 3.2, -2.6, 2.6)),
            tall=340,
        )
    with right:
        prose("norms", f"flat_{kind}")


# ---- gain and shift ----


def undo() -> None:
    """One gain and one shift cannot give two tokens back."""
    headings.section("Can gain and shift undo a norm?")
    found = frame.cached(numbers.undo)
    told = _("off by {a} for A, {b} for B")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="undone",
                wordless=True,
                quantity="undone",
                says=_("Two tokens, and what one gain and one shift give back of each."),
                slider=GAIN.slider(),
                captions=[told.format(a=_number(a), b=_number(b)) for a, b in found.off],
                released=GAIN.receive,
            ),
            found.rows,
            rows=["A", _("A back"), "B", _("B back")],
            columns=[str(i) for i in range(4)],
            look=matrix.Look("", N_("number"), "a", "quiet", most=80, flat=34, legible=True),
        )
    with right:
        prose("norms", "undo", least=_number(found.off.max(1).min()))


# ---- eps and number formats ----


def tiny() -> None:
    """eps inside the root and after it, on a vector that becomes tiny."""
    headings.section("eps inside the root, or after it")
    found = frame.cached(numbers.tiny)
    inside, outside = found.largest
    told = _("largest number: {inside} with √(σ² + ε), {outside} with σ + ε")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="tiny",
                wordless=True,
                quantity="eps_place",
                says=_("How large a vector is after a norm, as it becomes tiny before it."),
                slider=SHRINK.slider(),
                captions=[
                    told.format(inside=f"{a:.4f}", outside=f"{b:.4f}") for a, b in zip(inside, outside, strict=True)
                ],
                released=SHRINK.receive,
            ),
            np.stack([found.inside, found.outside]),
            np.array(numbers.TINY),
            [lines.Series("√(σ² + ε)", "q"), lines.Series("σ + ε", "k", dash=True)],
            x=lines.Axis(_("the vector ×"), log=True),
            y=lines.Axis(_("spread after the norm"), low=0.0),
            moving=np.array(numbers.TINY),
            tall=240,
        )
    with right:
        prose("norms", "tiny", x=" ".join(f"{x:g}" for x in numbers.FOUR), eps=figures.number(numbers.TINY_EPS))


def half() -> None:
    """RMSNorm of large numbers in float16, computed there and in float32."""

    def inside() -> None:
        naive, right = (" ".join(_number(x) for x in row) for row in frame.cached(numbers.in_half, vector(), TIMES))
        prose("norms", "half", times=f"{TIMES:g}", naive=naive, right=right)

    headings.fold("Numbers too large for float16", inside)
