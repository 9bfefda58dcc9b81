"""The tokens page, first half: a word merged step by step, a text cut in many ways, a table trained on the spot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core import tokenizer
from core.lab import text as sentence
from core.lab.subject import STORIES
from core.topics.tokens import bpe, table
from pages.shared import address, controls, frame, headings, readers, spine
from pages.shared.asks import predict
from pages.shared.pictures import lines, live, matrix, pieces
from pages.shared.text import N_, _, filled, prose, say

WORD = "unbelievably strange tokenization, unfortunately misunderstood"
MODEL = "stories15M"
WAYS = {  # the URL's word -> its name; the names of encodings are names
    "gpt2": "gpt2",
    "cl100k_base": "cl100k_base",
    "o200k_base": "o200k_base",
    "model": N_("stories15M, the embedded model"),
    "words": N_("words"),
    "characters": N_("characters"),
    "bytes": N_("bytes"),
}
VIEWS = {
    "sides": N_("side by side"),
    "scripts": N_("four scripts"),
    "round": N_("there and back"),
    "special": N_("special tokens"),
    "find": N_("the vocabulary"),
}
NEARLY = 1.25  # pieces a word that still count as one a word
LONGEST_LESSON = 4000  # characters of a text to learn from


# ---- merge by merge: the sentence, then a rare word ----


@dataclass(frozen=True)
class Cut:
    """A text whose merges are shown. guess: its prediction's name; slider: its word in the address."""

    demo: bpe.Demo
    guess: str
    slider: str


def _encoding() -> tuple[str, bool]:
    """The table that merges, and whether a blank stands in front."""
    known = readers.of(tokenizer.ENCODINGS)
    return controls.Setting("encoding", "gpt2", known).now(), bool(controls.Setting("front").now())


def settings() -> None:
    """The table in one line; it opens on a click."""
    encoding, front = _encoding()
    label = N_("table of «encoding» · blank in front") if front else N_("table of «encoding»")
    with spine.settings(filled(_(label), encoding=encoding)):
        controls.pick("Encoding", tokenizer.ENCODINGS, "gpt2", key="encoding")
        controls.switch("blank in front", False, key="front", help="Text in the middle of a sentence has one.")


def of_text(text: str) -> Cut:
    """The beginning of the visitor's sentence."""
    return _cut(text, "sentence_pieces", "merge")


def word() -> Cut:
    """A word of the visitor's, or a few: rare ones to begin with."""
    typed = controls.typed("A word, or a few", WORD, key="word", longest=400)
    read = tokenizer.as_typed(typed or "", WORD, bpe.LONGEST_WORD)
    with st.container():  # always there: what is said in it moves nothing below
        if "empty" in read.notes:
            say("The box is empty, so here is an example.")
        return _cut(typed or read.text, "pieces", "rare")


def _cut(text: str, guess: str, slider: str) -> Cut:
    read = tokenizer.as_typed(text, WORD, bpe.LONGEST_WORD)
    with st.container():
        if "cut" in read.notes:
            say("Only the first «n» characters are merged here.", n=bpe.LONGEST_WORD)
    if address.changed(guess, read.text):  # the guess and the merges were another text's
        address.forget(slider)
        predict.forget(guess)
    encoding, front = _encoding()
    return Cut(bpe.Demo(" " * front + read.text, encoding), guess, slider)


def prediction(cut: Cut) -> str | None:
    """How many pieces? The answer is the last state's."""
    demo = cut.demo
    final = frame.cached(bpe.run, demo)[-1]
    n, words, letters = len(final.pieces), max(1, len(demo.word.split())), len(demo.word)
    few = n <= NEARLY * words
    answer = "letters" if n == letters else "words" if few else "between" if n < letters else "more"
    question = N_("Guess first: how many pieces does «encoding» make of these «letters» characters?")
    options = {
        "words": N_("about one a word"),
        "between": N_("in between"),
        "letters": N_("one a character"),
        "more": N_("more than characters"),
    }
    if words == letters:
        del options["words"]  # one answer must not stand there twice
    because = {
        "words": N_("«n» pieces for «words» words. A frequent word is one piece, a rare one falls into several."),
        "between": N_("«n» pieces for «words» words and «letters» characters. Drag the slider and watch them form."),
        "letters": N_("«n» pieces for «letters» characters. Merging goes on until no pair is in the table."),
        "more": N_(
            "«n» pieces for «letters» characters of «bytes» bytes. "
            "Only characters of several bytes can end in more pieces."
        ),
        "?": N_("«n» pieces for «words» words and «letters» characters. Drag the slider and watch them form."),
    }
    values = dict(encoding=demo.encoding, n=n, words=words, letters=letters, bytes=len(demo.word.encode()))
    return predict.ask(predict.Prediction(cut.guess, question, options, answer, because), **values)


