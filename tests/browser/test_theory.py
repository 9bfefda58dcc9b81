"""The theory page under a finger: copies under the slider, points set by hand and by keys."""

import re

from playwright.sync_api import expect

from tests.browser.gestures import WATCH, leads
from tests.browser.test_alone import MOVE, drawn

LINE = ".live[data-key=given]"


def test_the_slider_writes_copies_and_moves_lines_and_bars(visitor):
    visit = visitor().open("/theory", ready="[data-signature] canvas")
    page = visit.page
    leads(visit, page.locator(".live[data-key=sky_next] canvas").first)
    slider = visit.signature().locator("input[type=range]")
    slider.evaluate(MOVE, 4)
    assert (
        visit.signature()
        .locator(".note")
        .inner_text()
        .startswith("4 × “The sky is green.” · then “The sky is …”: green")
    )
    visit.check()


def test_points_are_set_and_taken_away_by_hand_and_by_keys(visitor):
    visit = visitor().open("/theory?given_layers=12", ready=f"{LINE} canvas")
    page = visit.page
    board, note = page.locator(LINE), page.locator(f"{LINE} .note")
    canvas, stage = board.locator("canvas").first, board.locator(".stage")
    canvas.scroll_into_view_if_needed()
    visit.settle()
    before, box = note.inner_text(), canvas.bounding_box()
    page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 0.8 * box["height"])
    page.wait_for_url(re.compile(r"given_points=.*9%2C11%3B1[5-9]%2C-1[0-9]"))
    expect(note).not_to_have_text(before)  # the line leans another way
    visit.settle()
    page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 0.8 * box["height"])
    page.wait_for_url(lambda url: "given_points" not in url)
    expect(note).to_have_text(before)
    page.mouse.move(2, 2)
    stage.focus()
    page.keyboard.press("ArrowUp")
    assert board.locator(".tip").inner_text() == "(0, 0.1)\nset a point"
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"given_points=.*%3B0%2C1"))
    visit.settle()
    visit.check()


def test_a_slider_turns_the_line_without_the_server(visitor):
    visit = visitor().open("/theory?depth=all", ready=f"{LINE} canvas")
    page = visit.page
    page.get_by_role("radio", name="leaning towards them").click()
    page.locator(".live[data-key=given_ways] canvas").first.wait_for()
    visit.settle()
    page.evaluate(WATCH)
    for key in ("given", "given_ways"):
        board = page.locator(f".live[data-key={key}]")
        board.scroll_into_view_if_needed()
        before = drawn(board)
        board.locator("input[type=range]").evaluate(MOVE, 48)
        assert drawn(board) != before
    visit.check()
