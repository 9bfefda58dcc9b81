"""Below the map: the path through the rooms, three experiments to begin with, and what is shipped."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from core import config, counting
from core.lab import text as sentence
from pages.shared import address, frame, headings
from pages.shared.text import N_, _, lang, say, unmarked

PICTURES = Path(__file__).parents[3] / "assets" / "experiments"


@dataclass(frozen=True)
class Experiment:
    """A door straight to something that surprises. words: the address's, beside the page; done: the same once it is
    done, which its picture shows (`make pictures`)."""

    file: str
    title: str
    tells: str
    words: dict[str, str]
    done: dict[str, str]


EXPERIMENTS = (
    Experiment(
        "02_why",
        N_("Shorten its sight"),
        N_("One token less in reach, and the name is gone."),
        {"reach": "10", "words": sentence.SENTENCE},
        {"reach": "10"},
    ),
    Experiment(
        "09_position",
        N_("Shuffle the words"),
        N_("Without positions and mask, every output goes along with its word."),
        {},
        {"shuffle": "40"},
    ),
    Experiment(
        "10_rope", N_("Turn the clocks"), N_("Both words move, and their score stays."), {}, {"rope_shift": "24"}
    ),
)


def rooms() -> None:
    """The path: sections in their order, every room with its question, its minutes, and a mark once its end was seen."""
    headings.section("The path")
    say(
        "«n» rooms, about «hours» hours in all, one after the other or as you like. A room whose end you have seen gets a "
        "✓. Only this browser remembers it.",
        n=len(frame.entries()) - 1,
        hours=round(sum(entry.minutes for entry in frame.entries()) / 60),
    )
    built = frame.entries()
    with st.container(key="goon"):
        for entry in built[1:]:
            with st.container(key=f"goon_{frame.topic_of(entry.file)}"):
                label = unmarked(_("Go on where you were: «room»"), room=_(entry.title))
                st.page_link(frame.path_of(entry), label=f"**{label}** →")
    with st.container(key="path"):
        number = 0
        for section, listed in frame.CATALOG.items():
            here = [entry for entry in listed if entry in built and entry.file != "01_home"]
            if here:
                st.markdown(f"**{_(section)}**")
                with st.container(gap=None):
                    for entry in here:
                        number += 1
                        _room(number, entry)


def _room(number: int, entry: frame.Entry) -> None:
    left, right = st.columns([2, 3], vertical_alignment="center", gap="small")
    left.page_link(frame.path_of(entry), label=f"{number} · {_(entry.title)}")
    with right:
        say("«asks» · about «minutes» minutes", asks=_(entry.asks), minutes=entry.minutes)


def experiments() -> None:
    """Three doors."""
    headings.section("Three experiments to begin with")
    for column, one in zip(st.columns(3), EXPERIMENTS, strict=True):
        entry = next(e for e in frame.entries() if e.file == one.file)
        with column.container(border=True, height="stretch"):
            file = picture(one, lang(), st.context.theme.type == "dark")
            st.image(_sent(file), width="stretch", alt=_(one.tells))
            st.page_link(frame.path_of(entry), label=f"**{_(one.title)}** →", query_params=one.words | {"lang": lang()})
            st.markdown(_(one.tells))


def picture(one: Experiment, language: str, dark: bool) -> Path:
    """What it shows once it is done."""
    return PICTURES / f"{frame.topic_of(one.file)}-{language}-{'dark' if dark else 'light'}.webp"


@cache
def _sent(file: Path) -> str:
    """As it is: Streamlit makes a JPEG of any picture that it is handed, larger and anew at every visit."""
    return f"data:image/webp;base64,{base64.b64encode(file.read_bytes()).decode()}"


def other_language() -> None:
    other = "zh" if lang() == "en" else "en"
    st.button(
        {"zh": "中文", "en": "English"}[other], on_click=address.write, args=("lang", other), key="other_language"
    )


def facts() -> dict[str, object]:
    """The embedded model in numbers, from its own config."""
    read = config.ModelConfig.from_hf(json.loads((sentence.FOLDER / "config.json").read_text("utf8")))
    return {"parameters": f"{counting.total(read):,}", "layers": read.n_layers, "heads": read.n_heads}
