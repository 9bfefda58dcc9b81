"""A look-up in random keys, in every head of the model, and one word whose copies part ways in two sentences."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as words
from core.lab.text import Cannot, Text
from core.topics.theory import context as cx
from core.topics.theory import lookup as lk
from pages.shared import controls, frame
from pages.shared.pictures import bars, lines, live, matrix
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, plain, prose, say

SHARP = controls.Dial("look_sharp", N_("Sharpness"), lk.SHARP, 1.0, shown=tuple(f"×{s:.3g}" for s in lk.SHARP))
BIG = 256  # keys of the dictionary that is asked
ROLES = ("q", "a", "k")
HEAD = (5, 1)  # the one that opens: it looks up the receiver in the first sentence
LAST = 24  # words of a text whose look-ups are drawn
SENTENCES = ("The bird opened its wings to fly", "In the soup there was a fly")
BOXES = {"copy_one": N_("One sentence"), "copy_two": N_("Another")}
LONGEST = 200  # signs of a sentence that is compared

# ---- random keys ----


def dictionary() -> None:
    """One question to 256 keys beside the share of the right one among few and many; one slider."""
    prose("theory", "lookup", keys=BIG, width=lk.WIDTH)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _answer()
    with right:
        _shares()
    one, two = (frame.cached(lk.share, BIG)[lk.SHARP.index(sharp)] for sharp in (1.0, 2.0))
    numbers = dict(one=f"{one:.2f}", two=f"{two:.3f}", keys=BIG)
    prose("theory", "looked_up", **numbers)
    _values()
    guessed = frame.cached(lk.expected, BIG)[lk.at_one()]
    prose("theory", "lookup_formula", width=lk.WIDTH, formula=f"{guessed:.2f}", drawn=f"{one:.2f}")


def _answer() -> None:
    found = frame.cached(lk.ask, BIG)
    said = _("{share} on the right key · output {away} away from its value")
    captions = [
        said.format(share=f"{row[0]:.1%}", away=f"{away:.0%}")
        for row, away in zip(found.weights, found.away, strict=True)
    ]
    bars.show(
        live.Picture(
            key="look_keys",
            wordless=True,
            quantity="weights",
            says=_("Weights of the six best keys of a random dictionary that is asked for the first of them."),
            slider=SHARP.slider(together=True),
            captions=captions,
            released=SHARP.receive,
        ),
        [_("right key"), *(_("key {i}").format(i=i) for i in found.keys[1:])],
        found.weights,
        high=1.0,
        marked=0,
        percent=True,
        row=20,
    )


def _shares() -> None:
    lines.show(
        live.Picture(
            key="look_shares",
            wordless=True,
            quantity="weights",
            says=_("Share of the right key by sharpness, among 16, 256 and 4,096 random keys."),
            slider=SHARP.slider(together=True, hidden=True),
        ),
        np.stack([frame.cached(lk.share, many) for many in lk.KEYS]),
        np.array(lk.SHARP),
        [Series(_("{n} keys").format(n=f"{n:,}"), role) for n, role in zip(lk.KEYS, ROLES, strict=True)],
        x=Axis(_("sharpness"), log=True),
        y=Axis(_("weight on the right key"), low=0, high=1.1),
        moving=np.array(lk.SHARP),
        tall=180,
    )


def _values() -> None:
    """What comes out, number by number, under the value it should be."""
    found = frame.cached(lk.ask, BIG)
    stacked = np.stack([np.stack([found.value, out]) for out in found.out])
    matrix.show(
        live.Picture(
            key="look_values",
            wordless=True,
            quantity="z",
            says=_("The right key's value, and below it what comes out."),
            slider=SHARP.slider(together=True, hidden=True),
        ),
        stacked,
        rows=[_("its value"), _("comes out")],
        columns=[str(i) for i in range(lk.VALUE)],
        look=matrix.Look(row_title="", column_title=N_("number"), row_role="v", column_role="quiet", flat=34, digits=1),
    )


# ---- every head of the model ----


def heads(given: Text) -> None:
    """All heads under the same slider; the chosen one's words, what each looks up and how far its value is."""
    layers, many = (subject.config(given.subject).n_layers, subject.config(given.subject).n_heads)
    chosen = controls.Setting("look_head", None, controls.within(layers, many), heard="cell")
    try:
        every = frame.cached(lk.heads, given)
    except Cannot as no:
        st.info(_(str(no)))
        return
    layer, head = chosen.now() or (min(HEAD[0], layers - 1), min(HEAD[1], many - 1))
    found = frame.cached(lk.found, lk.Demo(given, layer, head))
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _map(every, chosen, (layer, head))
    with right:
        _rows(given, found, layer, head)
    now = every[lk.at_one()]
    best = np.unravel_index(int(now.argmax()), now.shape)
    away = found.away[lk.at_one(), _from(given) :].mean()
    numbers = dict(
        mean=f"{now.mean():.2f}",
        most=f"{now.max():.2f}",
        head=f"{best[0]}.{best[1]}",
        one=f"{layer}.{head}",
        away=f"{away:.0%}",
        shown=len(given) - _from(given),
        resting=f"{frame.cached(lk.resting, given):.0%}",
    )
    prose("theory", "lookup_heads", **numbers)


