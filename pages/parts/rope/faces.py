"""The two words of the RoPE page, its clock faces, and the law of the distance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as sentence
from core.topics.rope import clocks as ck
from pages.parts.rope import clocks as faces
from pages.shared import controls, frame, readers, spine, story
from pages.shared.asks import check as checks
from pages.shared.asks import predict
from pages.shared.pictures import figures, live
from pages.shared.text import N_, _, filled, prose, say

FAR = 30  # places both words move in the question
PAIR = 5  # the pair on the clock faces at first: neither a blur nor asleep
HEAD = (2, 0)  # a head that listens to the place
NO_ROTATION = N_("This model has no rotation: it learned a row of its table for every position.")
MOVE = controls.Setting("rope_move", heard="move")
SHIFT = controls.Dial(
    "rope_shift", N_("Move by"), ck.SHIFTS, shown=tuple(f"+{shift}" for shift in ck.SHIFTS), quiet=True
)


@dataclass(frozen=True)
class Room:
    """A sentence, a head and two of its words."""

    demo: ck.Demo
    pairs: int

    @property
    def theta(self) -> np.ndarray:
        """(pair,) radians a position."""
        return frame.cached(ck.meeting, self.demo).theta.numpy()

    @property
    def words(self) -> tuple[str, str]:
        return self.demo.text.tokens[self.demo.query], self.demo.text.tokens[self.demo.key]

    @property
    def names(self) -> dict[str, object]:
        """For the holes of a text."""
        query, key = self.words
        return dict(query=query, key=key, m=self.demo.query, n=self.demo.key)


def room() -> Room:
    """The sentence, and in one line which of its words meet, in which head."""
    config = subject.config()
    left, right = st.columns([3, 2], vertical_alignment="bottom", gap="medium")
    with left:
        reading = story.ask()
    n = len(reading.tokens)
    query = controls.Setting("rope_q", n - 1, readers.of(range(n))).now()
    key = controls.Setting("rope_k", max(0, n - 2), readers.of(range(n))).now()
    layer = controls.Setting("layer", HEAD[0], readers.of(range(config.n_layers))).now()
    head = controls.Setting("head", HEAD[1], readers.of(range(config.n_heads))).now()
    names = dict(query=reading.tokens[query], key=reading.tokens[key], layer=layer, head=head)
    with right, spine.settings(filled(_("“«query»” asks, “«key»” answers · block «layer» · head «head»"), **names)):
        _word("Query word", reading.tokens, n - 1, key="rope_q")
        _word("Key word", reading.tokens, max(0, n - 2), key="rope_k")
        controls.pick("Block", range(config.n_layers), HEAD[0], key="layer")
        controls.pick("Head", range(config.n_heads), HEAD[1], key="head")
        say("A head's «pairs» pairs of numbers, as the model made them for your sentence.", pairs=config.head_dim // 2)
    demo = ck.Demo(sentence.of(reading), layer, head, query, key)
    try:
        frame.cached(ck.meeting, demo)
    except sentence.Cannot as no:
        st.warning(_(str(no)))
        st.stop()
    return Room(demo, config.head_dim // 2)


def _word(label: str, tokens: tuple[str, ...], default: int, *, key: str) -> int:
    """One of the sentence's tokens, by its place."""
    return controls.listed(_(label), range(len(tokens)), default, key=key, shown=lambda i: f"{i} · {tokens[i]}")


LABELS = (N_("Query word"), N_("Key word"))


def prediction(room: Room) -> None:
    """Asked before the slider is touched; the answer holds for every head and every sentence."""
    query, key = room.words
    asked = predict.Prediction(
        "rope_freeze",
        N_("“«query»” and “«key»” keep their vectors, but both move «far» places on. Their score q·k …"),
        {"less": N_("shrinks"), "turns": N_("swings"), "stays": N_("stays")},
        "stays",
        {
            "stays": N_("Both hands turn by the same angle, so the angle between them stays, and so does the score."),
            "less": N_("Nothing gets shorter: turning keeps the lengths. And the angle between both hands stays too."),
            "turns": N_("Each hand swings, yet both swing alike. The score hears only the angle between them."),
            "?": N_("Drag the slider and watch the number: it stands still at «score» while both hands turn."),
        },
    )
    predict.ask(asked, query=query, key=key, far=FAR, score=signed(one_score(room).turned, 3))


def one_score(room: Room) -> ck.Law:
    return frame.cached(ck.law, room.demo)


def clock_faces(room: Room, shown_pair: int) -> None:
    """The signature picture. A click on another pair runs the whole page: other parts look at this pair too."""
    pair = pair_of(room.pairs)
    faces.show(
        live.Picture(
            key="clocks",
            quantity="scores",
            says=_("Two hands that turn with the position, the angle between them, and the score."),
            slider=SHIFT.slider(),
            signature=True,
            room=324,
            released=controls.receivers(SHIFT, MOVE, pair),
        ),
        frame.cached(ck.clocks, room.demo),
        room.theta,
        room.words,
        (room.demo.query, room.demo.key),
        move=MOVE.now(),
        pair=pair.now(),
        pairs=spine.deep() or pair.now() != PAIR,
    )
    if pair.now() != shown_pair:
        st.rerun()


