"""The sentence and its twin, the neuron, the guess, and the picture the page is remembered by."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core import tokenizer
from core.lab import subject
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.feedforward import neuron as one
from pages.parts.feedforward import neuron as painter
from pages.shared import controls, frame, readers, spine, story
from pages.shared.asks import predict
from pages.shared.pictures import figures, live
from pages.shared.text import N_, _, filled, prose, say

START = "He could not find it. He wonder"
TWIN = "He did not wonder"
LONGEST = 1500  # characters of a sentence of this page
NEURON = (5, 559)
MUTE = "ffn_mute"
EXAMPLES = {  # label -> sentence, twin, neuron: what the neuron is missed in, and what it is not
    N_("-ed: the past of a verb"): (START, TWIN, NEURON),
    N_("-ed, and others help"): ("Tom was so happy that he thank", "I want to thank", NEURON),
    N_("After so and as"): ("She ran as", "She ran to", (2, 363)),
    N_("Why, what, how"): ('Tom asked, "How', 'Tom said, "Now', (1, 84)),
    N_("I and we"): ('Tom said, "I', 'Tom said, "The', (4, 143)),
    N_("High in the …"): ("The bird flew high in the", "The bird sat in the", (3, 741)),
    N_("Fires, and nobody misses it"): ("Once upon", "She sat upon", (5, 709)),
}


@dataclass(frozen=True)
class Room:
    """The neuron in the sentence, and in its twin."""

    demo: one.Demo
    twin: one.Demo

    @property
    def name(self) -> str:
        return f"{self.demo.layer}.{self.demo.neuron}"

    @property
    def all(self) -> int:
        """How many neurons the model has."""
        config = subject.config(self.demo.text.subject)
        return config.n_layers * config.d_ff


def read(text: str, otherwise: str) -> Reading:
    """As the embedded model reads it; nothing at all is read as `otherwise`."""
    return tokenizer.read(tokenizer.of_model(sentence.FOLDER), text, otherwise, sentence.context())


def room() -> Room:
    """A sentence, examples, and in one line which neuron it is and what the twin says."""
    left, middle, right = st.columns([4, 1.2, 3], vertical_alignment="bottom", gap="small")
    with left, st.container(key="own_words"):
        here = read(
            controls.typed("A sentence for this neuron", START, key="ffn_text", longest=LONGEST, hide_label=True), START
        )
    with middle, st.popover(_("Examples"), width="stretch"):
        for i, label in enumerate(EXAMPLES):
            st.button(_(label), key=f"ffn_example_{i}", on_click=_take, args=(label,), width="stretch")
    config = subject.config()
    layer = controls.Setting("ffn_block", NEURON[0], readers.of(range(config.n_layers))).now()
    neuron = controls.Setting("ffn_neuron", NEURON[1], readers.of(range(config.d_ff))).now()
    with right, spine.settings(filled(_("neuron «layer».«neuron» · its twin"), layer=layer, neuron=neuron)):
        controls.pick("Block", range(config.n_layers), NEURON[0], key="ffn_block")
        controls.listed(_("Neuron"), range(config.d_ff), NEURON[1], key="ffn_neuron", shown=str)
        twin = controls.typed("Another sentence, for comparison", TWIN, key="ffn_twin", longest=LONGEST)
        say("A neuron is named by its block and its place among the «n» of that block.", n=config.d_ff)
    story.warn(here)
    there = read(twin, TWIN)
    found = Room(*(one.Demo(sentence.of(text), layer, neuron) for text in (here, there)))
    try:
        frame.cached(one.inside, found.demo)
    except sentence.Cannot as no:
        st.warning(_(str(no)))
        st.stop()
    return found


def _take(label: str) -> None:
    text, twin, (layer, neuron) = EXAMPLES[label]
    config = subject.config()
    controls.Setting("ffn_text", START).keep(text)
    controls.Setting("ffn_twin", TWIN).keep(twin)
    controls.Setting("ffn_block", NEURON[0], readers.of(range(config.n_layers))).keep(layer)
    controls.Setting("ffn_neuron", NEURON[1], readers.of(range(config.d_ff))).keep(neuron)
    controls.forget("ffn_factor")
    predict.forget(MUTE)


# ---- the guess ----

OPTIONS = {
    "all": N_("nearly all of it"),
    "most": N_("nine tenths"),
    "half": N_("half"),
    "little": N_("next to nothing"),
}
TRUE = N_(
    "Muted, it leaves «after» of «before»; likeliest is now “«then»”. Five others of its block, muted one at a time: «low» to «high»."
)
WRONG = {
    "all": N_(
        "That is what most neurons leave: five others give «low» to «high». This one leaves «after» of «before»."
    ),
    "most": N_("One of «all» could well be that small a help, but this one leaves «after» of «before»."),
    "half": N_("Sharing the work between two would leave half. Here it is «after» of «before»."),
    "little": N_("Not here: «after» of «before» is left. Others write the same, or nobody needed this one."),
    "?": N_("Drag the slider to 0 and read the violet bar: «after», before «before»."),
}


def kept_share(found: one.Muted) -> str:
    """Which option is true."""
    share = found.after / found.answer.p
    return "all" if share >= 0.95 else "most" if share >= 0.7 else "half" if share >= 0.2 else "little"


def prediction(room: Room) -> None:
    """Asked before the slider is touched: what is left of the answer without this one neuron?"""
    found = frame.cached(one.muted, room.demo)
    answer = kept_share(found)
    asked = predict.Prediction(
        MUTE,
        N_("Mute neuron «name», one of «all». How much is left of p(“«word»”) = «before»?"),
        OPTIONS,
        answer,
        WRONG | {answer: TRUE},
    )
    numbers = dict(before=f"{found.answer.p:.3f}", after=f"{found.after:.3f}", then=found.then.token)
    low, high = (f"{p:.3f}" for p in (min(found.others), max(found.others)))
    predict.ask(asked, name=room.name, all=f"{room.all:,}", word=found.answer.token, low=low, high=high, **numbers)


# ---- the picture ----


def dial(room: Room) -> controls.Dial:
    stops = one.factors(room.demo)
    shown = tuple(f"× {stop:.2f}".replace("-", "−") for stop in stops)
    return controls.Dial("ffn_factor", N_("What it writes, times"), stops, 1.0, shown=shown, quiet=True)


def picture(room: Room) -> None:
    """The signature: three gauges, the value under each word, the next word, and the twin."""
    turned, turn = frame.cached(one.turned, room.demo), dial(room)
    here, there = (frame.cached(one.inside, demo) for demo in (room.demo, room.twin))
    own = frame.cached(subject.outlook, room.twin.text, subject.UNTOUCHED).asked
    words = {turned.ids[turned.asked]: turned.tokens[turned.asked]} | {own.id: own.token}
    beside = frame.cached(one.twin, room.twin, tuple(words), one.factors(room.demo))
    painter.show(
        live.Picture(
            key="neuron",
            quantity="next_probs",
            says=_("One neuron's value under each word, and the next word while what it writes is turned up or down."),
            slider=turn.slider(),
            signature=True,
            room=340,
            released=turn.receive,
        ),
        painter.Side(room.demo.text.tokens, here.value, turned.tokens, turned.probs),
        painter.Side(room.twin.text.tokens, there.value, tuple(words.values()), beside),
        gauges(here, turned),
        one.factors(room.demo),
        turned.asked,
    )


def gauges(here: one.Inside, turned: one.Turned) -> list[painter.Gauge]:
    """At the last word: the gate, what it lets through, and what that writes towards the answer, in logits."""
    value, word = float(here.value[-1]), turned.tokens[turned.asked]
    made: list[painter.Gauge] = []
    if here.gate is not None:
        gate = float(here.gate[-1])
        made.append({"name": _("gate"), "value": gate, "high": max(6.0, abs(gate)), "moves": False})
        name = _("silu(gate) × up, with up = {up}").format(up=figures.number(float(here.up[-1]), 2))
    else:
        pre = float(here.up[-1])
        made.append(
            {"name": _("before the bend (no gate here)"), "value": pre, "high": max(6.0, abs(pre)), "moves": False}
        )
        name = _("after the bend")
    made.append({"name": name, "value": value, "high": max(12.0, abs(value)), "moves": False})
    push = _("write: pushes “{word}” by").format(word=word)
    made.append({"name": push, "value": turned.push, "high": 3 * max(abs(turned.push), 1.0), "moves": True})
    return made


def told(room: Room) -> None:
    """What to do with the picture."""
    width = subject.config(room.demo.text.subject).d_ff
    prose("feedforward", "neuron" if one.gated(room.demo.text) else "neuron_plain", name=room.name, n=width)
