"""A word is swapped and the cache knows nothing of it: the cells, renewed in turn or one alone; and inside a cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as sentence
from core.lab.text import Text
from core.topics.inference import many, stale
from core.topics.inference.stale import Stale
from pages.parts.inference import cells as picture
from pages.shared import address, controls, frame, readers, spine, story
from pages.shared.asks import check as checks
from pages.shared.asks import predict
from pages.shared.pictures import live, matrix
from pages.shared.text import N_, _, filled, prose, say

ORDERS = {
    "left": N_("from the left"),
    "newest": N_("from the newest back"),
    "layers": N_("block by block"),
}
SHORT = N_("Three tokens are the least: one to swap, one before it, one that is new.")
CELL = "stale_cell"


@dataclass(frozen=True)
class Room:
    """The text that the cache was made of, what was swapped in it, and all that follows."""

    demo: stale.Demo

    @property
    def found(self) -> Stale:
        return frame.cached(stale.run, self.demo)

    @property
    def was(self) -> str:
        return self.demo.text.tokens[self.demo.place]

    @property
    def becomes(self) -> str:
        return self.found.swapped.tokens[self.demo.place]

    @property
    def names(self) -> dict[str, object]:
        """For the holes of a text."""
        found = self.found
        return dict(
            was=self.was,
            becomes=self.becomes,
            last=self.demo.text.tokens[-1],
            old=found.old.token,
            new=found.new.token,
            p=f"{found.old.p:.1%}",
            q=f"{found.new.p:.1%}",
            stale=f"{found.chance(found.old.id, 0):.1%}",
            cells=len(found.cells),
            layers=len(found.alone),
            cached=len(self.demo.text) - 1,
        )


# ---- the text and its swap ----


def room() -> Room:
    """The sentence; in one line what is swapped in it. A text without anything to swap says so and ends the page."""
    left, right = st.columns([3, 2], vertical_alignment="bottom", gap="medium")
    with left:
        reading = story.ask()
    text = stale.readable(sentence.of(reading))
    if address.changed("text", reading.text):
        address.forget("swap", "swap_for", "stale", CELL)
        predict.forget("stale_next", "stale_count")
    try:
        places = stale.places(text)
    except sentence.Cannot:
        st.warning(_(SHORT))
        st.stop()
    place, other = frame.cached(stale.first_swap, text)
    now = controls.Setting("swap", place, readers.of(places)).now()
    offered = frame.cached(stale.alike, text, now)
    first = other if now == place else offered[0]
    listed = tuple(dict.fromkeys([first, *offered]))
    becomes = controls.Setting("swap_for", first, readers.of(listed)).now()
    order = str(controls.Setting("swap_order").now())
    called = {id: sentence.called(id, text.subject) for id in listed}
    line = filled(_("“«was»” becomes “«becomes»” · renewed «order»"), was=text.tokens[now], becomes=called[becomes],
                  order=_(ORDERS[order]))  # fmt: skip
    with right, spine.settings(line):
        _choose(text, places, place, first, called)
    if len(text) < len(reading.ids):
        say("Only the last «n» tokens are read here: the text is longer.", n=len(text))
    return Room(stale.Demo(text, now, becomes, order))


def _choose(text: Text, places: tuple[int, ...], place: int, first: int, called: dict[int, str]) -> None:
    controls.listed(_("Word that is swapped"), places, place, key="swap", shown=lambda i: f"{i} · {text.tokens[i]}")
    controls.listed(_("It becomes"), tuple(called), first, key="swap_for", shown=lambda id: called[id])
    controls.choice("Cells are renewed", ORDERS, "left", key="swap_order")


# ---- what does it say now? ----


def guess(room: Room) -> bool:
    """What comes next, with the old cache? True once it is answered."""
    found = room.found
    same = N_(
        "“«last»” alone is computed, and all it hears of the others comes out of the cache: “«old»”, «stale», as before. "
        "Read anew, the text would give “«new»”, «q»."
    )
    because = {
        "old": same,
        "new": N_(
            "Only the newest token is looked up. Of “«becomes»” nothing has reached the model: “«old»”, «stale», as before."
        ),
        "half": N_("Not even half: the swapped word has touched no number yet. “«old»” has «stale», as before."),
        "mess": N_(
            "The cache is in good order, only of another text: the one before the swap. “«old»” has «stale», as before."
        ),
        predict.UNSURE: same,
    }
    options = {
        "old": filled(_("“«word»”, as before"), word=found.old.token),
        "new": N_("what the new text says"),
        "half": N_("something in between"),
        "mess": N_("nonsense"),
    }
    question = N_("Guess first: “«was»” became “«becomes»” on the screen, the cache was left alone. What comes next?")
    asked = predict.Prediction("stale_next", question, options, "old", because)
    return predict.ask(asked, **room.names) is not None


def cells(room: Room, guessed: bool) -> None:
    """The signature: every cell of the cache, renewed one after the other by the slider, or one alone by a click."""
    found = room.found
    dial = controls.Dial("stale", N_("Cells renewed"), found.stops, 0, quiet=True)
    setting = controls.Setting(CELL, None, controls.within(*found.alone.shape[:2]), heard="cell")

    def released(name: str, value: object) -> None:
        if name == "cell" and value is None:
            setting.forget()
        elif name == "cell":
            setting.receive(name, value)
        elif name == "stale":
            setting.forget()
            dial.receive(name, value)

    ids = np.array([word.id for word in found.words])
    lead = found.alone_best[..., None] == ids
    picture.show(
        live.Picture(
            key="stale",
            quantity="next_probs",
            says=_("The cells of the cache, old or renewed, and the next word that comes out of them."),
            slider=dial.slider(),
            signature=True,
            room=290,
            released=released,
        ),
        found,
        room.demo.place,
        room.was,
        best=np.where(lead.any(-1), lead.argmax(-1), -1),
        cell=setting.now(),
        covered=not guessed,
    )

    def meaning() -> None:
        if guessed or dial.now() or setting.now():
            _meaning(room)
        else:
            prose("inference", "cells", **room.names)

    meaning() if guessed else dial.rest(meaning)


def _meaning(room: Room) -> None:
    found, stop = room.found, room.found.settled
    if found.old.id == found.new.id:
        prose("inference", "cells_same", **room.names)
        return
    values = dict(before=f"{found.chance(found.new.id, stop - 1):.1%}", after=f"{found.chance(found.new.id, stop):.1%}")
    where = found.cells[found.stops[stop] - 1]
    values |= dict(token=found.swapped.tokens[where[1]], layer=where[0])
    prose("inference", "cells_turn", **room.names, **values)


# ---- one cell alone ----


def guess_count(room: Room) -> bool:
    """How many cells turn it? Asked where the new text says something else."""
    found = room.found
    total, layers = len(found.cells), len(found.alone)
    if found.old.id == found.new.id:
        return True
    least = fewest(room)
    options = {"1": "1", "column": str(layers), "half": _("about {n}").format(n=total // 2), "all": str(total)}
    answer = "1" if least == 1 else "column" if least == layers else "half" if least < 0.8 * total else "all"
    one = N_("One is enough: block «layer» at “«token»”. Click on it: “«new»” has «alone».")
    some = N_(
        "No cell does it alone, and it takes «least» of «cells» from the left. Click on some, and see how little each does."
    )
    column = N_("No cell does it alone. The «layers» cells of the swapped word together do.")
    true = {"1": one, "column": column}.get(answer, some)
    because = dict.fromkeys([*options, predict.UNSURE], true)
    if answer == "1":
        because["column"] = N_(
            "Those of the swapped word? Fewer: block «layer» at “«token»” alone gives “«new»” «alone»."
        )
        because["all"] = N_("All would do, but one is enough: block «layer» at “«token»” alone gives “«new»” «alone».")
    question = N_("Guess first: how many of «cells» cells must be renewed until “«new»” leads?")
    asked = predict.Prediction("stale_count", question, options, answer, because, opens=("alone",))
    return predict.ask(asked, **room.names, **strongest(room), least=least) is not None


def fewest(room: Room) -> int:
    """1 where a cell does it alone; the swapped word's column, if that is enough; else what it takes in this order."""
    found = room.found
    if found.turning:
        return 1
    return len(found.alone) if frame.cached(stale.column, room.demo) else found.stops[found.settled]


