"""The list of pages, the language switch, what every page begins and ends with, and what is kept between runs."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import Page
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from core.lab import pulse
from core.lab.memory import kept
from pages.shared import address, controls, headings
from pages.shared.pictures import live
from pages.shared.text import LANGUAGES, _, browser_language, say

PAGES = Path(__file__).parents[1]
LESSON = "lesson"  # a page in no menu: it leads through others


@dataclass(frozen=True)
class Entry:
    """A page in the catalogue. minutes: what a first visit takes."""

    file: str
    title: str
    asks: str  # the question the page answers
    minutes: int


CATALOG = {  # section -> pages; the order is the reading order. A page is shown once its file is there.
    "Start": (
        Entry("01_home", "Home", "How does a model find the next word?", 3),
        Entry("02_why", "Why attention?", "What was wrong with reading word by word?", 8),
    ),
    "Words become numbers": (
        Entry("03_tokens", "From text to vectors", "What does a model see when it reads?", 12),
        Entry("04_projections", "Linear layers make Q, K, V", "How does a vector become a question?", 10),
        Entry("05_softmax", "Softmax lab", "How do scores become shares?", 10),
    ),
    "Attention": (
        Entry("06_attention", "Attention, step by step", "How does one word read the others?", 12),
        Entry("07_masks", "Masks and cross-attention", "Who may look at whom?", 10),
        Entry("08_heads", "Many heads, fewer keys", "Why many heads, and why share keys and values?", 12),
    ),
    "Order": (
        Entry("09_position", "Where am I? Order and position", "How does a model know what stands where?", 10),
        Entry("10_rope", "RoPE and long context", "How does turning a vector tell the distance?", 12),
    ),
    "The whole model": (
        Entry("11_norms", "Norms, residuals, training dynamics", "What keeps a deep stack alive?", 12),
        Entry("12_feedforward", "The FFN: ReLU, SwiGLU, experts", "What happens between two attentions?", 10),
        Entry("13_model", "Build the model", "What does a block consist of?", 12),
        Entry("14_ledger", "The ledger: parameters, FLOPs, memory", "What does a model cost?", 12),
    ),
    "Running and thinking": (
        Entry("15_inference", "Running it: the cache", "What does a model compute for one new word?", 12),
        Entry("16_efficient", "Running it cheaper", "Which words must a word read?", 12),
        Entry("17_theory", "Theory and scaling", "What can such a machine learn?", 12),
        Entry("18_exam", "Exam room", "Can you answer it yourself?", 15),
    ),
}


def entries() -> list[Entry]:
    """The pages that are built, in reading order."""
    return [entry for section in CATALOG.values() for entry in section if (PAGES / f"{entry.file}.py").is_file()]


def path_of(entry: Entry) -> str:
    """As st.page_link wants it."""
    return f"pages/{entry.file}.py"


def pages() -> dict[str, list[Page]]:
    """For st.navigation: section -> pages, without sections that are still empty; where the address names no page, one
    more, in no menu, that says so."""
    built = entries()
    lost = _lost({entry.file[3:] for entry in built} | {LESSON})
    hidden = [st.Page(PAGES / f"{LESSON}.py", title=_("Lessons"), visibility="hidden"), *([lost] if lost else [])]
    found = {
        _(section): [
            st.Page(PAGES / f"{entry.file}.py", title=_(entry.title), default=entry.file == "01_home")
            for entry in listed
            if entry in built
        ]
        for section, listed in CATALOG.items()
        if set(listed) & set(built)
    }
    return found | {"": hidden}


def _lost(known: set[str]) -> Page | None:
    """Without it Streamlit would put a dialog in English over Home."""
    run = get_script_run_ctx()
    if run is None:
        return None
    name = run.pages_manager.intended_page_name
    if name and name not in known:
        st.session_state["_lost"] = name
    name = st.session_state.get("_lost")
    return st.Page(nowhere, title=_("No such page"), url_path=name, visibility="hidden") if name else None


def nowhere() -> None:
    """An address that names no page: the rooms there are."""
    st.title(_("No such page"), anchor=False)
    say("There is no page “«name»” here. These are the rooms:", name=st.session_state["_lost"][:80])
    for entry in entries():
        st.page_link(path_of(entry), label=f"**{_(entry.title)}** · {_(entry.asks)}")


def language_switch() -> None:
    with st.sidebar:
        controls.pick("Language / 语言", tuple(LANGUAGES), browser_language(), key="lang", shown=LANGUAGES.__getitem__)


def topic(page: Page) -> str:
    """The one word of a page, which its files, its texts and its tests go by."""
    return page.url_path or "home"


@contextmanager
def around(page: Page) -> Iterator[None]:
    """app.py lets the page know that it is framed."""
    st.set_page_config(f"{page.title} · {_('Transformer, every number')}")
    if address.arrive(topic(page)):
        live.forget()
        st.session_state["_arrived"] = True  # until a run comes to its end
    st.session_state.pop("_asked", None)
    st.session_state["_framed"] = True
    headings.begin()
    yield
    st.session_state.pop("_framed", None)
    headings.seek(st.session_state.pop("_arrived", False))


def begin(title: bool = True) -> None:
    """Every page starts here, and sees to it that app.py ran first.

    A folder called pages/ makes Streamlit run a page without app.py when the first request after a start is a link
    straight to it. st.navigation turns that habit off for the whole server; the rerun then goes through app.py. Run
    as its own main script, a page asks once and goes on bare.
    """
    if not st.session_state.pop("_framed", False) and not st.session_state.get("_asked"):
        st.session_state["_asked"] = True
        st.navigation(pages())
        st.rerun()
    if wanted := st.session_state.pop("_wanted", None):
        st.switch_page(f"pages/{wanted}.py")
    tidy()


def leave_for(file: str) -> None:
    """For callbacks, which cannot leave a page themselves: the run that follows opens another one."""
    if file in {entry.file for entry in entries()}:
        st.session_state["_wanted"] = file


def topic_of(file: str) -> str:
    """ "06_attention" -> "attention"."""
    return file[3:]


def place(file: str) -> tuple[int, int, Entry]:
    """Where a page stands on the path: its number, of how many rooms, and the page. Home is no room."""
    order = entries()
    at = [entry.file for entry in order].index(file)
    return at, len(order) - 1, order[at]


def neighbours(file: str) -> tuple[Entry | None, Entry | None]:
    """The pages before and after it."""
    order, (at, of, _entry) = entries(), place(file)
    return (order[at - 1] if at else None), (order[at + 1] if at < of else None)


cached = kept  # a result of core, kept for all sessions
BREATH = 8  # steps of a long computation between two words with Streamlit


@contextmanager
def patient(place: DeltaGenerator) -> Iterator[None]:
    """Around a computation of many steps (core.lab.pulse): a run whose visitor has left, or has moved on, ends there.

    Streamlit ends a run only when it hears of it; place: an `st.empty()` that it hears of and that shows nothing.
    """

    def beat(done: int) -> None:
        if done % BREATH == 0:
            place.empty()

    with pulse.heard(beat):
        yield


_last = [time.monotonic()]
_imported = [0]
MANY = 100  # modules


def tidy(every: float = 60.0) -> None:
    """Collect garbage now and then: Streamlit's own collection after every run is off, for it costs 100 ms.

    What has been imported stays for good. Python's collector is told so, or each time that it looks at everything all
    visitors wait as long.
    """
    if len(sys.modules) - _imported[0] > MANY:
        _imported[0] = len(sys.modules)
        gc.freeze()
    if time.monotonic() - _last[0] > every:
        _last[0] = time.monotonic()
        gc.collect(1)