def merges(cut: Cut, asked: bool) -> None:
    """Every state from bytes to pieces, one a stop. The sentence's is the signature."""
    demo, first = cut.demo, cut.slider == "merge"
    states = frame.cached(bpe.run, demo)
    strips = [
        pieces.Strip(
            found,
            marked=(state.merge.at,) if state.merge else (),
            joints=state.joints,
            next=state.next,
            ranked=True,
        )
        for found, state in zip(frame.cached(bpe.shown, demo), states, strict=True)
    ]
    dial = controls.Dial(cut.slider, N_("Merges"), range(len(states)), 0, quiet=True)
    pieces.show(
        live.Picture(
            key="merges" if first else "rare",
            wordless=not first,
            quantity="merges",
            says=_("A word in pieces, from single bytes to the pieces that a model gets."),
            slider=dial.slider(),
            captions=[_told(k, state) for k, state in enumerate(states)],
            signature=first,
            room=220,
            released=dial.receive,
        ),
        strips,
    )
    if first:
        prose("tokens", "merging", encoding=demo.encoding)

    def meaning() -> None:
        if not (asked or dial.now()):
            return
        if not first:
            prose("tokens", "rare")
        if spine.deep() and bpe.agrees(demo, states[-1]):
            template = N_("Checked: tiktoken itself cuts this text into the same «n» pieces, after «k» merges.")
            say(template, n=len(states[-1].pieces), k=len(states) - 1)

    meaning() if asked else dial.rest(meaning)


def _told(k: int, state: bpe.State) -> str:
    """What has just happened, in one line."""
    if state.merge is None:
        if state.next is None:
            return _("{n} bytes, and no pair of them is in the table.").format(n=len(state.pieces))
        return _("{n} bytes. Nothing is merged yet.").format(n=len(state.pieces))
    left, right = (tokenizer.visible(part) for part in (state.merge.left, state.merge.right))
    told = _("{k} merges, {n} pieces. Just merged: {left} + {right}, rank {rank}.")
    told = told.format(k=k, n=len(state.pieces), left=left, right=right, rank=state.merge.rank)
    return told if state.next is not None else told + " " + _("No pair is left in the table.")


# ---- a text, cut in several ways ----

EXAMPLES = (
    (sentence.SENTENCE, N_("The sentence we start with")),
    ("Siobhán Wojciechowska moved to Llanfairpwllgwyngyll", N_("Rare names")),
    ("def f(x):\n    if x > 10_000:\n        return x ** 2", N_("Code and its blanks")),
    ("The answer is 3.14159, not 1234567890.", N_("Numbers")),
    ("我们去公园玩，天气很好。", N_("Chinese")),
    ("A family 👩‍👩‍👧 and a flag 🏳️‍🌈", N_("Emoji built of several")),
    ("caf\u00e9 or cafe\u0301?", N_("Two ways to write é")),
    ("The end.<|endoftext|>Once upon a time", N_("A special token, typed")),
)


def your_text() -> tokenizer.Typed:
    """The running sentence, here as it was typed: nothing is trimmed, so it may be anything at all."""

    left, middle, right = st.columns([5, 1.2, 1.8], vertical_alignment="center")
    with middle, st.popover(_("Examples"), width="stretch"):
        for i, (text, name) in enumerate(EXAMPLES):
            st.button(_(name), key=f"text_{i}", on_click=_type, args=(text,), width="stretch")
    with right:
        settings()
    with left:
        box = partial(st.text_area, _("Your sentence"), height=68)
        read, notes = controls.text_box(sentence.SENTENCE, _as_typed, box)
    cut_at = N_("The text was cut: this page looks at «n» characters.")
    with st.container():  # always there: what is said in it moves nothing below
        for note in notes:
            say(controls.NOTES["empty"] if note == "empty" else cut_at, n=f"{tokenizer.LONGEST_TYPED:,}")
    return read


