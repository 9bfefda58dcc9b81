"""Live pictures: numbers computed in core, shipped once, drawn in the browser while a finger moves.

All pictures are one Streamlit component: live.js, and behind it the painter that a picture's data names. Its data is
one block of bytes, so that no table library stands between core's arrays and the browser's typed arrays.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from pages.shared import address
from pages.shared.pictures.live.block import pack as pack
from pages.shared.pictures.live.block import unpack as unpack
from pages.shared.text import N_, _

HERE = Path(__file__).parent
PAGES = HERE.parents[2]
Renderer = Callable[..., Any]


class Dial(TypedDict):
    """A slider as the browser is told of it; the same stands in base.js."""

    name: str
    label: str
    stops: list[float]
    shown: list[str]
    stream: bool
    together: bool
    hidden: bool
    play: list[str] | None
    seq: int
    at: int


class Common(TypedDict):
    """What every picture says, beside what its painter says; the same stands in base.js."""

    painter: str
    quantity: str
    label: str
    signature: bool
    wordless: bool
    tools: bool
    save: str
    key: str
    page: str
    id: str
    state: dict[str, Any]
    heard: dict[str, Any]  # what was let go before Python chose this state
    slider: NotRequired[Dial]
    captions: NotRequired[list[str]]


@dataclass(frozen=True)
class Slider:
    """A range input with one stop a frame. `name` is its word in the URL, `shown` what is written at each stop.

    stream: every move is sent to Python while it is dragged (one request in flight, the last value always sent).
    together: all pictures of the page whose slider has this name, as many stops and this mark move with it, live.
    hidden: no slider is drawn; the picture is moved by others that it moves together with.
    play: it can run by itself, one stop after the other, and be stepped.
    quiet: all that it moves follows in the browser, and where it rests is said by what `rest` draws, and by nothing
    else: of a release the server draws that alone.
    """

    name: str
    label: str
    stops: tuple[float, ...]
    value: float
    shown: tuple[str, ...]
    stream: bool = False
    together: bool = False
    hidden: bool = False
    play: bool = False
    quiet: bool = False

    @property
    def at(self) -> int:
        """The stop nearest to the value."""
        return int(np.argmin([abs(stop - self.value) for stop in self.stops]))


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What every picture is told, whoever paints it; a painter's `show` takes one, and the numbers that it draws.

    key: its name on the page; another sentence under the same key keeps canvas and slider. quantity: what core calls
    the numbers, and the saved file. says: one sentence for those who cannot see it. captions: what is written under
    the picture, one line a frame. signature: this is what the page is remembered by. wordless: it reads no sentence, so
    in front of a class none stands above it. released(name, value): called before the next run for everything the
    visitor lets go of. redraws: which parts of the page (`part`) follow what is let go of, in this order; else what
    holds the picture does. room: its height on a wide screen, in pixels, kept free until it is drawn; what stands below
    does not move then.
    """

    key: str
    quantity: str
    says: str
    slider: Slider | None = None
    captions: list[str] | None = None
    signature: bool = False
    wordless: bool = False
    released: Callable[[str, Any], None] | None = None
    redraws: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    room: int = 0

    def mount(
        self,
        painter: Painter,
        meta: Mapping[str, object],
        arrays: dict[str, np.ndarray],
        *,
        state: dict[str, Any] | None = None,
        triggers: tuple[str, ...] = (),
    ) -> None:
        """Put it on the page as this painter draws it. meta: the painter's own words, beside those of every picture."""
        if (state or triggers) and self.released is None:
            raise ValueError(f"nobody hears what is chosen in {self.key!r}")
        how: dict[str, Any] = {"slider": self.slider, "captions": self.captions, "released": self.released}
        how |= {"redraws": self.redraws, "state": state, "triggers": triggers}
        kept = st.container(key=f"room{-(-self.room // 20) * 20}_{self.key}") if self.room else nullcontext()
        with kept:
            mount(painter, self.key, self._words(painter, meta), arrays, **how)

    def told(self, painter: Painter, meta: Mapping[str, object]) -> dict[str, Any]:
        """All that a picture is told which no page ever mounts."""
        told = self._words(painter, meta) | {
            "save": _("Save the picture"),
            "key": self.key,
            "page": "",
            "id": self.key,
            "heard": {},
        }
        if self.captions:
            told["captions"] = self.captions
        if self.slider:
            told["slider"] = _dial(self.slider, self.key) | {"at": self.slider.at}
        return told

    def _words(self, painter: Painter, meta: Mapping[str, object]) -> dict[str, Any]:
        told = {"painter": painter.script, "quantity": self.quantity, "label": self.says}
        return told | {"signature": self.signature, "wordless": self.wordless, **meta}


