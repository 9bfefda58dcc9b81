"""The masks page: the mask on the live model, painted or picked, its leak detector and the next word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.masks import gradients
from core.topics.masks import patterns as mk
from pages.shared import controls, frame, spine
from pages.shared.pictures import bars, live, matrix
from pages.shared.text import N_, _, filled, prose, say

KINDS = {
    "window": N_("sliding window"),
    "global": N_("window + first token"),
    "prefix": N_("prefix"),
    "padding": N_("padding"),
}
SIZES = {
    "window": N_("How far back, itself included"),
    "global": N_("How far back, and the first token always"),
    "prefix": N_("Tokens that everybody sees"),
    "padding": N_("Tokens that count as padding"),
}
SHOWN = {"weights": N_("the weights"), "added": N_("the mask: 0 or −∞")}
AT_IDEA = 5  # words at the idea
FEW, LOW = 18, 224  # rows up to which a cell has room for its number, and pixels for all of them


# ---- the mask in the URL ----


def mask_of(reading: Reading, layer: int, head: int, kind: str) -> mk.Demo:
    """Pattern, size and painting as the URL says; whatever does not fit this sentence is left out."""
    n = len(reading.ids)
    written = painting(n).now()
    paint = mk.unspell(written, n) if written else None
    return mk.Demo(sentence.of(reading), layer, head, kind, int(dial(kind, n).now()), paint or mk.Paint())


def painting(n: int) -> controls.Setting:
    """Read only if it was made for as many tokens."""
    return controls.Setting("mask_paint", "", lambda text: text if mk.unspell(text, n) else None)


def dial(kind: str, n: int) -> controls.Dial:
    """The size of the pattern; the stop that is the causal mask, or none at all, says so."""
    stops, causal = mk.stops(kind, n), mk.usual(kind, n)
    names = {causal: _("causal")} | ({n: _("no mask")} if kind == "prefix" else {})
    shown = tuple(f"{stop} · {names[stop]}" if stop in names else str(stop) for stop in stops)
    return controls.Dial(f"mask_{kind}", SIZES[kind], stops, causal, shown=shown)


def causal(reading: Reading, layer: int, head: int) -> mk.Demo:
    """The model as it was trained."""
    return mk.Demo(sentence.of(reading), layer, head, "window", len(reading.ids))


def reset() -> None:
    """Back to the causal mask."""
    controls.forget("mask_paint", "mask_kind", *(f"mask_{kind}" for kind in KINDS))


def unmask(n: int) -> None:
    """Everybody sees everything."""
    reset()
    controls.Setting("mask_kind").keep("prefix")
    controls.Setting("mask_prefix").keep(n)


def receiver(demo: mk.Demo) -> Callable[[str, Any], None]:
    """What the picture lets go: the slider's stop, a stroke of the brush."""
    n, size = len(demo.text), dial(demo.kind, len(demo.text))

    def receive(name: str, value: Any) -> None:
        size.receive(name, value)
        stroke = matrix.stroke(value, n, n) if name == "paint" and n <= mk.PAINTABLE else None
        if stroke:
            plain = mk.pattern(demo.kind, n, demo.size)
            painting(n).keep(mk.spell(demo.paint.stroke(*stroke).needed(plain)) or None)

    return receive


def slider(demo: mk.Demo, *, hidden: bool = False) -> live.Slider | None:
    """None where there is only one size: a text of one token."""
    size = dial(demo.kind, len(demo.text))
    return size.slider(together=True, hidden=hidden) if len(size.stops) > 1 else None


# ---- the pictures ----


