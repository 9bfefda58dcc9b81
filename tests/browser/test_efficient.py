"""The efficient page under a finger: the slider moves mask, lines and bars at once; a press closes a distance."""

import re

from tests.browser.gestures import leads


def test_one_slider_moves_the_mask_the_lines_and_the_bars(visitor):
    visit = visitor().open("/efficient", ready="[data-signature] canvas")
    page = visit.page
    leads(visit, page.locator(".st-key-pairs_next canvas, [data-quantity='next_probs'] canvas").first)
    visit.check()


def test_a_press_closes_a_distance_for_every_word(visitor):
    visit = visitor().open("/efficient?depth=all&pairs_own=f", ready="[data-signature] canvas")
    page = visit.page
    told = page.get_by_text(re.compile("Your pattern keeps"))
    told.wait_for()
    before = told.inner_text()
    canvas = page.get_by_label(re.compile("press to open or close a distance")).locator("canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.62)
    page.wait_for_function("(was) => ![...document.querySelectorAll('p')].some((p) => p.innerText === was)", arg=before)
    page.wait_for_url(re.compile("pairs_own=b"))
    visit.settle()
    visit.check()
