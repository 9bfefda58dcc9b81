"""Shuffled words, what position is worth to the embedded model, and how far each scheme carries."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as words_of
from core.nets import places as lengths
from core.topics.position import place_losses as wo
from core.topics.position import shuffle as sh
from core.whatif import Change
from pages.parts.position import order
from pages.shared import address, controls, frame, headings, spine
from pages.shared.asks import predict
from pages.shared.pictures import bars, figures, lines, live
from pages.shared.text import N_, _, filled, prose, say

PLACES = {"off": N_("off"), "on": N_("rotation, as trained")}
MASKS = {"off": N_("off"), "on": N_("causal, as trained")}
SCHEMES = {
    "none": N_("none"),
    "sinusoidal": N_("sinusoids"),
    "learned": N_("learned"),
    "alibi": N_("ALiBi"),
    "rope": N_("RoPE"),
}
ROLES = {"none": "quiet", "sinusoidal": "q", "learned": "k", "alibi": "v", "rope": "a"}
DASHED = {"none", "sinusoidal", "learned"}  # violet and blue, green and red look alike to some: one of them is dashed
READINGS = {"plain": N_("rotation, as trained"), "still": N_("no rotation"), "window": N_("rotation, window 200")}
STEPS = tuple(range(sh.FRAMES))
LETTERS = tuple(range(4, lengths.READ - 3, 4))  # stops of the slider; the ends have too few neighbours for a mean
TOKENS = tuple(range(8, wo.READ - 8, 8))
SHUFFLE = controls.Dial("shuffle", N_("Shuffle"), STEPS, quiet=True)
LETTER = controls.Dial("letter", N_("Letter"), LETTERS, lengths.TRAINED)
TOKEN = controls.Dial("token_at", N_("Token"), TOKENS, 256)


def power(x: float) -> str:
    """A small number as a power of ten, any other with two digits."""
    if x == 0 or x >= 0.01:
        return f"{x:.2f}"
    mantissa, exponent = f"{x:.0e}".split("e")
    return f"{mantissa} × 10{figures.raised(int(exponent))}"


# ---- the signature ----


def settings() -> Any:
    """The line that says what the model is told of order, and the box that it opens."""
    now = {word: controls.Setting(word).now() for word in ("places", "future", "shuffle_seed")}
    said = dict(places=_(PLACES[now["places"]]), mask=_(MASKS[now["future"]]), seed=now["shuffle_seed"])
    return spine.settings(filled(_("positions: «places» · mask: «mask» · shuffle no. «seed»"), **said))


def shuffle_demo(reading: Any, line: Any) -> sh.Demo:
    with line:
        rotation = controls.choice("Positions", PLACES, "off", key="places")
        mask = controls.choice("The mask", MASKS, "off", key="future")
        seed = controls.pick("Another shuffle", sh.SEEDS, 0, key="shuffle_seed")
    own = laid(min(len(reading.tokens), sh.MOST))
    if address.changed("shuffle", (reading.ids, seed)):
        own.forget()
    return sh.Demo(words_of.of(reading), rotation == "on", mask == "on", seed, own.now())


def laid(n: int) -> controls.Setting:
    """The order into which the visitor has laid n cards, the first of them where it was."""

    def read(text: str) -> tuple[int, ...] | None:
        places = text.split(",")
        if not all(place.isascii() and place.isdigit() and len(place) < 3 for place in places):
            return None
        order = tuple(map(int, places))
        return order if sorted(order) == list(range(n)) and order[0] == 0 else None

    return controls.Setting("order", (), read)


def prediction(demo: sh.Demo) -> None:
    """What happens to the outputs? Answered by the measurement, without positions and without the mask, whatever the
    picture shows; where it shows another setting the question says what to switch."""
    found = frame.cached(sh.shuffled, sh.Demo(demo.text))
    law = frame.cached(sh.law, sh.Demo(demo.text))
    bare = not demo.rotation and not demo.mask
    answer = "travel" if found.errors.max() < 1e-3 else "change"
    options = {
        "same": N_("stay in place"),
        "travel": N_("follow their words"),
        "change": N_("all change"),
    }
    because = {
        "same": N_(
            "That would be invariance. The outputs move with their words: carried along they differ by «error», left in "
            "place by up to «unmoved»."
        ),
        "travel": N_(
            "This is called equivariance. The largest change, once every output is carried along, is «error»: rounding."
        ),
        "change": N_(
            "Nothing tells a word where it stands, so it computes what it computed before. The largest change is "
            "«error»: rounding."
        ),
        "?": N_(
            "Watch a card: the strip under it moves with it and does not change. The largest change is «error»: rounding."
        )
        if bare
        else N_(
            "With both off the strip under a card moves with it and does not change. The largest change is «error»: rounding."
        ),
    }
    question = (
        N_("Guess first: no positions, no mask. Shuffle: the outputs …")
        if bare
        else N_("Guess first: switch positions and mask off, then shuffle. The outputs …")
    )
    numbers = dict(error=power(float(found.errors.max())), unmoved=f"{law.unmoved:.1f}")
    predict.ask(predict.Prediction("shuffled", question, options, answer, because), **numbers)


def shuffle(demo: sh.Demo) -> None:
    """The signature: the cards change places, and their outputs move with them, or change.

    A card that is dragged lays an order of one's own: the slider then leads from the text's order to it.
    """
    tokens, n = list(demo.text.tokens[: sh.MOST]), min(len(demo.text.tokens), sh.MOST)
    own = laid(n)
    if own.now() != demo.own:
        st.rerun()  # what stands below speaks of the same orders
    found = frame.cached(sh.shuffled, demo)

    def receive(name: str, value: object) -> None:
        controls.receivers(SHUFFLE, own)(name, value)
        if name == "order":
            SHUFFLE.keep(STEPS[-1])

    every = (n - 1) * (n - 2) // 2  # the first token stays where it is
    template = _("{pairs} of {every} pairs turned round · largest change {error} · next word {word} {p}")
    captions = [
        template.format(pairs=pairs, every=every, error=power(float(error)), word=word.token, p=f"{word.p:.2f}")
        for pairs, error, word in zip(found.pairs, found.errors, found.best, strict=True)
    ]
    order.show(
        live.Picture(
            key="shuffled",
            quantity="shuffled",
            signature=True,
            room=352,
            says=_("The words on their places, and under each what the model makes of it."),
            slider=SHUFFLE.slider(),
            captions=captions,
            released=receive,
        ),
        tokens,
        found.places,
        found.outputs,
        found.changed,
    )
    if len(demo.text.tokens) > sh.MOST:
        say("This text is long: only its first «n» tokens are shuffled.", n=sh.MOST)
    elif n < 3:
        say("There is nothing to shuffle in so short a text.")


def told(demo: sh.Demo) -> None:
    """What the four settings show, each in a paragraph; the law beside it, with a permutation matrix.

    Without positions and mask it would answer the question.
    """
    if predict.answer("shuffled") is None and not demo.rotation and not demo.mask:
        say("Drag, watch the strips, and answer above. What happens is then told here.")
        return
    found = frame.cached(sh.shuffled, demo)
    section = {(False, False): "blind", (False, True): "masked", (True, False): "open", (True, True): "trained"}
    left, right = st.columns([3, 2], gap="medium") if spine.deep() else (st.container(), None)
    with left:
        own = found.best[0]
        other = sum(word.id != own.id for word in found.best)
        numbers = dict(word=own.token, p=f"{own.p:.2f}", other=other, orders=len(found.best))
        prose("position", section[demo.rotation, demo.mask], error=power(float(found.errors.max())), **numbers)
    if right is None:
        return
    law = frame.cached(sh.law, sh.Demo(demo.text))
    with right:
        numbers = dict(carried=power(law.carried), unmoved=f"{law.unmoved:.1f}", masked=f"{law.masked:.1f}")
        prose("position", "law", pooled=power(law.pooled), **numbers)


# ---- what position is worth ----


def worth(reading: Any) -> None:
    """The next word without rotation, and the loss of the four settings."""
    headings.section("What position is worth")
    left, right = st.columns([2, 3], gap="medium")
    before = frame.cached(subject.outlook, words_of.of(reading), subject.UNTOUCHED)
    still, answer = Change(rotation=False), before.asked
    now = frame.cached(subject.outlook, words_of.of(reading), still, answer.id)
    shown = bars.with_answer(now.words, now.asked)
    ids = tuple(word.id for word in shown)
    with left:
        st.markdown(f"**{_('Next word, rotation off')}** · {_('outlined: the untouched model')}")
        ghost = frame.cached(subject.chances, words_of.of(reading), subject.UNTOUCHED, ids)
        bars.next_words(shown, key="still", before=list(ghost), answer=answer.id)
    with right:
        numbers = dict(word=answer.token, p=f"{answer.p:.3f}", now=f"{now.asked.p:.3f}", first=now.words[0].token)
        prose("position", "worth", n=subject.story_count(), cost=f"{_lost():.2f}", **numbers)
        st.markdown(_losses())


def _lost() -> float:
    return wo.story_loss(rotation=False, mask=True) - wo.story_loss(rotation=True, mask=True)


def _losses() -> str:
    head = f"| {_('nats a token')} | {_('rotation, as trained')} | {_('no rotation')} |\n|---|---|---|\n"
    rows = [
        f"| {_(name)} | {wo.story_loss(True, mask):.2f} | {wo.story_loss(False, mask):.2f} |"
        for name, mask in ((N_("mask, as trained"), True), (N_("no mask"), False))
    ]
    blind = f"{np.log(subject.config().vocab_size):.1f}"
    return head + "\n".join(rows) + "\n\n" + filled(_("Blind guessing costs «blind»."), blind=blind)


# ---- past the length of training ----


DRAWN = controls.Setting("rope_loss")  # is the curve shown that is to be drawn in the room of RoPE?


def past_training() -> None:
    """What each scheme does past the length of training. It would tell the curve that the next room asks for."""
    headings.section("Past the length of training")
    if DRAWN.now() != "yes":
        say("In the next room you draw how the loss goes on past the length of training. These curves would tell it.")
        st.button(_("Show them now"), key="show_past", on_click=DRAWN.keep, args=("yes",))
        return
    _letters()
    _long_stories()
    prose("position", "carries")


def _letters() -> None:
    """Five tiny models that differ in one thing, read four times as far as they were trained."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.fragment(_letter_curves)()
    with right:
        rows = dict(zip(lengths.SCHEMES, frame.cached(lengths.by_place), strict=True))
        ends = {scheme: _loss(float(row[-32:].mean())) for scheme, row in rows.items()}
        ends |= {f"{s}_in": _loss(float(rows[s][32 : lengths.TRAINED].mean())) for s in ("none", "alibi")}
        prose("position", "letters", trained=lengths.TRAINED, read=lengths.READ, texts=lengths.TESTS, **ends)


