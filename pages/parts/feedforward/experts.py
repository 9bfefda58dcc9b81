"""Why experts exist: how many of an FFN's neurons a token needs, and why a trained FFN is not cut into experts for free."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab.text import Cannot, Text
from core.topics.feedforward import needed
from pages.shared import controls, frame, spine
from pages.shared.asks import predict
from pages.shared.pictures import bars, lines, live
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose, say

NEED = "ffn_need"
RULES = {
    "own": N_("each word its own"),
    "set": N_("one set for all words"),
    "chance": N_("chance chooses"),
}
SHORT = {"own": N_("its own"), "set": N_("one set"), "chance": N_("chance")}
ROLES = {"own": "ffn", "set": "warn", "chance": "quiet"}
OPTIONS = {
    "neither": N_("neither does much harm"),
    "set": N_("only the fixed half does"),
    "own": N_("only choosing anew does"),
    "both": N_("both do"),
}
TRUE = N_(
    "Chosen anew for every word, half of the neurons gives «own» nats, against «whole» with all. "
    "One half fixed for all words, the one that writes most on average: «fixed»."
)
WRONG = {
    "neither": N_(
        "Half is enough for any one word (loss «own», with all «whole»), "
        "but different words need different halves: one fixed half gives «fixed»."
    ),
    "own": N_("It is the other way round: what is chosen anew fits the word. Anew «own», fixed «fixed», all «whole»."),
    "both": N_(
        "Half of the work is no harm in itself: chosen anew the loss is «own», with all «whole». Fixed, it is «fixed»."
    ),
    "?": N_("The slider stands at half: chosen anew «own», fixed «fixed», all «whole»."),
}


def ks() -> tuple[int, ...]:
    """Neurons of each block that are kept, at every stop."""
    order = needed.recorded()["order"]
    return needed.sizes(order.shape[1])


def numbers() -> dict[str, object]:
    """The recorded losses that the texts speak of, at half of the neurons."""
    half, found = len(needed.PARTS) // 2, needed.losses()
    own, fixed, chance = (f"{x:.2f}" for x in found[:, half])
    return dict(own=own, fixed=fixed, chance=chance, whole=f"{found[0, -1]:.2f}", half=ks()[half], all=ks()[-1])


def why(text: Text) -> None:
    """The guess; then one slider, two pictures: the loss on held-out stories, and the visitor's next word."""
    question = N_(
        "Half of «all» neurons in every block, the rest left out. "
        "The half is chosen anew for every word, or fixed for all. What harms?"
    )
    asked = predict.Prediction(
        NEED, question, OPTIONS, "set", WRONG | {"set": TRUE}, opens=("ffn_kept", "ffn_kept_word", "ffn_grains")
    )
    if predict.ask(asked, **numbers()) is None:
        return
    st.fragment(_kept)(text)
    prose("feedforward", "needed", **numbers())
    if spine.deep():
        grains()


def _kept(text: Text) -> None:
    try:
        found = frame.cached(needed.run, text)
    except Cannot as no:
        say(str(no))
        return
    stops = ks()
    shown = tuple(f"{k} / {stops[-1]}" for k in stops)
    kept = controls.Dial("ffn_kept", N_("Neurons kept in each block"), stops, stops[len(stops) // 2], shown=shown)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _losses(kept, stops)
    with right:
        _next_word(kept, stops, found)


def _losses(kept: controls.Dial, stops: tuple[int, ...]) -> None:
    table = needed.losses()
    said = _("{k} neurons: each its own {own}, one set {set}, chance {chance} nats a token")
    captions = [
        said.format(k=k, own=f"{a:.2f}", set=f"{b:.2f}", chance=f"{c:.2f}")
        for k, a, b, c in zip(stops, *table, strict=True)
    ]
    lines.show(
        live.Picture(
            key="ffn_kept",
            wordless=True,
            quantity="loss",
            says=_(
                "The loss on stories that the model wrote itself, against the number of neurons kept, for three rules."
            ),
            slider=kept.slider(together=True),
            captions=captions,
            released=kept.receive,
        ),
        np.repeat(table[None], len(stops), 0),
        np.array(stops),
        [Series(_(RULES[rule]), ROLES[rule], dash=rule == "chance") for rule in needed.RULES],
        x=Axis(_("neurons kept of {n}").format(n=stops[-1])),
        y=Axis(_("loss, nats a token"), low=0),
        moving=np.array(stops),
        tall=230,
    )


def _next_word(kept: controls.Dial, stops: tuple[int, ...], found: needed.Needed) -> None:
    """The answer's probability under the three rules, moved by the same slider."""
    nearest = [int(np.abs(np.array(found.ks) - k).argmin()) for k in stops]
    answer, few = found.words[0], len(found.ks) < len(stops)
    say("Your sentence: what is left of “«word»”", word=answer.token)
    bars.show(
        live.Picture(
            key="ffn_kept_word",
            quantity="next_probs",
            says=_("The probability of the answer with so many neurons, for three rules; outlined with all of them."),
            slider=kept.slider(together=True, hidden=True),
        ),
        [_(SHORT[rule]) for rule in needed.RULES],
        found.p[:, nearest, 0].T,
        ghost=np.full(len(needed.RULES), answer.p),
        high=1.0,
        percent=True,
        role="ffn",
        column=_("rule"),
    )
    if few:
        say("Of a long text only «n» of the stops are computed; between them the nearest stands.", n=len(found.ks))


# ---- groups ----


def grains() -> None:
    """Half of all groups, from two large ones to single neurons: with a perfect router and with a trained one."""
    table, sizes = needed.grains(), np.array(needed.GRAINS)
    whole = float(needed.losses()[0, -1])
    lines.show(
        live.Picture(
            key="ffn_grains",
            wordless=True,
            quantity="loss",
            says=_("The loss with half of all groups kept, against the size of a group: finer groups lose less."),
        ),
        np.concatenate([table, np.full((1, len(sizes)), whole)]),
        sizes,
        [
            Series(_("a router that knows"), "ffn", dots=True),
            Series(_("a trained linear router"), "warn", dots=True),
            Series(_("all neurons"), "quiet", dash=True),
        ],
        x=Axis(_("neurons in a group"), log=True),
        y=Axis(_("loss, nats a token"), low=0),
        tall=230,
    )
    prose("feedforward", "grains", **grain_numbers())


def grain_numbers() -> dict[str, object]:
    """The recorded losses of groups that the texts speak of: the largest, single neurons, sixteen groups."""
    table, whole, size = needed.grains(), float(needed.losses()[0, -1]), 48
    at = needed.GRAINS.index(size)
    ends = dict(coarse=f"{table[0, 0]:.2f}", large=needed.GRAINS[0], single=f"{table[0, -1]:.2f}", whole=f"{whole:.2f}")
    return ends | dict(size=size, groups=ks()[-1] // size, perfect=f"{table[0, at]:.2f}", trained=f"{table[1, at]:.2f}")
