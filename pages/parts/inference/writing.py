"""The model writes on: the player, the two triangles, the clocks, and the sampler that all of it is drawn with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from core import tokenizer
from core.generation import Sampler
from core.lab import subject
from core.lab import text as sentence
from core.lab.text import Text
from core.topics.inference import writing as wr
from core.topics.inference.writing import Story
from pages.parts.inference import growing
from pages.shared import address, controls, frame, readers, spine
from pages.shared.asks import predict
from pages.shared.pictures import lines, live
from pages.shared.text import N_, _, filled, prose, say, unmarked

HEATS = (0.0, 0.5, 0.8, 1.0, 1.5)
KEEPS = (0, 5, 40)
NUCLEI = (0.5, 0.9, 0.95, 1.0)
LEASTS = (0.0, 0.05, 0.1, 0.3)
PENALTIES = (1.0, 1.1, 1.3)
LENGTHS = (24, 64, 128, 256)
FIRST = 8  # tokens that are written when one comes
CLOCKED = (16, 64, 128, 256)  # tokens at which a step is timed
ROLL, TAKEN = controls.Setting("gen_seed"), controls.Setting("gen_fork")
ON = "gen"
TIMED = controls.Held("clocks")


def sampler() -> tuple[Sampler, int]:
    """How tokens are drawn and how many, in one line that opens on a click."""
    heat = controls.Setting("gen_heat", 0.0, readers.of(HEATS)).now()
    n = controls.Setting("gen_n", LENGTHS[0], readers.of(LENGTHS)).now()
    how = _("always the likeliest") if not heat else unmarked(_("temperature «t»"), t=heat)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with spine.settings(filled(_("«how» · «n» tokens"), how=how, n=n), key="sampler"):
            controls.pick("Tokens to write", LENGTHS, LENGTHS[0], key="gen_n")
            controls.pick("Temperature of the draw (0: always the likeliest)", HEATS, 0.0, key="gen_heat")
            k = controls.pick("Top-k (0: off)", KEEPS, 0, key="gen_k")
            p = controls.pick("Top-p (1: off)", NUCLEI, 1.0, key="gen_p")
            least = controls.pick("Min-p (0: off)", LEASTS, 0.0, key="gen_min")
            penalty = controls.pick("Penalty for repeating (1: off)", PENALTIES, 1.0, key="gen_rep")
        if heat:
            st.button(_("Draw again"), key="gen_again", on_click=_again)
        if TAKEN.now():
            st.button(_("Back from the fork"), key="gen_back", on_click=TAKEN.forget)
    return Sampler(heat, k, p, least, penalty), n


def _again() -> None:
    TAKEN.forget()
    ROLL.keep((int(ROLL.now()) + 1) % 1000)


def story(text: Text) -> None:
    """The player: one stop a token written. A click on a candidate forks the text there."""
    if address.changed("gen_text", text.ids):
        address.forget("gen_fork", ON)
    how, n = sampler()
    demo = wr.Demo(text, how, int(ROLL.now()), n)
    # The place is always there: what comes and goes in it moves nothing below.
    with st.container(), st.spinner(_("Writing …")), frame.patient(st.empty()):
        told = frame.cached(wr.write, demo)
        if fork := _fork(told):
            told = frame.cached(wr.write, replace(demo, fork=fork))
    if not told.steps:
        over = N_("The story is over: the model writes nothing more here.")
        full = N_("The text fills all that this model reads at once, «n» tokens.")
        say(over if told.ended else full, n=len(text))
        return
    _grow(told)
    prose("inference", "growing", start=told.start, each=f"{wr.token_bytes(subject.config()):,}")
    if told.ended:
        say("Then the story is over: the model writes the sign that ends it.")


def _fork(told: Story) -> tuple[int, int] | None:
    """(step, id) of the address, as the text without a fork has it: (step, place among the candidates)."""
    found = TAKEN.now()
    if not found or found[0] >= len(told.steps) or found[1] >= len(told.steps[found[0]].words):
        return None
    return found[0], told.steps[found[0]].words[found[1]].id


def _grow(told: Story) -> None:
    stops = tuple(range(len(told.steps) + 1))
    dial = controls.Dial(ON, N_("Tokens written"), stops, min(FIRST, stops[-1]), shown=tuple(map(str, stops)))

    def released(name: str, value: object) -> None:
        dial.receive(name, value)
        if name == "take" and not TAKEN.now():
            TAKEN.receive("gen_fork", value)

    lengths = tuple(range(told.start, told.start + len(told.steps)))
    growing.show(
        live.Picture(
            key="growing",
            quantity="flops",
            says=_("The text grows: the pairs that each step computes with and without a cache, and its candidates."),
            slider=dial.slider(play=True),
            captions=_captions(told),
            released=released,
        ),
        told,
        wr.work(subject.config(), lengths),
    )


def _captions(told: Story) -> list[str]:
    """Under every stop: the end of the text so far."""
    words = tokenizer.of_model(sentence.folder(told.whole.subject))
    ids = told.whole.ids
    return [_tail(words.decode(list(ids[: told.start + i]))) for i in range(len(told.steps) + 1)]


def _tail(text: str, longest: int = 150) -> str:
    return text if len(text) <= longest else "… " + text[-longest:]


# ---- the clocks ----


def guess_speed() -> bool:
    """110 times fewer multiplications: how much faster? The answer is measured here, once somebody has guessed."""
    config = subject.config()
    n = CLOCKED[-1]
    spent = wr.work(config, (n,))
    fewer = float(spent.whole[0] / spent.cached[0])
    options = {"all": f"{fewer:.0f} ×", "forty": "40 ×", "six": "6 ×", "none": N_("not at all")}
    times = clocks().times if predict.answer("gen_speed") else 6.0
    near = {"all": fewer, "forty": 40.0, "six": 6.0, "none": 1.0}
    answer = min(near, key=lambda one: abs(np.log(near[one] / times)))
    true = N_(
        "Measured here just now: «times» times. The multiplications do shrink to a «fewer»th, but the weights must be "
        "fetched from memory all the same, for one token or for «n»."
    )
    question = N_(
        "Guess first: at «n» tokens the cache saves all but one in «fewer» multiplications. How much faster is a step?"
    )
    because = dict.fromkeys([*options, predict.UNSURE], true)
    asked = predict.Prediction("gen_speed", question, options, answer, because, opens=("clocks",))
    return predict.ask(asked, n=n, fewer=f"{fewer:.0f}", times=f"{times:.1f}") is not None


def clocks() -> wr.Clocks:
    """Measured once for all; anew for who asks."""
    return frame.cached(wr.measure, sentence.FIRST, CLOCKED, int(TIMED.now() or 0))


@st.fragment
def timed() -> None:
    """Milliseconds of a step on this machine, both ways."""
    with st.spinner(_("Measuring …")):
        found = clocks()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="clocks",
                wordless=True,
                quantity="milliseconds",
                says=_("How long one step takes, by the length of the text."),
            ),
            np.array([found.cached, found.whole]),
            np.array(found.lengths),
            [
                lines.Series(_("with the cache"), "a", dots=True),
                lines.Series(_("without the cache"), "warn", dots=True),
            ],
            x=lines.Axis(_("tokens so far")),
            y=lines.Axis(_("milliseconds a step"), low=0.0),
            tall=260,
        )
    with right:
        config, n = subject.config(), found.lengths[-1]
        spent = wr.work(config, (n,))
        prose(
            "inference",
            "clocks",
            n=n,
            one=f"{spent.cached[0] / 1e6:.1f}",
            all=f"{spent.whole[0] / 1e6:,.0f}",
            fewer=f"{spent.whole[0] / spent.cached[0]:.0f}",
            cached=f"{found.cached[-1]:.1f}",
            whole=f"{found.whole[-1]:.1f}",
            times=f"{found.times:.1f}",
            pairs=wr.PAIRS,
            slow=f"{spent.cached[0] / found.cached[-1] / 1e6:.1f}",
            fast=f"{spent.whole[0] / found.whole[-1] / 1e6:.1f}",
        )
        st.button(_("Measure again"), key="clocks_again", on_click=lambda: TIMED.keep(int(TIMED.now() or 0) + 1))
