"""Running it cheaper: the cache in few bits, tokens drafted ahead; a state of fixed size beside it; common mistakes."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core import costs
from core.config import ModelConfig
from core.lab import subject
from core.lab.text import Text
from core.presets import presets
from core.topics.inference import bank, drafts, sink, squeezed
from core.topics.inference import writing as wr
from pages.shared import controls, frame
from pages.shared.asks import mistakes
from pages.shared.pictures import bars, figures, lines, live, stack
from pages.shared.text import N_, _, prose

SIDES = {"both": N_("keys and values"), "keys": N_("keys alone"), "values": N_("values alone")}
BITS = controls.Dial("bits", N_("Bits a number"), squeezed.BITS, 4)
EXITS = (drafts.TABLE, 3, 4, 5)
TIMED = controls.Held("draft_times")
WAYS = {
    "window": N_("the newest alone"),
    "first": N_("the first token too, where it stands"),
    "streaming": N_("the first token too, kept near"),
}
LENGTHS = (256, 4096, 131_072)


# ---- few bits ----


def bits(text: Text) -> None:
    """The loss along four stories, and the visitor's own next word."""
    table, found = frame.cached(squeezed.losses), frame.cached(squeezed.said, text)
    side = str(controls.choice("What is squeezed", SIDES, "both", key="squeezed", hide_label=True))
    at = squeezed.SIDES.index(side)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        bars.next_tokens(
            bars.next_picture(f"bits_{side}", slider=BITS.slider(), released=BITS.receive),
            [word.token for word in found.words],
            found.p[at],
            found.p[0, 0],
            marked=0,
        )
        few = np.array(squeezed.BITS[1:], float)
        lines.show(
            live.Picture(
                key="bit_losses", quantity="loss", says=_("Loss along four stories with a cache in few bits.")
            ),
            table[:, 1:],
            few,
            [
                lines.Series(_(name), role, dots=True)
                for name, role in zip(SIDES.values(), ("a", "k", "v"), strict=True)
            ],
            x=lines.Axis(_("bits a number")),
            y=lines.Axis(_("loss, nats a token"), log=True),
            tall=220,
        )
    with right:
        told = dict(zip(squeezed.BITS, table.T, strict=True))
        values = {f"{name}{n}": f"{told[n][i]:.2f}" for n in (4, 2, 1) for i, name in enumerate(squeezed.SIDES)}
        prose("inference", "bits", base=f"{told[16][0]:.2f}", tokens=squeezed.TOKENS, **values)


# ---- a cache of fixed size ----


def window() -> None:
    """Past the trained length: the newest tokens alone, or the first one with them."""
    table = frame.cached(sink.losses)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="sink_losses",
                quantity="loss",
                says=_("Loss past the trained length with a cache of fixed size, with and without the first token."),
            ),
            table,
            np.array(sink.HELD, float),
            [
                lines.Series(_(name), role, dots=True)
                for name, role in zip(WAYS.values(), ("a", "warn", "v"), strict=True)
            ],
            x=lines.Axis(_("tokens in the cache"), log=True),
            y=lines.Axis(_("loss, nats a token")),
            tall=240,
        )
    with right:
        told = {
            f"{way}{held}": f"{table[i, j]:.2f}" for i, way in enumerate(sink.WAYS) for j, held in enumerate(sink.HELD)
        }
        prose("inference", "window", start=sink.START, stop=sink.STOP, **told)


# ---- drafts ----


def _drafter(exit: int) -> str:
    return _("a table of pairs") if exit == drafts.TABLE else str(exit)


