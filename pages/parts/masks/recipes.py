"""Below the live mask: training without one, the mask as code, a batch with padding, the check and the mistakes."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core import attention as at
from core.lab import head as oh
from core.lab import subject
from core.lab import text as sentence
from core.nets import cheat
from core.topics.masks import gradients, padding
from core.topics.masks import in_numpy as mc
from core.topics.masks import patterns as mk
from pages.shared import controls, frame, headings, spine
from pages.shared.asks import check as checks
from pages.shared.asks import mistakes
from pages.shared.pictures import lines, live, matrix, tiles
from pages.shared.text import N_, _, filled, prose, say

# ---- trained without a mask ----


def cheating() -> None:
    """Two tiny models with one difference: whether they could look ahead while they were trained."""
    history, exam = cheat.history(), frame.cached(cheat.measured)
    steps = np.arange(1, history.shape[1] + 1)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines.show(
            live.Picture(
                key="cheat",
                wordless=True,
                quantity="loss",
                says=_("The loss of two tiny models while they are trained."),
            ),
            np.stack([*history, np.full(len(steps), cheat.ENTROPY)]),
            steps,
            [
                lines.Series(_("trained with the mask"), "a"),
                lines.Series(_("trained without"), "warn"),
                lines.Series(_("the language's own entropy"), "quiet", dash=True),
            ],
            x=lines.Axis(_("training step")),
            y=lines.Axis(_("loss, nats a word"), log=True),
            tall=260 if spine.deep() else 120,
        )
    with right:
        prose("masks", "cheat", entropy=f"{cheat.ENTROPY:.2f}", loss=f"{exam[1, 1]:.4f}")
        if not spine.deep():
            return
        prose("masks", "unmasked", same=f"{exam[0, 1]:.4f}")
        _exam(exam)
    for kind, name in zip(cheat.KINDS, (N_("Trained with the mask"), N_("Trained without")), strict=True):
        wrote = frame.cached(cheat.write, kind)
        template = N_("**«name»**, it writes: “«words»” «right» of «all» sentences follow the grammar.")
        text = " ".join(wrote.words)
        say(template, name=_(name), words=text, right=wrote.right, all=wrote.sentences)


def _exam(exam: np.ndarray) -> None:
    """The two models on new texts, with the mask and without it."""
    head = f"| {_('loss on new texts')} | {_('read with the mask')} | {_('read without')} |\n|---|---|---|\n"
    rows = [
        f"| {_(name)} | {exam[i, 0]:.4f} | {exam[i, 1]:.4f} |"
        for i, name in enumerate((N_("Trained with the mask"), N_("Trained without")))
    ]
    st.markdown(head + "\n".join(rows))


# ---- the mask as code ----

SAYS = {"hide": N_("True hides"), "keep": N_("True keeps")}
FILLS = {"inf": N_("−∞"), "1e9": N_("−1e9"), "core": N_("−∞, empty row → 0")}
PRECISIONS = {"float32": N_("float32"), "float16": N_("float16")}
DIAGONAL = controls.Dial(
    "mask_k", N_("Diagonal k"), mc.DIAGONALS, mc.Recipe().diagonal, shown=tuple(f"k = {k}" for k in mc.DIAGONALS)
)
SLIPS = {  # what a programmer meant to write, and four slips
    "right": (N_("As it should be"), mc.Recipe()),
    "late": (N_("Off by one: k=2"), mc.Recipe(2)),
    "early": (N_("Off by one: k=0"), mc.Recipe(0)),
    "billion": (N_("k=0 with −1e9"), mc.Recipe(0, fill="1e9")),
    "half": (N_("the same in float16"), mc.Recipe(0, fill="1e9", precision="float16")),
    "sense": (N_("True the wrong way"), mc.Recipe(1, "keep", "1e9")),
    "safe": (N_("k=0, our way out"), mc.Recipe(0, fill="core")),
}


def recipes(demo: mk.Demo) -> None:
    """A few lines of NumPy, and what each slip in them does to the map and to the next word."""
    prose("masks", "code")
    with st.container(horizontal=True):
        for name, (label, recipe) in SLIPS.items():
            st.button(_(label), key=f"slip_{name}", on_click=_write, args=(recipe,))
    one, two, three, _rest = st.columns([2, 3.2, 2, 1], vertical_alignment="bottom")
    with one:
        says = controls.choice("In the mask", SAYS, "hide", key="mask_true")
    with two:
        fill = controls.choice("A hidden score becomes", FILLS, "inf", key="mask_fill")
    with three:
        precision = controls.choice("Precision", PRECISIONS, "float32", key="mask_float")
    diagonal = int(DIAGONAL.now())
    recipe = mc.Recipe(diagonal, says, fill, precision)
    scaled = frame.cached(oh.head_of, oh.Demo(demo.text, demo.layer, demo.head)).scaled
    cooked = mc.cook(scaled, recipe)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _map(demo, scaled, recipe)
    with right:
        st.code(mc.code_of(recipe), language=None, wrap_lines=True)
        _pattern(cooked, diagonal)
        _verdict(demo, recipe, cooked)


def _write(recipe: mc.Recipe) -> None:
    """A slip in one click."""
    for word, value in (("true", recipe.says), ("fill", recipe.fill), ("float", recipe.precision)):
        controls.Setting(f"mask_{word}").keep(value)
    DIAGONAL.keep(recipe.diagonal)


def _map(demo: mk.Demo, scaled: np.ndarray, recipe: mc.Recipe) -> None:
    """The head's weights after the recipe, at every diagonal."""
    values, shut = mc.sweep(scaled, recipe)
    tokens = sentence.names(demo.text.tokens)
    matrix.show(
        live.Picture(
            key="cooked",
            quantity="weights",
            says=_("The head's weights as these lines compute them. Hatched: hidden. Empty: not a number."),
            slider=DIAGONAL.slider(),
            released=DIAGONAL.receive,
        ),
        values,
        rows=tokens,
        columns=tokens,
        look=matrix.Look(from_zero=True, tall=330),
        shut=shut,
    )


