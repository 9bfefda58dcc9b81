"""Below the experiments on linear layers: downloads, code, a question to check, common mistakes, the words."""

from __future__ import annotations

import streamlit as st

from core import attention as at
from core.topics.projections import linear as ln
from core.topics.projections import product
from core.topics.projections import query as pj
from core.trace import as_npz
from pages.parts.projections.turning import Room
from pages.shared import frame, headings
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes
from pages.shared.pictures import code as codes
from pages.shared.text import N_, _, prose


def downloads(room: Room) -> None:
    """X, the three matrices, and what comes of them."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.download_button(
            _("The numbers (.npz)"), lambda: as_npz(product.arrays(room.demo)), "projections.npz", key="npz"
        )


def code(which: str) -> None:
    """The line that makes the vectors, and the one that turns the query."""
    codes.show({"k": at.K, "v": at.V}.get(which, at.Q))


def check(room: Room) -> None:
    """The score of one key from its place in the plane."""
    turn = frame.cached(pj.turn, room.demo)
    key = min(2, len(room.names) - 1)  # the first words may still be guessed about
    x = float(turn.keys[key, 0])
    question = N_(
        "In the plane of keys, “«name»” stands at x = «x», and q has length «length». What is its score at 0°?"
    )
    values = dict(name=room.names[key], x=f"{x:.2f}", length=f"{turn.length:.2f}")
    checks.number(
        question,
        x * turn.length,
        key="check_score",
        hint=N_("At 0° the query lies along x, so only the key's x counts. Multiply by a length."),
        how=N_("«x» × «length» = «answer»."),
        **values,
    )


def common_mistakes(room: Room) -> None:
    q = ln.projections(ln.QWEN3_8B)[0]
    biased = ln.Layer(q.name, q.n_in, q.n_out, bias=True)
    wrong = frame.cached(ln.quoted)
    found = frame.cached(pj.alike, room.demo)
    values = dict(
        bias=f"{biased.params - q.params:,}",
        weights=f"{q.params:,}",
        macs=f"{q.macs:,}",
        flops=f"{q.flops / 1e6:.1f}",
        true=", ".join(f"{x:.2f}" for x in wrong.softmax),
        total=f"{wrong.total:.2f}",
        d_k=turn_width(room),
        d=len(frame.cached(product.product, room.demo, "q").w),
        asks=room.asks,
    )
    names = ["bias", "transpose", "flops", "width", "library", "shape"]
    if found and found.asked not in (found.token, len(room.names) - 1):
        names.insert(0, "similar")
        values |= dict(near=room.names[found.token], asked=room.names[found.asked])
        values |= dict(weight=f"{found.weight:.3f}", asked_weight=f"{found.asked_weight:.3f}")
    mistakes.show("projections", names, **values)


def turn_width(room: Room) -> int:
    """d_k, read off the turned query."""
    return frame.cached(pj.turn, room.demo).vectors.shape[1]


def words() -> None:
    headings.fold("The words of this page", lambda: prose("projections", "words"))
