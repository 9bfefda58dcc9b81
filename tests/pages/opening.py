"""Opens a page as the app does, without a browser, and reads what it draws."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.shared.pictures import live
from pages.shared.words import WORDS

APP = Path(__file__).parents[2] / "app.py"


def open_page(file, **query):
    """The page after app.py has framed it. query: what stands in the address; any other word is a guess made before."""
    app = AppTest.from_file(APP, default_timeout=60)
    if "lang" in query:
        app.query_params["lang"] = query["lang"]
    app.run()
    app.query_params.update({word: said for word, said in query.items() if word in WORDS})
    app.session_state["_guesses"] = {file[3:]: {id: guess for id, guess in query.items() if id not in WORDS}}
    return app.switch_page(f"pages/{file}.py").run()


def picture(app, key):
    """(meta, arrays) of the live picture that was mounted under this key."""
    for element in app.get("bidi_component"):
        if f"-{key}-" in element.proto.id or element.proto.id.endswith(f"-{key}"):
            return live.unpack(element.proto.bytes)
    raise AssertionError(f"no picture {key} among {[e.proto.id for e in app.get('bidi_component')]}")


def said(app):
    """What the address says, word by word, but for the language."""
    every = {word: value[0] if isinstance(value, list) else value for word, value in app.query_params.items()}
    return {word: value for word, value in every.items() if word != "lang"}


def there_and_back(app, away, page):
    """The same visit after another page was opened from the menu and left again."""
    app.switch_page(f"pages/{away}.py").run()
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


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
