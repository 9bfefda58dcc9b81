"""Below the picture: losses, all heads, the sink, the mixture, the spread of random scores, checks and downloads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from core import in_numpy
from core.lab import head as oh
from core.lab import story_losses as recorded
from core.lab import subject
from core.topics.attention import facts, own_vectors
from pages.parts.attention import room as room_of
from pages.parts.attention.room import Room
from pages.shared import frame, headings
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes
from pages.shared.pictures import figures, live, plane, tiles
from pages.shared.text import N_, _, prose, say


def losses(room: Room) -> None:
    """What the what-ifs cost the whole model, on stories it has not been asked about."""
    change = room.demo(room.value()).change
    if change == subject.UNTOUCHED:
        return
    template = N_(
        "Mean loss on «n» short stories: **«after»** nats a token, untouched «before»; blind guessing costs «blind»."
    )
    blind = f"{np.log(subject.model().config.vocab_size):.1f}"
    before, after = recorded.loss(subject.UNTOUCHED), recorded.loss(change)
    say(template, n=subject.story_count(), after=f"{after:.2f}", before=f"{before:.2f}", blind=blind)


def overview(room: Room) -> None:
    """All heads at once; a click opens one. Beside it, why so many of them look at the first token."""
    demo = room.demo(1.0)
    config = subject.model().config
    plain = replace(demo, layer=0, head=0, everywhere=False)
    weights, step = frame.cached(oh.overview, plain)
    headings.section("All heads")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        tiles.show(
            live.Picture(
                key="heads",
                quantity="weights",
                says=_("Every head of the model on this sentence, one block a row."),
                released=_open_head,
            ),
            weights,
            columns=config.n_heads,
            names=[f"{i // config.n_heads}.{i % config.n_heads}" for i in range(len(weights))],
            chosen=demo.layer * config.n_heads + demo.head,
        )
    with right:
        prose("attention", "overview")
        if step > 1:
            say("Reduced to fit: each cell shows the largest of «n» × «n» weights.", n=step)
        sink(room, demo)


def _open_head(name: str, value: object) -> None:
    heads = subject.model().config.n_heads
    if name == "tile" and isinstance(value, int) and 0 <= value < heads * subject.model().config.n_layers:
        room_of.LAYER.keep(value // heads)
        room_of.HEAD.keep(value % heads)


def sink(room: Room, demo: oh.Demo) -> None:
    """Why so many rows look at the first token, and whether this head is a case of it."""
    found = facts.sink(room.head(1.0))
    if found:
        numbers = dict(weight=f"{found.weight:.2f}", length=f"{found.length:.2f}", others=f"{found.others:.2f}")
        prose("attention", "sink" if found.clear else "sinkless", layer=demo.layer, head=demo.head, **numbers)


def mixture(room: Room, head: oh.Head, cell: tuple[int, int] | None) -> None:
    """The output of one token among the values it is mixed from, at every stop of the slider."""
    row = cell[0] if cell else len(room.rows) - 1
    headings.section("The output is a mixture")
    z, weights = room.frames("z"), room.frames("weights")
    flat = facts.plane(head.v, z.values)
    left, right = st.columns([3, 2], gap="medium")
    with right:
        prose("attention", "mixture", row=room.rows[row], kept=f"{flat.kept:.0%}")
    with left:
        plane.show(
            live.Picture(
                key="mixture",
                quantity="z",
                says=_("The output of one token among the values it is mixed from."),
                slider=room.dial.slider(together=True),
                released=room.dial.receive,
                redraws={room.dial.word: (room_of.MAP, room_of.TOUR)} if room.free else {},
            ),
            flat.values,
            room.columns,
            moving=flat.z[:, row : row + 1],
            movers=[room.rows[row]],
            pull=weights.values[:, row : row + 1],
            hull=True,
            titles=(_("first axis of the values"), _("second axis")),
        )


def spread(room: Room) -> None:
    """Thousands of dot products at this width: what dividing by the root does to them."""
    free = room.free(room.value())
    found = frame.cached(own_vectors.spread, free)
    headings.section("Four thousand dot products")
    numbers = dict(d_k=free.d_k, root=f"{free.d_k**0.5:.1f}", std=f"{found.std:.2f}", largest=f"{found.largest:.1f}")
    inside = dict(one=f"{found.inside[0]:.0%}", two=f"{found.inside[1]:.0%}")
    measured = _("Divided by √d_k and measured") if free.scaling else _("Measured here")
    prose("attention", "spread", measured=measured, **numbers, **inside)
    figures.show(_spread_chart, free, key="spread", says=_("How the dot products spread."))


def _spread_chart(free: own_vectors.Free) -> Any:
    found = frame.cached(own_vectors.spread, free)
    return figures.histogram(
        found.edges, found.counts, x="q · k / √d_k" if free.scaling else _("q · k"), y=_("how many")
    )


def check(room: Room) -> None:
    """One number of the last row, to be computed by hand at temperature 1."""
    head, row = room.head(room.dial.default), len(room.rows) - 1
    score, width = float(head.scores[row, 0]), head.q.shape[-1]
    question = N_("The score «row» → «column» is «score», d_k is «width», the temperature 1. What enters softmax?")
    if not head.scaling:
        question = N_("The score «row» → «column» is «score», the temperature 1, and ÷√d is off. What enters softmax?")
    root = (width**0.5 if head.scaling else 1.0) * head.temperature
    names = dict(row=room.rows[row], column=room.columns[0], score=f"{score:.2f}", width=width, root=f"{root:.3f}")
    checks.number(
        question,
        score / root,
        key="check",
        hint=N_("Between the score and softmax stands one division."),
        how=N_("«score» ÷ «root» = «answer»."),
        **names,
    )


def common_mistakes(room: Room | None) -> None:
    """The mistakes that this page can show; three of them need the visitor's own sentence."""
    names = ["range", "one", "width", "map", "vectors", "empty"]
    values: dict[str, object] = {}
    if room:
        demo = room.demo(1.0)
        itself = frame.cached(facts.unprojected, demo.text, demo.layer)
        recorded, both = frame.cached(facts.bilinear, demo, len(demo.text) - 1, 0)
        gap = facts.against_torch(room.head(1.0))
        numpy = frame.cached(in_numpy.run)
        values = dict(itself=f"{itself:.2f}", recorded=f"{recorded:.3f}", both=f"{both:.3f}", torch=f"{gap:.0e}")
        values |= dict(
            stops=numpy.stops, shape=numpy.shape, low=f"{numpy.low:.3f}".replace("-", "−"), high=f"{numpy.high:.3f}"
        )
        names += ["numpy", "unprojected", "form"]
    mistakes.show("attention", names, **values)


def words() -> None:
    headings.fold("The words of this page", lambda: prose("attention", "words"))