def _letter_curves() -> None:
    losses = frame.cached(_smooth_letters)
    says = _("The loss of five tiny models at every letter of a text; they were trained on pieces of {n} letters.")
    lines.show(
        live.Picture(
            key="letters",
            quantity="loss_by_letter",
            says=says.format(n=lengths.TRAINED),
            slider=LETTER.slider(),
            captions=_read_off({_(SCHEMES[s]): row for s, row in zip(lengths.SCHEMES, losses, strict=True)}, LETTERS),
            released=LETTER.receive,
        ),
        losses,
        np.arange(1, lengths.READ + 1),
        [lines.Series(_(SCHEMES[s]), ROLES[s], dash=s in DASHED) for s in lengths.SCHEMES],
        x=lines.Axis(_("letter")),
        y=lines.Axis(_("loss, nats a letter"), high=5.2),  # room for the mark's name
        marks=((lengths.TRAINED, _("trained up to here")),),
        moving=np.array(LETTERS),
    )


def _smooth_letters() -> np.ndarray:
    return wo.smooth(lengths.by_place(), 9, lengths.TRAINED)


def _read_off(rows: dict[str, np.ndarray], places: tuple[int, ...]) -> list[str]:
    """What every line reads at each stop of the slider."""
    return [" · ".join(f"{name} {_loss(row[place - 1])}" for name, row in rows.items()) for place in places]


