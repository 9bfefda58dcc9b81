"""What can be computed in principle: a random map learned by heart, why any map can be, and a Turing machine set by hand."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.nets import by_heart
from core.topics.theory import machines as mc
from core.topics.theory import tape as tp
from pages.shared import controls, frame, headings
from pages.shared.asks import predict
from pages.shared.pictures import lines, live, matrix, plane
from pages.shared.pictures.lines import Axis, Series
from pages.shared.text import N_, _, prose, say

STEP = controls.Dial("heart_step", N_("Training steps"), by_heart.SEEN, by_heart.STEPS)
PIECES = controls.Dial("stairs", N_("Pieces"), mc.PIECES, 8)
KINDS = {"positions": N_("with positions"), "none": N_("without positions")}
GUESS = "by_heart"

# ---- a random map ----


def universal() -> None:
    """A guess; then every sequence as a cell that fills up while the nets are trained."""
    bound = frame.cached(mc.bound)
    few, many = (frame.cached(mc.parameters, kind, by_heart.DRAWN[kind]) for kind in by_heart.KINDS)
    found = frame.cached(mc.learned)
    sequences = len(by_heart.sequences())
    numbers = dict(few=f"{few:,}", many=f"{many:,}", bound=f"{bound:.2%}", reached=f"{found.at['none'][-1]:.2%}")
    prose("theory", "universal", sequences=sequences, **numbers)
    _ask(numbers)
    if predict.answer(GUESS) is None:
        say("Guess first, then they are trained.")
        return
    columns = st.columns(2, gap="medium")
    for column, kind in zip(columns, by_heart.KINDS, strict=True):
        with column:
            count = numbers["few" if kind == "positions" else "many"]
            st.markdown(f"**{_(KINDS[kind])}** · {_('{n} parameters').format(n=count)}")
            _grid(kind, found, bound)
    prose("theory", "universal_said", sequences=sequences, **numbers)
    headings.fold("Every width", _widths)


def _ask(numbers: dict[str, str]) -> None:
    because = {
        "all": N_(
            "With positions, yes. Without them an a in abca and an a in aabc are the same, and get the same answer: «reached»."
        ),
        "most": N_(
            "Size helps with much, that is right. Not here: without positions an a in abca and in aabc get the same answer. «reached»."
        ),
        "bound": N_(
            "«reached»: without positions an a in abca and an a in aabc are the same, and get the same answer."
        ),
        "?": N_("«reached»: without positions the same symbol among the same others gets the same answer."),
    }
    options = {"all": N_("all of it"), "most": N_("some 80%"), "bound": N_("some 40%")}
    question = N_("Guess first: «few» parameters with positions learn all of it. How much do «many» without positions?")
    predict.ask(
        predict.Prediction(
            GUESS,
            question,
            options,
            "bound",
            because,
            opens=("heart_positions", "heart_none", "proof_stairs", "proof_hinges"),
        ),
        **numbers,
    )


def _grid(kind: str, found: mc.Learned, bound: float) -> None:
    side = len(by_heart.SYMBOLS) ** (by_heart.PLACES // 2)
    names = [mc.spelled(i)[-2:] for i in range(side)]
    said = (
        _("{right} of all symbols right") if kind == "positions" else _("{right} right; the most there can be: {bound}")
    )
    captions = [said.format(right=f"{right:.2%}", bound=f"{bound:.2%}") for right in found.at[kind]]
    matrix.show(
        live.Picture(
            key=f"heart_{kind}",
            wordless=True,
            quantity="right",
            says=_("How much of each sequence of four symbols is right, while the net is trained."),
            slider=STEP.slider(together=True, hidden=kind == "none"),
            captions=captions,
            released=STEP.receive,
        ),
        found.grid[kind],
        rows=[f"{name}··" for name in names],
        columns=[f"··{name}" for name in names],
        look=matrix.Look(
            from_zero=True,
            row_title=N_("begins"),
            column_title=N_("ends"),
            row_role="quiet",
            column_role="quiet",
            tall=330,
            bound=1.0,
        ),
    )


def _widths() -> None:
    found = frame.cached(mc.learned)
    rows = "\n".join(
        f"| {width} | "
        + " | ".join(
            f"{frame.cached(mc.parameters, kind, width):,} | {found.right[kind][i, -1]:.2%}" for kind in by_heart.KINDS
        )
        + " |"
        for i, width in enumerate(by_heart.WIDTHS)
    )
    head = [_("width"), _("parameters"), _("right, with positions"), _("parameters"), _("right, without")]
    st.markdown(f"| {' | '.join(head)} |\n|{'---:|' * 5}\n{rows}")


# ---- why any map ----


def proof() -> None:
    """Three cards: stairs, names for all places, and an FFN that fills in the answers."""
    if predict.answer(GUESS) is None:
        say("First the guess above: this picture tells its answer.")
        return
    prose("theory", "conditions")
    found = frame.cached(mc.imitated)
    for column, name in zip(st.columns(3, gap="medium"), ("stairs", "names", "hinges"), strict=True):
        with column.container(border=True, height="stretch"):
            if name == "names":
                _names()
            else:
                _pieces(name, found)


def _pieces(name: str, found: mc.Imitated) -> None:
    """A curve made of equal pieces. The first card's slider moves both curves."""
    at, off = mc.PIECES.index(PIECES.default), found.off[name]
    doubled = mc.PIECES.index(2 * PIECES.default)
    told = dict(few=mc.PIECES[at], off=f"{off[at]:.3f}", many=mc.PIECES[doubled], less=f"{off[doubled]:.3f}")
    prose("theory", f"card_{name}", **told)
    _curve(name, getattr(found, name), found, hidden=name == "hinges")


