"""The address is the state of a page: what a visitor chose, word by word, and nothing else.

A value comes from the address, else from what this session kept for the page, both as text and both through the same
check. A default is written nowhere. Every word is declared once, in `pages.shared.words`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from pages.shared.readers import DEPENDS, LONGEST, Reader, Word, written
from pages.shared.words import WORDS

ALONG = {"lang", "depth", "present", "hide", "mine"}  # what a lesson leaves as it is from step to step

# ---- reading and writing ----


def now(word: str, default: Any = DEPENDS, read: Reader | None = None) -> Any:
    """What a word says: in the address, else as this session left the page, else the default.

    read: what it may say beyond its declaration, here and now ("a place in this text").
    What is found is written back, so that the address never says what is not shown.
    """
    declared = known(word)
    default = declared.default if default is DEPENDS else default
    text = _text(word)
    value = None if text is None else _checked(word, text, read)
    value = default if value is None else value
    _say(word, value, default)
    return value


def said(word: str) -> Any:
    """What a word says if it says anything; nothing is written."""
    text = _text(word)
    return None if text is None else _checked(word, text, None)


def _text(word: str) -> str | None:
    """What the address says of a word, else what this session kept, unchecked."""
    text, kept = st.query_params.get(word), _kept(word).get(word)
    return kept if text is None or _outrun(word, text) else text


def write(word: str, value: Any, default: Any = DEPENDS) -> None:
    """Let a word say this; None and the default are said by silence. For callbacks as well.

    A hasty hand lets go of something and is on another page before it is heard: the page it belongs to keeps it then,
    and the address, which is another page's, says nothing of it.
    """
    before = _kept(word).get(word)
    _say(word, value, default)
    if _kept(word).get(word) != before:
        _returned(word)
        _overtake(word, before)


def _say(word: str, value: Any, default: Any) -> None:
    """The same, where nobody's hand says it: what is lent stays lent."""
    declared = WORDS[word]
    default = declared.default if default is DEPENDS else default
    if value is None or (value == default and not declared.always):
        forget(word)
        return
    text, kept = written(value), _kept(word)
    if declared.read(text) is None:
        raise ValueError(f"{word}={text!r} is not what pages.shared.words declares")
    if kept.get(word) != text:
        kept[word] = text
        change()
    if _is_here(word):
        _write_down(word, text)


def lend(word: str, value: Any) -> None:
    """Let a shared word say this; where a step of a lesson is shown, as long as it is, unless a hand writes another.

    The address says that it is lent: a reload, Back and a copied link know it as well.
    """
    write(word, value)
    if step := _step(here()):
        st.session_state["_lent"] = (word, step)
        st.query_params["lent"] = word


def give_back(topic: str) -> None:
    """Call before anything of a page is drawn: what was lent to a step of a lesson ends with it. What the address of the
    next page says itself is said."""
    word, step = st.session_state.get("_lent", ("", None))
    shown, lent = _step(topic), passing("lent")
    if word and step != shown:
        del st.session_state["_lent"]
        if _kept(word).pop(word, None) is not None:
            change()
    if lent and shown:  # by a reload, by Back: only a hand makes it the visitor's own
        st.session_state["_lent"] = (lent, shown)
    elif lent:
        put("lent", None)


def _step(topic: str) -> tuple[str, ...] | None:
    """The step of a lesson that is shown: its room, its lesson, its number."""
    said = (st.query_params.get("lesson"), st.query_params.get("stop"))
    return (topic, *map(str, said)) if all(said) else None


def _returned(word: str) -> None:
    """It is not lent any more."""
    if st.session_state.get("_lent", ("",))[0] == word:
        del st.session_state["_lent"]
        if "lent" in st.query_params:
            del st.query_params["lent"]


def passing(word: str) -> Any:
    """What the address says of this page just now: no session keeps it, so it is gone with the page."""
    text = st.query_params.get(word)
    text = _put().get(word) if _outrun(word, text) else text
    value = None if text is None else _checked(word, text, None)
    if value is None and word in st.query_params:
        del st.query_params[word]
    return value


