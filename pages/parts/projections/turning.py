"""The page on linear layers: its sentence and head, the query that is turned by hand, and the product that made it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from core.lab import subject, text
from core.lab.provenance import Provenance
from core.topics.projections import product as xw
from core.topics.projections import query as pj
from pages.parts.projections import product as picture
from pages.shared import controls, frame, readers, spine, story
from pages.shared.asks import predict
from pages.shared.pictures import bars, live, plane
from pages.shared.pictures import provenance as written
from pages.shared.text import N_, _, filled, prose, say

MAPS = {
    "q": N_("W_Q makes queries"),
    "k": N_("W_K makes keys"),
    "v": N_("W_V makes values"),
}
MOST_BARS = 14  # keys listed beside the plane
MOST_FEET = 40  # keys whose perpendiculars are drawn


ANGLE = controls.Dial("turn_q", N_("Turn q"), pj.ANGLES, unit="°")


# ---- the sentence and the head ----


@dataclass(frozen=True)
class Room:
    """What everything on the page is about: a sentence, its tokens' names, and one head."""

    reading: Any
    demo: pj.Demo
    names: list[str]

    @property
    def asks(self) -> str:
        """The token whose query is looked at: the last."""
        return self.names[-1]


def sentence_room() -> Room:
    """The sentence and the head. Its own choice: this page opens at another head than the pages that share theirs."""
    left, right = st.columns([5, 1.6], vertical_alignment="center")
    config = subject.config()
    layer, head = (
        controls.Setting(word, 4, readers.of(range(many))).now()
        for word, many in (("proj_layer", config.n_layers), ("proj_head", config.n_heads))
    )
    with right, spine.settings(filled(_("block «layer» · head «head»"), layer=layer, head=head)):
        controls.pick("Block", range(config.n_layers), 4, key="proj_layer")
        controls.pick("Head", range(config.n_heads), 4, key="proj_head")
    with left:
        reading = story.ask()
    return Room(reading, pj.Demo(text.of(reading), layer, head), text.names(reading.tokens))


# ---- guess: one embedding, one key? ----


def of_pair(room: Room) -> tuple[pj.Pair, pj.Demo]:
    """The sentence's own repeated word; where it has none, that of the sentence we start with."""
    first = replace(room.demo, text=text.of(text.read(text.SENTENCE)))
    for demo in (room.demo, first):
        if found := frame.cached(pj.pair, demo):
            return found, demo
    raise ValueError(f"nothing stands twice in {text.SENTENCE!r}")


def prediction(room: Room) -> str | None:
    """Do two places with one embedding have one key?"""
    pair, demo = of_pair(room)
    answer = "same" if pair.met > 0.999 else "near" if pair.met > 0.5 else "far"
    options = {"same": N_("the same key"), "near": N_("close, not the same"), "far": N_("quite different keys")}
    because = {
        "same": N_("The same key would need the same input at the same place. «truth»"),
        "near": N_("The token is the same, what surrounds it is not. «truth»"),
        "far": N_("How far apart they are depends on the head. «truth»"),
        predict.UNSURE: N_("Here is what is measured. «truth»"),
    }
    question = N_("Guess first: “«token»” stands here more than once, with one embedding. One key too?")
    if demo != room.demo:
        question = N_("Guess first: “«token»” stands twice in “«text»”, with one embedding. One key too?")
    two_keys = predict.Prediction("two_keys", question, options, answer, because)
    return predict.ask(two_keys, token=pair.token, text=text.SENTENCE, truth=_truth(pair, demo))