def _map(every: np.ndarray, chosen: controls.Setting, cell: tuple[int, int]) -> None:
    layers, many = every.shape[1:]
    matrix.show(
        live.Picture(
            key="look_heads",
            quantity="weights",
            says=_("The largest weight of a row, mean over the rows, in every head of the model."),
            slider=SHARP.slider(together=True),
            captions=[_("all heads: {mean}").format(mean=f"{one.mean():.2f}") for one in every],
            released=controls.receivers(SHARP, chosen),
        ),
        every,
        rows=[str(i) for i in range(layers)],
        columns=[str(i) for i in range(many)],
        look=matrix.Look(
            from_zero=True,
            row_title=N_("block"),
            column_title=N_("head"),
            row_role="quiet",
            column_role="quiet",
            tall=300,
        ),
        cell=cell,
    )


def _from(given: Text) -> int:
    """The first word whose look-up is drawn and counted: never <s>, which has only itself."""
    return max(1, len(given) - LAST)


def _rows(given: Text, found: lk.Found, layer: int, head: int) -> None:
    """The last words of the text, each with the word it reads most."""
    from_here = _from(given)
    named = [f"{given.names[i]} → {given.names[found.best[i]]}" for i in range(from_here, len(given))]
    said = _("head {layer}.{head}, last {n} words: {share} on the best key, z is {away} away from its value")
    captions = [
        said.format(layer=layer, head=head, n=len(named), share=f"{share.mean():.0%}", away=f"{away.mean():.0%}")
        for share, away in zip(found.share[:, from_here:], found.away[:, from_here:], strict=True)
    ]
    bars.show(
        live.Picture(
            key="look_rows",
            quantity="weights",
            says=_("Which word each word reads most in this head, and with what weight."),
            slider=SHARP.slider(together=True, hidden=True),
            captions=captions,
        ),
        named,
        found.share[:, from_here:],
        high=1.0,
        percent=True,
        row=24,
    )


# ---- one word in two sentences ----


def contextual() -> None:
    """Two sentences, a word of both, and how alike its copies are from block to block."""
    prose("theory", "context")
    columns = st.columns(2, gap="medium")
    texts = []
    for column, (key, label), default in zip(columns, BOXES.items(), SENTENCES, strict=True):
        with column:
            typed = controls.typed(label, default, key=key, longest=LONGEST)
            texts.append(words.of(words.read(typed)))
    shared = cx.shared(*texts)
    if not shared:
        say("No word stands in both sentences: write one that does.")
        return
    word = controls.listed(_("Word"), shared, shared[0], key="copy_word", shown=str) if len(shared) > 1 else shared[0]
    found = frame.cached(cx.copies, cx.Demo(texts[0], texts[1], word))
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _likeness(found)
    with right:
        _nearest(found, word)
    numbers = dict(word=word, first=f"{found.cosine[0]:.2f}", least=f"{found.cosine.min():.2f}")
    prose("theory", "context_said", **numbers, at=_depth(int(found.cosine.argmin())))


def _depth(depth: int) -> str:
    return _("before the blocks") if depth == 0 else _("after block {i}").format(i=depth - 1)


def _likeness(found: cx.Copies) -> None:
    depths = np.arange(len(found.cosine))
    lines.show(
        live.Picture(
            key="same_cosine",
            wordless=True,
            quantity="cosine",
            says=_("How alike the two copies of the word are, before the blocks and after each."),
        ),
        np.stack([found.cosine, found.strangers]),
        depths,
        [Series(_("the two copies"), "a", dots=True), Series(_("two words at random"), "quiet", dash=True)],
        x=Axis(_("blocks passed")),
        y=Axis(_("cosine"), low=-0.1, high=1.05),
        tall=260,
    )


def _nearest(found: cx.Copies, word: str) -> None:
    """What stands nearest to each copy in the stories, depth by depth."""
    head = f"| {_('depth')} | {_('first sentence')} | {_('second sentence')} |\n|---|---|---|\n"
    rows = [
        f"| {_depth(depth)} | {_told(first)} | {_told(second)} |"
        for depth, (first, second) in enumerate(found.nearest)
        if depth in (0, *range(1, len(found.nearest), 2), len(found.nearest) - 1)
    ]
    st.markdown(head + "\n".join(rows))


def _told(names: tuple[str, ...]) -> str:
    """The word itself in bold, those before it as they stand."""
    return ", ".join(
        " ".join([*map(plain, name.split(" ")[:-1]), f"**{plain(name.split(' ')[-1])}**"]) for name in names
    )