def pointed() -> str | None:
    """The section or fold that the address points to."""
    said: str | None = passing("at")
    return said


def opened() -> list[str]:
    """The folds that stand open, as the address says it."""
    said: str | None = passing("open")
    return said.split(".") if said else []


def noted() -> dict[str, Any]:
    """What is noted of the places that an address can point to, from run to run."""
    notes: dict[str, Any] = st.session_state.setdefault("_places", {})
    return notes


def put(word: str, text: str | None) -> None:
    """Let the address say this of this page just now, or nothing; for callbacks. No session keeps it."""
    _catch_up()
    _overtake(word, st.query_params.get(word))
    _put()[word] = text
    change()
    _write_down(word, text)


def point(name: str | None) -> None:
    """Let the address point there, or nowhere; for callbacks."""
    put("at", name)


def open_folds(names: list[str]) -> None:
    """Let the address say that these folds stand open; for callbacks."""
    put("open", ".".join(names) or None)


def shown(widget: str) -> Any:
    """What a widget shows just now; for callbacks."""
    return st.session_state[widget]


def forget(*words: str) -> None:
    """Back to the default: nothing in the address, nothing in the session."""
    for word in words:
        if (before := _kept(word).pop(word, None)) is not None:
            _returned(word)
            _overtake(word, before)
            change()
        _write_down(word, None)


# ---- a browser that is late ----
# What it sends before it has heard of the last change comes with the address from before it: who types a sentence and at
# once lets go of a slider would lose the sentence.

ON_ITS_WAY = 5.0  # seconds in which an address of before may still come


def _overtake(word: str, before: str | None) -> None:
    """From now on what this word said before, or its silence, is said by a browser that is late."""
    left, clock = st.session_state.setdefault("_outrun", {}), time.monotonic()
    late = {text: since for text, since in left.get(word, {}).items() if clock - since < ON_ITS_WAY}
    left[word] = late | {before: clock}


def _outrun(word: str, text: str | None) -> bool:
    """Is this what the word said until a moment ago, and says no longer?"""
    since = st.session_state.get("_outrun", {}).get(word, {}).get(text)
    late = since is not None and time.monotonic() - since < ON_ITS_WAY
    return late and text != _newest(word) and not _back() and _place() == st.session_state.get("_place")


def _place() -> tuple[str, ...]:
    """Where the browser says it is: its page, and the step of a lesson."""
    context = get_script_run_ctx()
    stop = (str(st.query_params.get(word, "")) for word in ("lesson", "stop"))
    return (context.page_script_hash if context else "", *stop)


def _newest(word: str) -> str | None:
    """What the server let a word say last."""
    return _put()[word] if word in _put() else _kept(word).get(word)


def _put() -> dict[str, str | None]:
    """What was put into the address of this visit to a page and is kept nowhere else."""
    said: dict[str, str | None] = st.session_state.setdefault("_put", {})
    return said


def _write_down(word: str, text: str | None) -> None:
    """Into the address, which the browser hears of as a whole: what it is late with is not handed back to it."""
    if st.query_params.get(word) != text:
        _catch_up()
        _set(word, text)


def _catch_up() -> None:
    for word in st.session_state.get("_outrun", {}):
        if _is_here(word) and _outrun(word, st.query_params.get(word)):
            _set(word, _newest(word))


def _set(word: str, text: str | None) -> None:
    if text is not None:
        st.query_params[word] = text
    elif word in st.query_params:
        del st.query_params[word]


def whole(callback: Callable[..., None]) -> Callable[..., None]:
    """A callback that comes to its end, for what may be done twice. Where it touches the session Streamlit breaks it off
    if more has been heard meanwhile, never calls it again, and what the hand did would be lost."""

    @wraps(callback)
    def run(*given: Any) -> None:
        try:
            callback(*given)
        except RerunException as newer:  # it is taken from the queue: only yet another can break this off
            run(*given)
            raise newer

    return run


