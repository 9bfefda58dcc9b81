"""Each word alone: its row is exchanged, and of what the FFN says only its own row changes."""

from __future__ import annotations

from core.lab.text import Text
from core.topics.feedforward import alone
from pages.parts.feedforward import strips
from pages.shared import controls, frame, readers
from pages.shared.pictures import live
from pages.shared.text import N_, _, prose, say


def every_word_alone(text: Text, layer: int) -> None:
    """One slider exchanges one row of what the block reads; a click chooses the word."""
    if len(text) < 2:
        say("One token alone has nobody beside it. Type a few words above.")
        return
    picked = controls.Setting("ffn_word", alone.Demo(text, layer).at, readers.of(range(len(text))), heard="token")
    demo = alone.Demo(text, layer, picked.now())
    stops = alone.mixes(len(text))
    turn = controls.Dial("ffn_mix", N_("Its row exchanged"), stops, 0.0, shown=tuple(f"{stop:.0%}" for stop in stops))
    found = frame.cached(alone.changed, demo)
    names = dict(word=text.tokens[demo.at], other=text.tokens[demo.other], layer=layer)
    prose("feedforward", "alone", **names)
    strips.show(
        live.Picture(
            key="alone",
            quantity="ffn_out",
            says=_("How far the output of the FFN and of attention moves, at every word, while one row is exchanged."),
            slider=turn.slider(),
            released=controls.receivers(turn, picked),
        ),
        [
            strips.Strip(_("FFN: how far its output moves"), text.tokens, found.ffn),
            strips.Strip(_("attention of the same block: how far its output moves"), text.tokens, found.attention),
        ],
        signed=False,
        choose=demo.at,
    )
    prose("feedforward", "alone_means", elsewhere=f"{found.elsewhere:.1f}")
