"""The repair shop of the model page: one wrong wire in the real model, and how much of the right one is put back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from core import attention, blocks, feedforward, heads
from core.lab import text as sentence
from core.tokenizer import Reading
from core.topics.model import parts, repair
from pages.parts.model import wiring
from pages.shared import controls, frame, readers, spine
from pages.shared.asks import predict
from pages.shared.pictures import bars, code, live, matrix
from pages.shared.text import N_, _, say

BENCH = {
    "parts": N_("Assemble a block"),
    "walk": N_("Walk through"),
    "size": N_("At true size"),
    "bug": N_("Spot the bug"),
    "extras": N_("Four small things"),
}
FORMULAS = {  # what each line of a block computes; signs that need no translation
    "resid_pre": "x",
    "norm1": "norm(x)",
    "q": "x · W_Q",
    "k": "x · W_K",
    "v": "x · W_V",
    "q_norm": "norm(q)",
    "k_norm": "norm(k)",
    "q_rot": "rotate(q)",
    "k_rot": "rotate(k)",
    "scores": "q · kᵀ",
    "scaled": "÷ √d_k",
    "allowed": "j ≤ i",
    "masked": "−∞ (j > i)",
    "weights": "softmax",
    "z": "weights · v",
    "attn_out": "concat(z) · W_O",
    "resid_mid": "x + attn_out",
    "norm2": "norm(x)",
    "ffn_gate": "x · W_gate",
    "ffn_up": "x · W_up",
    "ffn_pre": "x · W_1",
    "ffn_act": "silu(gate) · up",
    "ffn_out": "· W_2",
    "resid_post": "x + ffn_out",
}
SHORT = {  # the same in seven lines
    "resid_pre": "x",
    "norm1": "norm(x)",
    "attn_out": "attention(norm1)",
    "resid_mid": "x + attn_out",
    "norm2": "norm(resid_mid)",
    "ffn_out": "ffn(norm2)",
    "resid_post": "resid_mid + ffn_out",
}
GATED = {"ffn_out": "· W_down"}  # the name that goes with W_gate and W_up
BENDS = {"relu": "relu(x)", "gelu": "gelu(x)", "swiglu": FORMULAS["ffn_act"]}  # what becomes of ffn_pre, or of the gate
TALL = 404  # px of a whole block: it stands on the first screen with its slider
QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        *(blocks.NORM1, attention.V, heads.Q_ROT, attention.SCALED, attention.MASKED, attention.WEIGHTS),
        *(heads.ATTN_OUT, blocks.RESID_MID, blocks.NORM2, feedforward.FFN_ACT, blocks.RESID_POST),
    )
}


@dataclass(frozen=True)
class Room:
    """One wrong line, ready to be shown. patient: its number, 0 where the visitor breaks wires; shown: the lines."""

    tokens: tuple[str, ...]
    patient: int
    fault: str
    suspect: str
    found: repair.Repair
    wires: tuple[str, ...]
    shown: tuple[str, ...]
    compare: bool

    @property
    def right(self) -> bool:
        return self.fault == self.suspect

    @property
    def tried(self) -> bool:
        """A patient tells nothing until the slider has been moved."""
        return not self.patient or self.value() > 0

    @property
    def row_of(self) -> dict[str, int]:
        """Where each wire's line stands."""
        lines = {wire: repair.WIRES[wire][0] for wire in self.wires}
        return {wire: self.shown.index(line) for wire, line in lines.items() if line in self.shown}

    @property
    def suspects(self) -> controls.Setting:
        return _suspect("suspect" if self.patient else "wire", self.wires)

    @property
    def fix(self) -> controls.Dial:
        """How much of the suspect's right form is there."""
        word, label = ("put", N_("The line put right")) if self.patient else ("fix", N_("How right the line is"))
        shown = tuple(f"{stop:.0%}" for stop in self.found.stops)
        return controls.Dial(word, label, self.found.stops, shown=shown, quiet=not self.patient)

    def value(self) -> float:
        return float(self.fix.now())

    def slider(self, hidden: bool = False) -> live.Slider:
        return self.fix.slider(together=True, hidden=hidden)

    def key(self, name: str) -> str:
        """Of a picture: the page has each of them twice."""
        return f"ill_{name}" if self.patient else name


def _suspect(word: str, wires: tuple[str, ...]) -> controls.Setting:
    return controls.Setting(word, wires[0] if "skip1" not in wires else "skip1", readers.one_of(*wires))


