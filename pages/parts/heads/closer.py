"""Contributions, silence, the toy with one head too few, slabs, rank, a fresh head, checks and mistakes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from core.costs import PRECISIONS, kept
from core.lab import head as onehead
from core.lab import subject
from core.lab import text as sentence
from core.nets import neighbours as twoheads
from core.presets import presets
from core.tokenizer import Reading
from core.topics.heads import volume
from core.topics.heads.volume import Demo
from core.whatif import Change
from pages.parts.heads import volume as parts
from pages.shared import controls, frame
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes, predict
from pages.shared.pictures import bars, lines, live, matrix, stack, tiles
from pages.shared.text import N_, _, prose, say, unmarked

CLICKS = {"mute": N_("silences it"), "alone": N_("leaves it alone in its block")}


# ---- what each head adds ----


def contributions(demo: Demo) -> None:
    """Six additions and their sum, number by number."""
    found = frame.cached(volume.contributions, demo.text, demo.layer)
    heads, last = parts.shape()[1], len(demo.text) - 1
    st.subheader(_("What each head adds"), anchor=False)
    prose("heads", "contributions", layer=demo.layer, gap=f"{found.gap:.0e}", token=demo.text.tokens[last])
    table = np.concatenate([found.each[:, last], found.whole[None, last]])
    names = [parts.name_of(demo.layer, j) for j in range(heads)]
    width = table.shape[1]
    cell = controls.kept("part", (heads, 0), controls.as_cell)
    cell = cell if cell[0] <= heads and cell[1] < width else (heads, 0)
    matrix.show(
        live.Picture(
            key="parts",
            quantity="contribution",
            says=_("What every head of this block adds to the last token's vector, and their sum."),
            released=controls.released_cell(heads + 1, width, "part"),
        ),
        table,
        rows=[*names, "attn_out"],
        columns=[str(i) for i in range(width)],
        look=matrix.Look(
            row_title=N_("head"), column_title="d_model", row_role="a", column_role="quiet", row_height=22
        ),
        cell=cell,
    )
    column = table[:, cell[1]]
    *summands, whole = (f"{x:+.3f}".replace("-", "−") for x in column)
    say("Number «i»: «sum» = **«whole»**", i=cell[1], sum=" ".join(summands), whole=whole)


# ---- any number of silent heads ----


def silence(reading: Reading) -> None:
    """All maps; a click silences a head. Beside them, what the model says now."""
    _layers, heads = parts.shape()
    silent = parts.muted()
    weights, step = frame.cached(onehead.overview, onehead.Demo(sentence.of(reading), 0, 0))
    shown = weights.copy()
    places = [layer * heads + head for layer, head in silent]
    shown[places] = 0
    left, right = st.columns([3, 2], gap="medium")
    with left:
        how = controls.choice("A click on a head", CLICKS, "mute", key="click")
        tiles.show(
            live.Picture(
                key="maps",
                quantity="weights",
                says=_("Every head of the model on this sentence, one block a row; silent heads are blank."),
                released=lambda name, value: _toggle(name, value, how, silent),
            ),
            shown,
            columns=heads,
            names=[f"{name} ✕" if i in places else name for i, name in enumerate(parts.names())],
        )
        if step > 1:
            say("Reduced to fit: each cell shows the largest of «n» × «n» weights.", n=step)
    with right:
        _told(reading, silent)


def _toggle(name: str, value: Any, how: str, silent: volume.Muted) -> None:
    layers, heads = parts.shape()
    if name != "tile" or not isinstance(value, int) or not 0 <= value < layers * heads:
        return
    layer, head = divmod(value, heads)
    if how == "alone":
        now = {pair for pair in silent if pair[0] != layer} | {(layer, j) for j in range(heads) if j != head}
    else:
        now = set(silent) ^ {(layer, head)}
    keep_muted(tuple(sorted(now)))


def keep_muted(silent: volume.Muted) -> None:
    controls.keep("muted", "_".join(parts.name_of(*pair) for pair in silent) or None)


def _told(reading: Reading, silent: volume.Muted) -> None:
    change = Change(muted=silent)
    before = frame.cached(subject.outlook, sentence.of(reading), subject.UNTOUCHED).asked
    now = frame.cached(subject.outlook, sentence.of(reading), change, before.id)
    shown = bars.with_answer(now.words, now.asked)
    ids = tuple(word.id for word in shown)
    ghost = frame.cached(subject.chances, sentence.of(reading), subject.UNTOUCHED, ids)
    bars.next_words(shown, key="left_over", before=list(ghost), answer=before.id)
    if not silent:
        prose("heads", "silence")
        return
    loss, calm = (frame.cached(subject.story_loss, c) for c in (change, subject.UNTOUCHED))
    template = N_(
        "«n» of «all» heads are silent. Mean loss on «stories» short stories: **«after»** nats a token, untouched "
        "«before», blind guessing «blind»."
    )
    blind = f"{np.log(subject.model().config.vocab_size):.1f}"
    numbers = dict(n=len(silent), all=parts.shape()[0] * parts.shape()[1], stories=subject.story_count())
    say(template, **numbers, after=f"{loss:.2f}", before=f"{calm:.2f}", blind=blind)
    st.button(_("Wake them all"), key="wake", on_click=lambda: controls.forget("muted"))


# ---- a task that needs two heads ----


def _as_digits(text: str) -> tuple[int, ...] | None:
    fits = len(text) == twoheads.PLACES and text.isascii() and text.isdigit()
    return tuple(int(d) for d in text) if fits else None


def neighbours() -> None:
    """Name the left and the right neighbour: one head can see both and cannot tell them apart."""
    prose("heads", "neighbours")
    known = predict.answer("two")
    one, two = (f"{x:.1%}" for x in frame.cached(twoheads.scores).mean(1)[:2]) if known else ("", "")
    answered = predict.ask(
        predict.Prediction(
            "two",
            N_("The same budget every time. What does a second head change?"),
            {"little": N_("a little better"), "all": N_("it solves the task"), "none": N_("nothing")},
            "all",
            dict.fromkeys(
                ("little", "all", "none", predict.UNSURE),
                N_("Both neighbours right: with one head at «one» of the places, with two at «two». See for yourself."),
            ),
        ),
        one=one,
        two=two,
    )
    if answered:
        _net()


READERS = {"linear": N_("a linear layer"), "ffn": N_("an FFN")}


def _net() -> None:
    reader = controls.choice("Read by", READERS, "linear", key="toy_reader")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        one, two = st.columns(2, vertical_alignment="bottom")
        with one:
            n_heads = controls.pick("Heads", twoheads.HEADS, 1, key="toy_heads")
        with two:
            label = unmarked(_("«n» digits"), n=twoheads.PLACES)
            typed = controls.typed(label, "314159265358", key="digits", longest=60)
        digits = _as_digits(typed or "")
        if digits is None:
            say("«n» digits from 0 to 9 are needed; here is the row we start with.", n=twoheads.PLACES)
            digits = _as_digits("314159265358")
        weights, named = frame.cached(twoheads.read, n_heads, digits, reader)
        tiles.show(
            live.Picture(
                key="toy", quantity="weights", says=_("Where each head of the small net looks, one row a place.")
            ),
            weights[:8],
            columns=min(4, n_heads),
            names=[str(i) for i in range(min(8, n_heads))],
            most=150,
        )
    with right:
        wanted = twoheads.truth(digits)
        right_ones = int((named == wanted).all(-1).sum())
        said = " ".join(f"{a}‹{d}›{b}" for d, (a, b) in zip(digits, named, strict=True))
        st.code(said, language=None, wrap_lines=True)
        say("Both neighbours right at **«n»** of «all» places.", n=right_ones, all=len(digits))
        _budget(n_heads, reader)
        prose("heads", "budget", seeds=len(twoheads.SEEDS), most=twoheads.HEADS[-1], width=twoheads.WIDTH)


def _budget(n_heads: int, reader: str) -> None:
    """How well nets with so many heads do, trained on the same budget."""
    says = _("The share of places with both neighbours right, by number of heads; the mean of three trainings.")
    bars.show(
        live.Picture(key="toy_scores", quantity="accuracy", says=says),
        [str(h) for h in twoheads.HEADS],
        frame.cached(twoheads.scores, reader).mean(1),
        high=1.0,
        percent=True,
        marked=twoheads.HEADS.index(n_heads),
    )


def published() -> None:
    """What the number of heads did to a real translation model."""
    rows = volume.ABLATIONS
    best, one, many = max(r.bleu for r in rows), rows[0], rows[-1]
    prose("heads", "published", gap=f"{best - one.bleu:.1f}", many=many.n_heads, d_k=many.d_k)
    lines.show(
        live.Picture(
            key="published", quantity="bleu", says=_("Translation quality by number of heads, as the paper gives it.")
        ),
        np.array([[r.bleu for r in rows]]),
        np.array([r.n_heads for r in rows]),
        [lines.Series("BLEU", dots=True)],
        x=lines.Axis(_("heads"), log=True),
        y=lines.Axis("BLEU", low=24.0, high=27.5),  # room for the names above the points
        marks=tuple((float(r.n_heads), f"h = {r.n_heads} · {r.bleu}") for r in rows),
        tall=220,
    )


# ---- one matrix, cut into heads; what one can express; what one does untrained ----

CLOSER = {
    "cut": N_("Cutting one matrix into heads"),
    "rank": N_("What one head can express"),
    "fresh": N_("A head that has learned nothing"),
}


def closer(reading: Reading) -> None:
    """One of three at a time."""
    chosen = controls.choice("Look closer", CLOSER, "cut", key="workings")
    {"cut": slabs, "rank": rank, "fresh": fresh}[chosen](reading)


def slabs(reading: Reading) -> None:
    """h changes the shapes, and the number of parameters not at all."""
    d = controls.pick("d_model", (subject.model().config.d_model, 512, 4096), 512, key="cut_d")
    h = controls.pick("h", (1, 2, 3, 4, 5, 6, 8, 12, 16, 32), 8, key="cut_h")
    try:
        width = volume.head_width(d, h)
    except ValueError as error:
        say("The assertion fails: «error».", error=error)
        return
    numbers = dict(d=d, h=h, width=width, each=f"{d * width:,}", all=f"{d * h * width:,}", square=f"{d * d:,}")
    prose("heads", "slabs", **numbers, block=f"{4 * d * d:,}")
    stack.show(
        live.Picture(
            key="slabs",
            quantity="parameters",
            says=_("The numbers in the slabs of all heads: as they are, and as squares."),
        ),
        np.array([[d * width] * h, [width * width] * h]),
        [_("as it is"), _("as squares")],
        [str(i) for i in range(h)],
        high=float(d * d),
    )
    _origins(reading, h, d)


def _origins(reading: Reading, h: int, d: int) -> None:
    """Where each row of each head was cut from: as it should be, and with a reshape that forgets the transpose."""
    right, wrong = volume.origins(len(reading.ids), h, d)
    say(
        "**Which token's numbers stand where?** Each cell holds the place of the token that a row of a head was cut from."
    )
    for column, (name, table, says) in zip(
        st.columns(2),
        (
            ("cut_right", right, N_("view, then transpose: every row its own token")),
            ("cut_wrong", wrong, N_("reshape alone: the same shape, other tokens")),
        ),
        strict=True,
    ):
        with column:
            st.markdown(_(says))
            matrix.show(
                live.Picture(key=name, quantity="token", says=_(says)),
                table,
                rows=[str(i) for i in range(h)],
                columns=sentence.names(reading.tokens),
                look=matrix.Look(
                    row_title=N_("head"),
                    column_title=N_("row of the head"),
                    row_role="a",
                    column_role="quiet",
                    bound=float(max(1, len(reading.ids) - 1)),
                    digits=0,
                    tools=False,
                    row_height=22,
                ),
            )
    gap = frame.cached(volume.reshaped, sentence.of(reading), 0)
    say("On the real queries and keys of block 0 the weights then differ by up to «gap».", gap=f"{gap:.2f}")


# ---- rank ----


def rank(reading: Reading) -> None:
    """A head is narrow: the rank of its question is its width."""
    demo = parts.chosen(reading)
    found = frame.cached(volume.ranks, demo.layer, demo.head)
    n = len(found.whole)
    prose(
        "heads",
        "rank",
        head=parts.name_of(demo.layer, demo.head),
        one=found.count(found.one),
        whole=found.count(found.whole),
        d=n,
    )
    sizes = np.stack([found.one / found.one[0], found.whole / found.whole[0]])
    lines.show(
        live.Picture(
            key="ranks", quantity="singular_values", says=_("Singular values of W_Q W_K^T, relative to the largest.")
        ),
        np.where(sizes > 1e-9, sizes, np.nan),
        np.arange(1, n + 1),
        [lines.Series(_("one head")), lines.Series(_("all heads as one"), dash=True)],
        x=lines.Axis(_("number")),
        y=lines.Axis(_("relative size"), log=True, low=1e-4, high=1.0),
        tall=220,
    )


# ---- untrained ----


def fresh(reading: Reading) -> None:
    """Random W_Q and W_K at every scale: near zero every row is uniform."""
    config = subject.model().config
    h = controls.pick("h", (1, 2, 3, 6, 12, 24), config.n_heads, key="fresh_h")
    found = frame.cached(volume.fresh, sentence.of(reading), h)
    stops = volume.scales(len(reading.ids))
    now = controls.kept("init", 0.01, controls.near(stops))
    prose("heads", "fresh", width=volume.head_width(config.d_model, h))

    def receive(name: str, value: Any) -> None:
        if name == "init" and isinstance(value, int | float):
            controls.keep("init", controls.near(stops)(str(value)), 0.01)

    matrix.show(
        live.Picture(
            key="fresh",
            quantity="weights",
            says=_("The weights of a head whose W_Q and W_K are random."),
            slider=live.Slider(
                "init", _("Standard deviation of the weights"), stops, now, tuple(f"{s:g}" for s in stops)
            ),
            released=receive,
        ),
        found.weights,
        rows=sentence.names(reading.tokens),
        columns=sentence.names(reading.tokens),
        look=matrix.Look(most=36, tall=420, strip=N_("weights of “{row}” · entropy {entropy} bits")),
        entropy=found.entropy,
        row=len(reading.ids) - 1,
    )


# ---- check, mistakes ----


def check(reading: Reading) -> None:
    """Bytes of a cache, from the numbers of a real model."""
    qwen = presets()["qwen3-8b"].config
    shared = replace(qwen, n_kv_heads=qwen.n_kv_heads // 2)
    numbers = dict(layers=qwen.n_layers, heads=shared.n_kv_heads, width=qwen.head_dim)
    each = sum(kept(shared).values()) * float(PRECISIONS["bf16"]) / 1024
    question = N_(
        "A model has «layers» layers, «heads» KV heads of width «width», and two bytes a number. How many KiB does one "
        "token leave in the cache?"
    )
    how = N_("2 · «layers» · «heads» · «width» numbers, times two bytes, divided by 1,024: «answer» KiB.")
    checks.number(question, each, key="check", how=how, **numbers)


def common_mistakes(reading: Reading) -> None:
    small, ranks = presets()["qwen3-0.6b"].config, frame.cached(volume.ranks, 0, 0)
    found = frame.cached(volume.habits, sentence.of(reading))
    values = dict(
        one=ranks.count(ranks.one),
        whole=ranks.count(ranks.whole),
        best=f"{max(r.bleu for r in volume.ABLATIONS):.1f}",
        single=f"{volume.ABLATIONS[0].bleu:.1f}",
        heads=small.n_heads,
        d=small.d_model,
        quotient=small.d_model // small.n_heads,
        width=small.head_dim,
        projected=small.n_heads * small.head_dim,
        norms=2 * small.head_dim,
        distances=", ".join(f"{x:.1f}" for x in found.distance.mean(1)) if found else "–",
    )
    names = ["small", "rank", "much", "budget", "width", "deep", "bias", "norm", "fresh", "token", "history"]
    mistakes.show("heads", names, **values)
