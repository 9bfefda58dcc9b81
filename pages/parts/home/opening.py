"""What only Home shows: the opening line, the map with its one lit link, the list of rooms."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import streamlit as st

from core import config
from core.lab import outcomes as happened
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.home import flow as fl
from pages.parts.home import map as drawn
from pages.shared import address, controls, frame, readers
from pages.shared.asks import predict
from pages.shared.pictures import live
from pages.shared.text import N_, _, lang, plain, say

OPENS = {
    "tokens": "03_tokens",
    "embed": "03_tokens",
    "q": "04_projections",
    "k": "04_projections",
    "v": "04_projections",
}
OPENS |= {
    "weights": "06_attention",
    "z": "06_attention",
    "attn_out": "08_heads",
    "norm1": "11_norms",
    "norm2": "11_norms",
}
OPENS |= {"ffn_act": "12_feedforward", "ffn_out": "12_feedforward", "resid_post": "13_model"}
CUT = controls.Setting("link")


@cache
def preload() -> None:
    """Bring torch and the model in while the visitor reads, once for the whole server."""

    def load() -> None:
        from core.lab import subject

        subject.model()

    threading.Thread(target=load, daemon=True, name="preload").start()


def line(words: str, asked: bool) -> None:
    """The sentence in large type with a gap at its end."""
    st.markdown(f"**{_('Which word comes next?')}**" if asked else f"**{_('Your sentence, on its way')}**")
    shown = words if len(words) < 200 else "… " + words[-200:]
    with st.container(key="opening"):
        st.markdown(f"# {plain(shown)} \\_\\_\\_\\_")
    if lang() == "zh" and asked:
        st.caption(_("Sam and Amy played in the park. Sam threw the ball to"))


def question(first: fl.Flow) -> predict.Prediction:
    return predict.Prediction(
        id="guess",
        question=N_("Which word comes next?"),
        options={"Sam": "Sam", "Amy": "Amy", "him": "him", "the": "the"},
        answer=first.words[0].token,
        because={
            "Amy": N_("The model says Amy too, with «p». How does it know? Nobody told it the rule."),
            "Sam": N_("Sam threw the ball, so somebody else has to catch it. The model says Amy, with «p»."),
            "him": N_("It would be good English, but there is another name at hand. The model says Amy, with «p»."),
            "the": N_("Somebody has to catch the ball first. The model says Amy, with «p»."),
            predict.UNSURE: N_("The model says Amy, with «p». Here is the way from the words to that number."),
        },
    )


def reading() -> Reading:
    """The visitor's sentence as the model reads it; the first one needs no tokenizer."""
    words = controls.text(sentence.SENTENCE)
    if words == sentence.SENTENCE:
        return Reading(words, fl.first().ids, fl.first().tokens)
    return sentence.read(words)


def change(cut: bool) -> Any:
    if not cut:
        return None
    from core.whatif import Change  # needs torch, and so waits for the first cut

    return Change(cut=happened.LINK, share=True)


def is_cut(asked: bool) -> bool:
    """Is the one link cut? It belongs to the first sentence: with another one it is whole again."""
    if not asked:
        CUT.forget()
    return asked and CUT.now() == "1"


def show_map(way: fl.Flow, *, unrolled: bool, cut: bool, asked: bool) -> None:
    block, head, query, key = happened.LINK
    blocks, heads = len(way.lens) - 1, len(way.trace["block0.weights"].value)
    shown = (
        controls.Setting("map_block", block, readers.whole(0, blocks - 1), heard="block"),
        controls.Setting("map_head", head, readers.whole(0, heads - 1), heard="head"),
    )
    chosen = controls.receivers(*shown)

    def released(name: str, value: Any) -> None:
        if name == "open" and value in OPENS.values():
            frame.leave_for(value)
        chosen(name, value)

    weight = float(fl.recorded().trace[f"block{block}.weights"].value[head, query, key])
    drawn.show(
        live.Picture(
            key="map", quantity="resid_post", says=_("The sentence on its way through the model"), released=released
        ),
        way,
        block=shown[0].now(),
        head=shown[1].now(),
        unrolled=unrolled,
        link=drawn.Link(block, head, query, key, weight, cut) if asked and unrolled else None,
        pages={stage: file for stage, file in OPENS.items() if file in {e.file for e in frame.entries()}},
    )
    if len(way.tokens) > drawn.MOST_ROWS:
        say("The map shows the last «n» tokens of «all».", n=drawn.MOST_ROWS, all=len(way.tokens))


