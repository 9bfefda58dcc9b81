"""The exam under a finger and under the keyboard alone: choices go into the line, the lamps follow the fill value."""

import re

from tests.browser.gestures import PICTURES, WATCH, drag


def guessed(visitor, address):
    visit = visitor().open(address, ready="[data-signature] canvas")
    visit.page.get_by_role("radio", name="only the leak").click()
    visit.page.locator(".st-key-verdict_exam_lamp").wait_for()
    visit.settle()
    return visit


def tells(visit, what):
    """The picture says so of itself, once the hand rests."""
    visit.signature().locator(f'canvas[aria-label*="{what}"]').first.wait_for()


def test_the_lamps_follow_the_fill_value_without_the_server(visitor):
    visit = guessed(visitor, "/exam")
    page = visit.page
    tells(visit, "leak lit")
    page.evaluate(WATCH)
    visit.signature().locator("canvas").first.evaluate(PICTURES)
    drag(page, visit.signature().locator("input[type=range]"), 0.02, 0.98, release=False)
    assert page.evaluate("new Set(window.__pictures).size") >= 20
    assert page.evaluate("window.__sent.length") == 0
    tells(visit, "leak dark")
    page.mouse.up()
    page.wait_for_url(re.compile("exam_fill="))
    visit.check()


def test_a_line_is_filled_by_the_keyboard_alone(visitor):
    visit = guessed(visitor, "/exam")
    page, stage = visit.page, visit.signature().locator(".stage")
    stage.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):  # divide by, keep where: the second of three
        page.keyboard.press(key)
    tells(visit, "where(j < i, scores, 0)")
    page.wait_for_url(re.compile("exam_keep=lt"))
    visit.settle()
    for key in ("ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowLeft", "Enter"):  # fill with: the first
        page.keyboard.press(key)
    page.wait_for_url(re.compile(r"exam_fill=-1e%2B10|exam_fill=-1e\+10"))
    visit.settle()
    tells(visit, "NaN lit")
    tells(visit, "where(j < i, scores, −∞)")
    visit.check()


def test_a_press_on_a_choice_puts_it_in(visitor):
    visit = guessed(visitor, "/exam")
    page, canvas = visit.page, visit.signature().locator("canvas").first
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + 205, box["y"] + 78 + 8 + 3.5 * 34)  # order: past the first of two
    page.mouse.click(box["x"] + 270, box["y"] + 78 + 8 + 3.5 * 34)
    page.wait_for_url(re.compile("exam_when=after"))
    visit.settle()
    page.reload()
    visit.signature().locator("canvas").first.wait_for()
    visit.settle()
    tells(visit, "weights = where(j <= i, weights, 0)")  # the link brings the line back
    visit.check()


def test_a_map_is_painted_and_then_compared(visitor):
    visit = visitor().open("/exam?exam_map=100110000", ready="[data-signature] canvas")
    page = visit.page
    canvas = page.get_by_label(re.compile("Your map: which word reads which")).locator("canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + box["height"] - 36 - 20)
    page.get_by_label(re.compile("the three heads nearest")).locator("canvas").first.wait_for()
    page.wait_for_url(re.compile("exam_map=100110\\d*1"))
    visit.settle()
    visit.check()


def test_a_press_in_the_table_puts_its_line_in(visitor):
    visit = guessed(visitor, "/exam?depth=all")
    page = visit.page
    stage = page.get_by_label(re.compile("How many of the five lamps")).first.locator(".stage")
    stage.scroll_into_view_if_needed()
    stage.focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "Enter"):  # from the last row to j < i over keys, √d_k, −∞
        page.keyboard.press(key)
    page.wait_for_url(re.compile("exam_keep=lt"))
    visit.settle()
    tells(visit, "NaN lit")
    page.wait_for_url(re.compile("exam_fill=-1e"))
    visit.check()
