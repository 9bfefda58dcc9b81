"""The theory page's inner pictures under a finger: a set moves at once, and nothing is sent while a slider is dragged."""

import re

from tests.browser.gestures import PICTURES, WATCH, drag


def moves(visit, slider, watched, start, end):
    """How many pictures are seen on a canvas while a slider elsewhere is dragged, and how much is sent meanwhile."""
    page = visit.page
    watched.wait_for()
    slider.scroll_into_view_if_needed()
    page.evaluate(WATCH)
    watched.evaluate(PICTURES)
    drag(page, slider, start, end, release=False)
    seen, sent = page.evaluate("[new Set(window.__pictures).size, window.__sent.length]")
    page.mouse.up()
    visit.settle()
    return seen, sent


def test_the_sharpness_moves_keys_and_shares_at_once(visitor):
    visit = visitor().open("/theory?depth=all", ready="[data-quantity='z'] canvas")
    slider = visit.page.locator("[data-slider='look_sharp']").first
    lines = visit.page.locator("[data-quantity='z'] canvas").first
    seen, sent = moves(visit, slider, lines, 0.5, 0.95)
    assert (seen >= 8, sent) == (True, 0)
    visit.check()


def test_the_tape_follows_the_steps(visitor):
    visit = visitor().open("/theory?depth=all", ready="[data-quantity='tape'] canvas")
    page = visit.page
    seen, sent = moves(
        visit,
        page.locator("[data-slider='tape_step']").first,
        page.locator("[data-quantity='tape'] canvas").first,
        0.1,
        0.6,
    )
    assert (seen >= 8, sent) == (True, 0)
    page.wait_for_url(re.compile(r"tape_step=\d+"))
    visit.check()