def _names() -> None:
    told = {kind: frame.cached(mc.told_apart, kind) for kind in by_heart.KINDS}
    places = len(by_heart.sequences()) * by_heart.PLACES
    prose("theory", "card_names", places=f"{places:,}")
    depths = [_("before the blocks"), *(_("after block {i}").format(i=i) for i in range(len(told["none"]) - 1))]
    counted = zip(depths, told["positions"], told["none"], strict=True)
    rows = "\n".join(f"| {depth} | {with_them:,} | {without:,} |" for depth, with_them, without in counted)
    st.markdown(f"| {_('different vectors')} | {_('with')} | {_('without')} |\n|---|---:|---:|\n{rows}")


def _curve(name: str, drawn: np.ndarray, found: mc.Imitated, *, hidden: bool) -> None:
    said = _("{pieces} pieces: at most {off} off")
    captions = [said.format(pieces=k, off=f"{off:.3f}") for k, off in zip(mc.PIECES, found.off[name], strict=True)]
    lines.show(
        live.Picture(
            key=f"proof_{name}",
            wordless=True,
            quantity=name,
            says=_("A curve and its imitation out of pieces."),
            slider=PIECES.slider(together=True, hidden=hidden),
            captions=captions,
            released=PIECES.receive,
        ),
        np.stack([np.broadcast_to(found.wanted, drawn.shape), drawn], 1),
        found.xs,
        [Series(_("wanted"), "quiet"), Series(_("made"), "a")],
        x=Axis("x"),
        y=Axis("f(x)", low=0, high=1),
        tall=210,
    )


# ---- the head of a tape ----

WHOLE = tp.STEPS
TAPE = controls.Dial("tape_step", N_("Steps made"), tuple(range(WHOLE + 1)), 58)
FORMATS = {name: name for name in tp.FORMATS}
ORIGINS = {str(cell): f"{cell:,}" for cell in tp.ORIGINS}


def machine() -> None:
    """A Turing machine set by hand: which token the head looks back at; the format its numbers are kept in."""
    prose("theory", "tape", whole=WHOLE)
    row = st.columns([5, 3, 4], gap="medium")
    with row[0]:
        kept = controls.choice("Numbers kept in", FORMATS, "float64", key="tape_format")
    with row[1]:
        origin = int(controls.choice("The head begins at cell", ORIGINS, "0", key="tape_from"))
    with row[2]:
        named = {sharp: _sharpness(sharp) for sharp in tp.SHARP}
        sharp = controls.listed(_("Attention"), tp.SHARP, tp.HARD, key="tape_sharp", shown=named.__getitem__)
    found = frame.cached(tp.run, tp.Demo(kept, origin, sharp))
    _look_back(found)
    _tape(found)
    ended = "tape_right" if found.wrong is None else "tape_wrong"
    prose(
        "theory",
        ended,
        steps=len(found.read),
        ones=sum(tp.tape_at(found, len(found.read)).values()),
        step=found.steps + 1,
    )
    headings.fold("How far each format comes", _horizons)
    headings.fold("What is assumed", _assumed)


def _sharpness(sharp: int) -> str:
    return (
        _("hard: the largest alone") if sharp == tp.HARD else _("softmax, scores ×{sharp}").format(sharp=f"{sharp:,}")
    )


def _cell(number: int) -> str:
    return f"{number:,}".replace("-", "−")


