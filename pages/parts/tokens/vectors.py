"""The tokens page, second half: rows of the table, their neighbours, one row in two meanings, and back to text."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import streamlit as st

from core import tokenizer
from core.embeddings import EMBED, PRODUCT
from core.lab import text as sentence
from core.topics.tokens import bpe
from core.topics.tokens import table as vectors
from pages.parts.tokens import cutting
from pages.shared import controls, frame, headings, readers, spine
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes, predict
from pages.shared.pictures import bars, code, lines, live, matrix, pieces, plane
from pages.shared.text import N_, _, prose, say

SHOWN = 24  # numbers of a row that are drawn
MADE = {"lookup": N_("look-up"), "product": N_("one-hot times table")}
ON_MAP = 60  # different tokens on the map


def rows(text: str) -> None:
    """Click a piece: its row of the table, its neighbours; all rows on a map."""
    reading = sentence.read(text)
    n = len(reading.ids)
    usual = min(3, n - 1)
    chosen = controls.Setting("token", usual, readers.whole(0, n - 1), heard="piece")
    at = chosen.now()
    token, id = reading.tokens[at], reading.ids[at]
    say("Click a piece: its row is framed in the picture, and the rows most like it are listed.")
    pieces.show(
        live.Picture(
            key="tokens",
            quantity="ids",
            says=_("The tokens of your sentence and their ids. A click chooses one."),
            released=chosen.receive,
        ),
        [pieces.Strip(vectors_of(reading))],
        choose=True,
        chosen=at,
        tools=False,
    )
    left, right = st.columns([3, 2], gap="medium")
    made = str(controls.Setting("made").now())
    with left:
        if spine.deep():
            controls.choice("Made by", MADE, "lookup", key="made", hide_label=True)
        _rows(reading, at, made == "product")
    with right:
        _neighbours(token, id)
        if spine.deep():
            _map(reading)
    if spine.deep():
        code.show(PRODUCT if made == "product" else EMBED)


def vectors_of(reading: Any) -> tuple[tokenizer.Piece, ...]:
    """The sentence's pieces, as many as the model reads."""
    return frame.cached(vectors.pieces, reading.text)[: len(reading.ids)]


def _rows(reading: Any, at: int, product: bool) -> None:
    demo = vectors.Demo(sentence.of(reading), product)
    trace = frame.cached(vectors.run, demo)
    step = trace[PRODUCT if product else EMBED]
    size = vectors.ours()
    names = [f"{token} {id}" for token, id in zip(reading.tokens, reading.ids, strict=True)]
    matrix.show(
        live.Picture(key="rows", quantity=step.quantity.name, says=_(step.quantity.says)),
        step.value[:, :SHOWN],
        rows=names,
        columns=None,
        look=matrix.Look(row_title=N_("token"), column_title=N_("dimension"), flat=18 if spine.deep() else 16),
        row=at,
    )
    n = len(reading.ids)
    multiplied = f"{n * size.rows * size.width:,}"
    if product:
        template = N_(
            "«n» × «rows» × «width» = «many» multiplications, nearly all by zero. Largest difference: **«gap»**."
        )
        say(template, n=n, rows=f"{size.rows:,}", width=size.width, many=multiplied, gap=f"{vectors.gap(trace):g}")
    elif not spine.deep():
        prose("tokens", "row", width=size.width, shown=SHOWN, rows=f"{size.rows:,}")
        return
    else:
        template = N_("Copied: «n» rows of «width» numbers. As a product it would be «many» multiplications.")
        say(template, n=n, width=size.width, many=multiplied)
    say("Shape: ids (B, T) = (1, «n») → vectors (B, T, d) = (1, «n», «width»). Drawn: the first «shown» of «width».",
        n=n, width=size.width, shown=SHOWN)  # fmt: skip
    st.download_button(_("The numbers (.npz)"), trace.as_npz, "tokens.npz", key="tokens_npz")


def _neighbours(token: str, id: int) -> None:
    """The rows of the table most like this one."""
    found = frame.cached(vectors.neighbours, id)
    say("**Nearest rows to “«token»”**, of all «n», by cosine:", token=token, n=f"{vectors.ours().rows:,}")
    bars.show(
        live.Picture(key="near", quantity="cosine", says=_("The rows most like the chosen one.")),
        [one.token for one in found[:8]],
        np.maximum([one.cosine for one in found[:8]], 0),
        high=1.0,
    )
    if vectors.untouched(id):
        say("Training never told this row from «n» others, so no story can have contained its piece.",
            n=f"{frame.cached(vectors.spread).untouched - 1:,}")  # fmt: skip


