"""The first screen: how far every word may look, and what that does to the answer and to the loss."""

from __future__ import annotations

import streamlit as st

from core.lab import story_losses as recorded
from core.lab import subject
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.masks import patterns as mk
from core.topics.masks import reach
from core.whatif import Change
from pages.shared import controls, frame, readers, spine, story
from pages.shared.asks import predict
from pages.shared.pictures import bars, live, matrix
from pages.shared.text import N_, _, filled, prose, unmarked

KIND = "reach"
FEW, LOW = 18, 308  # rows up to which a cell has room for its number, and pixels for all of them


def text() -> tuple[Reading, int, int]:
    """The sentence, and in the settings line the head whose weights are shown."""
    one, two = st.columns([5, 2], vertical_alignment="bottom")
    config = subject.model().config
    with two:
        layer = controls.Setting("layer", 5, readers.of(range(config.n_layers))).now()
        head = controls.Setting("head", 1, readers.of(range(config.n_heads))).now()
        with spine.settings(filled(_("block «layer» · head «head»"), layer=layer, head=head)):
            layer = controls.pick("Block", range(config.n_layers), 5, key="layer")
            head = controls.pick("Head", range(config.n_heads), 1, key="head")
    with one:
        reading = story.box()
    return reading, layer, head


def prediction() -> None:
    """Which way does the loss go? The answer is recorded from the model itself."""
    before, after = recorded.loss(subject.UNTOUCHED), recorded.loss(Change(mask=False))
    answer = "falls" if after < before * 0.95 else "rises" if after > before * 1.05 else "stays"
    because = {
        "falls": N_(
            "The answers now stand in plain sight, that is right. But this model never learned to use them: what comes "
            "from ahead is noise to it, and the loss rises from «before» to «after» nats a token."
        ),
        "stays": N_(
            "It learned nothing about what stands ahead, that is right. But every softmax now shares its one unit with "
            "it, and the loss rises from «before» to «after» nats a token."
        ),
        "rises": N_(
            "From «before» to «after» nats a token. A model trained with the mask cannot use what stands ahead. One that "
            "was trained without it can: meet it below."
        ),
        "?": N_(
            "It rises, from «before» to «after» nats a token: seeing more is worse, if you were trained to see less."
        ),
    }
    options = {"falls": N_("falls"), "stays": N_("stays"), "rises": N_("rises")}
    question = N_("Guess first: no mask, every word sees the future. The model's loss?")
    values = dict(before=f"{before:.2f}", after=f"{after:.2f}")
    predict.ask(predict.Prediction("unmasked", question, options, answer, because), **values)


def _name(size: int) -> str:
    """What a stop of the slider is called."""
    back = reach.window(size)
    if size in (reach.CAUSAL, reach.NONE):
        return _("all before") if size == reach.CAUSAL else _("all: no mask")
    if back is None:
        return unmarked(_("and «n» ahead"), n=size)
    return _("itself alone") if back == 1 else unmarked(_("«n» tokens"), n=back)


def dial(n: int) -> controls.Dial:
    stops = mk.stops(KIND, n)
    return controls.Dial(
        "mask_reach", N_("In reach"), stops, reach.CAUSAL, shown=tuple(_name(s) for s in stops), quiet=True
    )


def sight(reading: Reading, layer: int, head: int) -> None:
    """One head and the next word under the same slider."""
    demo = mk.Demo(sentence.of(reading), layer, head, KIND)
    n, size = len(demo.text), dial(len(demo.text))
    with st.spinner(_("Reading under every size of the mask …"), show_time=False):
        found = frame.cached(mk.frames, demo)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        tokens = sentence.names(demo.text.tokens)
        matrix.show(
            live.Picture(
                key="sight",
                quantity="weights",
                says=_("One head of the live model while every word sees more or less. Hatched cells are closed."),
                slider=size.slider(together=True) if n > 1 else None,
                signature=True,
                room=445,
                released=size.receive,
            ),
            found.weights,
            rows=tokens,
            columns=tokens,
            look=matrix.Look(from_zero=True, row_height=min(24, LOW // n) if n <= FEW else None, tall=LOW),
            shut=found.shut,
            row=n - 1,
        )
    with right:
        prose("masks", "sight")
        _says(found, size, n)
        prose("masks", "after")


def _says(found: mk.Frames, size: controls.Dial, n: int) -> None:
    """The next word and the loss, from stop to stop."""
    line = _("p(«word») = «p» · loss on stories «loss»")
    word = found.answer.token
    captions = [
        unmarked(line, word=word, p=f"{p:.3f}", loss=f"{reach.loss(int(stop)):.2f}")
        for stop, p in zip(size.stops, found.probs[:, 0], strict=True)
    ]
    st.markdown(f"**{_('Next word')}** · {_('outlined: the untouched model')}")
    follows = size.slider(together=True, hidden=True) if n > 1 else None
    says = N_("How likely each word is to come next, as far as words may look back.")
    picture = bars.next_picture("sight_next", says, slider=follows, captions=captions, released=size.receive)
    bars.next_tokens(picture, [one.token for one in found.words], found.probs, found.before, marked=0)
