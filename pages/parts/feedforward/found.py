"""What single neurons listen to, and what nobody misses: a gallery, every neuron muted once, and gate times up."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core import tokenizer
from core.lab import subject
from core.lab import text as sentence
from core.topics.feedforward import neuron as one
from core.topics.feedforward import recorded
from pages.parts.feedforward import strips
from pages.parts.feedforward.room import EXAMPLES, MUTE, NEURON, START, TWIN, read
from pages.shared import controls, frame, headings, readers, spine
from pages.shared.asks import predict
from pages.shared.pictures import figures, lines, live
from pages.shared.text import N_, _, filled, prose, say

HALVE = "ffn_halve"
GALLERY = {  # neuron -> what it is called here, and a sentence in which it fires at the end
    "2.363": (N_("very, so, too, as"), "She ran as"),
    "0.189": (N_("something falls or breaks"), "Tom dropped the glass and it"),
    "4.143": (N_("I, We after a quotation mark"), 'Tom said, "I'),
    "1.84": (N_("What, Why, How"), 'Tom asked, "How'),
    "3.741": (N_("in the, high up"), "The bird flew high in the"),
    "5.709": (N_("upon: fires, and nobody misses it"), "Once upon"),
    "5.528": (N_("before a comma: writes against commas"), 'Tom said, "Yes'),
    "5.559": (N_("an ending is due"), START),
    "0.569": (N_("nobody can say"), START),
    "1.213": (N_("nobody can say"), START),
    "4.605": (N_("nobody can say"), START),
    "5.118": (N_("nobody can say"), START),
}
SHOWN_WORDS, AT_IDEA = 5, 3  # words; contexts where only the idea is shown


def gallery() -> None:
    """One list chooses a neuron: where it fires, what it writes, and what is missing without it."""
    every = recorded.gallery()
    called = {name: _("neuron {name}").format(name=name) for name in GALLERY}
    name = controls.listed(
        _("Neuron"),
        tuple(GALLERY),
        next(iter(GALLERY)),
        key="ffn_found",
        shown=called.get,
        label_visibility="collapsed",
    )
    found, text = every[name], GALLERY[name][1]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        strips.show(
            live.Picture(
                key="contexts",
                wordless=True,
                quantity="ffn_act",
                says=_("Places at which this neuron fires, and its value at the words before."),
            ),
            [
                strips.Strip("", context.tokens, np.array(context.values), marked=len(context.tokens) - 1)
                for context in found.contexts[: None if spine.deep() else AT_IDEA]
            ],
            only=True,
        )
    with right:
        headings.fold("What they have in common", lambda: _fires(found), name=f"fires {name}")
        _misses(one.Demo(sentence.of(read(text, START)), found.layer, found.neuron), text)


def _fires(found: recorded.Found) -> None:
    """On which words, how many of them, and how rarely."""
    words = " · ".join(
        filled(_("“«word»” «on» of «all»"), word=word, on=on, all=every)
        for word, on, every in found.words[:SHOWN_WORDS]
    )
    rare = dict(fires=f"{found.fires:,}", of=f"{found.of:,}")
    st.markdown(f"**{_(GALLERY[found.name][0])}**")
    st.markdown(
        filled(_("**Fires** (at least half as loudly as at its loudest) at «fires» of «of» words: "), **rare) + words
    )


def _misses(demo: one.Demo, text: str) -> None:
    """What it pushes, and the next word of a sentence with and without it."""
    told, without = frame.cached(one.writes, demo), frame.cached(one.muted, demo)
    up, down = (" · ".join(f"“{word.token}”" for word in some[:4]) for some in (told.up, told.down))
    say("**Writes** towards «up», away from «down» (straight through the output head).", up=up, down=down)
    numbers = dict(before=f"{without.answer.p:.3f}", after=f"{without.after:.3f}", word=without.answer.token)
    say("**Muted** after “«text»”: “«word»” goes from «before» to **«after»**.", text=text, **numbers)
    if without.then.id != without.answer.id:
        say("Likeliest is now “«then»”.", then=without.then.token)
    st.button(_("Put it into the picture above"), key="ffn_put", on_click=_put, args=(demo, text))


def _put(demo: one.Demo, text: str) -> None:
    config = subject.config()
    controls.Setting("ffn_text", START).keep(text)
    twins = {neuron: twin for _text, twin, neuron in EXAMPLES.values()}
    controls.Setting("ffn_twin", TWIN).keep(twins.get((demo.layer, demo.neuron), TWIN))
    controls.Setting("ffn_block", NEURON[0], readers.of(range(config.n_layers))).keep(demo.layer)
    controls.Setting("ffn_neuron", NEURON[1], readers.of(range(config.d_ff))).keep(demo.neuron)
    controls.forget("ffn_factor")
    predict.forget(MUTE)


# ---- every neuron muted once ----


SPREAD = N_(
    "It is **«halved»**. The neuron that is missed most, «worst», leaves «left» of «before». The work is spread: no neuron "
    "is the place where the answer is stored."
)
MANY = N_(
    "True: many neurons work on this answer. But each does a little: «halved» of them halve it alone, and the one that is "
    "missed most, «worst», leaves «left» of «before»."
)
FEW = N_(
    "A few links between words do halve it, as Home shows. Of the neurons it is «halved»: the one that is missed most, "
    "«worst», leaves «left» of «before»."
)


UNSURE = N_(
    "«halved»: the neuron that is missed most, «worst», leaves «left» of «before». Many neurons work on this answer, "
    "each does a little."
)


def muted_one_by_one() -> None:
    """How many neurons decide? A guess, then all of them in a row."""
    table = recorded.muted_one_by_one()
    text = sentence.of(read(recorded.MUTED_IN, recorded.MUTED_IN))
    before = frame.cached(subject.outlook, text, subject.UNTOUCHED).asked
    halved = int((table < before.p / 2).sum())
    worst = np.unravel_index(int(table.argmin()), table.shape)
    options = {"0": N_("not one"), "3": "3", "40": "40", "500": "500"}
    truth = min(options, key=lambda option: abs(int(option) - halved))
    asked = predict.Prediction(
        HALVE,
        N_("“«text»”: mute each of «all» neurons, one at a time. How many of them halve p(“«word»”)?"),
        options,
        truth,
        dict.fromkeys(options, MANY) | {"3": FEW, truth: SPREAD, predict.UNSURE: UNSURE},
        opens=("halve",),
    )
    answered = predict.ask(
        asked,
        text=recorded.MUTED_IN,
        all=f"{table.size:,}",
        word=before.token,
        halved=halved,
        worst="{}.{}".format(*worst),
        left=f"{table.min():.3f}",
        before=f"{before.p:.3f}",
    )
    if answered is not None:
        _in_a_row(table, before)


def _in_a_row(table: np.ndarray, before: sentence.Word) -> None:
    ordered = np.sort(table.ravel())
    most = np.unique(np.geomspace(1, len(ordered), 240).astype(int))
    lines.show(
        live.Picture(
            key="halve",
            wordless=True,
            quantity="next_probs",
            says=_("The answer's probability with one neuron muted, for all neurons, the most missed first."),
        ),
        np.stack([ordered[most - 1], np.full(len(most), before.p), np.full(len(most), before.p / 2)]),
        most,
        [
            lines.Series(_("one neuron muted"), "a", dots=True),
            lines.Series(_("untouched"), "quiet", dash=True),
            lines.Series(_("half of it"), "warn", dash=True),
        ],
        x=lines.Axis(_("neurons, the most missed first"), log=True),
        y=lines.Axis(f"p({before.token})", low=0.0, high=1.0),
        tall=220,
    )


# ---- gate times up ----

CASES = (
    *("The frog jump", "The frog sees a fly. It jump", "The frog likes to jump", "The frog did not jump"),
    *("She was happy. She shout", "The dog bark"),
)


def gate_times_up() -> None:
    """The same verb in four sentences: two questions, and their product."""
    rows = []
    ending = tokenizer.of_model(sentence.FOLDER).token_to_id("ed")
    for text in CASES:
        demo = one.Demo(sentence.of(read(text, START)), *NEURON)
        here = frame.cached(one.inside, demo)
        p = frame.cached(one.twin, demo, (ending,), (1.0, 0.0))[:, 0]
        numbers = (f"{float(x[-1]):.2f}".replace("-", "−") for x in (here.gate, here.up, here.value))
        rows.append((text, *numbers, *(f"{q:.3f}" for q in p)))
    titles = (_("sentence"), _("gate"), _("up"), _("silu(gate) × up"), "p(·ed)", _("muted"))
    figures.table(titles, rows)
    strong = frame.cached(one.inside, one.Demo(sentence.of(read(START, START)), *NEURON)).value[-1]
    likes = one.Demo(sentence.of(read(CASES[2], START)), *NEURON)
    by = float(strong / frame.cached(one.inside, likes).value[-1])
    forced = float(frame.cached(one.twin, likes, (ending,), (by,))[0, 0])
    prose("feedforward", "and", start=START, forced=f"{forced:.3f}")