def working(reading: Reading) -> Room:
    """The model as it is, and one line under the finger: at the idea a block has seven, else all it computes."""
    text = sentence.of(reading)
    wires = frame.cached(repair.wires, text)
    wire = _suspect("wire", wires).now()
    compare = spine.deep() and controls.Setting("compare_own").now()
    found = _cured(repair.Demo(text, wire, wire))
    brief = not spine.deep() and repair.WIRES[wire][0] in parts.LINES
    shown = tuple(line for line in found.lines if line in parts.LINES or not brief)
    template = N_(
        "This block works. **Drag to the left**: «line» goes wrong in all blocks, bit by bit. Or click another line in bold."
    )
    say(template, line=repair.WIRES[wire][0])
    return Room(reading.tokens, 0, wire, wire, found, wires, shown, compare)


def ward(reading: Reading) -> Room:
    """A patient: one of its lines is wrong, and which one is not told."""
    text = sentence.of(reading)
    wires = frame.cached(repair.wires, text)
    ill = tuple(wire for wire in repair.PATIENTS if wire in wires)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        patient = controls.pick("Patient", range(1, len(ill) + 1), 1, key="patient")
    with right:
        compare = controls.switch(COMPARE, False, key="compare", help=FAR_OFF)
    say("One line is wrong, the same in all blocks. **Click a line you suspect, then drag.**")
    fault, suspect = ill[patient - 1], _suspect("suspect", wires).now()
    found = _cured(repair.Demo(text, fault, suspect if suspect == fault else ""))
    return Room(reading.tokens, patient, fault, suspect, found, wires, found.lines, compare)


def compare_own() -> None:
    """The switch beside the wires: above them they would lose the first screen."""
    controls.switch(COMPARE, False, key="compare_own", help=FAR_OFF)


COMPARE = N_("Compare with the untouched model")
FAR_OFF = N_("Bars then show how far each tensor is from the untouched model's, relative to its length.")


def _cured(demo: repair.Demo) -> repair.Repair:
    with st.spinner(_("Putting it back, bit by bit …"), show_time=False):
        return frame.cached(repair.run, demo)