def drafted(text: Text) -> None:
    """The model's first blocks draft, all of them check; the text is the same whatever the draft."""
    last = subject.config(text.subject).n_layers
    exit = int(controls.pick("Blocks that draft", EXITS, 5, key="draft_exit", shown=_drafter))
    with st.spinner(_("Writing …")):
        runs = frame.cached(drafts.run, drafts.Demo(text, exit))
    if not runs[0].tokens:
        return
    dial = controls.Dial("draft", N_("Tokens drafted a pass"), drafts.AHEAD, 4)
    line = _("{passes} passes for {n} tokens · {taken} of {all} drafts taken")
    marked = [
        " ".join(f"[{token}]" if own else token for token, own in zip(one.tokens, one.drafted, strict=True))
        for one in runs
    ]
    captions = [
        f"{words} · {line.format(passes=one.passes, n=len(one.tokens), taken=one.taken, all=one.proposed)}"
        for words, one in zip(marked, runs, strict=True)
    ]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        stack.show(
            live.Picture(
                key="drafts",
                quantity="passes",
                says=_("Passes of the whole model, and drafts that were taken and refused."),
                slider=dial.slider(),
                captions=captions,
                released=dial.receive,
            ),
            np.array([[[one.passes, 0, 0], [0, one.taken, one.proposed - one.taken]] for one in runs]),
            [_("the model"), _("its drafts")],
            [_("passes"), _("drafts taken"), _("drafts refused")],
            roles=("a", "v", "warn"),
            high=float(max(max(one.passes, one.proposed) for one in runs)),
        )
    with right:
        if exit == drafts.TABLE:
            prose("inference", "drafts_table", read=f"{frame.cached(bank.sample_tokens):,}")
        else:
            prose("inference", "drafts", exit=exit, layers=last)
        prose("inference", "drafts_same")
        pays = frame.cached(drafts.read, drafts.Demo(text, exit or last - 1))
        prose("inference", "drafts_pay", blocks=exit or last - 1, draft=f"{pays.draft:.0%}", head=f"{pays.head:.0%}")
        _draft_times(drafts.Demo(text, exit))


def _draft_times(demo: drafts.Demo) -> None:
    """Does it pay? Measured on a press, in turns."""
    runs = dict(TIMED.now() or {})
    st.button(
        _("Measure it here, now"),
        key="draft_measure",
        on_click=lambda: TIMED.keep({**runs, demo.exit: 1 + runs.get(demo.exit, 0)}),
    )
    if demo.exit not in runs:
        return
    with st.spinner(_("Measuring …")):
        taken = frame.cached(drafts.times, demo, runs[demo.exit]).taken
    head = [_("drafted a pass"), _("milliseconds"), _("times as fast")]
    told = [[str(n), f"{t:,.0f}", f"{taken[0] / t:.2f}"] for n, t in zip(drafts.AHEAD, taken, strict=True)]
    figures.table(head, told, words=0)


# ---- a state of fixed size ----


def fixed(text: Text) -> None:
    """What an LSTM of the same width keeps, beside the cache, with and without Flash."""
    config = subject.config(text.subject)
    n = controls.pick("Tokens so far", LENGTHS, LENGTHS[1], key="fixed_n")
    state = 2 * config.n_layers * config.d_model
    cache = int(sum(costs.kept(config).values())) * n
    step = 16 * config.d_model**2 * config.n_layers
    work = wr.work(config, (n,))
    body = work.cached[0] - 2 * config.d_model * config.vocab_size
    square = costs.cells(config, n)[0] * config.n_heads
    head = ("", _("LSTM"), _("attention, cached"), _("the same with Flash"))
    rows = [
        (_("steps to read it"), f"{n:,}", "1", "1"),
        (_("numbers kept"), f"{state:,}", f"{cache:,}", f"{cache:,}"),
        (_("FLOPs of one more token"), *(f"{x / 1e6:.1f} M" for x in (step, body, body))),
        (_("numbers of a map written out"), "–", f"{square:,}", "0"),
    ]
    figures.table(head, rows)
    prose("inference", "fixed", state=f"{state:,}", each=f"{cache // n:,}")


# ---- mistakes ----


def common_mistakes(text: Text) -> None:
    config, qwen = subject.config(text.subject), presets()["qwen3-8b"].config
    short = costs.Talk(qwen)
    each = int(short.token)
    mistakes.show(
        "inference",
        ["again", "approximate", "bytes", "flash", "times", "greedy", "draft"],
        each=f"{wr.token_bytes(config):,}",
        qwen=f"{each:,}",
        kib=each // 1024,
        gib=f"{float(short.cache(32_768)) / 2**30:.1f}",
        mha=each * qwen.n_heads // qwen.n_kv_heads // 1024,
        layers=qwen.n_layers,
        kv=qwen.n_kv_heads,
        width=qwen.head_dim,
        fewer=f"{_ratio(config):.0f}",
    )


def _ratio(config: ModelConfig) -> float:
    spent = wr.work(config, (256,))
    return float(spent.whole[0] / spent.cached[0])
