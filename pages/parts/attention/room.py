"""The attention page's three sources of vectors, its controls, and what stands beside the picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from core import attention as at
from core.lab import cuts, outcomes, provenance, subject
from core.lab import head as oh
from core.lab import text as sentence
from core.topics.attention import own_vectors as own
from core.topics.attention import program
from core.trace import Quantity, Trace
from pages.shared import controls, frame, readers, story
from pages.shared.asks import predict
from pages.shared.pictures import bars, live, matrix
from pages.shared.pictures import provenance as written
from pages.shared.text import N_, _, filled, say

STEPS: dict[str, Quantity] = {
    "scores": at.SCORES,
    "scaled": at.SCALED,
    "masked": at.MASKED,
    "weights": at.WEIGHTS,
    "z": at.Z,
}
STEP_NAMES = {
    "scores": N_("1 · QKᵀ"),
    "scaled": N_("2 · ÷√d"),
    "masked": N_("3 · mask"),
    "weights": N_("4 · softmax"),
    "z": N_("5 · ×V"),
}
SOURCES = {"sentence": N_("of a sentence"), "hand": N_("typed by hand"), "random": N_("drawn at random")}
DRAWS = {"normal": N_("normal"), "uniform": N_("uniform"), "signs": N_("plus or minus one")}
TEMPERATURE = controls.Dial(
    "temperature", N_("Temperature"), oh.TEMPERATURES, 1.0, shown=tuple(f"{t:.2f}" for t in oh.TEMPERATURES)
)
WIDTH = controls.Dial("d_k", "d_k", own.WIDTHS, 64)
LAYER, HEAD = controls.Setting("layer", 5), controls.Setting("head", 1)
NUMBER = readers.number(-1000, 1000)
CUTS = {"keep": N_("cut: the row stays"), "share": N_("cut: the row shares"), "look": N_("only look")}


@dataclass(frozen=True)
class Room:
    """One head ready to be shown. What the slider under the picture sets is not in it: a function of its value is.

    frames(step): the picture at every stop; demo is there for a sentence, free for random vectors.
    """

    dial: controls.Dial
    rows: list[str]
    columns: list[str]
    frames: Callable[[str], oh.Frames]
    head: Callable[[float], oh.Head]
    trace: Callable[[float], Trace]
    demo: Callable[[float], oh.Demo] | None = None
    free: Callable[[float], own.Free] | None = None
    scope: str = ""  # where the head's tensors stand in the trace
    index: tuple[int, int] = (0, 0)  # of the head among the query heads and the key/value heads
    met: tuple[str, str] = ("q", "k")  # what queries and keys are called in the trace as they meet
    reading: Any = None

    def value(self) -> float:
        """Where the slider rests."""
        return float(self.dial.now())

    def cell(self, step: str, width: int) -> controls.Setting:
        """The chosen cell of one step's picture, `width` columns wide."""
        word = "zcell" if step == "z" else "cell"
        return controls.Setting(word, None, controls.within(len(self.rows), width), heard="cell")


# ---- sources ----


def own_vectors(source: str) -> Room:
    return {"hand": _hand, "random": _random}[source]()


