"""The map, and the hunt on it: which links decide the answer? Cut them one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.lab import outcomes as happened
from core.lab.text import Link, Text, Word
from core.topics.home import flow as fl
from pages.parts.home import map as drawn
from pages.shared import controls, frame, readers
from pages.shared.pictures import bars, live
from pages.shared.text import N_, _, say

if TYPE_CHECKING:
    from core.whatif import Change

OPENS = {
    "tokens": "03_tokens",
    "embed": "03_tokens",
    "q": "04_projections",
    "k": "04_projections",
    "v": "04_projections",
    "weights": "06_attention",
    "z": "06_attention",
    "attn_out": "08_heads",
    "norm1": "11_norms",
    "norm2": "11_norms",
    "ffn_act": "12_feedforward",
    "ffn_out": "12_feedforward",
    "resid_post": "13_model",
}
UNMOVED = 0.9  # an answer that keeps more than this part of its chance hardly minds
FOUND = controls.Held("found")  # (text, the deciding links found in it)
Place = tuple[int, int, int, int]  # layer, head, query, key


@dataclass(frozen=True)
class Hunt:
    """p: the answer's chance; deciders: links without which it loses more than half of it; surest: the most decisive
    link, whether it decides or not; last_row: only the last token's links were cut."""

    p: float
    deciders: tuple[Link, ...]
    surest: Link
    last_row: bool = False


def place(link: Link) -> Place:
    return link.layer, link.head, link.query, link.key


def cut_setting(text: Text, blocks: int, heads: int) -> controls.Setting:
    """The link that is cut, if one of this text's is."""

    def read(said: str) -> Place | None:
        found = readers.places(4)(said)
        inside = found and found[0] < blocks and found[1] < heads and found[3] <= found[2] < len(text)
        return found if inside else None

    return controls.Setting("link", None, read)


def begun(text: Text, asked: bool) -> bool:
    """Has the hunt begun? With the first sentence once a link was cut, with another when it is asked for."""
    return bool(controls.Setting("hunt").now()) or (asked and bool(found(text)))


def hunt(text: Text, asked: bool) -> Hunt:
    """Which links decide. The first sentence's are recorded; another's are computed: every link is cut once."""
    if asked:
        worst, p = happened.outcomes().share, happened.recorded_words()[0].p
        return Hunt(p, tuple(link for link in worst if link.p < p / 2), worst[0])
    from core.lab import cuts  # needs torch

    with st.spinner(_("Cutting every link once …")):
        ranked = frame.cached(cuts.ranking, text, True)
    return Hunt(ranked.p, ranked.worst[: ranked.deciders], ranked.worst[0], len(text) > cuts.LONG)


def found(text: Text) -> frozenset[Place]:
    about, links = FOUND.now() or (text, frozenset())
    return links if about == text else frozenset()


def note(text: Text, link: Place | None) -> None:
    """What the cut link did, in one line; a link that decides is found with it."""
    if link is None:
        return
    from core.topics.home import chase

    result, before = frame.cached(chase.without, text, link), frame.cached(fl.flow, text).words[0]
    if result.decides:
        FOUND.keep((text, found(text) | {link}))
    template = N_("Without “«query»” → “«key»” in head «head»: «answer» «before» → **«after»**. «verdict»")
    verdict = N_("This link decides.") if result.decides else N_("The answer stays, but is less sure.")
    if result.kept > UNMOVED:
        verdict = N_("The answer hardly minds.")
    numbers = dict(answer=before.token, before=f"{before.p:.1%}", after=f"{result.answer.p:.1%}")
    say(template, **_named(text, link), **numbers, verdict=_(verdict))


def _named(text: Text, link: Place) -> dict[str, object]:
    layer, head, query, key = link
    return dict(query=text.names[query], key=text.names[key], head=f"{layer}.{head}")