def _pattern(cooked: mc.Cooked, diagonal: int) -> None:
    """What np.triu prints, and the same mask as numbers that are added to the scores."""
    left, right = st.columns([1, 2], gap="small")
    with left:
        st.caption(filled(_("mask, k = «k»"), k=diagonal))
        st.code(mc.printed(cooked.built), language=None)
    with right:
        st.caption(_("as numbers to be added"))
        st.code(_added(cooked.added), language=None)


def _added(added: np.ndarray, most: int = 5) -> str:
    width = max(len(_written(x)) for x in added[:most, :most].flat)
    return "\n".join("[" + " ".join(_written(x).rjust(width) for x in row[:most]) + "]" for row in added[:most])


def _written(x: float) -> str:
    """One number of an additive mask."""
    return "0" if x == 0 else "−∞" if np.isneginf(x) else "−1e9"


def _verdict(demo: mk.Demo, recipe: mc.Recipe, cooked: mc.Cooked) -> None:
    """Sentence by sentence: what these lines did."""
    found = frame.cached(mc.outcome, demo.text, recipe)
    said = []
    if recipe.fill == "1e9" and np.isneginf(cooked.fill):
        said.append(
            filled(_("float16 ends at «most», so −1e9 has become −∞."), most=f"{np.finfo(np.float16).max:,.0f}")
        )
    if cooked.empty:
        said.append(filled(_("Rows without a single open cell: «empty»."), empty=cooked.empty))
    if cooked.empty and not cooked.broken:
        said.append(
            _("They become zeros: the query takes home nothing.")
            if recipe.fill == "core"
            else _("All their scores are −1e9 alike, so they share evenly over all columns, hidden though they are.")
        )
    if cooked.ahead > 1e-6:
        share = f"{cooked.ahead:.0%}"
        said.append(filled(_("● On average a row gives «share» of its weight to the future."), share=share))
    if cooked.broken:
        rows = " → ".join(map(str, found.broken))
        template = N_(
            "● Softmax of nothing is 0/0: NaN. Rows that are NaN in the whole model, block after block: «rows»."
        )
        said.append(filled(_(template), rows=rows))
    st.markdown(" ".join(said) if said else _("○ Every query sees itself and what stands before it, nothing else."))
    if found.word is None:
        say("The model in which every head does this says: **nothing**, all its scores are NaN.")
    else:
        template = N_("The model in which every head does this says “«word»”; p(«answer») = «p», untouched «then».")
        names = dict(word=found.word.token, answer=found.answer.token)
        say(template, p=f"{found.p:.3f}", then=f"{found.answer.p:.3f}", **names)


