"""A published model at its true size: all its shapes, none of its numbers."""

from __future__ import annotations

import csv
import io

import numpy as np
import streamlit as st

from core.presets import presets
from core.topics.model import walk as steps
from pages.parts.model import wiring
from pages.parts.model.repair import shape_of
from pages.shared import controls, frame
from pages.shared.pictures import live
from pages.shared.text import N_, _, prose, say

FIRST = "qwen3-8b"
LENGTHS = (1, 14, 256, 4096, 32768)


def true_size() -> None:
    """A model that fits nowhere: all its shapes, none of its numbers."""
    names = steps.runnable()
    left, right = st.columns([4, 2], vertical_alignment="bottom")
    with left:
        id = _preset(names)
    with right:
        tokens = controls.pick("Tokens", LENGTHS, 14, key="m_tokens")
    if id not in names:
        say("The ledger can count this model, but it has parts that are not computed here. Choose another.")
        return
    try:
        with st.spinner(_("Building it without numbers …"), show_time=False):
            found = frame.cached(steps.sized, id, tokens)
    except steps.TooLong as error:
        template = N_(
            "«name» cannot read «tokens» tokens: its positions are a learned table, and that has «rows» rows. Choose fewer."
        )
        say(template, name=names[id], tokens=f"{error.tokens:,}", rows=f"{error.rows:,}")
        return
    layers = 1 + max(int(name.split(".")[0][5:]) for name, _shape in found.lines if name.startswith("block"))
    numbers = dict(name=names[id], weights=len(found.weights), lines=f"{len(found.lines):,}", layers=layers)
    numbers |= dict(
        parameters=f"{found.parameters:,}", seconds=f"{found.seconds:.2f}", gb=f"{2 * found.parameters / 1e9:.1f}"
    )
    prose("model", "size", **numbers)
    block = controls.Dial("m_block", N_("Block"), range(layers))
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{_('Weights of a block')}**")
        _sized_rows(found.weights, "weights_of", block, _("parameters"))
    with right:
        st.markdown(f"**{_('Tensors of a pass through it')}**")
        _sized_rows(found.lines, "tensors_of", block, _("numbers"), hidden=True)
    file = f"{id}.csv"
    st.download_button(_("Every shape of all blocks (.csv)"), lambda: as_csv(found), file, "text/csv", key="shapes_csv")


def _preset(names: dict[str, str]) -> str:
    """The model that the ledger is about too, even where it can only be counted: the choice is one and the same."""
    shared = controls.Setting("preset").now()
    if shared not in names:
        listed = presets()
        names = names | {shared: listed[shared].name if shared in listed else N_("the ledger's own")}
    return controls.choice("A published model", names, FIRST, key="preset")


def _sized_rows(
    listed: tuple[tuple[str, tuple[int, ...]], ...], key: str, dial: controls.Dial, title: str, hidden: bool = False
) -> None:
    """Block by block the same shapes: that is the point. Rows of the first block, the slider walks through all."""
    stops = dial.stops
    blocks = [[(n, s) for n, s in listed if n.startswith((f"blocks.{int(i)}.", f"block{int(i)}."))] for i in stops]
    short = [name.split(".", 2 if name.startswith("blocks") else 1)[-1] for name, _shape in blocks[0]]
    same = all([shape for _name, shape in block] == [shape for _name, shape in blocks[0]] for block in blocks)
    outside = [(name, shape) for name, shape in listed if not name.startswith("block")]
    rows = [wiring.Row(name, "", shape_of(shape)) for name, (_full, shape) in zip(short, blocks[0], strict=True)]
    rows += [
        wiring.Row(name, "", shape_of(shape), "" if i else _("outside the blocks"))
        for i, (name, shape) in enumerate(outside)
    ]
    sizes = [[float(np.prod(shape)) for _name, shape in [*block, *outside]] for block in blocks]
    template = _("block {i} of {n}: {numbers} numbers") + (" · " + _("the same in every block") if same else "")
    told = [template.format(i=int(i), n=len(stops), numbers=f"{sum(np.prod(s) for _n, s in block):,.0f}")
            for i, block in zip(stops, blocks, strict=True)]  # fmt: skip
    wiring.show(
        live.Picture(
            key=key,
            quantity="numel",
            says=_("The shapes of one block at its true size."),
            slider=dial.slider(together=True, hidden=hidden),
            captions=told,
            released=dial.receive,
        ),
        rows,
        [],
        values=np.array(sizes),
        ends=(1.0, 1e12),
        measured=title,
        whole=True,
    )


def as_csv(found: steps.Sized) -> str:
    """Every tensor, weights first: kind, name, shape, how many numbers."""
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(("kind", "name", "shape", "numbers"))
    for kind, listed in (("weight", found.weights), ("tensor", found.lines)):
        table.writerows((kind, name, "x".join(map(str, shape)), int(np.prod(shape))) for name, shape in listed)
    return file.getvalue()
