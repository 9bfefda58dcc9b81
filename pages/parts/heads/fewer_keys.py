"""One slider from MHA to MLA on the real weights, and what it means for a large model's cache."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from core.costs import PRECISIONS, kept
from core.lab import subject, text
from core.lab.text import Text
from core.presets import presets
from core.tokenizer import Reading
from core.topics.heads import fewer_keys as sh
from pages.parts.heads import volume as parts
from pages.shared import controls, frame, headings, spine
from pages.shared.asks import predict
from pages.shared.pictures import bars, live, matrix
from pages.shared.text import N_, _, prose, say, unmarked

FEW = 5  # words at the idea
TITLES = {"converted": N_("converted, as it is"), "healed": N_("healed")}
SAYS = {
    "converted": N_("How likely each word is to come next, with fewer keys, converted as they are."),
    "healed": N_("How likely each word is to come next, with fewer keys, healed."),
}


def _names(some: tuple[sh.Stop, ...]) -> tuple[str, ...]:
    shared, latent = _("«name» · «n» KV"), _("«name» · rank «n»")
    return tuple(
        shared.replace("«name»", s.name).replace("«n»", str(s.n_kv_heads))
        if s.rank is None
        else latent.replace("«name»", s.name).replace("«n»", str(s.rank))
        for s in some
    )


def _offered(of: Text) -> tuple[sh.Stop, ...]:
    return tuple(sh.stops(of)[i] for i in sh.offered(of))


def _dial(of: Text) -> controls.Dial:
    """It rests at the untouched model, so that the guess is one."""
    some = _offered(of)
    return controls.Dial("kv", N_("Keys and values"), [s.value for s in some], some[0].value, shown=_names(some))


def _captions(of: Text, found: sh.Shared, side: str) -> list[str]:
    """One line a stop: the cache, the error, the loss."""
    template = _("{bytes:,} bytes a token · error {error:.0%} · loss {loss:.2f}")
    losses = sh.losses(of)[sh.SIDES.index(side)][list(sh.offered(of))]
    return [
        template.format(bytes=stop.bytes_a_token, error=float(error), loss=float(loss))
        for stop, error, loss in zip(_offered(of), found.error, losses, strict=True)
    ]


def _guess(of: Text) -> bool:
    """Half the keys gone: what does it do?"""
    loss, blind = sh.losses(of), float(np.log(subject.model().config.vocab_size))
    return bool(
        predict.ask(
            predict.Prediction(
                "halved",
                N_(
                    "Let every two heads share one key and one value, the mean of theirs. Loss on stories was «before». "
                    "And now?"
                ),
                {
                    "same": N_("much the same"),
                    "double": N_("more than doubles"),
                    "guess": N_("no better than guessing"),
                },
                "guess" if loss[0, 1] > blind else "double" if loss[0, 1] > 2 * loss[0, 0] else "same",
                dict.fromkeys(
                    ("same", "double", "guess", "?"),
                    N_(
                        "It goes from «before» to «after»; blind guessing costs «blind». Fitted again, layer by layer, "
                        "it comes back to «healed»."
                    ),
                ),
            ),
            blind=f"{blind:.1f}",
            before=f"{loss[0, 0]:.2f}",
            after=f"{loss[0, 1]:.2f}",
            healed=f"{loss[1, 1]:.2f}",
        )
    )


def slider(reading: Reading) -> None:
    """Both sides at every stop: the chosen head's map and the next word."""
    _guess(text.of(reading))
    demo = parts.chosen(reading)
    prose("heads", "sharing")
    if spine.deep():
        prose("heads", "sides")
    with st.spinner(_("Running the model with fewer and fewer keys and values …")):
        found = frame.cached(sh.run, demo)
    *sides, last = st.columns([4, 4, 2.4], gap="medium")
    for side, column in zip(sh.SIDES, sides, strict=True):
        with column:
            _side(demo.text, found[side], side)
    with last:
        say("**who reads which key and value**")
        _wiring(demo.text)
        if spine.deep():
            say("The maps are those of head «head», chosen above.", head=parts.name_of(demo.layer, demo.head))

    def inside() -> None:
        prose("heads", "made", d=subject.model().config.d_model, both=sh.stops(demo.text)[0].numbers)

    if spine.deep():
        headings.fold("How each was made", inside)


