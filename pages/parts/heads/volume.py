"""The sentence, the guess, and one head that is turned up and down."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import streamlit as st

from core.lab import subject
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.heads import volume
from core.topics.heads.volume import Demo
from pages.shared import controls, frame, story
from pages.shared.asks import predict
from pages.shared.pictures import bars, live, matrix
from pages.shared.text import N_, _, say, unmarked

TELLING = {  # text of the gallery -> the head that makes a difference there
    sentence.TWIN: (4, 4),
    "The cat slept on the rug. The dog slept on the": (5, 1),
    "Tom was very thirsty. He wanted to": (4, 3),
    "Anna is a girl. Tom is a": (5, 2),
    "Tom dropped the glass and it": (4, 4),
}
DENT = 0.05  # of probability: what counts as a loss
MISSED = {
    "gone": N_("Without head «head» it is «after», before «before». No other head does its work here."),
    "dented": N_("Without head «head» it is «after», before «before»: it helps, and others make up for most of it."),
    "same": N_("Without head «head» it is «after», before «before»: nobody misses it here."),
}
HABITS = {
    "previous": N_("the word before"),
    "itself": N_("itself"),
    "first": N_("the first token"),
    "same": N_("the same word, earlier"),
}
CLEAR = 0.4  # of the weight: what counts as a habit


def shape() -> tuple[int, int]:
    """(layers, heads) of the embedded model."""
    config = subject.model().config
    return config.n_layers, config.n_heads


def name_of(layer: int, head: int) -> str:
    return f"{layer}.{head}"


def names() -> list[str]:
    layers, heads = shape()
    return [name_of(i, j) for i in range(layers) for j in range(heads)]


# ---- the text ----


def text() -> Reading:
    return story.ask(_choose)


def _choose(words: str) -> None:
    controls.forget("volume", "muted")
    LOUD.keep(TELLING.get(words, LOUD.default))


# ---- the guess ----


def prediction(reading: Reading) -> None:
    """The very head whose volume is turned falls silent: does anybody notice?"""
    demo, text = chosen(reading), sentence.of(reading)
    before = frame.cached(subject.outlook, text, subject.UNTOUCHED).asked
    after = frame.cached(volume.without, demo)
    verdict = "gone" if after < before.p / 2 else "dented" if before.p - after > DENT else "same"
    options = {"gone": N_("loses more than half"), "dented": N_("loses a little"), "same": N_("loses next to nothing")}
    answered = predict.ask(
        predict.Prediction(
            f"silent{demo.layer}{demo.head}",
            N_("Guess first: head «head» falls silent. What happens to “«word»”?"),
            options,
            verdict,
            dict.fromkeys((*options, predict.UNSURE), MISSED[verdict]),
        ),
        head=name_of(demo.layer, demo.head),
        word=before.token,
        before=f"{before.p:.1%}",
        after=f"{after:.1%}",
    )
    if answered:
        _clearest(reading, before)


def _clearest(reading: Reading, before: sentence.Word) -> None:
    """The head with the clearest pattern, and whether it is missed; beside it the one that is missed most."""
    found = frame.cached(volume.habits, sentence.of(reading))
    if found is None:
        return
    layer, head = (int(i) for i in np.unravel_index(int(found.previous.argmax()), found.previous.shape))
    after = frame.cached(volume.without, Demo(sentence.of(reading), layer, head))
    worst, rest = _most_missed(reading)
    template = N_(
        "Head «head» draws the clearest pattern of all, the word before. Without it “«word»” has «after», before «before». "
        "The head that is missed most is «worst»: without it «rest» is left. **A clear pattern is not yet an important one.**"
    )
    numbers = dict(word=before.token, after=f"{after:.1%}", before=f"{before.p:.1%}", worst=worst, rest=rest)
    say(template, head=name_of(layer, head), **numbers)


def _most_missed(reading: Reading) -> tuple[str, str]:
    """The head whose silence costs the next word most, and what is left of it."""
    with st.spinner(_("Silencing every head once …")):
        _answer, table = frame.cached(volume.silenced, sentence.of(reading))
    return name_of(*np.unravel_index(int(table.argmin()), table.shape)), f"{table.min():.1%}"


# ---- one head, louder and quieter ----


def _as_head(text: str) -> tuple[int, int] | None:
    return controls.within(*shape())(text)


LOUD = controls.Setting("loud", (1, 2), _as_head)


def _heads_in(text: str) -> tuple[tuple[int, int], ...]:
    """'1.2_4.4' -> ((1, 2), (4, 4)); what names no head is left out."""
    found = (_as_head(part.replace(".", ",")) for part in text.split("_"))
    return tuple(sorted({head for head in found if head}))


def spelled(heads: Iterable[tuple[int, int]]) -> str:
    """((1, 2), (4, 4)) -> '1.2_4.4', as the address says it."""
    return "_".join(name_of(*head) for head in sorted(heads))


MUTED = controls.Setting("muted", "", lambda text: spelled(_heads_in(text)))


def muted() -> volume.Muted:
    return _heads_in(MUTED.now())


def chosen(reading: Reading) -> Demo:
    """The sentence, and the head whose volume is turned."""
    return Demo(sentence.of(reading), *LOUD.now())


def dial(demo: Demo) -> controls.Dial:
    stops = volume.volumes(len(demo.text))
    label = unmarked(_("Volume of head «head»"), head=name_of(demo.layer, demo.head))
    return controls.Dial("volume", label, stops, 1.0, shown=tuple(f"{v:.0%}" for v in stops))


def _receive(demo: Demo) -> Callable[[str, Any], None]:
    """The volume; and a click on any cell of a row takes that row's head."""
    turned, heads = dial(demo), shape()[1]

    def receive(name: str, value: Any) -> None:
        turned.receive(name, value)
        if name == "cell" and isinstance(value, list) and len(value) == 2 and isinstance(value[0], int):
            LOUD.keep(divmod(value[0], heads))

    return receive