def _loss(x: float) -> str:
    return f"{x:.2f}" if np.isfinite(x) else "—"


def _long_stories() -> None:
    """The embedded model on real stories longer than any it was trained on."""
    context = words_of.context()
    st.markdown(f"**{_('The embedded model, past its {n} tokens').format(n=context)}**")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.fragment(_story_curves)(context)
    with right:
        raw = wo.by_place()
        inside, outside = raw[:, context // 2 : context].mean(1), raw[:, -context // 2 :].mean(1)
        ends = {f"{key}_in": _loss(a) for key, a in zip(READINGS, inside, strict=True)}
        ends |= {f"{key}_out": _loss(b) for key, b in zip(READINGS, outside, strict=True)}
        prose("position", "long", stories=wo.stories(), context=context, half=context // 2, **ends)


def _story_curves(context: int) -> None:
    losses = frame.cached(_smooth_stories, context)
    styles = (("a", False), ("quiet", True), ("v", True))
    says = _("The loss of the embedded model at every token of long stories; it was trained on {n} tokens.")
    lines.show(
        live.Picture(
            key="long_stories",
            quantity="loss_by_token",
            says=says.format(n=context),
            slider=TOKEN.slider(),
            captions=_read_off({_(name): row for name, row in zip(READINGS.values(), losses, strict=True)}, TOKENS),
            released=TOKEN.receive,
        ),
        losses,
        np.arange(1, wo.READ),
        [lines.Series(_(name), role, dash) for name, (role, dash) in zip(READINGS.values(), styles, strict=True)],
        x=lines.Axis(_("token")),
        y=lines.Axis(_("loss, nats a token"), low=0.0),
        marks=((context, _("trained up to here")),),
        moving=np.array(TOKENS),
    )


def _smooth_stories(context: int) -> np.ndarray:
    return wo.smooth(wo.by_place(), 33, context)