def _side(of: Text, found: sh.Shared, side: str) -> None:
    """What the model says at every stop; for depth, the map of the chosen head above it, which then has the slider."""
    say(f"**{_(TITLES[side])}**")
    with_map = spine.deep()
    if with_map:
        _map(of, found, side)
    shown = slice(None) if with_map else slice(FEW)
    picture = bars.next_picture(
        f"says_{side}",
        SAYS[side],
        slider=_dial(of).slider(together=True, hidden=with_map),
        captions=None if with_map else _captions(of, found, side),
        released=_dial(of).receive,
    )
    tokens = [text.called(i, of.subject) for i in found.ids[shown]]
    bars.next_tokens(picture, tokens, found.probs[:, shown], found.probs[0, shown])


def _map(of: Text, found: sh.Shared, side: str) -> None:
    says = unmarked(_("The weights of one head at every way to keep keys and values: «side»."), side=_(TITLES[side]))
    matrix.show(
        live.Picture(
            key=f"kept_{side}",
            quantity="weights",
            says=says,
            slider=_dial(of).slider(together=True),
            captions=_captions(of, found, side),
            released=_dial(of).receive,
        ),
        found.weights,
        rows=of.names,
        columns=of.names,
        look=matrix.Look(from_zero=True, most=26, tall=340),
        row=len(of) - 1,
    )


def _wiring(of: Text) -> None:
    """Which query heads share a key and a value, at every stop."""
    n_heads = parts.shape()[1]
    names = [str(i) for i in range(n_heads)]
    matrix.show(
        live.Picture(
            key="wiring",
            wordless=True,
            quantity="allowed",
            says=_("Which query head reads which key and value head; a latent is one for all."),
            slider=_dial(of).slider(together=True, hidden=True),
            released=_dial(of).receive,
        ),
        sh.wiring(_offered(of)),
        rows=names,
        columns=names,
        look=matrix.Look(from_zero=True, row_title=N_("head"), column_title="KV", most=22, digits=0, tools=False),
    )


def cache() -> None:
    """The same step in a large model, in bytes."""
    qwen, deep = presets()["qwen3-8b"].config, presets()["deepseek-v3"].config
    counts = [n for n in (32, 16, 8, 4, 2, 1) if qwen.n_heads % n == 0]
    size = float(PRECISIONS["bf16"])
    rows = [(_names_of(n, qwen.n_heads), replace(qwen, n_kv_heads=n)) for n in counts]
    rows.append(("DeepSeek-V3", deep))
    table = np.array([sum(kept(config).values()) * size for _name, config in rows])
    mine = table[counts.index(qwen.n_kv_heads)]
    prose(
        "heads",
        "cache",
        full=f"{table[0] / 1024:.0f}",
        mine=f"{mine / 1024:.0f}",
        group=qwen.n_heads // qwen.n_kv_heads,
        latent=f"{table[-1] / 1024:.1f}",
        long=f"{mine * 32768 / 2**30:.1f}",
        tokens="32,768",
    )
    if not spine.deep():
        return
    prose("heads", "bytes")
    bars.show(
        live.Picture(
            key="kv_bytes",
            wordless=True,
            quantity="kv_cache",
            says=_("KiB that one token leaves in the cache of all layers."),
        ),
        [name for name, _config in rows],
        table / 1024,
        marked=counts.index(qwen.n_kv_heads),
        tools=True,
    )


def _names_of(n: int, heads: int) -> str:
    return f"{'MHA' if n == heads else 'MQA' if n == 1 else 'GQA'} {n}"