def strongest(room: Room) -> dict[str, object]:
    """The cell that alone brings the new answer furthest, and how far."""
    found = room.found
    at = [word.id for word in found.words].index(found.new.id)
    layer, token = np.unravel_index(int(found.alone[..., at].argmax()), found.alone.shape[:2])
    return dict(layer=layer, token=found.swapped.tokens[token], alone=f"{found.alone[layer, token, at]:.1%}",
                turning=len(found.turning))  # fmt: skip


def one_cell(room: Room) -> None:
    """Every cell alone, as one map: how likely the new text's answer is with that cell renewed."""
    found = room.found
    if not guess_count(room):
        return
    if found.old.id == found.new.id:
        prose("inference", "one_same", **room.names)
        return
    at = [word.id for word in found.words].index(found.new.id)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="alone",
                quantity="probs",
                says=_("How likely the new text's answer is with each cell alone renewed."),
            ),
            found.alone[::-1, :, at],
            rows=[_("block {i}").format(i=i) for i in reversed(range(len(found.alone)))],
            columns=list(found.swapped.tokens[:-1]),
            look=matrix.Look(from_zero=True, row_title="", column_title="", row_role="quiet", column_role="quiet", bound=1.0, most=48,
                             row_height=28),
        )  # fmt: skip
    with right:
        count = len(found.turning)
        prose(
            "inference", "one" if count == 1 else "one_some" if count else "one_none", **room.names, **strongest(room)
        )
        every = frame.cached(many.recorded)
        prose("inference", "many", texts=every.texts, single=every.alone, block=every.block, there=every.there)


