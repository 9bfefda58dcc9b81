"""Flash, tile by tile on a real head, and what torch's own kernel takes in memory and time."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.topics.efficient import flash as fl
from core.topics.efficient import skipped as sk
from pages.shared import address, controls, frame, spine
from pages.shared.asks import predict
from pages.shared.pictures import figures, lines, live, matrix
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose, say

SIZE = controls.Setting("flash_n")
SHOWN_SIZES = tuple(n for n in fl.SIZES if n <= fl.LIVE)


def demo() -> fl.Demo:
    """The head of the first long story that all other pages show first."""
    return fl.Demo(frame.cached(fl.story))


def prediction(found: fl.Tiles) -> None:
    """How far from plain attention is the end?"""
    options = {"0.1": "0.1", "0.001": "0.001", "none": N_("none, but for rounding")}
    because = {
        "0.1": N_(
            "Halfway it is off by more than that, true. But every tile puts the sums so far right, and after the last "
            "one no number differs by more than «gap»: rounding."
        ),
        "0.001": N_(
            "One would expect an approximation to leave something. But nothing was left out, only added up in another "
            "order: no number differs by more than «gap», which is rounding."
        ),
        "none": N_("The same numbers, added up in another order: no number differs by more than «gap»."),
        "?": N_("None: no number differs by more than «gap», which is rounding. Drag to the last tile."),
    }
    question = N_("Guess first: after the last tile, how far is it from plain attention?")
    predict.ask(
        predict.Prediction("flash_gap", question, options, "none", because, opens=("flash_away",)),
        gap=figures.number(found.gap),
    )


def tiles() -> None:
    """One query, 64 tiles of keys: what is held on the left, how far it is from the plain output on the right."""
    found = frame.cached(fl.tiles, demo())
    prose("efficient", "tiles", tile=fl.TILE, n=len(found.scores), tiles=len(found.high))
    prediction(found)
    if address.changed("flash guessed", predict.answer("flash_gap") is not None):
        st.rerun()  # the last sentence of the page waits for it
    at = tuple(range(1, len(found.high) + 1))
    dial = controls.Dial("flash_tile", N_("Tiles read"), at, 4)
    left, right = st.columns(2, gap="medium")
    with left:
        _row(found, dial)
    with right:
        if predict.answer("flash_gap"):
            _away(found, dial)
        else:
            say("Guess, then the distance from plain attention appears here.")
    whole, held = found.held
    prose("efficient", "held", whole=f"{whole:,}", held=f"{held:,}")
    if spine.deep():
        mean, most = found.rescaled
        prose("efficient", "rescaled", mean=f"{mean:.1f}", most=most)


def _row(found: fl.Tiles, dial: controls.Dial) -> None:
    """The scores met so far and the running maximum."""
    n, frames = len(found.scores), []
    for step in range(len(found.high)):
        met = np.arange(n) < (step + 1) * fl.TILE
        run = np.repeat(found.high, fl.TILE)[:n]
        frames.append([np.where(met, found.scores, np.nan), np.where(met, run, np.nan)])
    said = _("tile {i} of {n}: maximum {high}, sum {total}, old sums × {factor}")
    captions = [
        said.format(
            i=i + 1,
            n=len(found.high),
            high=figures.number(float(m)),
            total=figures.number(float(s)),
            factor=figures.number(float(f)),
        )
        for i, (m, s, f) in enumerate(zip(found.high, found.total, found.factor, strict=True))
    ]
    lines.show(
        live.Picture(
            key="flash_row",
            wordless=True,
            quantity="scaled",
            says=_("The scores of one query, tile by tile, and the largest one so far."),
            slider=dial.slider(together=True),
            captions=captions,
            released=dial.receive,
        ),
        np.array(frames),
        np.arange(n),
        [Series(_("scores read"), "q"), Series(_("largest so far"), "warn", dash=True)],
        x=Axis(_("key")),
        y=Axis(_("score")),
        tall=130,
    )


def _away(found: fl.Tiles, dial: controls.Dial) -> None:
    lines.show(
        live.Picture(
            key="flash_away",
            wordless=True,
            quantity="distance",
            says=_("How far the output so far is from plain attention, after each tile."),
            slider=dial.slider(together=True, hidden=True),
        ),
        np.stack([found.away, found.wrong]),
        np.array(dial.stops),
        [Series(_("with rescaling"), "a"), Series(_("rescaling forgotten"), "k", dash=True)],
        x=Axis(_("tiles read")),
        y=Axis(_("distance, relative"), log=True, low=1e-7, high=3),
        moving=np.array(dial.stops, float),
        tall=160,
    )


# ---- tiles that are skipped ----

MASKS = {
    "causal": N_("all before it"),
    "window": N_("nearest"),
    "strided": N_("strided"),
    "random": N_("random"),
}


def skipped() -> None:
    """Which tiles must be computed, by the size of a tile."""
    kind = controls.choice("Pattern", MASKS, "causal", key="skip_kind", hide_label=True)
    found = frame.cached(sk.run, kind)
    dial = controls.Dial("skip_tile", N_("Queries and keys in a tile"), sk.SIZES, 8)
    line = _("{computed} of {tiles} tiles computed: {pairs} pairs for {open} open ones")
    captions = [
        line.format(computed=f"{c:,}", tiles=f"{t:,}", pairs=f"{p:,}", open=f"{found.open:,}")
        for c, t, p in zip(found.computed, found.tiles, found.pairs, strict=True)
    ]
    left, right = st.columns(2, gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="skipped",
                quantity="allowed",
                says=_("How much of each tile is open; tiles without an open pair are skipped."),
                slider=dial.slider(),
                captions=captions,
                released=dial.receive,
            ),
            found.cells,
            rows=None,
            columns=None,
            look=matrix.Look(from_zero=True, tall=300, closed=N_("skipped")),
            shut=found.cells == 0,
        )
    with right:
        prose("efficient", "skipped", n=sk.N, read=sk.READ)


# ---- torch's own kernel ----


def kernel() -> None:
    """Recorded for all sizes; measured here and now on a button."""
    live_: dict[int, fl.Cost] = controls.Held("kernel").now() or {}
    prose("efficient", "kernel", d=fl.D_HEAD)
    with st.container(horizontal=True, vertical_alignment="center"):
        n = controls.pick("Tokens", SHOWN_SIZES, 2048, key="flash_n")
        st.button(_("Measure it here, now"), key="flash_measure", on_click=_measure, args=(n,))
    head = "| " + " | ".join(_(one) for one in HEADS) + " |\n|---:|---:|---:|---:|---:|---|\n"
    st.markdown(head + "\n".join(_line(live_.get(one.n, one), one.n in live_) for one in frame.cached(fl.recorded)))


def _measure(n: int) -> None:
    """On a press: the sizes that are offered are bounded, and one is measured at a time."""
    held = controls.Held("kernel")
    held.keep((held.now() or {}) | {n: fl.measured(n)})


HEADS = (
    N_("tokens"),
    N_("plain: memory"),
    N_("kernel: memory"),
    N_("plain: time"),
    N_("kernel: time"),
    N_("when measured"),
)


def _line(cost: fl.Cost, now: bool) -> str:
    memory = [f"{size / 1e6:,.1f} MB" for size in (cost.plain_bytes, cost.flash_bytes)]
    taken = [f"{1000 * seconds:,.1f} ms" for seconds in (cost.plain_seconds, cost.flash_seconds)]
    where = _("here, now") if now else _("once, recorded")
    return f"| {cost.n:,} | " + " | ".join([*memory, *taken, where]) + " |"
