"""Experts on four machines: who sits where is the visitor's to say, what travels is counted; and products, timed."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab.text import SENTENCE
from core.presets import presets
from core.topics.feedforward import machines as lab
from core.topics.feedforward import mixture as toy
from pages.parts.feedforward import bends
from pages.shared import controls, frame, readers
from pages.shared.asks import check as checks
from pages.shared.pictures import live, stack
from pages.shared.text import N_, _, prose, say

START = lab.Demo("").homes
ASKED = controls.Held("moe_timed")


def _homes(text: str) -> tuple[int, ...] | None:
    found = readers.places(len(START))(text)
    return found if found and max(found) < lab.MACHINES else None


HOMES = controls.Setting("moe_homes", START, _homes)


def four(text: str) -> None:
    """A machine is a column of buttons, one for each of its experts; a press moves the expert on to the next."""
    letters = toy.letters_of(text, SENTENCE)
    prose(
        "feedforward",
        "machines",
        letters=len(letters),
        n=lab.MACHINES,
        trips=len(letters) * lab.BLOCKS,
        blocks=lab.BLOCKS,
    )
    homes = HOMES.now()
    for machine, column in enumerate(st.columns(lab.MACHINES, gap="small")):
        with column.container(border=True, horizontal=True, vertical_alignment="center", key=f"machine_{machine}"):
            st.markdown(f"**{_machine(machine)}**", width="content")
            for expert in (e for e, home in enumerate(homes) if home == machine):
                label = _("expert {n} →").format(n=expert + 1)
                st.button(label, key=f"moe_home_{expert}", on_click=_moved, args=(expert,))
    with st.container(horizontal=True):
        st.button(_("Fewest trips for this text"), key="moe_best", on_click=lambda: HOMES.keep(lab.best(letters)))
        st.button(_("As at first"), key="moe_again", on_click=HOMES.forget)
    found = frame.cached(lab.traffic, lab.Demo(letters, homes))
    _work(found)
    say(
        "**«crossing» of «moves»** trips leave their machine, there and back: **«bytes» bytes**. "
        "The busiest machine works «wait» times as long as an even share, and all wait for it.",
        crossing=found.crossing,
        moves=found.moves,
        bytes=f"{found.bytes:,}",
        wait=f"{found.wait:.2f}",
    )


def _machine(machine: int) -> str:
    return _("machine {n}").format(n=machine + 1)


def _moved(expert: int) -> None:
    homes = list(HOMES.now())
    homes[expert] = (homes[expert] + 1) % lab.MACHINES
    HOMES.keep(tuple(homes))


def _work(found: lab.Traffic) -> None:
    own = np.diag(found.sent)
    stack.show(
        live.Picture(
            key="moe_work",
            quantity="letters",
            says=_("Letters that each machine computes: its own, and those that came from other machines."),
        ),
        np.stack([own, found.work - own], -1).astype(np.float64),
        [_machine(m) for m in range(lab.MACHINES)],
        [_("its own letters"), _("came from elsewhere")],
        roles=("ffn", "warn"),
        high=float(max(found.moves / 2, found.work.max())),
    )


def timing() -> None:
    """Many small products against one grouped, on the machine that serves this page, when asked."""
    st.button(_("Time it on this machine"), key="moe_time", on_click=ASKED.keep, args=(True,))
    if ASKED.now():
        rows = [frame.cached(lab.timed, n) for n in lab.CROWDS]
        head = [
            f"| {_('experts')} | {_('token by token')} | {_('expert by expert')} | {_('one grouped product')} |",
            "|---:|---:|---:|---:|",
        ]
        body = [
            f"| {r.experts} | " + " | ".join(f"{1000 * t:.2f} ms" for t in (r.by_token, r.by_expert, r.grouped)) + " |"
            for r in rows
        ]
        st.markdown("\n".join([*head, *body]))
        most = rows[-1]
        say(
            "With «n» experts, one grouped product takes «times» of the time of one product an expert; the results are the same to «gap».",
            n=most.experts,
            times=f"{most.grouped / most.by_expert:.0%}",
            gap=bends.power(max(r.gap for r in rows)),
        )
    prose("feedforward", "grouped", tokens=lab.TOKENS, rounds=lab.ROUNDS)


def check() -> None:
    """What one token costs on the wire, by hand."""
    config = presets()[toy.SPARSE[0]].config
    width, blocks, active = config.d_model, config.n_layers, config.moe.n_active
    checks.number(
        N_(
            "Mixtral: vectors of width «width» in bf16, «active» experts in each of «blocks» blocks. "
            "If every expert sits elsewhere, how many MiB does one token send and get back?"
        ),
        width * 2 * active * 2 * blocks / 2**20,
        key="moe_wire",
        hint=N_("One vector: width times 2 bytes. It goes there and comes back, for each expert, in each block."),
        how=N_("«width» × 2 bytes × 2 ways × «active» experts × «blocks» blocks / 2²⁰ = «answer» MiB."),
        width=f"{width:,}",
        active=active,
        blocks=blocks,
    )
