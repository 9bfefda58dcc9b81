"""Home's first screen: what this is, the question with its blank, the guess, the answer in large figures."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from functools import cache

import streamlit as st

from core.lab import text as sentence
from core.lab.text import Word
from core.tokenizer import Reading
from core.topics.home import flow as fl
from pages.shared import controls, story
from pages.shared.asks import predict
from pages.shared.pictures import bars
from pages.shared.text import N_, _, filled, lang, plain, say

LONGEST = 160  # characters of a text in large type; of a longer one its end
SHOWN = 3  # bars of the answer


@cache
def preload() -> None:
    """Bring torch and the model in while the visitor reads, once for the whole server."""

    def load() -> None:
        from core.lab import subject

        subject.model()

    threading.Thread(target=load, daemon=True, name="preload").start()


def reading() -> Reading:
    """The visitor's sentence as the model reads it; the first one needs no tokenizer."""
    words = controls.text(sentence.SENTENCE)
    if words == sentence.SENTENCE:
        return Reading(words, fl.first().ids, fl.first().tokens)
    return sentence.read(words)


def name() -> None:
    """On the door: the name and the promise."""
    with st.container(gap=None, key="door"):
        st.markdown(
            f"**{_('Transformer, every number')}** · {_('a real language model, every number of it, under your finger')}"
        )


def line(words: str, asked: bool, guess: str | None, answer: str, now: str = "") -> None:
    """The sentence in large type, its gap filled by the guess, then by the model. answer: the untouched model's; now:
    what it says with a link cut."""
    shown = words if len(words) < LONGEST else "… " + words[-LONGEST:]
    gap = "\\_\\_\\_\\_"
    if guess:
        struck = [guess] if asked and guess not in (answer, predict.UNSURE) else []
        struck = [answer] if now != answer else struck
        gap = " ".join([*(f"~~{plain(word)}~~" for word in struck), f":violet[{plain(now)}]"])
    with st.container(key="opening"):
        st.title(f"{plain(shown)} {gap}", anchor=False)
    if lang() == "zh" and asked:
        st.caption(_("Sam and Amy played in the park. Sam threw the ball to"))


def question(first: fl.Flow) -> predict.Prediction:
    return predict.Prediction(
        id="guess",
        question=N_("Which word comes next?"),
        options={"Sam": "Sam", "Amy": "Amy", "him": "him", "the": "the"},
        answer=first.words[0].token,
        because={
            "Amy": N_("The model says Amy too. How does it know? Nobody told it the rule."),
            "Sam": N_("A name is right, and Sam is at hand. But Sam threw the ball, so somebody else catches it."),
            "him": N_("It would be good English, but there is another name at hand."),
            "the": N_("It would be good English, but the story has somebody to catch the ball."),
            predict.UNSURE: N_("Below is the way from the words to the model's answer."),
        },
        opens=("answer_bars",),
    )


def answer(words: list[Word], untouched: fl.Flow, *, judged: str | None, cut: bool) -> None:
    """What the model says, in large figures and as bars; outlined behind them what it said with nothing cut. judged:
    the guess, until the hunt begins."""
    asked = question(untouched)
    with predict.slide(asked.id) if judged else nullcontext():
        *left, middle, right = st.columns([3, 2, 4] if judged else [2, 7], vertical_alignment="center", gap="small")
    if judged:
        with left[0]:
            predict.verdict(asked, judged)
            st.button(_("Guess again"), key="guess_again", type="tertiary", on_click=predict.forget, args=(asked.id,))
    with middle, st.container(key="answer", gap=None):
        say("The model says")
        st.title(filled(":violet[«word»] «p»", word=words[0].token, p=f"{words[0].p:.1%}"), anchor=False)
    with right:
        shown = bars.with_answer(words[:SHOWN], next(w for w in words if w.id == untouched.words[0].id))
        old = {word.id: word.p for word in untouched.words}
        before = [old.get(word.id, 0.0) for word in shown] if cut else None
        bars.next_words(shown, key="answer_bars", before=before, answer=words[0].id)


def own(asked: bool, guess: str | None) -> None:
    """The box for the visitor's own sentence, what this model has read, and the smallest change there is."""
    say(
        "**Now you.** Type the beginning of a story in English and press Enter. This model has read children's stories only."
    )
    if not guess:  # without the gallery, and without torch
        controls.sentence("Your sentence", sentence.SENTENCE, sentence.read)
        return
    story.ask()
    if asked:
        st.button(_("Swap the names"), on_click=_take, args=(sentence.TWIN,), key="twin")
    else:
        st.button(_("Back to the first sentence"), on_click=_take, args=(sentence.SENTENCE,), key="back")


def _take(words: str) -> None:
    controls.forget("link", "hunt", "write", "on")
    controls.write(words, sentence.SENTENCE)
