"""Four benches: one pair, a whole head, the two ways to pair numbers, and where the rotation belongs."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from core import rope as rp
from core.lab import subject
from core.topics.rope import clocks as ck
from pages.parts.rope.faces import Room, pair_of, power
from pages.shared import controls, frame, readers, spine
from pages.shared.pictures import bars, code, live, matrix, plane
from pages.shared.text import N_, _, prose, say

LABS = {
    "pair": N_("One pair"),
    "head": N_("A whole head"),
    "pairing": N_("Neighbours or halves"),
    "where": N_("Where, and at what cost"),
}
PAIRINGS = {"halves": N_("halves: (0, 2), (1, 3)"), "adjacent": N_("neighbours: (0, 1), (2, 3)")}
FOUR = (1.0, 2.0, 3.0, 4.0)
STRIPES = 24
PLACE = controls.Dial("rope_m", N_("Position m"), ck.POSITIONS, 6)
WAY = controls.Dial("rope_way", N_("Vector points to"), ck.DIRECTIONS, ck.DIRECTIONS[4], unit="°")
PART = controls.Dial("rope_part", N_("Rotation done"), ck.PARTS, shown=tuple(f"{p:.0%}" for p in ck.PARTS))
OF_FOUR = controls.Dial("rope_four", N_("Position m"), ck.POSITIONS)
NUMBER = readers.number(-1000, 1000)


def bench(lab: str, room: Room) -> None:
    {"pair": one_pair, "head": whole_head, "pairing": pairing, "where": where}[lab](room)


# ---- one pair ----


def one_pair(room: Room) -> None:
    """The rotation matrix: the slider is the position, the other one turns the vector itself; both can be dragged."""
    pair = pair_of(room.pairs).now()
    theta = float(room.theta[pair])
    found = frame.cached(ck.turning, theta)
    ring = np.linspace(0, 2 * math.pi, 97)
    # at the idea the vector stays where it points: one of the frames of every position
    ways = slice(None) if spine.deep() else slice(list(ck.DIRECTIONS).index(WAY.now()), None, len(ck.DIRECTIONS))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        plane.show(
            live.Picture(
                key="one_pair",
                wordless=True,
                quantity="rotation",
                says=_("A vector and the same vector turned by its position."),
                slider=PLACE.slider(),
                released=controls.receivers(PLACE, WAY),
            ),
            np.array([[1, 0], [0, 1], [-1, 0], [0, -1]]),
            ["0", "π/2", "π", "3π/2"],
            moving=found.moving[ways],
            movers=["R x", "x"],
            roles=("quiet", "a", "q"),
            titles=("x₀ = Re", "x₁ = Im"),
            look=plane.Look(
                pointed=True,
                shapes=(plane.Shape(np.stack([np.cos(ring), np.sin(ring)], -1)[None]),),
                readout={_("m θ in rad"): found.radians[ways], _("in degrees"): found.degrees[ways]},
                bounds=(-1.25, 1.25, -1.2, 1.2),
                second=WAY.slider() if spine.deep() else None,
            ),
        )
    with right:
        prose("rope", "pair", i=pair, theta=f"{theta:.4g}", degrees=f"{math.degrees(theta):.1f}", d=2 * room.pairs)
        if spine.deep():
            prose("rope", "turned")


# ---- a whole head ----


def whole_head(room: Room) -> None:
    """All numbers of one head, from before the rotation to after it; the tables; the stripes."""
    which = controls.choice("Vectors of the head", {"q": N_("queries"), "k": N_("keys")}, "q", key="rope_side")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.fragment(_morph)(room, which)
    with right:
        stretch = power(frame.cached(ck.morph, room.demo, which).stretch)
        prose("rope", "head", pairs=room.pairs, last=room.pairs - 1, d=2 * room.pairs, stretch=stretch)
    _tables(room)
    _stripes(room)


def _morph(room: Room, which: str) -> None:
    values = frame.cached(ck.morph, room.demo, which).values
    matrix.show(
        live.Picture(
            key="morph",
            quantity=f"{which}_rot",
            says=_("All numbers of one head, before and after the rotation."),
            slider=PART.slider(),
            released=PART.receive,
        ),
        values,
        rows=list(room.demo.text.tokens),
        columns=None,
        look=matrix.Look(
            row_title="query" if which == "q" else "key",
            column_title="dimension",
            row_role=which,
            column_role="a",
            bound=float(np.abs(values).max()),
            tall=340,
        ),
    )


def _tables(room: Room) -> None:
    n = max(16, len(room.demo.text.tokens))
    cos, sin = frame.cached(ck.cos_sin, room.demo.text, n)
    left, right = st.columns(2, gap="medium")
    for column, name, values, quantity in ((left, "cos", cos, rp.COSINES), (right, "sin", sin, rp.SINES)):
        with column:
            matrix.show(
                live.Picture(key=f"table_{name}", quantity=quantity.name, says=_(quantity.says)),
                values,
                rows=[str(i) for i in range(n)],
                columns=None,
                look=matrix.Look(
                    row_title=N_("position"),
                    column_title="dimension",
                    row_role="quiet",
                    column_role="a",
                    bound=1.0,
                    tall=240,
                ),
            )
    say("First the cosines, then the sines, one row a position: made once, used by every head of every block.")
    code.show(rp.COSINES)


def _stripes(room: Room) -> None:
    found = frame.cached(ck.stripes, room.demo, STRIPES)
    names = [str(i) for i in range(STRIPES)]
    middle = float((found.values.max() + found.values.min()) / 2)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="stripes",
                quantity="stripes",
                says=_("Scores of one query and one key put at every position: equal along every diagonal."),
            ),
            found.values - middle,
            rows=names,
            columns=names,
            look=matrix.Look(most=18, tall=330),
        )
    with right:
        prose("rope", "stripes", **room.names, middle=f"{middle:.1f}", uneven=power(found.uneven))


# ---- neighbours or halves ----


def pairing(room: Room) -> None:
    """A vector of four numbers in both conventions, and what happens if a model is run with the wrong one."""
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    with left:
        kind = controls.choice("Pairs", PAIRINGS, "halves", key="rope_pairing")
    with right:
        x = _four_numbers()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.fragment(_four)(x, kind)
    with right:
        found = frame.cached(ck.conventions, room.demo.text)
        prose(
            "rope",
            "pairing",
            order=", ".join(str(i) for i in rp.adjacent_order(4).tolist()),
            before=f"{found.before:.3f}",
            same=f"{found.same:.3f}",
            permuted=f"{found.permuted:.3f}",
            gap_same=f"{found.gap_same:.1f}",
            gap_permuted=power(found.gap_permuted),
        )
    code.show(rp.TURNED)


def _four(x: tuple[float, ...], kind: str) -> None:
    quarter = "rotate_half(x)" if kind == "halves" else "rotate_pairs(x)"
    matrix.show(
        live.Picture(
            key="four",
            quantity="four",
            says=_("Four numbers, their quarter turn, and the sum of both with cosine and sine."),
            slider=OF_FOUR.slider(),
            released=OF_FOUR.receive,
        ),
        frame.cached(ck.four, x, kind),
        rows=["x", quarter, "x · cos", "rot(x) · sin", _("sum: x turned")],
        columns=["0", "1", "2", "3"],
        look=matrix.Look(row_title="", column_title="dimension", row_role="quiet", column_role="a", most=90, flat=44),
    )


def _four_numbers() -> tuple[float, ...]:
    default = " ".join(f"{x:g}" for x in FOUR)
    typed = controls.typed("Four numbers", default, key="rope_x", longest=60)
    numbers = [NUMBER(word) for word in typed.replace(",", " ").split()]
    if len(numbers) != 4 or None in numbers:
        say("This needs four numbers with blanks between them. Here is the example instead.")
        return FOUR
    return tuple(numbers)


# ---- where it belongs, and what it costs ----


def where(room: Room) -> None:
    """The wiring, V rotated by mistake, and the price."""
    demo = room.demo
    left, right = st.columns([1, 1], gap="medium")
    with left:
        prose("rope", "where")
        drift = frame.cached(ck.value_drift, demo)
        prose("rope", "value", key=room.words[1], drift=f"{float(drift.min()):.2f}", shifts=ck.SHIFTS[-1])
    with right:
        wrong = controls.switch("Turn V too (a bug)", False, key="rope_v")
        before = frame.cached(subject.outlook, demo.text, subject.UNTOUCHED)
        answer = before.asked
        now = frame.cached(ck.values_turned, demo.text, answer.id) if wrong else before
        st.markdown(f"**{_('Next word')}**")
        bars.next_words(bars.with_answer(now.words, now.asked), key="rope_next", answer=answer.id)
        say("p(«word») = «now», untouched «then»", word=answer.token, now=f"{now.asked.p:.3f}", then=f"{answer.p:.3f}")
    _cost(room)


def _cost(room: Room) -> None:
    found = frame.cached(ck.cost, room.demo.text)
    total = sum(found.maps) + found.rope
    left, right = st.columns([3, 2], gap="medium")
    with left:
        bars.show(
            live.Picture(
                key="rope_cost",
                quantity="multiplications",
                says=_("Shares of the multiplications in one block's attention, before any score."),
            ),
            ["W_Q", "W_K", "W_V", "W_O", "RoPE"],
            np.array([*found.maps, found.rope]) / total,
            marked=4,
            percent=True,
        )
    with right:
        share = found.rope / total
        prose(
            "rope",
            "cost",
            rope=f"{found.rope:,}",
            one=f"{found.maps[0]:,}",
            share=f"{share:.2%}",
            learned=found.learned,
            all=f"{found.all:,}",
        )
