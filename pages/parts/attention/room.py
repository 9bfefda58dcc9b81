"""The attention page's three sources of vectors, and its settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.lab import head as oh
from core.lab import subject
from core.lab import text as sentence
from core.topics.attention import own_vectors as own
from core.trace import Trace
from pages.shared import controls, frame, readers, spine
from pages.shared.text import N_, _, filled, say

SOURCES = {"sentence": N_("of a sentence"), "hand": N_("typed by hand"), "random": N_("drawn at random")}
DRAWS = {"normal": N_("normal"), "uniform": N_("uniform"), "signs": N_("plus or minus one")}
TEMPERATURE = controls.Dial(
    "temperature", N_("Temperature"), oh.TEMPERATURES, 1.0, shown=tuple(f"{t:.2f}" for t in oh.TEMPERATURES), quiet=True
)
WIDTH = controls.Dial("d_k", "d_k", own.WIDTHS, 64)
LAYER, HEAD = controls.Setting("layer", 5), controls.Setting("head", 1)
NUMBER = readers.number(-1000, 1000)
CUTS = {"share": N_("cut: the row shares"), "keep": N_("cut: the row stays"), "look": N_("only look")}
CUT = controls.Setting("cut", "share", readers.one_of(*CUTS))
CELL = controls.Setting("cell")


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

    def still(self) -> oh.Head:
        """The head for what is drawn once: where the dial is quiet, of what no stop of it changes."""
        return self.head(self.dial.default if self.dial.quiet else self.value())

    def cell(self) -> controls.Setting:
        """The link that is pointed at in the map."""
        return controls.Setting("cell", None, controls.within(len(self.rows), len(self.columns)), heard="cell")


MAP, TOUR = "map", "tour"  # parts of the page: one head's map, and how it is made


# ---- sources ----


def own_vectors(source: str) -> Callable[[], Room]:
    """The controls of vectors that are no sentence's, and the head as they stand whenever a part is drawn."""
    return {"hand": _hand, "random": _random}[source]()


@dataclass(frozen=True)
class Chosen:
    """What the settings line says."""

    source: str
    layer: int
    head: int
    scaling: bool
    mask: bool
    everywhere: bool


def settings() -> Chosen:
    """One line that says where the vectors come from and how the head runs; a click opens its controls."""
    now = controls.Setting("source").now()
    if now != "sentence":
        with spine.settings(_(SOURCES[now])):
            controls.choice("Vectors", SOURCES, "sentence", key="source")
        return Chosen(now, LAYER.default, HEAD.default, True, True, False)
    config = subject.model().config
    with spine.settings(_line(config.n_layers, config.n_heads)):
        source = controls.choice("Vectors", SOURCES, "sentence", key="source")
        layer = controls.pick("Block", range(config.n_layers), LAYER.default, key="layer")
        head = controls.pick("Head", range(config.n_heads), HEAD.default, key="head")
        scaling = controls.switch("÷√d", True, key="scaling", help="Off: the scores go to softmax as they are.")
        mask = controls.switch("mask", True, key="mask", help="Off: every word sees the words after it too.")
        heat = {"head": N_("this head"), "all": N_("all heads")}
        scope = controls.choice("Temperature acts on", heat, "head", key="scope")
        controls.choice("A click on a cell", CUTS, "share", key="cut")
    return Chosen(source, layer, head, scaling, mask, scope == "all")


def _line(layers: int, heads: int) -> str:
    """The settings in words; what is seldom otherwise is said only when it is."""
    said = {True: _("on"), False: _("off")}
    layer = controls.Setting("layer", LAYER.default, readers.of(range(layers))).now()
    head = controls.Setting("head", HEAD.default, readers.of(range(heads))).now()
    scaling, mask = (said[controls.Setting(word, True).now()] for word in ("scaling", "mask"))
    template = _("block «layer» · head «head» · ÷√d «scaling» · mask «mask»")
    line = filled(template, layer=layer, head=head, scaling=scaling, mask=mask)
    if controls.Setting("scope").now() == "all":
        line += " · " + _("all heads")
    return line if CUT.now() == "share" else f"{line} · {_(CUTS[CUT.now()])}"