@dataclass(frozen=True)
class Painter:
    """A kind of picture. script: the module that draws it, as its address ends: from the folder of the pages."""

    script: str

    def __call__(self, **how: Any) -> Any:
        """Mount the one component behind all pictures; its scripts go over HTTP, once, and not with every picture."""
        return _component(get_bidi_component_manager())(**how)


def painter(script: Path) -> Painter:
    """The kind of picture that this script draws."""
    return Painter(script.relative_to(PAGES).as_posix())


@lru_cache(1)
def _component(manager: BidiComponentManager) -> Renderer:
    """Streamlit serves a component's files where the manifest of a package names their folder: here is ours. Once for
    each server; AppTest starts one for each app."""
    folder = ComponentConfig(name="live", asset_dir=PAGES.name)
    manager.register_from_manifest(ComponentManifest(name="explainer", version="1", components=[folder]), PAGES.parent)
    script = (HERE / "live.js").relative_to(PAGES).as_posix()
    return st.components.v2.component("explainer.live", js=script)


DIAL = painter(HERE / "dial.js")
PLAYER = (N_("One step back"), N_("Run"), N_("Pause"), N_("One step on"), N_("Speed"))


def mount(
    renderer: Renderer,
    key: str,
    meta: dict[str, Any],
    arrays: dict[str, np.ndarray],
    *,
    slider: Slider | None = None,
    state: dict[str, Any] | None = None,
    triggers: tuple[str, ...] = (),
    captions: list[str] | None = None,
    released: Callable[[str, Any], None] | None = None,
    redraws: Mapping[str, tuple[str, ...]],
) -> None:
    """Put a picture on the page.

    state: what the picture starts with beside its slider ({"cell": [13, 3]}). triggers: what it may ask for once,
    without keeping it ("open"). captions, released, redraws: as of `Picture`; released values come from a browser, so
    the receiver checks them.
    """
    now = dict(state or {})
    if captions:
        meta = meta | {"captions": captions}
    if slider:
        now[slider.name] = slider.stops[slider.at]
        meta = meta | {"slider": _dial(slider, key)}
    digest = _digest(meta, arrays)
    shipped, times = _held(key, digest, now)
    if slider:
        meta["slider"]["at"] = slider.stops.index(shipped[slider.name])
    told = f"{digest}{json.dumps(shipped)}{times}"
    meta = meta | {"save": _("Save the picture"), "heard": _answers(key)["heard"]}
    meta["state"] = {n: v for n, v in shipped.items() if not slider or n != slider.name}
    meta |= {"key": key, "page": address.here(), "id": hashlib.blake2b(told.encode(), digest_size=12).hexdigest()}
    quiet = slider.name if slider and slider.quiet and not slider.hidden else ""
    callbacks = {
        f"on_{name}_change": partial(_let_go, key, name, released, name == quiet, redraws.get(name, ()))
        for name in (*now, *triggers)
    }
    renderer(key=key, data=pack(meta, arrays), **callbacks)
    _note(slider)
    if quiet:
        rest(quiet, lambda: None)  # so that there is one