def _truth(pair: pj.Pair, demo: pj.Demo) -> str:
    """From the embedding to the weight, what becomes of one token at two places."""
    if pair.turned is None:
        path = _(
            "The embeddings are equal (cosine {embed}). What enters this block is not ({stream}), and so the keys "
            "differ (cosine {key})."
        )
    elif demo.layer:
        path = _(
            "The embeddings are equal (cosine {embed}). What enters this block is not ({stream}): context has been "
            "mixed in. So the keys differ (cosine {key}, and {turned} once position has rotated them)."
        )
    else:
        path = _(
            "The embeddings are equal (cosine {embed}), and before the first block no context has been mixed in "
            "({stream}). The keys are equal too ({key}), until position rotates them ({turned})."
        )
    found = dict(embed=pair.embed, stream=pair.stream, key=pair.key, turned=pair.met)
    cosines = {name: f"{cosine:.3f}" for name, cosine in found.items()}
    heard = _("“{asks}” scores them {one} and {two}; softmax makes that {share_one} and {share_two}.").format(
        asks=demo.text.tokens[-1],
        one=f"{pair.scores[0]:.1f}",
        two=f"{pair.scores[1]:.1f}",
        share_one=f"{pair.weights[0]:.1%}",
        share_two=f"{pair.weights[1]:.1%}",
    )
    return f"{path.format(**cosines)} {heard}"


# ---- guess: what is written when another word is asked for? ----

TURNED = "turned_word"  # the guess


def guess_turned(room: Room) -> None:
    """The arrow is turned to another word: what does the model write then? Nothing is asked where nothing changes."""
    other, onward = frame.cached(pj.flip, room.demo), frame.cached(pj.onward, room.demo)
    if other is None:
        predict.forget(TURNED)
        return
    key, before = room.demo.text.tokens[other.key], onward.words[0].token
    likely = [word.token for word in onward.words]
    options = sorted({key, before, other.word, *likely[:3]})
    wrong = N_(
        "The model writes “«word»” there («p»), not “«guess»”. This head asks; what is written is not its business alone."
    )
    because = dict.fromkeys(options, wrong) | {
        other.word: N_("At «angle»° it asks for “«key»”, and the model writes “«word»” («p»)."),
        predict.UNSURE: N_("At «angle»° it asks for “«key»”, and the model writes “«word»” («p»)."),
    }
    asked = N_("Guess first: turn q until “«asks»” asks for “«key»”. Which word does the model write then?")
    names = dict(asks=room.asks, key=key, word=other.word, p=f"{other.p:.1%}", angle=other.angle)
    guess = predict.Prediction(TURNED, asked, {word: word for word in options}, other.word, because)
    predict.ask(guess, guess=predict.answer(TURNED) or "", **names)


# ---- the query that is turned ----


def open_keys(room: Room, guessed: bool) -> list[int]:
    """The keys that are shown: of the two that the guess is about, the less asked for stays away until it is made."""
    found = frame.cached(pj.pair, room.demo)
    if guessed or found is None:
        return list(range(len(room.names)))
    hidden = found.first if found.weights[0] < found.weights[1] else found.second
    return [i for i in range(len(room.names)) if i != hidden]


def turning(room: Room, guessed: bool) -> None:
    """The keys in a plane with the query's direction as its first axis, and the query as an arrow that can be turned.

    guessed: the guess about two places of one word is made, or not asked at this depth.
    """
    turn, keys = frame.cached(pj.turn, room.demo), open_keys(room, guessed)
    reach = float(np.abs(turn.keys).max())
    ahead = turn.query / turn.length
    found = frame.cached(pj.pair, room.demo)
    dropped = keys if len(keys) <= MOST_FEET else listed(turn, keys)
    shapes = [*_feet(turn, dropped), *_joined(turn, found if guessed and spine.deep() else None)]
    named = [*turn.shares.argmax(1).tolist(), *((found.first, found.second) if found else ())]
    side = 1.06 * reach
    plane.show(
        live.Picture(
            key="turning",
            quantity="turned_q",
            says=_("The keys of one head as points, and the query as an arrow that can be turned."),
            slider=ANGLE.slider(together=True),
            captions=_captions(room, turn),
            released=ANGLE.receive,
        ),
        turn.keys[keys],
        [room.names[i] for i in keys],
        moving=(0.8 * reach * ahead)[:, None],
        movers=["q"],
        roles=("k", "q"),
        look=plane.Look(
            pointed=True,
            shapes=tuple(shapes),
            sizes=turn.shares[:, keys],
            tips={_("score"): turn.scores[:, keys], _("share"): turn.shares[:, keys]},
            first=tuple(keys.index(i) for i in dict.fromkeys(named) if i in keys),
            bounds=(-0.9 * side, side, -side, side),
        ),
        titles=(_("along q: times the length of q, this is the score"), _("across q: where keys differ most")),
        most=700,
        tall=470 if spine.deep() else 310,
    )


