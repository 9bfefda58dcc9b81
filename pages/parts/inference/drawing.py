"""What the next token is drawn from: four cuts in the sorted chances, and whether the greedy text is the likeliest."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.lab.text import Text
from core.topics.inference import bank
from core.topics.inference import cuts as ct
from pages.shared import address, controls, frame, readers
from pages.shared.asks import predict
from pages.shared.pictures import bars, figures, live
from pages.shared.text import N_, _, filled, prose

KINDS = {"top_p": "Top-p", "temperature": N_("Temperature"), "top_k": "Top-k", "min_p": "Min-p"}
_KINDS: dict[str, ct.Kind] = {kind: kind for kind in ct.KINDS}
WIDTHS = (2, 4, 8, 16)
START = {"top_p": ct.NUCLEUS, "temperature": 1.0, "top_k": 10, "min_p": 0.05}


def place(text: Text) -> int:
    """After which token is drawn? To begin with, where the most may follow."""
    found = frame.cached(ct.places, text)
    if address.changed("cut_text", text.ids):
        address.forget("cut_place")
        predict.forget("nucleus", "likeliest")
    reads = readers.of(range(len(text)))
    return int(controls.Setting("cut_place", found.widest, reads).now())


def guess(text: Text, at: int) -> bool:
    """How many tokens does a nucleus hold here? True once it is answered."""
    found, vocab = frame.cached(ct.places, text), len(frame.cached(ct.chances, text, at))
    kept = int(found.nucleus[at])
    others = np.delete(found.nucleus, at) if len(text) > 1 else found.nucleus
    near = {"1": 1, "10": 10, "100": 100, "most": 0.5 * vocab}
    answer = min(near, key=lambda one: abs(np.log(near[one] / kept)))
    options = {
        "1": "1",
        "10": _("about {n}").format(n=10),
        "100": _("about {n}").format(n=100),
        "most": N_("most of them"),
    }
    true = N_(
        "«kept» of «vocab». The chances are very uneven: elsewhere in your text it is «least» to «most», and one word "
        "alone at «ones» of «places» places."
    )
    because = dict.fromkeys([*options, predict.UNSURE], true)
    question = N_("Guess first: after “«word»”, how many of «vocab» tokens hold 90% of the chance together?")
    return predict.ask(
        predict.Prediction("nucleus", question, options, answer, because),
        word=text.tokens[at],
        vocab=f"{vocab:,}",
        kept=f"{kept:,}",
        least=int(others.min()),
        most=f"{int(others.max()):,}",
        ones=int((found.nucleus == 1).sum()),
        places=len(text),
    ) is not None  # fmt: skip


@st.fragment
def sieve(text: Text, at: int, guessed: bool) -> None:
    """One cut over its whole range, under the finger; before the guess no number of tokens is told."""
    left, right = st.columns([3, 2], vertical_alignment="bottom", gap="medium")
    with left:
        kind: ct.Kind = _KINDS[controls.choice("Which cut", KINDS, "top_p", key="cut_kind", hide_label=True)]
    with right:
        widest = frame.cached(ct.places, text).widest
        controls.listed(
            _("After the token"),
            range(len(text)),
            widest,
            key="cut_place",
            shown=lambda i: f"{i} · {text.tokens[i]}",
            label_visibility="collapsed",
        )
    found = frame.cached(
        ct.run, ct.Demo(text, controls.Setting("cut_place", at, readers.of(range(len(text)))).now(), kind)
    )
    dial = controls.Dial(f"cut_{kind}", KINDS[kind], found.stops, _start(kind, found, guessed))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        bars.show(
            live.Picture(
                key=f"cut_{kind}",
                quantity="drawn_from",
                says=_("What each word has of the draw, at every stop; outlined: before the cut, struck out: cut."),
                slider=dial.slider(),
                captions=_captions(found),
                released=dial.receive,
            ),
            [*(word.token for word in found.words), _("all others")],
            found.after,
            ghost=found.before,
            high=1.0,
            percent=True,
            hatched=True,
            row=22,
        )
    with right:
        prose("inference", kind)


def _start(kind: ct.Kind, found: ct.Cut, guessed: bool) -> float:
    """Where the slider begins: before the guess of the nucleus, where nothing is cut."""
    wanted = START[kind] if guessed or kind == "temperature" else (ct.neutral(kind) or found.stops[-1])
    return min(found.stops, key=lambda stop: abs(stop - wanted))


def _captions(found: ct.Cut) -> list[str]:
    line = _("{kept} tokens left · {lost} of the chance cut away")
    return [line.format(kept=f"{n:,}", lost=f"{x:.1%}") for n, x in zip(found.kept, found.lost, strict=True)]


# ---- greedy against beams ----


@st.fragment
def likeliest(text: Text) -> None:
    """Is the greedy text the likeliest? Computed once somebody has guessed."""
    width = int(controls.Setting("beam", 8, readers.of(WIDTHS)).now())
    guessed = predict.answer("likeliest")
    found = None
    if guessed:
        with st.spinner(_("Searching …")):
            found = frame.cached(ct.search, text, width)
    better = found is not None and found.beam.score > found.greedy.score + 1e-3
    because_better = N_(
        "No: «width» texts followed side by side find one that is «times» times as likely. "
        "The likeliest first word can lead to a poor text."
    )
    because_same = N_(
        "Here it is the best that is found: «width» texts followed side by side end in none likelier. With other texts they do."
    )
    because = dict.fromkeys(["yes", "no", predict.UNSURE], because_better if better else because_same)
    question = N_("Guess first: greedy takes the likeliest token every time. Is its text the likeliest of its length?")
    asked = predict.Prediction("likeliest", question, {"yes": N_("yes, always"), "no": N_("not always")}, "no", because)
    predict.ask(asked, width=width, times=f"{found.times:,.1f}" if found else "")
    if found is None:
        return
    controls.pick("Texts that are followed", WIDTHS, 8, key="beam")
    head = f"| | {_('the text goes on')} | log p |\n|---|---|---:|\n"
    rows = [(_("greedy"), found.greedy), (filled(_("«width» followed"), width=width), found.beam)]
    st.markdown(
        head + "\n".join(f"| {name} | {_cell(line.text)} | {figures.number(line.score, 2)} |" for name, line in rows)
    )
    cool, plain = (figures.number(frame.cached(bank.bank, way).mean, 2) for way in ("t03", "greedy"))
    prose("inference", "likeliest", cool=cool, plain=plain, texts=bank.TEXTS, tokens=bank.LENGTH)


def _cell(text: str) -> str:
    return filled("«text»", text=text).replace("|", "\\|").replace("\n", " ")