# ---- inside the cell ----


def inside(room: Room) -> None:
    """Keys or values, and of which head?"""
    found = room.found
    if found.old.id == found.new.id:
        say("Here both texts say the same, so no cell has anything to turn. Take the first example.")
        return
    at = [word.id for word in found.words].index(found.new.id)
    layer, token = (int(i) for i in np.unravel_index(int(found.alone[..., at].argmax()), found.alone.shape[:2]))
    parts = frame.cached(stale.inside, room.demo, layer, token, found.new.id)
    head = int(parts.p[:, 1].argmax())
    left, right = st.columns([3, 2], gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="inside",
                quantity="probs",
                says=_("How likely the new answer is with the keys or the values of one head alone renewed."),
            ),
            np.concatenate([parts.p, parts.all_heads[None]]).T,
            rows=[_("keys"), _("values"), _("keys and values")],
            columns=[*(f"{layer}.{i}" for i in range(len(parts.p))), _("all heads")],
            look=matrix.Look(from_zero=True, row_title="", column_title=N_("head"), row_role="quiet", column_role="quiet", bound=1.0,
                             digits=3, most=64),
        )  # fmt: skip
    with right:
        prose("inference", "inside", **room.names, layer=layer, token=found.swapped.tokens[token], head=f"{layer}.{head}",
              value=f"{parts.p[head, 1]:.1%}", key=f"{parts.p[head, 0]:.1%}", before=f"{found.chance(found.new.id, 0):.1%}",
              numbers=parts.numbers, whole=f"{parts.whole:,}")  # fmt: skip


# ---- what stays valid ----


def valid(room: Room) -> None:
    """Which cells a swap spoils: what prefix caching can keep."""
    demo, n, layers = room.demo, len(room.demo.text) - 1, subject.config(room.demo.text.subject).n_layers
    change = frame.cached(stale.changed, demo)
    good = stale.valid(n, demo.place, layers)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="spoiled", quantity="influence", says=_("How much each cell differs between the two texts.")
            ),
            change[::-1],
            rows=[_("block {i}").format(i=i) for i in reversed(range(layers))],
            columns=list(room.found.swapped.tokens[:-1]),
            look=matrix.Look(
                from_zero=True,
                row_title="",
                column_title="",
                row_role="quiet",
                column_role="quiet",
                most=48,
                row_height=28,
            ),
        )
    with right:
        prose("inference", "valid", **room.names, n=n, place=demo.place, good=good, bad=n * layers - good,
              later=n - demo.place)  # fmt: skip


def check(room: Room) -> None:
    """Cells that stay valid after another swap."""
    n, layers = len(room.demo.text) - 1, subject.config(room.demo.text.subject).n_layers
    place = max(1, n // 3)
    question = N_(
        "«n» tokens are cached in «layers» blocks, and token «place» (counted from 0) is swapped. How many cells stay as they are?"
    )
    how = N_(
        "Block 0 loses one cell, each of the «above» blocks above keeps the «place» before it: «kept» + «above» · «place» = «answer»."
    )
    checks.number(
        question,
        stale.valid(n, place, layers),
        key="stale_check",
        hint=N_(
            "In block 0 a cell knows its own token alone. In later blocks every token at or after the swap has heard of it."
        ),
        how=how,
        n=n,
        layers=layers,
        place=place,
        above=layers - 1,
        kept=n - 1,
    )
