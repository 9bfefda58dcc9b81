"""Why attention, in a real browser: a word itself can be taken hold of, and the counters follow."""

import re

from playwright.sync_api import expect

from tests.browser import weight
from tests.browser.gestures import PICTURES, WATCH, drag

HOPS = ".live[data-quantity=hops]"


def test_the_reach_follows_the_finger_and_the_link_brings_it_back(visit):
    page = visit.open("/why").page
    slider, canvas = visit.signature().locator("input[type=range]"), visit.signature().locator("canvas").first
    page.evaluate(WATCH)
    canvas.evaluate(PICTURES)
    drag(page, slider, 0.02, 0.98, release=False)
    assert page.evaluate("window.__sent.length") == 0, "a drag is no business of the server"
    assert page.evaluate("new Set(window.__pictures).size") >= 13, "every one of the windows that are left"
    page.mouse.up()
    page.wait_for_url(re.compile("reach=14"))
    visit.settle()
    page.get_by_text("Out of reach is as good as never read").wait_for()
    page.reload()
    visit.settle()
    assert slider.input_value() == "13"
    visit.check()


def test_a_tap_on_a_word_brings_it_into_reach(visit):
    page = visit.open("/why").page
    canvas = visit.signature().locator("canvas").first
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + 15, box["y"] + 92)  # <s>, the first of all
    page.wait_for_url(re.compile("reach=14"))
    visit.settle()
    assert visit.signature().locator("output").inner_text() == "14"
    visit.check()


def test_a_word_can_be_dragged_away_and_the_hops_are_counted(visit):
    page = visit.open("/why").page
    canvas = page.locator(HOPS).locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    cell, y = box["width"] / 14, box["y"] + 28 + 40 + 14  # the boxes of the first lane
    page.evaluate(WATCH)
    page.mouse.move(box["x"] + 3.5 * cell, y)
    page.mouse.down()
    for token in range(3, -1, -1):
        page.mouse.move(box["x"] + (token + 0.5) * cell, y + 30 * (token % 2))
        page.evaluate("() => new Promise(requestAnimationFrame)")
        distance = 13 - token
        lanes = page.locator(HOPS).locator("ul li")  # told once the hand rests
        expect(lanes).to_have_text([re.compile(f"\\b{n} hop") for n in (distance, distance.bit_length(), 1)])
    assert page.evaluate("window.__sent.length") == 0
    page.mouse.up()
    page.wait_for_url(re.compile("hop=13"))
    visit.settle()
    assert page.locator(HOPS).locator("input[type=range]").input_value() == "12"
    visit.check()


def test_on_a_telephone_a_word_below_its_box_is_taken_hold_of_too(visitor):
    visit = visitor(viewport=weight.TELEPHONE).open("/why")
    canvas = visit.page.locator(HOPS).locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    below = box["y"] + 28 + 40 + 28  # the boxes of the first lane end here
    visit.page.mouse.click(box["x"] + 1.5 * box["width"] / 14, below + 26)  # Sam, in the second row of names
    visit.page.wait_for_url(re.compile("hop=12"))
    visit.settle()
    visit.check()
