"""Below the picture: losses, all heads, the sink, the mixture, the spread of random scores, checks and downloads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from core import embedded
from core import onehead as oh
from pages.parts import attention as room_of
from pages.parts.attention import Room
from pages.shared import check as checks
from pages.shared import figures, frame, mistakes, plane, tiles
from pages.shared.text import N_, _, prose, say


def losses(room: Room) -> None:
    """What the what-ifs cost the whole model, on stories it has not been asked about."""
    change = room.demo.change
    if change == embedded.UNTOUCHED:
        return
    before = frame.cached(embedded.story_loss, embedded.UNTOUCHED, most=256)
    after = frame.cached(embedded.story_loss, change, most=256)
    template = N_(
        "Mean loss on «n» short stories: **«after»** nats a token, untouched «before»; blind guessing costs «blind»."
    )
    blind = f"{np.log(embedded.model().config.vocab_size):.1f}"
    say(template, n=embedded.story_count(), after=f"{after:.2f}", before=f"{before:.2f}", blind=blind)


def overview(room: Room) -> None:
    """All heads at once; a click opens one. Beside it, why so many of them look at the first token."""
    demo = room.demo
    config = embedded.model().config
    plain = replace(demo, layer=0, head=0, temperature=demo.temperature if demo.everywhere else 1.0)
    weights, step = frame.cached(oh.overview, plain)
    st.subheader(_("All heads"), anchor=False)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        tiles.show(
            weights,
            columns=config.n_heads,
            names=[f"{i // config.n_heads}.{i % config.n_heads}" for i in range(len(weights))],
            chosen=demo.layer * config.n_heads + demo.head,
            key="heads",
            quantity="weights",
            says=_("Every head of the model on this sentence, one block a row."),
            released=_open_head,
        )
    with right:
        prose("attention", "overview")
        if step > 1:
            say("Reduced to fit: each cell shows the largest of «n» × «n» weights.", n=step)
        sink(room)


def _open_head(name: str, value: object) -> None:
    heads = embedded.model().config.n_heads
    if name == "tile" and isinstance(value, int) and 0 <= value < heads * embedded.model().config.n_layers:
        st.session_state.update(layer=value // heads, head=value % heads)


def sink(room: Room) -> None:
    """Why so many rows look at the first token."""
    found = oh.sink(room.head)
    if found:
        numbers = dict(weight=f"{found.weight:.2f}", length=f"{found.length:.2f}", others=f"{found.others:.2f}")
        prose("attention", "sink", layer=room.demo.layer, head=room.demo.head, **numbers)


def mixture(room: Room) -> None:
    """The output of one token among the values it is mixed from, at every stop of the slider."""
    st.subheader(_("The output is a mixture"), anchor=False)
    cell = room_of.chosen_cell(room, "weights")
    row = cell[0] if cell else len(room.rows) - 1
    z, weights = room.frames("z"), room.frames("weights")
    flat = oh.plane(room.head.v, z.values)
    prose("attention", "mixture", row=room.rows[row], kept=f"{flat.kept:.0%}")
    plane.show(
        flat.values,
        room.columns,
        moving=flat.z[:, row : row + 1],
        movers=[room.rows[row]],
        pull=weights.values[:, row : row + 1],
        hull=True,
        key="mixture",
        quantity="z",
        says=_("The output of one token among the values it is mixed from."),
        titles=(_("first axis of the values"), _("second axis")),
        slider=room.slider,
        released=room_of.receive_slider(room),
    )


def spread(room: Room) -> None:
    """Thousands of dot products at this width: what dividing by the root does to them."""
    free = room.free
    found = frame.cached(oh.spread, free)
    st.subheader(_("Four thousand dot products"), anchor=False)
    numbers = dict(d_k=free.d_k, root=f"{free.d_k**0.5:.1f}", std=f"{found.std:.2f}", largest=f"{found.largest:.1f}")
    inside = dict(one=f"{found.inside[0]:.0%}", two=f"{found.inside[1]:.0%}")
    prose("attention", "spread", **numbers, **inside)
    figures.histogram(
        found.edges, found.counts, x=_("q · k"), y=_("how many"), key="spread", says=_("How the dot products spread.")
    )


def check(room: Room, step: str, cell: tuple[int, int] | None) -> None:
    """One number of the chosen cell's row, to be computed by hand."""
    row, column = cell if cell and step != "z" else (len(room.rows) - 1, 0)
    head = room.head
    score, width = float(head.scores[row, column]), head.q.shape[-1]
    root = (width**0.5 if head.scaling else 1.0) * head.temperature
    question = N_(
        "The score «row» → «column» is «score», d_k is «width» and the temperature «tau». What enters softmax?"
    )
    if not head.scaling:
        question = N_(
            "The score «row» → «column» is «score», the temperature «tau», and ÷√d is off. What enters softmax?"
        )
    checks.number(
        question,
        score / root,
        key="check",
        how=N_("«score» ÷ «root» = «answer»."),
        row=room.rows[row],
        column=room.columns[column],
        score=f"{score:.2f}",
        width=width,
        tau=f"{head.temperature:.2f}",
        root=f"{root:.3f}",
    )


def common_mistakes(room: Room) -> None:
    values: dict[str, object] = {}
    if room.demo:
        demo = room.demo
        itself = frame.cached(oh.unprojected, demo.ids, demo.tokens, demo.layer)
        recorded, both = frame.cached(oh.bilinear, demo, len(demo.ids) - 1, 0)
        values = dict(itself=f"{itself:.2f}", recorded=f"{recorded:.3f}", both=f"{both:.3f}")
    names = ["range", "one", "width", "map", "vectors", "numpy", "empty"] + (
        ["unprojected", "form"] if room.demo else []
    )
    mistakes.show("attention", names, torch=f"{oh.against_torch(room.head):.0e}", **values)


def words() -> None:
    with st.expander(_("The words of this page")):
        prose("attention", "words")


def downloads(room: Room, cell: tuple[int, int] | None) -> None:
    """The trace, and a program that computes the picture from it again."""
    row = cell[0] if cell else len(room.rows) - 1
    left, right, _rest = st.columns([1, 1, 1])
    trace = room.trace
    left.download_button(
        _("The numbers (.npz)"), lambda: room_of.as_npz(trace()), "attention.npz", key="npz", width="stretch"
    )
    right.download_button(
        _("A program that computes them (.py)"),
        lambda: room_of.as_program(room, row),
        "attention.py",
        "text/x-python",
        key="program",
        width="stretch",
    )