def show_map(
    way: fl.Flow,
    endings: Sequence[drawn.Ending],
    *,
    cut: controls.Setting | None = None,
    lit: Sequence[Place] = (),
    dial: controls.Dial | None = None,
    captions: list[str] | None = None,
    veiled: bool = False,
) -> None:
    """cut: the setting of the link that is cut, where links may be cut."""
    shown, from_row = _opened(way, endings, lit), max(0, len(way.tokens) - drawn.MOST_ROWS)

    def released(name: str, value: Any) -> None:
        if name == "open" and value in OPENS.values():
            frame.leave_for(value)
        elif name == "cut" and cut and isinstance(value, list) and len(value) == 4:
            layer, head, query, key = (x if isinstance(x, int) else -1 for x in value)
            _toggle(cut, (layer, head, query + from_row, key + from_row))
        else:
            controls.receivers(*shown, *([dial] if dial else []))(name, value)

    picture = live.Picture(
        key="map",
        quantity="resid_post",
        says=_("The sentence on its way through the model"),
        slider=dial.slider(play=True) if dial else None,
        captions=captions,
        released=released,
        room=440 if veiled else 520,
    )
    arcs = [_arc(way, one, cut) for one in lit]
    built = {entry.file for entry in frame.entries()}
    pages = {stage: file for stage, file in OPENS.items() if file in built}
    block, head = (setting.now() for setting in shown)
    hunted = cut is not None
    drawn.show(picture, way, endings, block=block, head=head, veiled=veiled, hunt=hunted, links=arcs, pages=pages)
    if from_row:
        say("The map shows the last «n» tokens of «all».", n=drawn.MOST_ROWS, all=len(way.tokens))


def _opened(way: fl.Flow, endings: Sequence[drawn.Ending], lit: Sequence[Place]) -> tuple[controls.Setting, ...]:
    """The block and the head that are open on the map: the visitor's, else those of the first lit link."""
    blocks, heads = len(endings[0].lens) - 1, len(way.trace["block0.weights"].value)
    layer, head = (lit[0] if lit else happened.LINK)[:2]
    return (
        controls.Setting("map_block", min(layer, blocks - 1), readers.whole(0, blocks - 1), heard="block"),
        controls.Setting("map_head", min(head, heads - 1), readers.whole(0, heads - 1), heard="head"),
    )


def _toggle(cut: controls.Setting, link: Place) -> None:
    if cut.now() == link:
        cut.forget()
    else:
        cut.keep(link)


def _arc(way: fl.Flow, link: Place, cut: controls.Setting | None) -> drawn.Link:
    layer, head, query, key = link
    weight = float(way.trace[f"block{layer}.weights"].value[head, query, key])
    return drawn.Link(layer, head, query, key, weight, bool(cut) and cut.now() == link)


def change(cut: controls.Setting) -> Change:
    """The model without the link that is cut; its row shares what is left."""
    from core.whatif import Change  # needs torch, and so waits for the first cut

    return Change(cut=cut.now(), share=True)


def said(way: fl.Flow, untouched: fl.Flow) -> list[Word]:
    """The likeliest words as the model is now, the untouched model's answer among them: its fall must be seen."""
    answer = untouched.words[0]
    if way is untouched:
        return list(way.words)
    now = replace(answer, p=float(way.trace["next_probs"].value[answer.id]))
    return bars.with_answer(way.words[:8], now)


def follow(
    text: Text, way: fl.Flow, untouched: fl.Flow, cut: controls.Setting, *, asked: bool, also: Callable[[], None]
) -> None:
    """What a cut did and what to do next, and the map with its lit links. also: draws one more button."""
    lit = lit_links(text, cut, asked)
    with st.container(border=True, key="hunt"):
        told, acts = st.columns([5, 3], vertical_alignment="center")
        with told:
            note(text, cut.now())
            left = panel(text, asked, lit)
        with acts, st.container(horizontal=True, horizontal_alignment="right"):
            _buttons(text, asked, cut, lit, left)
            also()
    old, words = {word.id: word.p for word in untouched.words}, said(way, untouched)
    before = [old.get(word.id, 0.0) for word in words] if cut.now() else None
    show_map(way, [drawn.Ending(words, way.lens, before)], cut=cut, lit=lit)