def sentence_room(chosen: Chosen, reading: Any) -> Room:
    config = subject.model().config
    layer, head = chosen.layer, chosen.head
    calm = oh.Demo(sentence.of(reading), layer, head, chosen.scaling, chosen.mask, everywhere=chosen.everywhere)

    def demo(tau: float) -> oh.Demo:
        return replace(calm, temperature=tau)

    def head_at(tau: float) -> oh.Head:
        if calm.everywhere:
            return frame.cached(oh.head_of, demo(tau))
        return oh.heated(frame.cached(oh.head_of, calm), tau)

    return Room(
        dial=replace(TEMPERATURE, quiet=not calm.everywhere),  # in all heads it changes what this one reads
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
    Example("Tom dropped the glass and it", 4, 4, "it", "glass", N_("Strong, but not decisive")),
    Example(
        "Once upon a time, there was a little girl named Lily. She loved to play outside.",
        1,
        2,
        "She",
        "·ily",
        N_("A pronoun"),
    ),
)


def examples() -> None:
    with st.popover(_("Examples"), width="stretch"):
        for i, example in enumerate(EXAMPLES):
            st.button(_(example.shows), key=f"example_{i}", on_click=_choose, args=(example,), width="stretch")


def _choose(example: Example) -> None:
    tokens = sentence.read(example.text).tokens
    last = len(tokens) - 1 - tokens[::-1].index(example.query)
    controls.write(example.text, sentence.SENTENCE)
    jump(example.layer, example.head, last, last - 1 - tokens[:last][::-1].index(example.key))


def jump(layer: int, head: int, query: int, key: int) -> None:
    """Open one cell: used by buttons of the whole page, so everything goes back to how the model is."""
    controls.forget("temperature", "scope", "step", "origin", "source", "scaling", "mask")
    LAYER.keep(layer)
    HEAD.keep(head)
    CELL.keep((query, key))


def _hand() -> Callable[[], Room]:
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

    room = Room(
        dial=TEMPERATURE,
        rows=[str(i) for i in range(len(calm.q))],
        columns=[str(i) for i in range(len(calm.k))],
        frames=lambda step: oh.tempered(head(1.0), step),
        head=head,
        trace=lambda tau: own.hand_trace(replace(calm, temperature=tau)),
    )
    return lambda: room


def _numbers(typed: str, default: own.Rows, name: str) -> own.Rows:
    """Rows of numbers as typed, 8 by 8 at most; the default, and a sentence, where they are none."""
    rows = [line.replace(",", " ").split() for line in typed.strip().splitlines() if line.strip()]
    numbers = [[NUMBER(x) for x in row] for row in rows[:8]]
    even = numbers and len({len(row) for row in numbers}) == 1 and 1 <= len(numbers[0]) <= 8
    if not even or any(x is None for row in numbers for x in row):
        say("«name» needs rows of equally many numbers, at most 8 by 8. Here is the example instead.", name=name)
        return default
    return tuple(tuple(row) for row in numbers)


def _random() -> Callable[[], Room]:
    say("**These vectors are random.** They have learned nothing: here you see what the width d_k alone does.")
    one, two, three, four = st.columns([3.4, 2.8, 1, 1.2], vertical_alignment="bottom")
    with one:
        draw = controls.choice("Drawn from", DRAWS, "normal", key="draw")
    with two:
        seed = controls.pick("Seed", range(6), 0, key="seed")
    with three:
        scaling = controls.switch("÷√d", True, key="scaling")
    with four:
        mask = controls.switch("mask", False, key="hand_mask")

    def room() -> Room:
        tau = controls.live_value(oh.TEMPERATURES, 1.0, key="tau")
        return _free(own.Free(seed, 64, scaling, mask, tau, draw))

    return room


def heat() -> None:
    """The temperature of vectors drawn at random: how they are heated needs core, so the map follows as it is dragged."""
    shown = [f"{t:.2f}" for t in oh.TEMPERATURES]
    controls.live_slider("Temperature", oh.TEMPERATURES, shown, 1.0, key="tau", redraws=(MAP, TOUR))


def _free(calm: own.Free) -> Room:
    """One head between vectors drawn at random."""

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