def change() -> None:
    """Something is not as it was, here or elsewhere in the session: what shows it must be drawn."""
    st.session_state["_changes"] = changes() + 1


def changes() -> int:
    """How often that has been so."""
    return int(st.session_state.get("_changes", 0))


def known(word: str) -> Word:
    """A word's declaration. Raises KeyError for a word that is declared nowhere, or for other pages only."""
    declared = WORDS[word]
    if declared.pages and here() and here() not in declared.pages:
        raise KeyError(f"{word!r} is declared for {declared.pages}, not for {here()!r}")
    return declared


def _checked(word: str, text: str, read: Reader | None) -> Any:
    if len(text) > LONGEST:
        return None
    wide = known(word).read(text)
    return wide if read is None or wide is None else read(text)


def _kept(word: str) -> dict[str, str]:
    """What this session keeps, as text: of every page for itself, of shared words for all."""
    kept: dict[str, str] = st.session_state.setdefault("_kept", {}).setdefault(_owner(word), {})
    return kept


def _owner(word: str) -> str:
    declared = WORDS[word]
    if not declared.pages or declared.shared:
        return ""
    return here() if _is_here(word) else declared.pages[0]


def _is_here(word: str) -> bool:
    """Is it a word of the page that is shown (or is none shown yet)?"""
    return not WORDS[word].pages or not here() or here() in WORDS[word].pages


# ---- arriving ----


def here() -> str:
    """The topic of the page that is shown; empty before one is."""
    return str(st.session_state.get("_here", ""))


def arrive(topic: str) -> bool:
    """Call before anything of a page is drawn. True if what the session kept for live pictures must give way.

    Back and Forward restore an address, and so do a link into a page and a step of a lesson: it is all that counts, and
    what the address does not say is the default. Through the menu one comes to a page without a word of its own: it
    stands as it was.
    """
    back = _back()
    moved = here() != topic
    stop = (st.query_params.get("lesson"), st.query_params.get("stop"))
    stepped = all(stop) and st.session_state.get("_stop", stop) != stop
    st.session_state["_stop"] = stop
    st.session_state["_here"] = topic
    own = {word for word, declared in WORDS.items() if topic in declared.pages}
    if back or stepped or (moved and own & set(st.query_params)):
        kept = st.session_state.setdefault("_kept", {})
        kept.pop(topic, None)
        if stepped:
            kept[""] = {word: text for word, text in kept.get("", {}).items() if word in ALONG}
        st.session_state.setdefault("_seen", {}).pop(topic, None)
        if back:
            kept.pop("", None)
        for word in own & set(st.query_params):  # also what no picture reads on this visit: it may be asked for later
            if _checked(word, st.query_params[word], None) is not None:
                _kept(word)[word] = st.query_params[word]
    for word in set(WORDS) & set(st.query_params) - own:
        if WORDS[word].pages:
            del st.query_params[word]
    if back or stepped or moved:
        st.session_state.pop("_outrun", None)
        st.session_state.pop("_put", None)
    st.session_state["_place"] = _place()
    _catch_up()
    return back or stepped or moved


def _back() -> bool:
    """Is this run the browser's Back or Forward? Streamlit's own account of it, guarded by a browser test."""
    context = get_script_run_ctx()
    return bool(context and context.is_history_navigation and not apart())


def apart() -> bool:
    """Does a part of the page run by itself, without the rest?"""
    context = get_script_run_ctx()
    return bool(context and context.fragment_ids_this_run)


def changed(what: str, value: Any) -> bool:
    """Has this become another since the page was last drawn? (What hangs on a text is forgotten with it.)"""
    seen = st.session_state.setdefault("_seen", {}).setdefault(here(), {})
    before = seen.get(what, value)
    seen[what] = value
    return bool(before != value)
