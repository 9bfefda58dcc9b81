"""Scaling and the family under a finger: one budget moves both pictures; a press on a net or on the tree chooses it."""

import re

from tests.browser.gestures import PICTURES, WATCH, drag

RACE, SPLIT = ".st-key-race", ".st-key-race_split"


def test_one_budget_moves_the_race_and_its_split_without_a_message(visitor):
    visit = visitor().open("/theory?depth=all", ready=f"{RACE} canvas")
    page = visit.page
    page.set_viewport_size({"width": 1280, "height": 1800})  # both pictures in sight
    page.get_by_text("one in between", exact=True).click()
    page.get_by_text(re.compile("best: N = ")).first.wait_for()
    visit.settle()
    page.locator(f"{SPLIT} canvas").wait_for()
    page.evaluate(WATCH)
    page.locator(f"{SPLIT} canvas").evaluate(PICTURES)
    slider = page.locator(f"{RACE} input[type=range]")
    slider.scroll_into_view_if_needed()
    drag(page, slider, 0.5, 0.95, release=False)
    assert page.evaluate("new Set(window.__pictures).size") >= 8, "the split below follows"
    assert page.evaluate("window.__sent.length") == 0
    page.mouse.up()
    page.wait_for_url(re.compile("scale_c="))
    visit.settle()
    visit.check()


def test_a_press_on_the_tree_shows_that_branch_and_one_on_a_net_its_text(visitor):
    visit = visitor().open("/theory?depth=all", ready=".st-key-tree svg")
    page = visit.page
    page.locator(".st-key-tree path[aria-roledescription='point']").nth(2).click(force=True)
    page.wait_for_url(re.compile("branch=decoder"))
    page.get_by_text(re.compile("^GPT-1 · 116,534,784")).wait_for()
    page.locator(".st-key-law path[aria-roledescription='point']").last.click(force=True)
    page.wait_for_url(re.compile("scale_net=6"))
    page.get_by_text(re.compile("N = 338,592, 3 block")).wait_for()
    visit.settle()
    visit.check()