def _as_typed(text: str) -> tokenizer.Typed:
    return tokenizer.as_typed(text, sentence.SENTENCE)


def _type(text: str) -> None:
    controls.write(text, sentence.SENTENCE)


def cut(text: str, way: str) -> tuple[tokenizer.Piece, ...]:
    """The pieces of a text, kept for a while. way: one of WAYS."""
    if way == "model":
        return frame.cached(table.pieces, text)
    return frame.cached(tokenizer.cut, text, way)


def views(text: str) -> None:
    """One look at the text at a time; only the encodings it needs are loaded."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        view = controls.choice("Look at it", VIEWS, "sides", key="look", hide_label=True)
    if view == "sides":
        return sides(text)
    with right:
        way = controls.pick("Encoding", tokenizer.ENCODINGS, "gpt2", key="way")
    {"scripts": _scripts, "round": _round, "special": _special, "find": _find}[view](text, way)
    return None


def sides(text: str) -> None:
    """The same text cut in several ways, one below the other, with what each costs."""
    chosen = _chosen_ways()
    strips, counts = [], {}
    for way in chosen:
        found = cut(text, way)
        counts[way] = n = len(found)
        title = _title(way, n, len(text.encode()), found)
        strips.append(pieces.Strip(found, title=title, ranked=way in tokenizer.ENCODINGS))
    pieces.show(
        live.Picture(key="sides", quantity="pieces", says=_("The same text cut in several ways.")),
        strips,
    )
    _counters(text, counts)


def _chosen_ways() -> tuple[str, ...]:
    """Which ways to cut stand below each other."""
    return controls.some("Cut by", WAYS, tuple(WAYS), ("gpt2",), key="ways")


def _title(way: str, n: int, n_bytes: int, found: tuple[tokenizer.Piece, ...]) -> str:
    size = table.ours().entries if way == "model" else tokenizer.size(way)
    title = _("{name} · {n} pieces of {size} possible · {ratio} bytes a piece · n² = {square}")
    title = title.format(
        name=_(WAYS[way]), n=f"{n:,}", size=f"{size:,}", ratio=f"{n_bytes / max(n, 1):.1f}", square=f"{n * n:,}"
    )
    unknown = sum(piece.kind == "unknown" for piece in found)
    return title + " · " + _("{unknown} not in the list").format(unknown=unknown) if unknown else title


def _counters(text: str, counts: dict[str, int]) -> None:
    """What is counted in tokens: the room in a context, and the time that writing takes."""
    left, right = st.columns([3, 1.2], vertical_alignment="bottom")
    with right:
        speed = controls.pick("Tokens a second", (10, 50, 200), 50, key="speed")
    way = next((way for way in counts if way not in tokenizer.WAYS), next(iter(counts)))
    reading = sentence.read(text)
    values = dict(
        characters=len(text),
        words=len(text.split()),
        bytes=len(text.encode()),
        way=way if way != "model" else MODEL,
        tokens=counts[way],
        seconds=f"{counts[way] / speed:.1f}",
        slow=f"{len(text) / speed:.1f}",
        used=len(reading.ids),
        room=sentence.context(),
    )
    with left:
        prose("tokens", "counted", **values)
    if "words" in counts:
        prose("tokens", "sides", listed=f"{len(tokenizer.word_list()):,}")


SCRIPTS = {  # the same small story
    N_("English"): "The dog ran to the river and jumped in.",
    N_("Chinese"): "狗跑到河边，跳了进去。",
    N_("Code"): "if dog.at(river):\n    dog.jump(into=river)",
    N_("Emoji"): "🐕🏃💨🏞️💦",
}


def _scripts(text: str, way: str) -> None:
    """One story in English, Chinese, code and emoji: what a character costs."""
    names = [_(name) for name in SCRIPTS]
    columns = [*tokenizer.ENCODINGS, "model"]
    shares = [[len(_real(cut(story, one))) / len(story) for story in SCRIPTS.values()] for one in columns]
    left, right = st.columns([1, 1], gap="medium")
    with left:
        matrix.show(
            live.Picture(
                key="scripts", quantity="tokens_per_character", says=_("Tokens a character, script by script.")
            ),
            np.array(shares),
            rows=[*tokenizer.ENCODINGS, MODEL],
            columns=names,
            look=matrix.Look(
                from_zero=True, row_title="", column_title=N_("tokens a character"), bound=4.0, most=64, flat=44
            ),
        )
        prose("tokens", "scripts")
    with right:
        title = _("{name} · {characters} characters · {n} pieces")
        strips = [
            pieces.Strip(cut(story, way), title=title.format(name=name, characters=len(story), n=len(cut(story, way))))
            for name, story in zip(names, SCRIPTS.values(), strict=True)
        ]
        pieces.show(live.Picture(key="stories", quantity="pieces", says=_("One story in four scripts.")), strips)


def _real(found: tuple[tokenizer.Piece, ...]) -> list[tokenizer.Piece]:
    return [piece for piece in found if piece.kind != "special"]


LONGEST_TRIP = 240  # characters
BROKEN = "Zoë likes 🙂 and 注意力"
TRIPS = {"example": N_("an example"), "yours": N_("your sentence")}


def _round(text: str, way: str) -> None:
    """Text to ids and back, all of them or all but one."""
    trip = controls.choice("Text", TRIPS, "example", key="trip", hide_label=True)
    with st.container():
        if trip == "yours" and len(text) > LONGEST_TRIP:
            say("Only the first «n» characters make the trip.", n=LONGEST_TRIP)
    text = text[:LONGEST_TRIP] if trip == "yours" else BROKEN
    found = cut(text, way)
    drawn = min(len(found), 120)
    back = [tokenizer.joined(found), *(tokenizer.joined(found, i) for i in range(drawn))]
    strips = [pieces.Strip(found, struck=i - 1 if i else None, foot=f"→ {kept}") for i, kept in enumerate(back)]
    broken = next((i for i, kept in enumerate(back) if i and "\ufffd" in kept and "\ufffd" not in text), 0)
    dial = controls.Dial("gone", N_("Id left out"), range(drawn + 1), broken)
    pieces.show(
        live.Picture(
            key="back",
            quantity="decoded",
            says=_("The pieces of a text, one left out, and the text that comes back."),
            slider=dial.slider(),
            released=dial.receive,
        ),
        strips,
    )
    _journey(text, way)


def _journey(text: str, way: str) -> None:
    trip = frame.cached(tokenizer.round_trip, text, way)
    names = dict(bytes=f"{trip.n_bytes:,}", raw=f"{8 * trip.n_bytes:,}", bits=f"{trip.bits:,.0f}", way=way)
    if trip.same:
        template = N_("All ids kept: the same «bytes» bytes come back. As ids they need «bits» bits instead of «raw».")
    else:
        template = N_("All ids kept: what comes back is not the same.")
    say(template, **names)
    if trip.nfc != text:
        template = N_(
            "This text is not in NFC. Qwen's tokenizer would make «after» bytes of its «bytes» first: “«nfc»”."
        )
    else:
        template = N_("This text is in NFC, so a tokenizer that normalises, as Qwen's does, leaves it alone.")
    say(template, after=len(trip.nfc.encode()), nfc=trip.nfc, **names)
    say("One that lower-cases, as BERT uncased does, reads “«lower»”. No id leads back from there.", lower=trip.lower)


ROLES = {"system": N_("Answer in one sentence."), "user": N_("Who got the ball?"), "assistant": ""}


def _special(text: str, way: str) -> None:
    """A chat as the one string a model reads, and marks that are ids of their own."""
    messages = []
    for column, (role, default) in zip(st.columns(3), ROLES.items(), strict=True):
        with column:
            said = controls.typed(role, _(default) if default else "", key=f"chat_{role}", longest=200)
        if said:
            messages.append((role, said))
    chat = frame.cached(tokenizer.chat_pieces, tuple(messages), way)
    title = _("A chat of {n} messages, as Qwen's template writes it · the text between the marks in pieces of {way}")
    strips = [pieces.Strip(chat, title=title.format(n=len(messages), way=way))]
    end = "The end.<|endoftext|>Once"
    for special, name in ((False, N_("typed by a visitor: letters")), (True, N_("put there by the program: one id"))):
        found = frame.cached(_cut_special, end, way, special)
        strips.append(pieces.Strip(found, title=f"<|endoftext|> · {_(name)}"))
    strips.append(pieces.Strip(cut(text, "model"), title=_("stories15M puts <s> in front")))
    pieces.show(live.Picture(key="chat", quantity="pieces", says=_("A chat with its special tokens.")), strips)
    prose("tokens", "special")

    def inside() -> None:
        st.code(tokenizer.chat_text(tuple(messages)), language=None, wrap_lines=True)

    headings.fold("The string itself", inside)


def _cut_special(text: str, way: str, special: bool) -> tuple[tokenizer.Piece, ...]:
    return tokenizer.cut(text, way, special=special)


def _find(text: str, way: str) -> None:
    """The entries of an encoding that contain a few letters."""
    wanted = controls.typed("Find in the vocabulary", "token", key="find", longest=40)
    wanted = wanted or "token"
    count, found = frame.cached(tokenizer.find, wanted, way)
    template = N_(
        "«count» of the «size» entries of «way» contain “«wanted»”. The first «shown» by rank, which is the id:"
    )
    values = dict(count=f"{count:,}", size=f"{tokenizer.size(way):,}", way=way, wanted=wanted, shown=len(found))
    say(template if found else N_("None of the «size» entries of «way» contains “«wanted»”."), **values)
    if found:
        pieces.show(
            live.Picture(key="found", quantity="vocabulary", says=_("Entries of the vocabulary.")),
            [pieces.Strip(found)],
        )


# ---- a table of one's own ----


def training(text: str) -> None:
    """Learn merges from a text; the slider says how many of them are used on the visitor's sentence."""
    label = N_("Change the text that is learned from, then drag “Vocabulary”")
    lesson = controls.typed(label, _stories(), key="learn", longest=LONGEST_LESSON, height=110)
    read = tokenizer.as_typed(lesson or "", _stories(), LONGEST_LESSON)
    learned = frame.cached(bpe.train, read.text)
    short = text[:160]
    states = frame.cached(bpe.learned_pieces, short, learned)
    stops = range(256, 256 + len(states))
    dial = controls.Dial("vocab", N_("Vocabulary"), stops, min(stops[-1], 300))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _grown(learned, states, dial)
    with right:
        _curve(learned, states, dial)
    last = learned.merges[-1].count if learned.merges else 0
    numbers = dict(bytes=f"{learned.lengths[0]:,}", pieces=f"{learned.lengths[-1]:,}")
    ended = "all" if len(learned.merges) < bpe.MOST_MERGES else "most"
    if learned.merges:
        prose("tokens", f"training_{ended}", n=len(learned.merges), last=last, **numbers)
    else:
        say("No pair stands twice in this text, so there is nothing to learn. Type more.")
    prose("tokens", "training")


