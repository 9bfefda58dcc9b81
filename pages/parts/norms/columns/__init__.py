"""The stream as columns, from the embedding to the last block, with what each part wrote on top, and what the head
would say at every place."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np

from pages.shared.pictures import live, palette
from pages.shared.text import N_, _

HERE = Path(__file__).parent
COLUMNS = live.painter(HERE / "columns.js")


class Meta(TypedDict):
    """What the script is told beside what every picture says; the same stands at its head."""

    names: list[str]
    short: list[str]
    kinds: list[str]
    said: list[str]
    answer: str
    station: int
    times: list[str]
    colours: palette.Colours
    words: dict[str, str]
    tools: bool


def show(
    picture: live.Picture,
    sizes: np.ndarray,
    writes: np.ndarray,
    lens: np.ndarray,
    sure: np.ndarray,
    *,
    names: list[str],
    short: list[str],
    said: list[str],
    answer: str,
    station: int,
) -> None:
    """sizes, writes, sure: (frame, place); lens: (frame, place), an index of `said`. names, short: of the places.
    station: the place that the slider multiplies. A click on a column releases "station"."""
    meta: Meta = {
        "names": names,
        "short": short,
        "kinds": ["embed", *("attn", "ffn") * (len(names) // 2)],
        "said": said,
        "answer": answer,
        "station": station,
        "times": list(picture.slider.shown) if picture.slider else [],
        "colours": palette.roles(embed="quiet", attn="attn", ffn="ffn", quiet="quiet", cut="warn", answer="a"),
        "words": {
            "was": _(N_("the stream before")),
            "attn": _(N_("attention wrote")),
            "ffn": _(N_("the FFN wrote")),
            "tells": _(N_("{name}: size {size}, written here {write}; the output head would say “{word}” {sure}")),
            "lens": _(N_("what the output head would say here")),
            "keys": _(N_("Arrow keys move along the stream, Enter multiplies it there.")),
        },
        "tools": True,
    }
    arrays = {
        "sizes": sizes.astype(np.float32),
        "writes": writes.astype(np.float32),
        "lens": lens.astype(np.int32),
        "sure": sure.astype(np.float32),
    }
    picture.mount(COLUMNS, meta, arrays, state={"station": station // 2})
