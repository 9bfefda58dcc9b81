"""The workbench: the formula that is easily written wrong, four small things; checks and mistakes."""

from __future__ import annotations

import inspect

import numpy as np
import streamlit as st

from core import in_numpy
from core.lab import subject
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.model import assemble as asm
from core.topics.model import details, repair
from pages.shared import controls, frame, headings
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes, predict
from pages.shared.pictures import lines, live, matrix
from pages.shared.text import N_, _, prose, say

PRINTED = r"\mathrm{FFN}(\mathrm{LN}(\mathrm{MHA}(x) + x)) + \mathrm{MHA}(x)"
RIGHT = r"y = \mathrm{LN}(x + \mathrm{MHA}(x)), \quad \mathrm{LN}(y + \mathrm{FFN}(y))"

EPSILON = controls.Dial("epsilon", "ε", details.EPSILONS, shown=tuple(f"{e:.2f}" for e in details.EPSILONS))
UNTIED = N_("This model does not tie its tables: one reads words in, another compares the last stream with them.")

# ---- spot the bug ----


def spot_the_bug(reading: Reading) -> None:
    """Two formulas with the same shapes and the same weights: which one is the layer of 2017?"""
    one, two = st.columns(2)
    with one:
        st.markdown("**A**")
        st.latex(PRINTED)
    with two:
        st.markdown("**B**")
        st.latex(RIGHT)
    found = frame.cached(asm.compare, asm.Demo(reading.ids))
    truth = "b" if np.allclose(found.spread[1], 1, atol=1e-3) else "a"
    numbers = dict(gap=f"{found.gap:.2f}", relative=f"{found.relative:.0%}", one=f"{found.spread[0].mean():.2f}")
    because = {
        "a": N_(
            "A adds MHA(x) a second time where y belongs, and no norm stands last. Same weights, outputs «relative» apart."
        ),
        "b": N_("Each sub-layer is LN(x + f(x)), twice. A differs by up to «gap» in a number, «relative» in length."),
        "same": N_("Only the shapes are the same. With the same weights the outputs are «relative» apart."),
        "?": N_("B. In A the second sum adds MHA(x) instead of y, and the last norm is missing: «relative» apart."),
    }
    options = {"a": N_("A"), "b": N_("B"), "same": N_("both, written differently")}
    question = N_("Which is the encoder layer of 2017?")
    chosen = predict.ask(predict.Prediction("spot", question, options, truth, because), **numbers)
    if chosen is not None:
        _both(reading, found)
        deep = dict(first=f"{found.rms[0, 1]:.2f}", deep=f"{found.rms[0, -1]:.2f}", layers=asm.DEPTHS[-1])
        prose("model", "bug", **numbers, **deep)


def _both(reading: Reading, found: asm.Compared) -> None:
    """What the two formulas make of the same weights: once, and stacked."""
    last = len(reading.tokens[: asm.CROPPED])
    left, right = st.columns(2, gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="spread", quantity="std", says=_("The standard deviation of every token's vector after one layer.")
            ),
            found.spread[:, :last],
            rows=["A", "B"],
            columns=list(reading.tokens[:last]),
            look=matrix.Look(
                row_title="", column_title=N_("token"), most=40, flat=36, ends=(float(found.spread.max()),) * 2
            ),
        )
    with right:
        lines.show(
            live.Picture(key="depths", quantity="rms", says=_("The size of the stream when layers are stacked.")),
            found.rms,
            np.array(asm.DEPTHS, float),
            [lines.Series("A", "warn", dots=True), lines.Series("B", "a", dash=True, dots=True)],
            x=lines.Axis(_("layers")),
            y=lines.Axis(_("size (rms)"), low=0.0),
            tall=220,
        )


# ---- four small things ----


def four_things(reading: Reading) -> None:
    for column, cards in zip(st.columns(2, gap="large"), ((_tied, _dropout), (_scaled, _smoothing)), strict=True):
        for card in cards:
            with column, st.container(border=True):
                card(reading)


def _tied(reading: Reading) -> None:
    try:
        found = frame.cached(details.tied, sentence.of(reading))
    except sentence.Cannot as no:
        say(str(no))
        return
    share = found.table / found.whole
    more = found.other_table / found.other_whole
    prose(
        "model",
        "tied",
        word=found.word.token,
        logit=f"{found.logit:.3f}",
        product=f"{found.product:.3f}",
        table=f"{found.table:,}",
        whole=f"{found.whole:,}",
        share=f"{share:.0%}",
        other=f"{found.other_table:,}",
        more=f"{more:.1%}",
    )


def _scaled(_reading: Reading) -> None:
    found = frame.cached(details.lengths)
    xs = np.array(details.WIDTHS, float)
    at = int(np.argmin(np.abs(xs - 512)))
    numbers = dict(d=details.WIDTHS[at], bare=f"{found.bare[at]:.2f}", scaled=f"{found.scaled[at]:.1f}")
    prose("model", "scaled", **numbers, place=f"{found.position[at]:.1f}")
    lines.show(
        live.Picture(
            key="lengths",
            quantity="length",
            says=_("How long a random embedding and a position's sinusoids are at every width."),
        ),
        np.stack([found.bare, found.scaled, found.position]),
        xs,
        [
            lines.Series(_("word, as drawn"), "warn"),
            lines.Series(_("word × √d"), "a"),
            lines.Series(_("position"), "quiet", dash=True),
        ],
        x=lines.Axis("d", log=True),
        y=lines.Axis(_("length"), log=True),
        tall=220,
    )


