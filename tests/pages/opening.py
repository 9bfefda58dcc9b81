"""Opens a page as the app does, without a browser, and reads what it draws."""

from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.shared.pictures import live
from pages.shared.words import WORDS

APP = Path(__file__).parents[2] / "app.py"


def topic_of(file):
    """ "06_attention" -> "attention"."""
    return file[3:]


def open_page(file, **query):
    """The page after app.py has framed it, at the depth that shows all of it unless told otherwise. query: what stands
    in the address; any other word is a guess made before."""
    query = {"depth": "all"} | query
    app = AppTest.from_file(APP, default_timeout=240)  # whatever else the machine is at
    app.query_params.update({word: said for word, said in query.items() if word in WORDS})
    app.session_state["_guesses"] = {topic_of(file): {id: guess for id, guess in query.items() if id not in WORDS}}
    return app.switch_page(f"pages/{file}.py").run()


def picture(app, key):
    """(meta, arrays) of the live picture that was mounted under this key."""
    for element in app.get("bidi_component"):
        if f"-{key}-" in element.proto.id or element.proto.id.endswith(f"-{key}"):
            meta, arrays = live.unpack(element.proto.bytes)
            return meta, arrays | {"values": _whole(meta, arrays["values"])} if "packed" in meta else arrays
    raise AssertionError(f"no picture {key} among {[e.proto.id for e in app.get('bidi_component')]}")


def _whole(meta, values):
    """The frames of a matrix as they were before they were made small: triangles squared, one frame for each stop."""
    if size := meta["packed"]:
        triangles, values = values, np.zeros((len(values), size, size), values.dtype)
        values[(slice(None), *np.tril_indices(size))] = triangles
    stops = len(meta["slider"]["stops"]) if "slider" in meta else len(values)
    return values if len(values) > 1 else np.broadcast_to(values, (stops, *values.shape[1:]))


def lower(values):
    """What may be looked at of a causal square; nothing else is sent."""
    return np.where(np.tri(values.shape[-1], dtype=bool), values, 0)


def words(app):
    """All Markdown on the page, as one text."""
    return "\n".join(m.value for m in app.markdown)


def labels(app):
    """What no Markdown is read in: the labels of all widgets as they are spoken, and every text inside the pictures."""
    widgets = (
        element
        for block in (app.main, app.sidebar)
        for element in block
        if hasattr(getattr(element, "proto", None), "label")
    )
    yield from (str(element.proto.label) for element in widgets)
    for element in app.get("bidi_component"):
        waiting = [live.unpack(element.proto.bytes)[0]]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                waiting += value.values()
            elif isinstance(value, list | tuple):
                waiting += value
            elif isinstance(value, str):
                yield value


def come_back(app, file, away="01_home"):
    """Through the menu to another page and back: there the address begins bare."""
    for shown in (away, file):
        app.query_params.clear()
        app.switch_page(f"pages/{shown}.py").run()
    return app


def address(app):
    """What the address says, word by word, but for the language and the depth."""
    said = {word: value[-1] if isinstance(value, list) else value for word, value in app.query_params.items()}
    return {word: value for word, value in said.items() if word not in ("lang", "depth")}