def turned(demo: Demo) -> volume.Turned:
    """The chosen head at every volume; of a long text that takes a moment, once a head."""
    if len(demo.text) <= volume.LONG // 2:
        return frame.cached(volume.turned, demo)
    with st.spinner(_("Turning the volume from stop to stop …")):
        return frame.cached(volume.turned, demo)


def views(demo: Demo) -> None:
    """Where the last token looks, in every head, while one head's output is turned down or up."""
    found = turned(demo)
    row = demo.layer * shape()[1] + demo.head
    matrix.show(
        live.Picture(
            key="views",
            quantity="weights",
            says=_("Where the last token looks, one row a head, while the volume of one head changes."),
            slider=dial(demo).slider(together=True),
            released=_receive(demo),
        ),
        found.views,
        rows=names(),
        columns=sentence.names(demo.text.tokens),
        look=matrix.Look(from_zero=True, row_title=N_("head"), row_role="a", row_height=11),
        row=row,
        cell=None,
    )


def next_word(demo: Demo) -> None:
    """The next word at every volume, moved by the same slider."""
    found = turned(demo)
    say("**The next word**, with head «head» at this volume", head=name_of(demo.layer, demo.head))
    follows = dial(demo).slider(together=True, hidden=True)
    untouched = found.probs[volume.volumes(len(demo.text)).index(1.0)]
    says = N_("How likely each word is to come next, with this head so loud.")
    picture = bars.next_picture("heard", says, slider=follows, released=dial(demo).receive)
    bars.next_tokens(picture, [sentence.called(i, demo.text.subject) for i in found.ids], found.probs, untouched)
    if demo.layer == shape()[0] - 1:
        say("This head stands in the last block: no head comes after it, so only the bars move.")


def habit(demo: Demo) -> None:
    """Name the head's habit before its numbers are shown."""
    found = frame.cached(volume.habits, demo.text)
    if found is None:
        return
    shares = {name: float(getattr(found, name)[demo.layer, demo.head]) for name in HABITS}
    clear = [name for name in sorted(shares, key=lambda name: -shares[name]) if shares[name] >= CLEAR] or ["none"]
    told = N_(
        "Measured on your sentence: «previous» of its weight goes to the word before, «itself» to itself, «first» to "
        "the first token; «same» to an earlier copy of the same word, where there is one. From «clear» on we call it a "
        "habit here, and a head may have two. On another sentence the same head may do something else."
    )
    options = HABITS | {"none": N_("none of these")}
    predict.ask(
        predict.Prediction(
            f"habit{demo.layer}{demo.head}",
            N_("What does head «head» look at, over all words?"),
            options,
            clear[0],
            {option: told for option in (*options, predict.UNSURE)},
            tuple(clear[1:]),
        ),
        head=name_of(demo.layer, demo.head),
        clear=f"{CLEAR:.0%}",
        **{name: f"{share:.0%}" for name, share in shares.items()},
    )