def bench(reading: Reading, layer: int, head: int) -> mk.Demo:
    """Controls, the map under the mask, the lamp and the next word. Returns what is chosen."""
    shown = "weights"
    with st.container(horizontal=True, vertical_alignment="center"):
        kind = controls.choice("Pattern", KINDS, "window", key="mask_kind", hide_label=True)
        if spine.deep():
            shown = controls.choice("Shown", SHOWN, "weights", key="mask_shows", hide_label=True)
        st.button(_("Plain causal mask"), on_click=reset, key="mask_reset")
        st.button(_("No mask"), on_click=unmask, args=(len(reading.ids),), key="mask_off")
    demo = mask_of(reading, layer, head, kind)
    left, right = st.columns([3, 2], gap="medium")
    with st.spinner(_("Reading under every size of the mask …"), show_time=False):
        found = frame.cached(mk.frames, demo.sweep)
    with left:
        picture(demo, found, shown)
    with right:
        lamp(demo)
        next_word(demo, found)
    if spine.deep():
        prose("masks", f"kind_{kind}", **facts(demo, found))
    return demo


def picture(demo: mk.Demo, found: mk.Frames, shown: str) -> None:
    """One head under the mask, at every stop. A press opens or closes cells in every head of every block."""
    n, tokens = len(demo.text), sentence.names(demo.text.tokens)
    added = np.where(found.shut, -np.inf, 0.0)
    matrix.show(
        live.Picture(
            key="masked",
            quantity="weights" if shown == "weights" else "masked",
            says=_("One head of the live model under your mask. Hatched cells are closed, in all heads of all blocks."),
            slider=slider(demo),
            captions=_open(found, n) if spine.deep() else None,
            released=receiver(demo),
        ),
        found.weights if shown == "weights" else added,
        rows=tokens,
        columns=tokens,
        look=_look(shown, n),
        shut=found.shut,
        paint=n <= mk.PAINTABLE,
    )
    _below(demo)


def _open(found: mk.Frames, n: int) -> list[str]:
    return [_("{open} of {all} cells are open").format(open=int((~one).sum()), all=n * n) for one in found.shut]