def _said(found: tp.Run) -> list[str]:
    """What happens in the step that comes next, at every stop."""
    captions = []
    for step in range(WHOLE + 1):
        if step >= len(found.read):
            captions.append(_("it halts after {steps} steps").format(steps=len(found.read)) if found.wrong is None
                            else _("misread in step {step}: from here on it is another machine").format(step=found.wrong + 1))  # fmt: skip
            continue
        looked = int(found.weights[step].argmax())
        source = _("no writing: empty") if looked == 0 else _("written in step {step}").format(step=looked)
        told = _("step {step} · state {state} · cell {cell} holds {read} ({source}) · writes {write}")
        line = told.format(
            step=step + 1,
            state=found.states[step],
            cell=_cell(found.cells[step]),
            read=found.read[step],
            source=source,
            write=found.written[step],
        )
        captions.append(line if step != found.wrong else f"{line} · {_('misread')}")
    return captions


def _look_back(found: tp.Run) -> None:
    """Tokens as points, step by cell; the head, and the line to the token that it reads."""
    made = len(found.read)
    at = np.minimum(np.arange(WHOLE + 1), made)  # steps made at each stop
    cells = np.array(found.cells)
    points = np.full((WHOLE + 1, made + 1, 2), np.nan)
    points[:, 0] = (-6, cells.min() - 1)
    for stop, steps in enumerate(at):
        points[stop, 1 : steps + 1] = np.stack([np.arange(1, steps + 1), cells[:steps]], 1)
    pull = np.zeros((WHOLE + 1, 1, made + 1))
    for stop, steps in enumerate(at):
        if steps < made:
            pull[stop, 0] = found.weights[steps]
    head = np.stack([at + 1, cells[at]], 1)[:, None].astype(float)
    plane.show(
        live.Picture(
            key="tape",
            wordless=True,
            quantity="weights",
            says=_(
                "Every token that a step left, by step and cell; the head's attention goes to the last one of its cell."
            ),
            slider=TAPE.slider(together=True),
            captions=_said(found),
            released=TAPE.receive,
        ),
        points,
        [_("empty"), *map(str, found.written)],
        moving=head,
        movers=[_("tape head")],
        pull=pull,
        titles=(_("step"), _("cell")),
        roles=("v", "a"),
        look=plane.Look(bounds=(-8.0, WHOLE + 6.0, cells.min() - 1.5, cells.max() + 1.0), stretched=True),
        most=1100,
        tall=330,
    )


def _tape(found: tp.Run) -> None:
    """What stands on the tape, and where the head is."""
    made, cells = len(found.read), range(min(found.cells), max(found.cells) + 1)
    shown = np.zeros((WHOLE + 1, 2, len(cells)))
    for stop in range(WHOLE + 1):
        steps = min(stop, made)
        for cell, symbol in tp.tape_at(found, steps).items():
            shown[stop, 0, cell - cells[0]] = symbol
        shown[stop, 1, found.cells[steps] - cells[0]] = 1
    matrix.show(
        live.Picture(
            key="tape_cells",
            wordless=True,
            quantity="tape",
            says=_("The tape, and below it where the head is."),
            slider=TAPE.slider(together=True, hidden=True),
        ),
        shown,
        rows=[_("tape"), _("tape head")],
        columns=[_cell(cell) for cell in cells],
        look=matrix.Look(
            from_zero=True,
            row_title="",
            column_title=N_("cell"),
            row_role="quiet",
            column_role="quiet",
            digits=0,
            flat=30,
            bound=1.0,
        ),
    )


def _horizons() -> None:
    """Steps read rightly, by format and by where the cells' numbers begin; and by sharpness."""
    found = frame.cached(tp.horizons)
    head = (
        f"| {_('format')} | " + " | ".join(_("from cell {cell}").format(cell=f"{one:,}") for one in tp.ORIGINS) + " |"
    )
    rows = "\n".join(f"| {name} | {' | '.join(str(found[name, one]) for one in tp.ORIGINS)} |" for name in tp.FORMATS)
    soft = frame.cached(tp.softened)
    rows_soft = "\n".join(f"| {_sharpness(sharp)} | {soft[sharp]} |" for sharp in tp.SHARP)
    left, right = st.columns(2, gap="medium")
    left.markdown(f"{head}\n|---|{'---:|' * len(tp.ORIGINS)}\n{rows}")
    right.markdown(f"| {_('attention, float64')} | {_('steps read rightly')} |\n|---|---:|\n{rows_soft}")
    prose("theory", "horizons", whole=WHOLE)


def _assumed() -> None:
    prose("theory", "assumed")