def _feet(turn: pj.Turn, keys: list[int]) -> list[plane.Shape]:
    """The line along the query, and on it where keys drop."""
    ahead = 1.3 * float(np.abs(turn.keys).max()) * turn.query / turn.length
    feet = np.stack([np.broadcast_to(turn.keys, turn.feet.shape), turn.feet], 2)[:, keys]
    return [plane.Shape(np.stack([-ahead, ahead], 1)[:, None], "q", width=1.5), plane.Shape(feet, dash=True)]


def _joined(turn: pj.Turn, found: pj.Pair | None) -> list[plane.Shape]:
    """Two places of one word, with a line between them."""
    if found is None:
        return []
    ends = turn.keys[[found.first, found.second]][None]
    return [plane.Shape(ends, "warn", _("one embedding"), width=2, dash=True)]


def listed(turn: pj.Turn, keys: list[int]) -> list[int]:
    """Those of the keys that are ever asked for, in the order of the text."""
    return sorted(sorted(keys, key=lambda i: -turn.shares[:, i].max())[:MOST_BARS])


def _captions(room: Room, turn: pj.Turn) -> list[str]:
    """For every angle: the key that is asked for, and the word that follows."""
    onward = frame.cached(pj.onward, room.demo)
    template = _("“{asks}” asks for: {key} · score {score}, share {share} · next word: {word} {p}")
    rows = zip(turn.scores, turn.shares, onward.p, strict=True)
    return [
        template.format(
            asks=room.asks,
            key=room.names[best := int(share.argmax())],
            score=f"{score[best]:.1f}",
            share=f"{share[best]:.1%}",
            word=onward.words[likely := int(p.argmax())].token,
            p=f"{p[likely]:.1%}",
        )
        for score, share, p in rows
    ]


def shares(room: Room, guessed: bool) -> None:
    """Beside the plane: what softmax makes of the scores, and what the model would write. They move with the arrow."""
    onward, follows = frame.cached(pj.onward, room.demo), ANGLE.slider(together=True, hidden=True)
    st.markdown(f"**{_('Next word, if this head asked so')}**")
    picture, before = bars.next_picture("turned_next", slider=follows), [word.p for word in onward.words]
    bars.next_tokens(picture, [word.token for word in onward.words], onward.p, before)
    if spine.deep():
        _all_shares(room, guessed, follows)


def _all_shares(room: Room, guessed: bool, follows: live.Slider) -> None:
    turn, shown = frame.cached(pj.turn, room.demo), open_keys(room, guessed)
    keys = listed(turn, shown)
    st.markdown(f"**{_('Shares after softmax')}** · {_('outlined: as recorded')}")
    bars.show(
        live.Picture(
            key="turned_shares",
            quantity="weights",
            says=_("Each row shares out one unit of attention."),
            slider=follows,
        ),
        [room.names[i] for i in keys],
        turn.shares[:, keys],
        ghost=turn.shares[0, keys],
        high=1.0,
        percent=True,
    )
    if len(shown) < len(room.names):
        say("One of the two keys that you are asked about appears once you have guessed.")
    if len(keys) < len(shown):
        say(
            "Listed are the «n» keys that are asked for most; the plane shows all «all».",
            n=len(keys),
            all=len(room.names),
        )


def why(room: Room) -> None:
    """Once the guess is made: where another word is written, and which head above makes it so."""
    other = frame.cached(pj.flip, room.demo)
    if other is None:
        say("However you turn it, the model writes the same word: in this sentence this head decides nothing alone.")
        return
    if predict.answer(TURNED) is None:
        return
    away = min(other.angle, 360 - other.angle)
    said = dict(asks=room.asks, key=room.names[other.key], word=other.word, p=f"{other.p:.1%}")
    prose("projections", "flip", away=away, angle=other.angle, **said)
    heard = frame.cached(pj.heard, room.demo, pj.ANGLES.index(other.angle))
    if heard and room.demo.text.tokens[other.key] != other.word:
        looked = room.names[int(frame.cached(pj.turn, room.demo).shares[0].argmax())]
        rest = dict(looked=looked, later=f"{heard.layer}.{heard.head}", target=room.names[heard.token])
        prose("projections", "heard", before=f"{heard.before:.0%}", after=f"{heard.after:.0%}", **rest, **said)


