"""A walk through the house in one session: whatever was chosen, no other page minds, and a page stands as it was left."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.shared import frame
from tests.pages.opening import open_page, topic_of

FILES = [entry.file for entry in frame.entries()]
OTHER_PAGES = {"lang_choice", "lang"}  # a language is every page's


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


def change_everything(app):
    """Every control once, those that come up on the way too."""
    done = set()
    while rest := [key for key in controls(app) if key not in done]:
        done.add(rest[0])
        change(app, rest[0])
    return done


@pytest.fixture(scope="module", params=FILES)
def changed(request):
    """(the page, the walk, what its controls showed and its address said, how many were changed), every control once."""
    app = open_page(request.param)
    many = len(change_everything(app))
    return request.param, app, seen(app), many


def test_a_link_opens_what_it_was_copied_from(changed):
    file, app, (shown, said), _many = changed
    guesses = dict(app.session_state["_guesses"].get(topic_of(file), {}))
    again = open_page(file, **(said | {id: guess for id, guess in guesses.items() if guess}))
    assert not again.exception
    assert seen(again) == (shown, said)


def test_a_page_stands_as_it_was_left_and_no_other_minds(changed):
    file, app, left, many = changed
    for other in FILES if FILES.index(file) % 2 else reversed(FILES):  # half of them go round the other way
        if other != file:
            app.switch_page(f"pages/{other}.py").run()
            assert not app.exception, f"{other} after {file}"
    app.query_params.clear()  # the menu carries no words
    app.switch_page(f"pages/{file}.py").run()
    assert not app.exception
    assert seen(app) == left
    assert many or file == "01_home"
