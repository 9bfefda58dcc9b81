"""A link to a section or a fold: it is shown at whatever depth it stands, and an address says nothing that is nowhere."""

import pytest

from tests.pages.opening import open_page

PAGE = "06_attention"


def said(app, word):
    found = app.query_params.get(word)
    return found[0] if isinstance(found, list) else found


def opened(app):
    return [fold.label.partition(" (")[0] for fold in app.expander if fold.proto.expanded]


@pytest.mark.parametrize("depth", ["idea", "all", "teach"])
def test_a_link_to_a_fold_opens_the_page_as_deep_as_the_fold_stands(depth):
    app = open_page(PAGE, depth=depth, at="common-mistakes")
    assert not app.exception
    assert opened(app) == ["Common mistakes"]
    assert said(app, "at") == "common-mistakes"
    assert said(app, "depth") == ("teach" if depth == "teach" else "all")


def test_a_place_of_the_idea_leaves_the_page_at_the_idea():
    app = open_page(PAGE, depth="idea", at="how-is-it-made")
    assert said(app, "at") == "how-is-it-made"
    assert said(app, "depth") is None


@pytest.mark.parametrize("depth", ["idea", "all"])
def test_a_place_that_is_nowhere_is_not_said(depth):
    app = open_page(PAGE, depth=depth, at="nowhere")
    assert not app.exception
    assert said(app, "at") is None
    assert said(app, "depth") == (None if depth == "idea" else "all"), "as it was"


def test_a_fold_that_goes_while_the_page_is_used_takes_nobody_deeper():
    app = open_page(PAGE, depth="all", at="common-mistakes")
    app.query_params.pop("depth")
    app.session_state["_kept"][""].pop("depth", None)
    app.run()
    assert said(app, "depth") is None
    assert said(app, "at") is None