def meaning(room: Room) -> None:
    """What the picture says, and what it does not."""
    turn, found = frame.cached(pj.turn, room.demo), frame.cached(pj.alike, room.demo)
    left, right = st.columns(2, gap="medium")
    with left:
        width = turn.vectors.shape[1]
        numbers = dict(length=f"{turn.length:.1f}", kept=f"{turn.kept:.0%}", width=width, root=f"{width**0.5:.2f}")
        prose("projections", "turn", asks=room.asks, **numbers)
    with right:
        _likeness(room, found)
        prose("projections", "three")


def _likeness(room: Room, found: pj.Alike | None) -> None:
    if found is None:
        return
    numbers = dict(
        near=room.names[found.token],
        cosine=f"{found.cosine:.2f}",
        weight=f"{found.weight:.3f}",
        asked=room.names[found.asked],
        asked_cosine=f"{found.asked_cosine:.2f}",
        asked_weight=f"{found.asked_weight:.3f}",
    )
    itself = found.asked == len(room.names) - 1
    same = "alike_same" if found.asked == found.token else "alike_itself" if itself else "alike"
    prose("projections", same, asks=room.asks, **numbers)


# ---- the product that makes it ----


def source() -> str:
    """Whose matrix: the query's, unless another is chosen."""
    if spine.deep():
        return controls.choice("Matrix", MAPS, "q", key="proj", hide_label=True)
    return str(controls.Setting("proj").now())


def small() -> None:
    """Two vectors through a layer small enough for a pencil."""
    made = frame.cached(xw.small)
    height, width = made.y.shape
    about = dict(n=height, n_in=len(made.w), n_out=width, products=f"{height * len(made.w) * width:,}")
    left, right = st.columns([3, 2], gap="medium")
    with right:
        prose("projections", "small", **about)
    with left:
        cell, rows = _multiplied(made, "Y", "a", ["x 1", "x 2"], ("small_sum", "small_cell"), "product_small")
    if spine.deep():
        _written(made.made(*cell, "Y"), rows[cell[0]], cell[1], "small")


def product(room: Room, which: str) -> None:
    """X, W and their product, of the real head; where all is shown, the chosen number's sum is written out under it."""
    made = frame.cached(xw.product, room.demo, which)
    height, width = made.y.shape
    about = dict(n=height, n_in=len(made.w), n_out=width, products=f"{height * len(made.w) * width:,}")
    name, words = which.upper(), ("proj_sum", "proj_cell")
    left, right = (st.container(), st.container()) if spine.deep() else st.columns([3, 2], gap="medium")
    with right if not spine.deep() else left:
        prose("projections", "product" if spine.deep() else "product_idea", asks=room.asks, **about)
    with left:
        cell, rows = _multiplied(made, name, which, room.names, words, "product")
    if spine.deep():
        _written(made.made(*cell, name), rows[cell[0]], cell[1], which)


def _multiplied(
    made: xw.Product, name: str, role: str, rows: list[str], words: tuple[str, str], key: str
) -> tuple[tuple[int, int], list[str]]:
    """The product while its sums grow. words: of the address, for the slider and for the cell. Returns the cell."""
    steps = controls.Dial(words[0], N_("Products added"), made.steps, made.steps[-1])
    height, width = made.y.shape
    chosen = controls.Setting(words[1], (height - 1, 0), controls.within(height, width), heard="cell")
    cell = chosen.now()
    picture.show(
        live.Picture(
            key=key,
            quantity=name.lower(),
            says=_("Every number of the product is a row of X times a column of W."),
            slider=steps.slider(),
            released=controls.receivers(steps, chosen),
        ),
        made.x,
        made.w,
        made.partial,
        name=name,
        role=role,
        rows=rows,
        steps=made.steps,
        cell=cell,
        tall=420 if spine.deep() else 165,
    )
    return cell, rows


def _written(made: Provenance, row: str, column: int, which: str) -> None:
    say("**Row “«row»” times column «column»**, written out:", row=row, column=column)
    written.show(made, key=f"made_{which}", quantity=which, says=_("What this number is made of."))
