"""The first screen: one head's map, its temperature, and what the model says next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from core import attention as at
from core.lab import head as oh
from core.lab import subject
from core.lab import text as sentence
from core.topics.attention import heat
from pages.parts.attention.room import CUT, MAP, TOUR, Room
from pages.shared import controls, frame
from pages.shared.asks import predict
from pages.shared.pictures import bars, live, matrix
from pages.shared.text import N_, _, filled, prose, say, unmarked

LOW = 294  # pixels for the rows of the map: with its slider it stands on the first screen of a projector
LOWER = 240  # and with two sliders, below a row of controls
FEW = 18  # rows: up to here a cell has room for its number


def prediction(room: Room) -> None:
    """What the slider does to the answer, at its hot end."""
    demo = room.demo(oh.TEMPERATURES[-1])
    answer = frame.cached(subject.outlook, demo.text, subject.UNTOUCHED).asked
    hot = frame.cached(subject.outlook, demo.text, demo.change, answer.id)
    other = hot.words[0].id != answer.id
    true = "other" if other else "less" if hot.asked.p < 0.9 * answer.p else "same"
    predict.ask(
        predict.Prediction(
            "hot",
            N_("Guess first: heat this head to «hottest». What does the model say?"),
            {"same": N_("the same"), "less": N_("the same, less sure"), "other": N_("another word")},
            true,
            BECAUSE[true],
        ),
        hottest=f"{oh.TEMPERATURES[-1]:g}",
        word=answer.token,
        now=hot.words[0].token,
        most=f"{hot.words[0].p:.1%}",
        before=f"{answer.p:.1%}",
        after=f"{hot.asked.p:.1%}",
    )


_OTHER = N_("“«word»” falls from «before» to «after», and “«now»” is ahead with «most». Drag and see where it turns.")
_LESS = N_("“«word»” falls from «before» to «after» and stays ahead. Drag and see where it turns.")
_SAME = N_("“«word»” had «before» and has «after»: this head's map blurs, and the answer does not hang on it.")
BECAUSE = {
    "other": {
        "other": _OTHER,
        "?": _OTHER,
        "less": N_(
            "Less surely, yes, and more than that: “«word»” falls from «before» to «after», and “«now»” is ahead."
        ),
        "same": N_(
            "A cold head would not mind. This one, hot, reads all words alike: “«word»” falls from «before» to «after»."
        ),
    },
    "less": {
        "less": _LESS,
        "?": _LESS,
        "other": N_("It does lose ground, from «before» to «after», but “«word»” stays ahead."),
        "same": N_("The same word, yes, but not as surely: “«word»” falls from «before» to «after»."),
    },
    "same": {
        "same": _SAME,
        "?": _SAME,
        "less": N_("The same word, yes, and hardly less surely: «before» before, «after» now."),
        "other": N_("The map blurs as you thought, but the answer does not hang on it: «before» before, «after» now."),
    },
}


def picture(room: Room, head: oh.Head, cell: tuple[int, int] | None) -> None:
    """The live matrix of the weights, with the slider that acts on it; a row that was cut as it is now."""
    frames, n = room.frames("weights"), len(room.rows)
    matrix.show(
        live.Picture(
            key="picture",
            quantity="weights",
            says=_(at.WEIGHTS.says),
            slider=room.dial.slider(together=True),
            signature=True,
            room=480,
            released=controls.receivers(room.cell(), room.dial),
            redraws={"cell": (MAP, TOUR), room.dial.word: (MAP, TOUR)} if room.free else {},
        ),
        frames.values,
        rows=room.rows,
        columns=room.columns,
        look=matrix.Look(
            from_zero=True,
            row_height=min(24, (LOWER if room.free else LOW) // n) if n <= FEW else None,
            tall=LOW,
            strip=_("{row} · entropy {entropy} bits"),
        ),
        entropy=frames.entropy,
        row=cell[0] if cell else n - 1,
        cut=_cut(room, head, frames, cell),
        shut=~head.allowed,
        cell=cell,
    )


def is_cut(room: Room, head: oh.Head, cell: tuple[int, int] | None) -> bool:
    """Has a click cut this link? Only a sentence has links to cut, and only allowed ones."""
    return room.demo is not None and cell is not None and CUT.now() != "look" and bool(head.allowed[cell])


def _cut(room: Room, head: oh.Head, weights: oh.Frames, cell: tuple[int, int] | None) -> matrix.Cut | None:
    if cell is None or not is_cut(room, head, cell):
        return None
    share = CUT.now() == "share"
    after = oh.after_cut(weights, room.frames("masked") if share else weights, cell, share)
    strip = _("{row} · after the cut · entropy {entropy} bits") if share else _("{row} · after the cut")
    return matrix.Cut(cell, after.values, strip, after.entropy)


def beside(room: Room, head: oh.Head, cell: tuple[int, int] | None) -> None:
    """How to read the map, what the model says next, and what a click has done to it."""
    if not room.demo:
        prose("attention", "free")
        return
    prose("attention", "read")
    if len(room.rows) > heat.LONG:  # at the stop alone
        room.dial.rest(lambda: next_word(room, head, cell))
    else:
        next_word(room, head, cell)
    if cell is None:
        return
    names = dict(query=room.rows[cell[0]], key=room.columns[cell[1]])
    if is_cut(room, head, cell):
        template = N_("Weight «query» → «key» is zero now; the rest of its row stays as it was.")
        if CUT.now() == "share":
            template = N_("Weight «query» → «key» is zero now; the rest of its row shares what it had.")
        say(template, **names)
        st.button(_("Put it back"), on_click=room.cell().forget, key="put_back")
    elif not head.allowed[cell]:
        say("There is nothing to cut: the mask does not allow this link.")
    else:
        st.markdown(f"**{filled('«query» → «key»', **names)}**")


def next_word(room: Room, head: oh.Head, cell: tuple[int, int] | None) -> None:
    """The likeliest next words at every temperature, over those of the untouched model: they move with the map."""
    demo = room.demo(room.value())
    short = len(demo.text) <= heat.LONG
    link = cell if is_cut(room, head, cell) else None
    calm = replace(demo, temperature=1.0) if short else demo
    with st.spinner(_("Heating all heads, stop by stop …")) if demo.everywhere else st.container():
        found = frame.cached(heat.said, calm, link, CUT.now() == "share")
    tokens = [sentence.called(id) for id in found.ids]
    template = _("p(«word») = «now», untouched «then»")
    captions = [
        unmarked(template, word=tokens[0], now=f"{p[0]:.3f}", then=f"{found.before[0]:.3f}") for p in found.probs
    ]
    st.markdown(f"**{_('Next word')}** · {_('outlined: the untouched model')}")
    follows = room.dial.slider(together=True, hidden=True) if short else None
    says = N_("How likely each word is to come next, as hot as this head is.")
    picture = bars.next_picture("next", says, slider=follows, captions=captions)
    bars.next_tokens(picture, tokens, np.asarray(found.probs), found.before, marked=0)
    bars.explain_dot(tokens)
