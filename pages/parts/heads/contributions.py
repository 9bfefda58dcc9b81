"""What each head of one block adds to the stream: vectors of its own, and their sum."""

from __future__ import annotations

import numpy as np

from core.topics.heads import volume
from core.topics.heads.volume import Demo
from pages.parts.heads import volume as parts
from pages.shared import controls, frame, headings
from pages.shared.pictures import live, matrix
from pages.shared.text import N_, _, prose, say


def contributions(demo: Demo) -> None:
    """One addition a head and their sum, number by number."""
    found = frame.cached(volume.contributions, demo.text, demo.layer)
    heads, last = parts.shape()[1], len(demo.text) - 1
    headings.section("What each head adds")
    prose("heads", "contributions", layer=demo.layer, gap=f"{found.gap:.0e}", token=demo.text.tokens[last])
    rest = [found.whole[last]] if found.bias is None else [found.bias, found.whole[last]]
    table = np.concatenate([found.each[:, last], np.stack(rest)])
    names = [parts.name_of(demo.layer, j) for j in range(heads)] + ["b_O"] * (found.bias is not None)
    rows, width = table.shape
    part = controls.Setting("part", (rows - 1, 0), controls.within(rows, width), heard="cell")
    cell = part.now()
    matrix.show(
        live.Picture(
            key="parts",
            quantity="contribution",
            says=_("What every head of this block adds to the last token's vector, and their sum."),
            released=part.receive,
        ),
        table,
        rows=[*names, "attn_out"],
        columns=[str(i) for i in range(width)],
        look=matrix.Look(
            row_title=N_("head"), column_title="d_model", row_role="a", column_role="quiet", row_height=22
        ),
        cell=cell,
    )
    column = table[:, cell[1]]
    *summands, whole = (f"{x:+.3f}".replace("-", "−") for x in column)
    say("Number «i»: «sum» = **«whole»**", i=cell[1], sum=" ".join(summands), whole=whole)