def links(way: fl.Flow, *, cut: bool, asked: bool) -> None:
    """What one link does, what one word does, and where to find the other two links."""
    best = way.words[0]
    left, middle, right = st.columns(3, border=True)
    with left:
        _cut_card(cut, asked)
    with middle:
        st.markdown(f"**{_('Change one word')}**")
        if way.tokens and asked:
            say("Let Amy throw the ball. Who gets it now?")
            st.button(_("Swap the names"), on_click=_say_words, args=(sentence.TWIN,), key="twin")
        else:
            say("Now the model says «word», with «p».", word=best.token, p=f"{best.p:.1%}")
            st.button(_("Back to the first sentence"), on_click=_say_words, args=(sentence.SENTENCE,), key="back")
    with right:
        st.markdown(f"**{_('Find the others')}**")
        if asked:
            say("The answer hangs on this link. Does it hang on others too? Find them.")
        else:
            say("Which links decide the answer to your sentence? Cut them one by one.")
        attention = next(e for e in frame.entries() if e.file == "06_attention")
        st.page_link(frame.path_of(attention), label=_(attention.title))


def _cut_card(cut: bool, asked: bool) -> None:
    block, head, query, key = happened.LINK
    trace, outcomes = fl.recorded().trace, happened.outcomes()
    tokens = trace.labels["query"]
    weight = float(trace[f"block{block}.weights"].value[head, query, key])
    st.markdown(f"**{_('Cut one link')}**")
    if not asked:
        say("The lit link belongs to the first sentence.")
    elif not cut:
        template = N_("In block «block», head «head», “«query»” takes «share» of what it reads from “«key»”.")
        say(template, block=block, head=head, query=tokens[query], key=tokens[key], share=f"{weight:.0%}")
        st.button(_("Cut it"), on_click=CUT.keep, args=("1",), key="cut_it")
    else:
        best = outcomes.cut[0]
        template = N_(
            "Without that one link the model says «word», with «p». The rest of the row shares the freed weight."
        )
        say(template, word=best.token, p=f"{best.p:.1%}")
        st.button(_("Put it back"), on_click=CUT.keep, args=("0",), key="put_back")


def _say_words(words: str) -> None:
    controls.write(words, sentence.SENTENCE)


def rooms() -> None:
    """Every page that is built: its question, its minutes."""
    listed = [entry for entry in frame.entries() if entry.file != "01_home"]
    for first in range(0, len(listed), 3):
        for column, entry in zip(st.columns(3), listed[first : first + 3], strict=False):
            with column.container(border=True, height="stretch"):
                st.page_link(frame.path_of(entry), label=f"**{_(entry.title)}**")
                say("«asks» · about «minutes» minutes", asks=_(entry.asks), minutes=entry.minutes)
    other = "zh" if lang() == "en" else "en"
    st.button({"zh": "中文", "en": "English"}[other], on_click=_speak, args=(other,), key="other_language")


def _speak(language: str) -> None:
    address.write("lang", language)


def facts() -> dict[str, object]:
    """The embedded model in numbers, from its own config."""
    import json

    read = config.ModelConfig.from_hf(json.loads((sentence.FOLDER / "config.json").read_text("utf8")))
    from core import counting

    return {"parameters": f"{counting.total(read):,}", "layers": read.n_layers, "heads": read.n_heads}