def pair_of(pairs: int) -> controls.Setting:
    """The pair that all parts of the page look at."""
    return controls.Setting("rope_pair", min(PAIR, pairs - 1), readers.whole(0, pairs - 1), heard="pair")


def law(room: Room) -> None:
    """What the clock faces show, as a formula and as one number reached in four ways. It would answer the question."""
    if predict.answer("rope_freeze") is None:
        say("Drag, watch the score, and answer above. The law behind it then stands here.")
        return
    if not spine.deep():
        say("**What the score hears:** of the two places only their distance, for both arrows turn alike.")
        return
    found = one_score(room)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        prose("rope", "law", **room.names, distance=signed(room.demo.query - room.demo.key, 0))
        if room.demo.key > room.demo.query:
            say("Here the key stands after the query. The mask will hide this score, but it is computed all the same.")
    with right:
        rows = [
            (_("recorded by the model"), found.recorded),
            (r"$(R_m q)^\top (R_n k)$", found.turned),
            (r"$q^\top R_{n-m}\, k$", found.relative),
            (r"$\mathrm{Re}\, \sum_i e^{\mathrm{i}(m-n)\theta_i}\, q_i k_i^*$", found.spun),
        ]
        head = f"| {_('the same score')} | {_('reached by')} |\n|---:|---|\n"
        st.markdown(head + "\n".join(f"| {signed(value, 6)} | {name} |" for name, value in rows))
        drift = dict(wide=power(found.drift64), narrow=power(found.drift32), shifts=ck.SHIFTS[-1])
        say(
            "Moved together by up to «shifts» places, the score drifts by «wide» in float64 and by «narrow» in float32.",
            **drift,
        )


def power(x: float) -> str:
    """A small error as people write it: 7.6 × 10⁻⁶."""
    if not x:
        return "0"
    digits, exponent = f"{x:.1e}".split("e")
    return f"{digits} × 10{figures.raised(int(exponent))}"


def signed(x: float, digits: int) -> str:
    """With a minus and not a hyphen."""
    return f"{x:.{digits}f}".replace("-", "−")


def kinds(room: Room) -> None:
    """One head listens to the place, another to the content: how far the score swings if the query alone moves."""
    all_heads = replace(room.demo, layer=0, head=0)  # what swings is found in all of them at once
    found, heads = frame.cached(ck.swings, all_heads), subject.config().n_heads
    wild, calm = (divmod(int(i), heads) for i in (found.relative.argmax(), found.relative.argmin()))
    lines = []
    for name, at in (("chosen", (room.demo.layer, room.demo.head)), ("swings most", wild), ("swings least", calm)):
        numbers = " | ".join(signed(x[at], 1) for x in (found.start, found.low, found.high))
        lines.append(f"| {at[0]}.{at[1]} · {_(KINDS[name])} | {found.relative[at]:.2f} | {numbers} |")
    titles = (
        _("head"),
        _("swing / (length q × length k)"),
        _("score as it stands"),
        _("lowest score"),
        _("highest score"),
    )
    head = "| " + " | ".join(titles) + " |\n|---|---:|---:|---:|---:|\n"
    left, right = st.columns([1, 1], gap="medium")
    with left:
        prose("rope", "kinds", wild="{}.{}".format(*wild), calm="{}.{}".format(*calm), **room.names)
    with right:
        st.markdown(head + "\n".join(lines))
        row = st.container(horizontal=True)
        for at in dict.fromkeys([wild, calm, HEAD]):
            label = _("Look at head {head}").format(head=f"{at[0]}.{at[1]}")
            row.button(label, key=f"rope_see_{at[0]}_{at[1]}", on_click=_open, args=at)


def _open(layer: int, head: int) -> None:
    controls.Setting("layer", HEAD[0]).keep(layer)
    controls.Setting("head", HEAD[1]).keep(head)


KINDS = {"chosen": N_("chosen"), "swings most": N_("swings most"), "swings least": N_("swings least")}


DEEPER = (
    N_("The law with its formula"),
    N_("Which heads listen to the clock"),
    N_("Four benches: a pair, a head, neighbours or halves, where it sits"),
    N_("Angles never seen"),
    N_("Five ways to slow the clocks"),
    N_("Common mistakes"),
)


def download(room: Room) -> None:
    """The tensors behind the clock faces: q and k before and after the rotation, and the scores."""

    with st.container(horizontal=True, horizontal_alignment="right"):
        st.download_button(_("The numbers (.npz)"), lambda: ck.recorded(room.demo).as_npz(), "rope.npz", key="rope_npz")


def check(room: Room, pair: int) -> None:
    """An angle of the visitor's own pair and words."""
    theta = float(room.theta[pair])
    first = 0  # far from the word that asks: a distance of one would give the answer away
    checks.number(
        N_(
            "Pair «i» turns «theta» rad a position. “«asks»” stands at «m», “«asked»” at «n». "
            "By how many radians is the first turned more?"
        ),
        (room.demo.query - first) * theta,
        key="rope_check",
        hint=N_("A pair turns by its own angle for every place between the two words."),
        how=N_("(«m» − «n») × «theta» = «answer» rad. Only the distance is left."),
        i=pair,
        theta=f"{theta:.4g}",
        asks=room.words[0],
        asked=room.demo.text.names[first],
        m=room.demo.query,
        n=first,
    )