def _dropout(reading: Reading) -> None:
    found = frame.cached(details.dropped, sentence.of(reading))
    at = details.RATES.index(0.1)
    row = found.p[:, at]
    numbers = dict(word=found.answer.token, p=f"{found.answer.p:.3f}", rate=f"{details.RATES[at]:g}")
    numbers |= dict(low=f"{row.min():.3f}", high=f"{row.max():.3f}", draws=len(row))
    numbers["block"] = f"{frame.cached(asm.parameters, asm.PRESETS['gpt2'], 512, 2048):,}"
    prose("model", "dropout", **numbers)
    if len(reading.ids) > details.READ:
        say("Of this long text only the last «n» tokens are read here.", n=details.READ)
    series = [
        lines.Series(_("mean"), "a"),
        lines.Series(_("least"), "quiet", dash=True),
        lines.Series(_("most"), "quiet", dash=True),
    ]
    lines.show(
        live.Picture(
            key="dropout",
            quantity="probability",
            says=_("The answer's probability when dropout is left on, over random masks."),
        ),
        np.stack([found.p.mean(0), found.p.min(0), found.p.max(0)]),
        np.array(details.RATES),
        series,
        x=lines.Axis(_("dropout rate")),
        y=lines.Axis(f"p({found.answer.token})", low=0.0, high=1.0),
        tall=220,
    )


def _smoothing(reading: Reading) -> None:
    found = frame.cached(details.smoothed, sentence.of(reading))
    at = EPSILON.now()
    i = details.EPSILONS.index(at)
    numbers = dict(
        epsilon=f"{at:.2f}", best=f"{found.best[i]:.3f}", least=f"{found.least[i]:.2f}", vocab=f"{found.vocab:,}"
    )
    prose("model", "smoothing", **numbers, plain=f"{found.here[0]:.2f}", here=f"{found.here[i]:.2f}")
    both = np.stack([np.broadcast_to(found.loss[0], found.loss.shape), found.loss], 1)

    lines.show(
        live.Picture(
            key="smoothing",
            quantity="loss",
            says=_("The loss of one word at every probability it may get."),
            slider=EPSILON.slider(),
            released=EPSILON.receive,
        ),
        both,
        details.CHANCES,
        [lines.Series("ε = 0", "quiet", dash=True), lines.Series("ε", "a")],
        x=lines.Axis(_("probability of the right word")),
        y=lines.Axis(_("loss, nats"), low=0.0),
        moving=found.best,
        tall=220,
    )


# ---- check, mistakes, words ----

DEEPER = (
    N_("Every line of a block"),
    N_("The workbench: assemble a block, walk through three families, a model at its true size"),
    N_("Common mistakes"),
    N_("The encoder of 2017 in NumPy, with its output"),
)


def check(reading: Reading) -> None:
    """How many scores does one block make?"""
    config, n = subject.config(), len(reading.ids)
    question = N_("Your sentence has «n» tokens, a block has «heads» heads. How many scores does one block compute?")
    how = N_(
        "Every head, every query, every key: «heads» · «n» · «n» = «answer». The mask hides some; it computes all."
    )
    checks.number(
        question,
        config.n_heads * n * n,
        key="model_check",
        hint=N_("One score for every query and every key, in every head."),
        how=how,
        n=n,
        heads=config.n_heads,
    )


def finding() -> None:
    headings.fold("How to find such a bug", lambda: prose("model", "finding"))


def common_mistakes(reading: Reading) -> None:
    found = frame.cached(asm.compare, asm.Demo(reading.ids))
    values = dict(relative=f"{found.relative:.0%}", wires=len(repair.WIRES))
    mistakes.show("model", ["shapes", "formula", "order", "qknorm", "bias", "identity", "extras"], **values)


def program() -> None:
    """The encoder of 2017 in NumPy, and what it gives."""
    made = frame.cached(in_numpy.run)
    parts = (
        in_numpy.softmax,
        in_numpy.layer_norm,
        in_numpy.positions,
        in_numpy.attend,
        in_numpy.Block,
        in_numpy.encode,
    )

    def inside() -> None:
        st.code("\n\n".join(inspect.getsource(part) for part in parts), language=None, wrap_lines=True)
        template = N_("Out comes «shape», all numbers between «low» and «high».")
        say(template, shape=made.shape, low=f"{made.low:.3f}".replace("-", "−"), high=f"{made.high:.3f}")

    headings.fold("The encoder of 2017 in NumPy, with its output", inside)


def words() -> None:

    def inside() -> None:
        prose("model", "words")
        for entry in frame.entries():
            if entry.file in ("06_attention", "08_heads", "12_feedforward"):
                st.page_link(frame.path_of(entry), label=_(entry.title))

    headings.fold("The words of this page", inside)