def panel(text: Text, asked: bool, lit: Sequence[Place]) -> list[Place]:
    """How the hunt stands, and in the end what all found links do together. Returns those still to be found."""
    if not begun(text, asked):
        if asked:
            weight = float(fl.recorded().trace[f"block{lit[0][0]}.weights"].value[lit[0][1:]])
            template = N_("One link is lit: in head «head», “«query»” takes «share» of what it reads from “«key»”.")
            say(template, **_named(text, lit[0]), share=f"{weight:.0%}")
        else:
            say("Which link decides this answer? The model runs once for every link, each time without that one.")
        return []
    quarry, caught = hunt(text, asked), found(text)
    left = [place(link) for link in quarry.deciders if place(link) not in caught]
    if quarry.last_row:
        say("This text is long, so only the links of its last token were cut.")
    if not quarry.deciders:
        template = N_(
            "**No single link decides.** Even without the surest one, “«query»” → “«key»” in head «head», the answer keeps "
            "«kept» of its chance: it comes by more than one way."
        )
        kept = f"{quarry.surest.p / quarry.p:.0%}"
        say(template, **_named(text, place(quarry.surest)), kept=kept)
    elif left:
        template = N_(
            "**«n» of the links decide; you have found «found».** Without any one of them the answer loses more than half of "
            "its chance. Open a small picture, cut its boldest arcs on the map."
        )
        say(template, n=len(quarry.deciders), found=len(quarry.deciders) - len(left))
    else:
        _together(text, quarry)
    return left


def _buttons(text: Text, asked: bool, cut: controls.Setting, lit: Sequence[Place], left: list[Place]) -> None:
    if cut.now():
        st.button(_("Put it back"), key="put_back", on_click=cut.forget)
    elif lit:
        st.button(_("Cut it"), key="cut_it", on_click=cut.keep, args=(lit[0],), type="primary")
    if not begun(text, asked) and not asked:
        st.button(_("Find it"), key="hunt_it", on_click=controls.Setting("hunt").keep, args=(True,), type="primary")
    if left:
        st.button(_("Show them"), key="show_them", on_click=FOUND.keep, args=((text, found(text) | set(left)),))


def _together(text: Text, quarry: Hunt) -> None:
    """Who is copied from where: the links in the order in which the model comes to them."""
    from core.topics.home import chase

    n, untouched = len(quarry.deciders), frame.cached(fl.flow, text)
    answer, blocks = untouched.words[0].token, len(untouched.lens) - 1
    say("**All found: «n» of the links decide.** This is what they do, one after the other:", n=n)
    for link in sorted(quarry.deciders, key=place):
        does = frame.cached(chase.handed, text, link)
        template = N_(
            "Block «block», head «own»: “«query»” takes «share» of what it reads from “«key»”. That is not yet the answer: "
            "later blocks work with it."
        )
        if does.names_the_answer or link.layer == blocks - 1:
            template = N_(
                "Block «block», head «own»: “«query»” takes «share» of what it reads from “«key»”. What it takes speaks for "
                "“«answer»” louder than for all but «louder» of the «all» words."
            )
        if does.place == 1:
            template = N_(
                "Block «block», head «own»: “«query»” takes «share» of what it reads from “«key»”. What it takes speaks for "
                "“«answer»” louder than for any other of the «all» words."
            )
        named = _named(text, place(link)) | dict(block=link.layer, own=link.head)
        told = dict(answer=answer, louder=f"{does.place - 1:,}", all=f"{does.words:,}")
        say("- " + _(template), **named, **told, share=f"{does.weight:.0%}")


def lit_links(text: Text, cut: controls.Setting, asked: bool) -> list[Place]:
    """The links that are lit on the map: the one that is cut, those found, and the surest one."""
    places = [cut.now()] if cut.now() else []
    if asked or begun(text, asked):
        places.append(place(hunt(text, asked).surest) if not asked else happened.LINK)
    return list(dict.fromkeys([*places, *sorted(found(text))]))