# ---- a batch with padding ----

OTHERS = ("Anna is a girl. Tom is a", "Tom was very thirsty. He wanted to")
BATCHED = 24  # tokens of a long text: beyond, a tile shows nothing
SIDES = {"left": N_("padding on the left"), "right": N_("padding on the right")}


def batch(demo: mk.Demo) -> None:
    """Three sentences of different lengths in one tensor."""
    left, right = st.columns([3, 2], gap="medium")
    with right:
        side = controls.choice("Side", SIDES, "left", key="pad_side", hide_label=True)
        hidden = controls.switch("Padding mask", True, key="pad_mask")
        mine = sentence.Text(demo.text.subject, demo.text.ids[:BATCHED], demo.text.tokens[:BATCHED])
        texts = (mine, *(sentence.of(sentence.read(text)) for text in OTHERS))
        found = frame.cached(padding.padded, padding.Batch(texts, demo.layer, demo.head, side, hidden))
        prose("masks", "batch")
        if len(demo.text) > BATCHED:
            say("Of a long text, the first «most» tokens are in the batch.", most=BATCHED)
    with left:
        names = [" ".join(demo.text.tokens[1:4]) + " …", *(" ".join(text.split()[:3]) + " …" for text in OTHERS)]
        tiles.show(
            live.Picture(
                key="ragged",
                quantity="weights",
                says=_(
                    "One head on each sentence of the batch. Columns of padding stay blank only if nobody looks there."
                ),
            ),
            found.weights,
            columns=3,
            names=names,
            most=210,
        )
    _ledger(names, found)


def _ledger(names: list[str], found: padding.Padded) -> None:
    titles = (_("sentence"), _("pads"), _("weight on padding"), _("alone → in the batch"), _("now it says"))
    head = "| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|\n"
    template = "| «name» | «pads» | **«leaked»** | p(«word»): «alone» → «p» | «now» |"  # no words of ours: nothing to translate
    rows = [
        filled(
            template,
            name=name,
            pads=int(found.pads[i].sum()),
            leaked=f"{found.leaked[i]:.1%}",
            word=found.answers[i].token,
            alone=f"{found.alone[i]:.3f}",
            p=f"{found.p[i]:.3f}",
            now=found.now[i].token,
        )
        for i, name in enumerate(names)
    ]
    st.markdown(head + "\n".join(rows))


# ---- check yourself, mistakes ----


def check(demo: mk.Demo) -> None:
    """How far a window reaches through a stack of blocks, asked about the visitor's own window and text."""
    n, layers = len(demo.text), subject.model().config.n_layers
    size = demo.size if demo.kind == "window" and demo.size < n else 2
    question = N_(
        "With a sliding window of «size» tokens, itself included, in each of «layers» blocks: how many of your «n» tokens can "
        "the last output depend on?"
    )
    how = N_("1 + «layers» × («size» − 1) = «far», and there are «n» tokens: «answer».")
    far = gradients.reach(size, layers)
    checks.number(
        question,
        min(n, far),
        key="mask_check",
        hint=N_(
            "One block lets a token see itself and its window before it. Every further block adds the same number of tokens before that."
        ),
        how=how,
        size=size,
        layers=layers,
        n=n,
        far=far,
    )


def common_mistakes(demo: mk.Demo) -> None:
    scaled = frame.cached(oh.head_of, oh.Demo(demo.text, demo.layer, demo.head)).scaled
    wrong = mc.cook(scaled, mc.Recipe(1, "keep", "1e9"))
    values = dict(
        row=" ".join("T" if x else "F" for x in mc.cook(np.zeros((5, 5)), mc.Recipe()).built[0]),
        third=" ".join("T" if x else "F" for x in mc.cook(np.zeros((5, 5)), mc.Recipe()).built[2]),
        ahead=f"{wrong.ahead:.0%}",
        last=f"{wrong.weights[-1, 0]:.3f}",
        n=len(demo.text),
        half=_written(mc.cook(np.zeros((2, 2)), mc.Recipe(fill="1e9", precision="float16")).fill),
        above=f"{frame.cached(mk.above, demo.text, demo.layer, demo.head):.0%}",
    )
    mistakes.show("masks", ["printed", "sense", "billion", "before", "map", "generating"], **values)


def words() -> None:
    headings.fold("The words of this page", lambda: prose("masks", "words"))


MASKED = at.MASKED