def _map(reading: Any) -> None:
    """The sentence's rows in a plane; a token that comes twice is one point."""
    different = dict(zip(reading.ids, reading.tokens, strict=True))
    ids = tuple(different)[:ON_MAP]
    found = frame.cached(vectors.plane, ids)
    plane.show(
        live.Picture(
            key="map",
            quantity="embed.plane",
            says=_("The rows of your sentence's tokens in the plane in which they differ most."),
        ),
        found.points,
        [different[id] for id in ids],
        titles=(_("first axis"), _("second axis")),
        tall=300,
    )
    template = N_("«n» different rows in the plane in which they differ most (PCA): «kept» of their variance.")
    say(template, n=len(ids), kept=f"{found.kept:.0%}")


def table() -> dict[str, object]:
    """The numbers of the two tables."""
    theirs, ours, spread = vectors.qwen3(), vectors.ours(), frame.cached(vectors.spread)
    return dict(
        rows=f"{theirs.rows:,}",
        width=f"{theirs.width:,}",
        parameters=f"{theirs.parameters:,}",
        share=f"{theirs.share:.2%}",
        entries=f"{theirs.entries:,}",
        spare=theirs.spare,
        bpe=f"{vectors.BPE_ENTRIES:,}",
        control=vectors.CONTROL_ENTRIES,
        our_rows=f"{ours.rows:,}",
        our_width=ours.width,
        our_share=f"{ours.share:.0%}",
        untouched=f"{spread.untouched:,}",
        apart=f"{spread.apart:.5f}",
    )


# ---- one row, several meanings ----


def senses() -> None:
    """A word in two meanings: one row of the table, and what the blocks make of it."""
    word = controls.pick("Word", [sense.word for sense in vectors.SENSES], "saw", key="sense")
    sense = next(sense for sense in vectors.SENSES if sense.word == word)
    found = frame.cached(vectors.drift, sense)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="drift",
                wordless=True,
                quantity="cosine.depth",
                says=_("How alike one word's vectors are, from the table through all blocks."),
            ),
            np.stack([found.one, found.other, found.between]),
            np.arange(len(found.one)),
            [
                lines.Series(_("first meaning, two sentences"), "v", dots=True),
                lines.Series(_("second meaning, two sentences"), "q", dash=True, dots=True),
                lines.Series(_("one meaning with the other"), "k", dots=True),
            ],
            x=lines.Axis(_("blocks passed; 0 is the table")),
            y=lines.Axis(_("cosine"), low=0.0, high=1.05),
            tall=260,
        )
    with right:
        for name, pair in ((N_("first meaning"), sense.one), (N_("second meaning"), sense.other)):
            say("**«name»**: «one» · «two»", name=_(name), one=pair[0], two=pair[1])
        deep = len(found.between) - 2
        values = dict(word=word, deep=deep, one=f"{found.one[deep]:.2f}", other=f"{found.other[deep]:.2f}")
        prose("tokens", "senses", between=f"{found.between[deep]:.2f}", **values)
        if found.between[deep] > min(found.one[deep], found.other[deep]) - 0.1:
            say("Here the meanings hardly part: the stories this model read say little of the second one.")


# ---- from text to text ----


BLANK = "blank_guess"  # the guess
ENDS = (
    N_("How likely each word is to come next, after the text as it stands."),
    N_("How likely each word is to come next, after one blank more."),
)


def guess_blank(text: str) -> str | None:
    """One blank more at the end: what does the model say then?"""
    reading = sentence.read(text)
    first, second = (frame.cached(vectors.outlook, shown).words[0] for shown in (reading.text, reading.text + " "))
    answer = "other" if first.id != second.id else "less" if second.p < first.p - 0.05 else "same"
    said = N_("“«first»” («p») becomes “«second»” («q»).")
    options = {"same": N_("the same word"), "less": N_("the same, less sure"), "other": N_("something else")}
    because = dict.fromkeys((*options, predict.UNSURE), said)
    if answer == "other":
        because["same"] = N_(
            "You read it alike, the model does not: a blank is an id. “«first»” («p») becomes “«second»” («q»)."
        )
    question = N_("Guess first: one blank is typed at the end. What does the model say then?")
    values = dict(first=first.token, p=f"{first.p:.1%}", second=second.token, q=f"{second.p:.1%}")
    return predict.ask(predict.Prediction(BLANK, question, options, answer, because, opens=("next_1",)), **values)