@st.cache_data
def _stories() -> str:
    return STORIES.read_text("utf8").strip()


def _grown(learned: bpe.Training, states: Any, dial: controls.Dial) -> None:
    strips, captions = [], [_("256 bytes, nothing learned yet.")]
    for k, state in enumerate(states):
        newest = learned.merges[k - 1].left + learned.merges[k - 1].right if k else None
        marked = tuple(i for i, piece in enumerate(state) if piece.data == newest)
        strips.append(pieces.Strip(state, marked=marked))
    for k, one in enumerate(learned.merges, 1):
        told = _("{n} pieces. Newest entry: {left} + {right}, seen {count} times.")
        left, right = (tokenizer.visible(part) for part in (one.left, one.right))
        captions.append(told.format(n=len(states[k]), left=left, right=right, count=one.count))
    pieces.show(
        live.Picture(
            key="grown",
            quantity="trained",
            says=_("Your sentence, cut by the table that was just learned."),
            slider=dial.slider(together=True),
            captions=captions,
            released=dial.receive,
        ),
        strips,
    )


def _curve(learned: bpe.Training, states: Any, dial: controls.Dial) -> None:
    sizes, own = np.array(dial.stops), [len(state) for state in states]
    both = np.array([learned.lengths, own], float)
    lines.show(
        live.Picture(
            key="curve",
            quantity="trained.length",
            says=_("The larger the vocabulary, the fewer pieces."),
            slider=dial.slider(together=True),
            released=dial.receive,
        ),
        100 * both / both[:, :1],
        sizes,
        [lines.Series(_("the text it learned from"), "a"), lines.Series(_("your sentence"), "q")],
        x=lines.Axis(_("entries in the vocabulary")),
        y=lines.Axis(_("pieces for 100 bytes"), low=0.0),
        moving=sizes,
        tall=230,
    )