def sentence_room() -> Room:
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    with right:
        _examples()
    with left:
        reading = story.box()
    config = subject.model().config
    with st.container(horizontal=True, vertical_alignment="bottom"):  # breaks into lines where there is no room
        layer = controls.pick("Block", range(config.n_layers), LAYER.default, key="layer")
        head = controls.pick("Head", range(config.n_heads), HEAD.default, key="head")
        scaling = controls.switch("÷√d", True, key="scaling", help="Off: the scores go to softmax as they are.")
        mask = controls.switch("mask", True, key="mask", help="Off: every word sees the words after it too.")
        scope = controls.choice(
            "Temperature acts on", {"head": N_("this head"), "all": N_("all heads")}, "head", key="scope"
        )
    calm = oh.Demo(sentence.of(reading), layer, head, scaling, mask, everywhere=scope == "all")

    def demo(tau: float) -> oh.Demo:
        return replace(calm, temperature=tau)

    def head_at(tau: float) -> oh.Head:
        if calm.everywhere:
            return frame.cached(oh.head_of, demo(tau))
        return oh.heated(frame.cached(oh.head_of, calm), tau)

    return Room(
        dial=TEMPERATURE,
        rows=sentence.names(reading.tokens),
        columns=sentence.names(reading.tokens),
        frames=lambda step: _frames(calm, step),
        head=head_at,
        trace=lambda tau: whole_trace(demo(tau)),
        demo=demo,
        scope=f"block{layer}.",
        index=(head, head // config.group),
        met=tuple(subject.met(frame.cached(oh.run, calm), layer, which).quantity.name for which in "qk"),
        reading=reading,
    )


def _frames(calm: oh.Demo, step: str) -> oh.Frames:
    """Every temperature; in all heads of a long text that takes a moment, once a step."""
    if not calm.everywhere:
        return frame.cached(oh.frames, calm, step)
    with st.spinner(_("Heating all heads, stop by stop …")):
        return frame.cached(oh.frames, calm, step)


def whole_trace(demo: oh.Demo) -> Trace:
    """Every tensor of the pass; of a long text only the chosen block's, or the file would not fit through a network."""
    inside = "block*.*" if len(demo.text) <= 64 else f"block{demo.layer}.*"
    return subject.run(demo.text, demo.change, ("ids", "embed", "angles", inside, "next_*"))


@dataclass(frozen=True)
class Example:
    """A sentence that shows something real: where to look, and what for."""

    text: str
    layer: int
    head: int
    query: str
    key: str
    shows: str


EXAMPLES = (
    Example(sentence.SENTENCE, 5, 1, "to", "Amy", N_("Who gets the ball")),
    Example(sentence.TWIN, 4, 4, "to", "Amy", N_("Its twin: one name swapped")),
    Example(
        "One day it was sunny. The dog with the red hat saw a ball.",
        4,
        5,
        "ball",
        "saw",
        N_("An object finds its verb"),
    ),
    Example(
        "One day it was sunny. The dog with the red hat saw a ball.", 4, 4, "saw", "dog", N_("A verb finds its subject")
    ),
    Example("Tom had a red ball. Ben had a blue car.", 1, 3, "blue", "red", N_("The same role, one sentence earlier")),
    Example("The cat slept on the rug. The dog slept on the", 5, 1, "the", "rug", N_("Copying what came before")),
    Example("Tom was very thirsty. He wanted to", 4, 3, "to", "·irst", N_("One word decides")),
    Example("Anna saw a fish in the", 4, 3, "the", "fish", N_("Where a fish is")),
    Example("Anna is a girl. Tom is a", 5, 2, "a", "girl", N_("Contrast")),
    Example("Tom dropped the glass and it", 4, 4, "it", "glass", N_("Bright, but not decisive")),
    Example(
        "Once upon a time, there was a little girl named Lily. She loved to play outside.",
        1,
        2,
        "She",
        "·ily",
        N_("A pronoun"),
    ),
)


def _examples() -> None:
    with st.popover(_("Examples"), width="stretch"):
        for i, example in enumerate(EXAMPLES):
            st.button(_(example.shows), key=f"example_{i}", on_click=_choose, args=(example,), width="stretch")


def _choose(example: Example) -> None:
    tokens = sentence.read(example.text).tokens
    last = len(tokens) - 1 - tokens[::-1].index(example.query)
    controls.write(example.text, sentence.SENTENCE)
    jump(example.layer, example.head, last, last - 1 - tokens[:last][::-1].index(example.key))


def jump(layer: int, head: int, query: int, key: int) -> None:
    """Open one cell: used by buttons, so everything goes back to how the model is."""
    controls.forget("temperature", "scope", "step", "source", "scaling", "mask")
    LAYER.keep(layer)
    HEAD.keep(head)
    controls.Setting("cell").keep((query, key))


def _hand() -> Room:
    st.caption(_("One row a token, numbers with blanks between them. The mask needs as many queries as keys."))
    columns, hand, rows = st.columns(3), own.Hand(), []
    for column, name, default in zip(columns, ("Q", "K", "V"), (hand.q, hand.k, hand.v), strict=True):
        text = "\n".join(" ".join(f"{x:g}" for x in row) for row in default)
        with column:
            typed = controls.typed(name, text, key=f"hand_{name.lower()}", longest=800, height=130)
        rows.append(_numbers(typed, default, name))
    left, right, _rest = st.columns([1, 1, 4])
    with left:
        scaling = controls.switch("÷√d", True, key="scaling")
    with right:
        mask = controls.switch("mask", False, key="hand_mask")
    calm = own.Hand(*rows, scaling=scaling, mask=mask)
    try:
        own.hand_trace(calm)
    except ValueError as error:  # the sizes do not fit together: say which, and go on with ones that do
        st.warning(_("These sizes do not fit.") + f" {error}.")
        calm = own.Hand(scaling=scaling, mask=mask)

    def head(tau: float) -> oh.Head:
        hand = replace(calm, temperature=tau)
        return own.single(frame.cached(own.hand_trace, hand), hand)

    return Room(
        dial=TEMPERATURE,
        rows=[str(i) for i in range(len(calm.q))],
        columns=[str(i) for i in range(len(calm.k))],
        frames=lambda step: oh.tempered(head(1.0), step),
        head=head,
        trace=lambda tau: own.hand_trace(replace(calm, temperature=tau)),
    )


def _numbers(typed: str, default: own.Rows, name: str) -> own.Rows:
    """Rows of numbers as typed, 8 by 8 at most; the default, and a sentence, where they are none."""
    rows = [line.replace(",", " ").split() for line in typed.strip().splitlines() if line.strip()]
    numbers = [[NUMBER(x) for x in row] for row in rows[:8]]
    even = numbers and len({len(row) for row in numbers}) == 1 and 1 <= len(numbers[0]) <= 8
    if not even or any(x is None for row in numbers for x in row):
        say("«name» needs rows of equally many numbers, at most 8 by 8. Here is the example instead.", name=name)
        return default
    return tuple(tuple(row) for row in numbers)


def _random() -> Room:
    say("**These vectors are random.** They have learned nothing: here you see what the width d_k alone does.")
    one, two, three, four, five = st.columns([2.6, 2.2, 1, 1, 3], vertical_alignment="bottom")
    with one:
        draw = controls.choice("Drawn from", DRAWS, "normal", key="draw")
    with two:
        seed = controls.pick("Seed", range(6), 0, key="seed")
    with three:
        scaling = controls.switch("÷√d", True, key="scaling")
    with four:
        mask = controls.switch("mask", False, key="hand_mask")
    with five:
        shown = [f"{t:.2f}" for t in oh.TEMPERATURES]
        tau = controls.live_slider("Temperature", oh.TEMPERATURES, shown, 1.0, key="tau")
    calm = own.Free(seed, 64, scaling, mask, tau, draw)

    def free(width: float) -> own.Free:
        return replace(calm, d_k=int(width))

    names = [str(i) for i in range(own.FREE_TOKENS)]
    return Room(
        dial=WIDTH,
        rows=names,
        columns=names,
        frames=lambda step: frame.cached(own.widened, calm, step),
        head=lambda width: own.single(frame.cached(own.free_trace, free(width)), free(width)),
        trace=lambda width: own.free_trace(free(width)),
        free=free,
    )


# ---- the picture and what stands beside it ----


def picture(room: Room, head: oh.Head, step: str, cell: tuple[int, int] | None, *, row: int, cut: str) -> None:
    """The live matrix of one step, with the slider that acts on it; a row that was cut as it is now."""
    frames, quantity = room.frames(step), STEPS[step]
    moving = len(frames.values) > 1
    columns = [str(i) for i in range(frames.values.shape[-1])] if step == "z" else room.columns
    title = _("{row} · entropy {entropy} bits") if frames.entropy is not None else "{row}"
    shut = ~head.allowed if step in ("masked", "weights") else None
    matrix.show(
        live.Picture(
            key="picture",
            quantity=step,
            says=_(quantity.says),
            slider=room.dial.slider() if moving else None,
            signature=True,
            released=controls.receivers(room.cell(step, len(columns)), room.dial),
        ),
        frames.values,
        rows=room.rows,
        columns=columns,
        look=matrix.Look(
            column_title="d_v" if step == "z" else "key",
            column_role="v" if step == "z" else "k",
            bound=_bound(frames.values, step),
            strip=title if step in ("weights", "z") else "",
        ),
        entropy=frames.entropy,
        row=row,
        cut=_cut(room, head, frames, cell, cut) if step == "weights" else None,
        shut=shut,
        cell=cell,
    )


def _is_cut(head: oh.Head, cell: tuple[int, int] | None, cut: str) -> bool:
    return cell is not None and cut != "look" and bool(head.allowed[cell])


def _cut(room: Room, head: oh.Head, weights: oh.Frames, cell: tuple[int, int] | None, cut: str) -> matrix.Cut | None:
    if not _is_cut(head, cell, cut):
        return None
    share = cut == "share"
    after = oh.after_cut(weights, room.frames("masked") if share else weights, cell, share)
    strip = _("{row} · after the cut · entropy {entropy} bits") if share else _("{row} · after the cut")
    return matrix.Cut(cell, after.values, strip, after.entropy)


def _bound(values: np.ndarray, step: str) -> float | None:
    """The scale's end: of the untouched setting where one slider end would drown all others."""
    if step in ("weights", "scores"):
        return None
    finite = np.abs(values[len(values) // 2][np.isfinite(values[len(values) // 2])])
    return float(finite.max(initial=1e-6))


def followed(room: Room, cell: tuple[int, int] | None) -> int:
    """The query whose row is marked in all five steps: the chosen cell's, else the last."""
    cell = cell or room.cell("weights", len(room.columns)).now()
    return cell[0] if cell else len(room.rows) - 1


def beside(room: Room, head: oh.Head, step: str, cell: tuple[int, int] | None, cut: str) -> None:
    """The formula, the shape, the next word, and where the chosen number comes from."""
    quantity = STEPS[step]
    st.latex(quantity.formula)
    shape = {"z": head.v.shape[-1]}.get(step, len(room.columns))
    template = N_("«says» Shape: «rows» × «columns».")
    say(template, says=_(quantity.says), rows=len(room.rows), columns=shape)
    if room.demo:
        next_word(room, head, step, cell, cut)
    if cell is None:
        say("Point at a cell and click: here its number is written out.")
        return
    names = dict(row=room.rows[cell[0]], column=str(cell[1]) if step == "z" else room.columns[cell[1]])
    st.markdown(f"**{filled('«row» → «column»', **names)}**")
    if room.demo and step == "weights" and _is_cut(head, cell, cut):
        say("It is cut now. Before, it was made like this:")
    elif step == "weights" and cut != "look" and not head.allowed[cell]:
        say("There is nothing to cut: the mask does not allow this link.")
    made = provenance.explain(head, step, *cell)
    own = None if step in ("scores", "z") else cell[1]  # these two are sums: their columns are not the picture's
    written.show(made, key=f"made_{step}", quantity=step, says=_("What this number is made of."), among=own)


def next_word(room: Room, head: oh.Head, step: str, cell: tuple[int, int] | None, cut: str) -> None:
    """The ten likeliest next words as the model is now, over those of the untouched model."""
    demo = room.demo(room.value())
    change, where = demo.change, None
    if step == "weights" and _is_cut(head, cell, cut):
        where = (demo.layer, demo.head, *cell)
        change = replace(change, cut=where, share=cut == "share")
    before = frame.cached(subject.outlook, demo.text, subject.UNTOUCHED)
    answer, touched = before.asked, change != subject.UNTOUCHED
    now = frame.cached(subject.outlook, demo.text, change, answer.id) if touched else before
    shown = bars.with_answer(now.words, now.asked)
    ghost = _ghost(demo, shown) if touched else None
    st.markdown(f"**{_('Next word')}**" + (f" · {_('outlined: the untouched model')}" if touched else ""))
    bars.next_words(shown, key="next", before=ghost, answer=answer.id)
    template = N_("p(«word») = «now», untouched «then»") if touched else N_("p(«word») = «now»")
    say(template, word=answer.token, now=f"{now.asked.p:.3f}", then=f"{answer.p:.3f}")
    if where:
        template = N_("Weight «query» → «key» is zero now; the rest of its row stays as it was.")
        if cut == "share":
            template = N_("Weight «query» → «key» is zero now; the rest of its row shares what it had.")
        say(template, query=room.rows[cell[0]], key=room.columns[cell[1]])
        st.button(_("Put it back"), on_click=controls.forget, args=("cell",), key="put_back")


def _ghost(demo: oh.Demo, shown: list[sentence.Word]) -> list[float]:
    """The same words' probabilities in the untouched model."""
    ids = tuple(word.id for word in shown)
    return list(frame.cached(subject.chances, demo.text, subject.UNTOUCHED, ids))


# ---- the signature question ----


def prediction(reading: Any) -> str | None:
    """How many links decide? The answer is core's own count; for a new sentence it is computed once it is asked."""
    n = len(reading.tokens)
    first = reading.text == sentence.SENTENCE
    asked = predict.answer("links")
    cells = _cells(n)
    found = links(reading, "keep") if first or asked else None
    count = found.deciders if found else 0
    share = "few" if count < 10 else "some" if count < cells / 2 else "most"
    values = {"cells": f"{cells:,}", "count": count}
    because = {
        "few": N_(
            "Of «cells» links, «count» decide: without any one of them the answer loses more than half of its probability."
        ),
        "some": N_("Of «cells» links only «count» decide. Most cells are bright for reasons that do not matter here."),
        "most": N_("A bright cell looks important, yet almost every link can go: only «count» of «cells» decide."),
        "?": N_("Of «cells» links, «count» decide. Click cells in the picture and find them."),
    }
    if share == "most":  # a text of two or three tokens: what is said of bright cells would be wrong
        because["some"] = because["most"] = because["few"]
    options = {"few": N_("fewer than ten"), "some": N_("dozens"), "most": N_("most of them")}
    question = N_("Guess first: cut one at a time, how many of «cells» links decide the next word?")
    return predict.ask(predict.Prediction("links", question, options, share, because), **values)


def _cells(n: int) -> int:
    config = subject.model().config
    rows = range(1, n) if n <= cuts.LONG else [n - 1]
    return config.n_layers * config.n_heads * sum(row + 1 for row in rows)


def links(reading: Any, cut: str) -> cuts.Ranking:
    """The ranking of all links; the first sentence's is recorded."""
    if reading.text == sentence.SENTENCE:
        first, found = outcomes.recorded_words()[0], outcomes.outcomes()
        worst = found.share if cut == "share" else found.keep
        return cuts.Ranking(first.id, first.p, found.cells, worst, sum(link.p < first.p / 2 for link in worst))
    with st.spinner(_("Cutting every link once …")):
        return frame.cached(cuts.ranking, sentence.of(reading), cut == "share")


def ranking(room: Room) -> None:
    """All links, most decisive first, each a button that opens it."""
    reading, cut = room.reading, controls.Setting("cut").now()
    found = links(reading, cut)
    word = sentence.word(found.answer, np.zeros(found.answer + 1)).token
    template = N_("p(«word») is «p» untouched. Without one link it becomes:")
    say(template, word=word, p=f"{found.p:.3f}")
    if len(reading.ids) > cuts.LONG:
        say("This text is long, so only the links of its last token were cut.")
    for i, link in enumerate(found.worst[:8]):
        label = f"{link.p:.3f}  ·  {link.layer}.{link.head}  ·  {room.rows[link.query]} → {room.columns[link.key]}"
        arguments = (link.layer, link.head, link.query, link.key)
        st.button(filled("«label»", label=label), key=f"link_{i}", on_click=jump, args=arguments, width="stretch")


# ---- downloads ----


def as_program(room: Room, value: float, row: int) -> str:
    head = room.head(value)
    return program.attention(
        "attention.npz",
        scope=room.scope,
        met=room.met,
        head=room.index[0],
        kv_head=room.index[1],
        row=row,
        temperature=head.temperature,
        scaling=head.scaling,
    )