def whole_way(text: str) -> None:
    """Text, ids, vectors, one score a token, a next id, text again; and what one blank too many does."""
    reading = sentence.read(text)
    if spine.deep():
        prose("tokens", "way", tokens=len(reading.ids), width=vectors.ours().width, rows=f"{vectors.ours().rows:,}")
    guessed = guess_blank(text) is not None
    columns = st.columns(2, gap="medium")
    cases = ((reading.text, N_("as it stands")), (reading.text + " ", N_("with one blank at the end")))
    answer = frame.cached(vectors.outlook, reading.text).words[0]
    for i, (column, (shown, name)) in enumerate(zip(columns, cases, strict=True)):
        found = frame.cached(vectors.outlook, shown)
        with column:
            ending = frame.cached(vectors.pieces, shown)[-8:]
            pieces.show(
                live.Picture(key=f"tail_{i}", quantity="ids", says=_("The last pieces of the text.")),
                [pieces.Strip(ending, title=f"{_(name)} · {_('the last pieces')}")],
                tools=False,
            )
            if guessed or not i:
                bars.next_words(list(found.words[:5]), ENDS[i], key=f"next_{i}", answer=answer.id)
    if guessed:
        prose("tokens", "blank")
    if spine.deep() and controls.switch("Let it write on", False, key="writing"):
        _writing(reading)


def _writing(reading: Any) -> None:
    """Repeat the next id: the text grows a token at a time until the model ends it."""
    with st.spinner(_("Writing, one token at a time …")):
        made = frame.cached(vectors.write_on, sentence.of(reading))
    if not made.ids:
        say("There is no room left: the text fills the whole context.")
        return
    before = vectors_of(reading)[-30:]
    new = frame.cached(vectors.as_pieces, made.ids)
    strips, captions = [], []
    for k in range(len(new) + 1):
        strips.append(pieces.Strip((*before, *new[:k]), marked=(len(before) + k - 1,) if k else ()))
        told = _("Your text. Drag: the model goes on.")
        if k:
            told = _("Id {id}, p = {p}.").format(id=made.ids[k - 1], p=f"{made.chances[k - 1]:.3f}")
        captions.append(told + " " + _("This token means the end, so writing stops.") * (made.ended and k == len(new)))
    dial = controls.Dial("written", N_("Tokens written"), range(len(strips)))
    pieces.show(
        live.Picture(
            key="story",
            quantity="written",
            says=_("The text as the model writes on, always with the likeliest token."),
            slider=dial.slider(),
            captions=captions,
            released=dial.receive,
        ),
        strips,
    )


# ---- check, mistakes, words, code ----


def check(text: str) -> None:
    """Every merge takes one piece away. Asked of a place half-way, for the number of pieces is guessed above."""
    n_bytes, n = len(text.encode()), len(cutting.cut(text, "gpt2"))
    merges = (n_bytes - n + 1) // 2
    question = N_("Your sentence has «bytes» bytes. How many pieces are left after «merges» merges?")
    checks.number(
        question,
        n_bytes - merges,
        key="check",
        hint=N_("At the start every byte is a piece of its own. What does one merge do to the number of pieces?"),
        how=N_("Every merge makes one piece of two: «bytes» − «merges» = «answer»."),
        tolerance=1e-6,
        bytes=n_bytes,
        merges=merges,
    )


def common_mistakes(text: str) -> None:
    theirs, spread = vectors.qwen3(), frame.cached(vectors.spread)
    numbers = dict(
        rows=f"{theirs.rows:,}",
        entries=f"{theirs.entries:,}",
        parameters=f"{theirs.parameters:,}",
        share=f"{theirs.share:.2%}",
        alone=len(cutting.cut("strawberry", "gpt2")),
        inside=len(cutting.cut(" strawberry", "gpt2")),
        random=f"{spread.random:.3f}",
        start=spread.start,
        trained=f"{spread.trained:.3f}",
        start_id=sentence.ends()[0],
    )
    mistakes.show("tokens", ["letters", "padded", "reversible", "ends", "normal", "product", "meaning"], **numbers)


def words() -> None:
    headings.fold("The words of this page", lambda: prose("tokens", "words"))


def source() -> None:
    """The function that merges, as it ran above."""

    def inside() -> None:
        lines_, start = inspect.getsourcelines(bpe.run)
        say("Line «line» of «path»:", line=start, path="core/topics/tokens/bpe.py")
        st.code("".join(lines_), language=None, wrap_lines=True)

    headings.fold("The code of the merges", inside)