def _look(shown: str, n: int) -> matrix.Look:
    look = matrix.Look(tall=LOW, row_height=min(24, LOW // n) if n <= FEW else None, from_zero=shown == "weights")
    return look if look.from_zero else replace(look, bound=1.0, digits=0, closed=N_("−∞"))


def _below(demo: mk.Demo) -> None:
    """What the brush does, what takes its paint off, and the numbers."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(demo.text) > mk.PAINTABLE:
            template = N_("Painting is for texts of at most «most» tokens: a longer one would not fit into a link.")
            say(template, most=mk.PAINTABLE)
        elif demo.paint != mk.Paint():
            label = filled(_("Wash off the paint («count»)"), count=len(demo.paint.open) + len(demo.paint.shut))
            st.button(label, on_click=controls.forget, args=("mask_paint",), key="wash")
        if not spine.deep():
            return
        st.download_button(_("The numbers (.npz)"), lambda: mk.run(demo).as_npz(), "masks.npz", key="mask_npz")


def lamp(demo: mk.Demo) -> None:
    """Does any output depend on an input it must not know? Autograd says it, the mask is not asked."""
    with st.spinner(_("Following the gradients …"), show_time=False):
        found = frame.cached(gradients.influence, demo.wiring, False)
    count, pairs = found.leaks[-1], int(found.forbidden.sum())
    with st.container(border=True, key="lamp"):
        if len(found.rows) < len(demo.text):
            say("A long text: «rows» of its «n» outputs are followed.", rows=len(found.rows), n=len(demo.text))
        if not count:
            template = N_("○ **No leak.** Forbidden pairs: «pairs», and every gradient among them is exactly 0.")
            say(template, pairs=pairs)
            return
        row, key = found.worst
        query = found.rows[row]
        template = N_(
            "● **Leak.** «count» of «pairs» forbidden gradients are not 0. Worst: the output at “«row»” (place «at») moves "
            "with the input “«key»” (place «from_»), gradient «slope»."
        )
        names = dict(row=demo.text.tokens[query], at=query, key=demo.text.tokens[key], from_=key)
        say(template, count=count, pairs=pairs, slope=f"{found.values[-1, row, key]:.3g}", **names)


def next_word(demo: mk.Demo, found: mk.Frames) -> None:
    """The likeliest next words at every stop, moving with the map."""
    at = mk.stops(demo.kind, len(demo.text)).index(demo.size)
    words = len(found.words) if spine.deep() else AT_IDEA
    st.markdown(f"**{_('Next word')}** · {_('outlined: the untouched model')}")
    receive = dial(demo.kind, len(demo.text)).receive
    says = N_("How likely each word is to come next under this mask.")
    picture = bars.next_picture("masked_next", says, slider=slider(demo, hidden=True), released=receive)
    tokens = [word.token for word in found.words[:words]]
    bars.next_tokens(picture, tokens, found.probs[:, :words], found.before[:words], marked=0)
    template = N_("p(«word») = «now», untouched «then»")
    say(template, word=found.answer.token, now=f"{found.probs[at, 0]:.3f}", then=f"{found.answer.p:.3f}")


def facts(demo: mk.Demo, found: mk.Frames) -> dict[str, object]:
    """What the sentence below the picture tells about this pattern."""
    stops, p = mk.stops(demo.kind, len(demo.text)), found.probs[:, 0]
    layers = subject.model().config.n_layers
    jump = int(np.abs(np.diff(p)).argmax()) if len(p) > 1 else 0
    after = min(jump + 1, len(p) - 1)
    causal = stops.index(mk.usual(demo.kind, len(demo.text)))
    return dict(
        word=found.answer.token,
        before=stops[jump],
        after=stops[after],
        low=f"{p[jump]:.3f}",
        high=f"{p[after]:.3f}",
        size=demo.size,
        layers=layers,
        reach=min(len(demo.text), gradients.reach(demo.size, layers)),
        first=demo.text.tokens[0],
        loss=f"{p[-1]:.3f}",
        then=f"{found.answer.p:.3f}",
        whole=f"{p[causal]:.3f}",
        hidden=f"{p[max(0, causal - 1)]:.3f}",
    )


# ---- from block to block ----


def travel(demo: mk.Demo) -> None:
    """The gradients themselves, after one block, two, ...: how far a word's influence has come."""
    if not controls.switch("Show the gradients, block after block", False, key="mask_travel"):
        return
    with st.spinner(_("Following the gradients …"), show_time=False):
        found = frame.cached(gradients.influence, demo.wiring, True)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        depth = controls.Dial("mask_depth", N_("Blocks passed"), found.depths, found.depths[-1])
        moved, tokens = [int((one != 0).sum()) for one in found.values], sentence.names(demo.text.tokens)
        matrix.show(
            live.Picture(
                key="gradients",
                quantity="influence",
                says=_(gradients.INFLUENCE.says),
                slider=depth.slider(),
                captions=[
                    _("{count} gradients are not zero, {leaks} of them forbidden").format(count=count, leaks=leak)
                    for count, leak in zip(moved, found.leaks, strict=True)
                ],
                released=depth.receive,
            ),
            found.values,
            rows=[tokens[i] for i in found.rows],
            columns=tokens,
            look=matrix.Look(
                from_zero=True,
                row_title=N_("output"),
                column_title=N_("input"),
                bound=_bound(found.values),
                tall=380,
                point=_worst(found),
                row_height=34 if len(found.rows) < len(demo.text) else None,
            ),
        )
    with right:
        st.latex(gradients.INFLUENCE.formula)
        prose("masks", "travel")


def _bound(values: np.ndarray) -> float:
    """The scale's end: few large gradients would drown all others."""
    alive = values[values > 0]
    return float(np.quantile(alive, 0.9)) if alive.size else 1.0


def _worst(found: gradients.Influence) -> tuple[tuple[int, int], ...]:
    return (found.worst,) if found.worst else ()