def _digest(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.blake2b(digest_size=12)
    digest.update(json.dumps(meta, sort_keys=True).encode())
    for array in arrays.values():
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _dial(slider: Slider, key: str) -> Dial:
    seen = _answers(key).get("seq", 0) if slider.stream else 0
    return {
        "name": slider.name,
        "label": slider.label,
        "stops": list(slider.stops),
        "shown": list(slider.shown),
        "stream": slider.stream,
        "together": slider.together,
        "hidden": slider.hidden,
        "play": [_(name) for name in PLAYER] if slider.play else None,
        "seq": seen,
        "at": 0,
    }


def _answers(key: str) -> dict[str, Any]:
    memories: dict[str, dict[str, Any]] = st.session_state.setdefault("_live", {})
    return memories.setdefault(key, {})


def forget() -> None:
    """What the pictures were last told is history: Python's word counts, even where it is the word they began with."""
    for memory in st.session_state.get("_live", {}).values():
        times = memory.get("times", 0)
        memory.clear()
        memory["times"] = times + 1


def _held(key: str, digest: str, now: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The state to ship, and how often Python has had its way so far.

    While the browser itself made every change, the state stays as first shipped: the bytes are then the same as
    before, and Streamlit does not send them again.
    """
    memory = _answers(key)
    ours = now in (memory.get("now"), memory.pop("let_go", None))
    if memory.get("digest") != digest or not ours:
        memory["shipped"], memory["heard"] = now, memory.pop("hears", {})
        memory["times"] = memory.get("times", -1) + 1
    memory.update(digest=digest, now=now)
    return memory["shipped"], memory["times"]


def _let_go(
    key: str, name: str, released: Callable[[str, Any], None] | None, quiet: bool, parts: tuple[str, ...]
) -> None:
    if key not in st.session_state:
        return  # its page was left before it was whole: what it said is gone with it
    value = st.session_state[key].get(name)
    memory = _answers(key)
    rest = True
    if isinstance(value, list) and len(value) == 3 and isinstance(value[2], bool):  # from a streaming slider
        seq, value, rest = value
        memory["seq"] = seq if isinstance(seq, int) else 0
    memory.update(moving=None, let_go=(memory.get("now") or {}) | {name: value})
    memory.setdefault("hears", {})[name] = value
    alone = address.apart() and st.session_state.get("_drawn") == address.changes() and not _overtook()
    alone = alone and address.passing("print") is None  # the code on the paper says all of the address
    if released and rest:
        released(name, value)
    if quiet and address.apart():
        _undrawn(key, name)
        _only((_rest_of(name),), alone)
    address.change()
    if not rest:
        memory["moving"] = (value, address.changes())
    if parts and rest and not quiet and address.apart():
        _only(parts, alone)


# ---- what a release has drawn again ----


def part(name: str, draw: Callable[[], object]) -> None:
    """A part of the page: it is drawn with it, by itself for what is changed in it, and for what names it."""
    st.fragment(draw, key=name)()


def rest(word: str, draw: Callable[[], object]) -> None:
    """What says where a quiet slider rests: drawn with the page, and by itself when the slider is let go of. What is
    changed in it concerns the whole page."""
    runs = count()

    def resting() -> None:
        by_itself = next(runs) > 0
        if by_itself and st.session_state.get("_rests") != address.changes():
            st.rerun()  # something else was changed: here, or at the same time
        draw()

    part(_rest_of(word), resting)


def _rest_of(word: str) -> str:
    return f"rest_{word}"


_at_work = threading.local()


def _worker() -> object:
    """The thread that runs this script. A visitor's next run has another one, unless it was asked for during this one."""
    if not hasattr(_at_work, "mark"):
        _at_work.mark = object()
    return _at_work.mark


def _note(slider: Slider | None) -> None:
    """What a picture that is drawn now is as new as, and who drew the last one with a slider."""
    st.session_state["_drawn"] = address.changes()
    if slider:
        st.session_state["_drawn_by"] = _worker()


def _overtook() -> bool:
    """Was the hand faster than the page? What was being drawn when it let go stands where it was told to, and has not
    followed."""
    return st.session_state.get("_drawn_by") is _worker()


def _only(parts: tuple[str, ...], alone: bool) -> None:
    """Have these drawn, and no more. alone: nothing else has changed since something was drawn; else the whole page is,
    for Streamlit hears of several things at once where it was busy."""
    if not alone:
        st.rerun()
    st.session_state["_rests"] = st.session_state["_drawn"] = address.changes()
    st.rerun(parts)


def _undrawn(key: str, word: str) -> None:
    """The pictures of a quiet slider stand elsewhere than they were told to, and are not told again: the one under the
    hand where it was let go, those that follow where they will be told when they are drawn."""
    memory = _answers(key)
    memory["now"] = memory.pop("let_go")
    for other in st.session_state["_live"].values():
        if other is not memory and word in (other.get("now") or {}):
            other["now"] = None


def dial(slider: Slider, *, key: str, released: Callable[[str, Any], None], redraws: tuple[str, ...] = ()) -> None:
    """A slider without a picture, for controls that need core: it streams, and what follows is drawn as it moves.
    redraws: the parts that follow once it rests; until then, what holds it does."""
    meta = {"painter": DIAL.script, "quantity": slider.name, "label": slider.label, "signature": False}
    meta |= {"wordless": False, "tools": False}
    streams = replace(slider, stream=True)
    mount(DIAL, key, meta, {}, slider=streams, released=released, redraws={slider.name: redraws})


def moving(key: str) -> Any:
    """The value of a streaming slider while it is dragged, None while it rests: only what rests goes into the address.

    It counts until something else changes, and for what is drawn meanwhile by itself: whoever leaves the page in the
    middle of a drag never says that it is over.
    """
    value, then = _answers(key).get("moving") or (None, None)
    return value if address.apart() and then == address.changes() else None
