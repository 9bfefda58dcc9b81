"""A walk through the house in one session: whatever was chosen, no other page minds, and a page stands as it was left."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.shared import frame
from pages.shared.words import WORDS
from tests.pages.opening import open_page, topic_of

FILES = [entry.file for entry in frame.entries()]
OTHER_PAGES = {"lang_choice", "lang", "depth_choice"}  # a language and a depth are every page's


def controls(app):
    """Every list, slider and switch of the page that has another choice, by its key."""
    lists = [one for one in (*app.segmented_control, *app.selectbox, *app.select_slider) if len(one.options) > 1]
    return {one.key: one for one in (*lists, *app.toggle) if one.key and one.key not in OTHER_PAGES}


def change(app, key):
    """Choose what stands next in the list, as a hand would: by what is written there."""
    control = controls(app)[key]
    if isinstance(control.value, bool):
        control.set_value(not control.value)
    else:
        now = control.format_func(control.value) if control.value is not None else None
        at = control.options.index(str(now)) if str(now) in control.options else -1
        said = WidgetState(id=control.id)
        if control.type == "selectbox":
            said.string_value = control.options[(at + 1) % len(control.options)]
        else:
            said.string_array_value.data[:] = [control.options[(at + 1) % len(control.options)]]
        kind = type(control)
        control.__class__ = type(kind.__name__, (kind,), {"_widget_state": property(lambda _self: said)})
    app.run()
    assert not app.exception, key


def seen(app):
    """What the controls show, and what the address says."""
    shown = {key: control.value for key, control in controls(app).items()}
    said = {word: app.query_params[word] for word in app.query_params}
    return shown, {word: text[0] if isinstance(text, list) else text for word, text in said.items()}


def change_everything(app, but=()):
    """Every control once, those that come up on the way too."""
    done = set()
    while rest := [key for key in controls(app) if key not in {*done, *but}]:
        done.add(rest[0])
        change(app, rest[0])
    return done


def goes_to(app, file):
    app.query_params.clear()  # the menu carries no words
    app.switch_page(f"pages/{file}.py").run()


# The pages share this one on purpose: it is chosen on the first of them, and the other is left with it.
SHARED = {word for word, one in WORDS.items() if one.shared}


@pytest.mark.long
def test_each_page_stands_as_it_was_left_and_its_link_opens_it_whatever_was_chosen_on_the_others():
    """One walk serves every pair of pages: on the way out the later one is opened after the earlier was changed, on the
    way back the earlier after the later. A walk from each page to all the others ran 300 pages to see the same."""
    app = open_page(FILES[0], depth="teach")
    left, linked, shared, wrong = {}, {}, set(), []
    for file in FILES:
        goes_to(app, file)
        assert not app.exception, f"{file} minds what was chosen before"
        changed = change_everything(app, but=shared)
        assert changed or file == "01_home"
        shared |= SHARED & changed
        left[file] = seen(app)
        linked[file] = {id: one for id, one in app.session_state["_guesses"].get(topic_of(file), {}).items() if one}
    for file, (shown, said) in left.items():
        again = open_page(file, **(said | linked[file]))
        if again.exception or seen(again) != (shown, said):
            wrong.append(f"{file}: its link opens {again.exception or seen(again)}, copied from {(shown, said)}")
    for file in FILES:
        goes_to(app, file)
        if app.exception or seen(app) != left[file]:
            wrong.append(f"{file}: stands with {app.exception or seen(app)}, was left with {left[file]}")
    assert not wrong, "\n".join(wrong)