def shape_of(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{n:,}" for n in shape)


def wires(room: Room) -> None:
    """The block's lines, what passes each, and the slider."""
    found, at = room.found, room.row_of
    rows = rows_of(room.shown, dict(zip(found.lines, found.shapes, strict=True)), set(at.values()))
    here = [found.lines.index(line) for line in room.shown]
    size = (_("size (rms)"), _("log scale"), _("outlined: untouched"))
    measured = (_("distance from the untouched"), _("log scale")) if room.compare else size
    wiring.show(
        live.Picture(
            key=room.key("wires"),
            quantity="rms" if not room.compare else "distance",
            says=_("The lines of one block. Bold ones can be chosen."),
            slider=room.slider(),
            signature=not room.patient,
            room=0 if room.patient else TALL + 38 if spine.deep() else 237,
            released=_receive(room),
        ),
        rows,
        arcs_of(room.shown),
        values=(found.away if room.compare else found.size)[:, here],
        ghost=None if room.compare else found.healthy[here],
        ends=(1e-3, 10.0) if room.compare else (0.01, 100.0),
        measured=" · ".join((_("block {i}").format(i=0), *measured) if spine.deep() else measured),
        chosen=at[room.suspect],
        cut=at[room.suspect] if room.right and room.tried else None,
        tall=None if room.patient else TALL,
    )


def rows_of(
    lines: tuple[str, ...],
    shapes: dict[str, tuple[int, ...]],
    bold: set[int],
    off: tuple[str, ...] = (),
    *,
    joined: bool = True,
) -> list[wiring.Row]:
    """The lines as the wiring draws them. bold: the rows that can be chosen; off: lines that are not there just now;
    joined: the stream is added where a sub-layer ends."""
    texts = SHORT if lines == parts.LINES else FORMULAS | ({"ffn_act": BENDS["gelu"]} if "ffn_pre" in lines else GATED)
    if not joined:
        texts = texts | {"resid_mid": "attn_out", "resid_post": "ffn_out"}
    return [
        wiring.Row(
            name,
            _("off") if name in off else texts[name],
            shape_of(shapes[name]),
            plus=joined and name in ("resid_mid", "resid_post"),
            wire=i in bold,
            off=name in off,
        )
        for i, name in enumerate(lines)
    ]


def arcs_of(lines: tuple[str, ...]) -> list[tuple[int, int]]:
    """What skips ahead: the stream, around attention and around the FFN."""
    before, middle, after = (lines.index(name) for name in ("resid_pre", "resid_mid", "resid_post"))
    return [(before, middle), (middle, after)]


def _receive(room: Room) -> Callable[[str, object], None]:
    """A click on another line takes that one under the finger; of a patient's, nothing is put right yet."""
    wire_at = {row: wire for wire, row in room.row_of.items()}

    def receive(name: str, value: object) -> None:
        room.fix.receive(name, value)
        row = wiring.chosen_row(value, len(room.shown)) if name == "row" else None
        if row in wire_at:
            room.suspects.keep(wire_at[row])
            room.fix.forget()

    return receive


def who_reads(room: Room) -> None:
    """Who reads whom in block 0."""
    names = list(room.tokens[-room.found.weights.shape[-1] :])
    st.markdown(f"**{_('Who reads whom, block 0')}**")
    matrix.show(
        live.Picture(
            key=room.key("readers"),
            quantity="weights",
            says=_("The weights of block 0, the mean of its heads."),
            slider=room.slider(hidden=True),
            released=lambda name, value: None,
        ),
        room.found.weights,
        rows=names,
        columns=names,
        look=matrix.Look(from_zero=True, most=26, tall=330, tools=False),
    )


def next_word(room: Room) -> None:
    """The candidates at every stop."""
    found = room.found
    st.markdown(f"**{_('Next word')}**")
    template = _("The model says “{best}”, p = {most}. p({answer}) = {p}")
    told = [
        template.format(best=best.token, most=f"{best.p:.3f}", answer=found.answer.token, p=f"{row[0]:.3f}")
        for best, row in zip(found.best, found.p, strict=True)
    ]
    most = len(found.words) if spine.deep() or room.patient else 6
    picture = bars.next_picture(
        room.key("next"), slider=room.slider(hidden=True), captions=told, released=lambda name, value: None
    )
    tokens = [word.token for word in found.words[:most]]
    bars.next_tokens(picture, tokens, found.p[:, :most], marked=0)
    bars.explain_dot(tokens)


def verdict(room: Room) -> None:
    """What is wrong, or what the experiment has told; the two lines of code; no error anywhere."""
    line, wrong, right = repair.WIRES[room.suspect]
    ends = (room.found.stops[0], room.found.stops[-1])
    ill, well = (f"{room.found.chance(stop):.3f}" for stop in ends)
    numbers = dict(line=line, word=room.found.answer.token, ill=ill, well=well)
    with st.container(border=True, key=room.key("verdict")):
        if not room.tried:
            say("Your suspect is **«line»**. Drag the slider: does anything move?", line=line)
        elif room.right and not room.patient and predict.answer("symptom") is None:
            say("Watch the next word while you drag, then answer above. What gave the wire away is told here.")
        elif room.right:
            _found(room, numbers, wrong, right)
        else:
            template = N_(
                "Putting **«line»** right changes nothing: **this line was right.** p(«word») stays «ill». Suspect another."
            )
            say(template, **numbers)
            if not room.compare:
                say("Stuck? Switch on the comparison: the first line that differs is the wrong one.")
    if spine.deep() and not room.patient:
        code.show(QUANTITIES[line])


def _found(room: Room, numbers: dict[str, object], wrong: str, right: str) -> None:
    if room.patient:
        say(
            "**Found.** Patient «patient» has its wrong line at **«line»**.", patient=room.patient, line=numbers["line"]
        )
    template = N_(
        "p(«word») is «ill» with the wrong line, «well» with the right one. Every shape is the same; nothing raised an error."
    )
    say(template, **numbers)
    one, two = st.columns(2)
    one.markdown(_("wrong"))
    one.code(wrong, language=None)
    two.markdown(_("right"))
    two.code(right, language=None)


# ---- the question before ----


def prediction(reading: Reading) -> str | None:
    """What gives a wrong wire away? Every wire is broken once, and what happened is counted."""
    values: dict[str, object] = {}
    truth = "answer"
    if predict.told("symptom"):
        ward = frame.cached(repair.ward, sentence.of(reading))
        truth = "shape" if ward.shapes else "nan" if ward.nans else "answer"
        values = dict(
            n=len(ward.wires), shapes=ward.shapes, nans=ward.nans, word=ward.answer.token, p=f"{ward.answer.p:.3f}"
        )
        values |= dict(least=f"{min(ward.p):.3f}", most=f"{max(ward.p):.3f}")
    because = {
        "error": N_("Each of the «n» wires was cut once. No error was raised: to torch the code is as good as before."),
        "shape": N_("Of «n» cut wires, «shapes» changed a shape. Sums and swaps of equal shapes leave no trace there."),
        "nan": N_("Of «n» cut wires, «nans» made a NaN. The numbers are finite, only wrong."),
        "answer": N_(
            "«n» wires cut once each: no error, «shapes» changed shapes, «nans» NaN. "
            "But p(«word»), «p» before, now lies between «least» and «most»."
        ),
        "?": N_(
            "No error, «shapes» changed shapes, «nans» NaN in «n» experiments. Only p(«word») tells: «p» before, «least» to «most» after."
        ),
    }
    options = {
        "error": N_("an error message"),
        "shape": N_("a wrong shape"),
        "nan": N_("a NaN"),
        "answer": N_("only the answer"),
    }
    question = N_("Guess first: one line is wrong. What gives it away?")
    return predict.ask(predict.Prediction("symptom", question, options, truth, because), **values)
