"""The sections on experts in a real browser: one slider, two pictures and no word to the server; experts moved by keys."""

import re

from playwright.sync_api import expect

from tests.browser.gestures import PICTURES, WATCH, drag


def test_one_drag_moves_the_losses_and_the_next_word_and_the_server_hears_nothing(visit):
    page = visit.open("/feedforward").page
    page.get_by_text("only the fixed half does").first.click()
    visit.settle()
    losses, word = (page.locator(f".live[data-key={key}]") for key in ("ffn_kept", "ffn_kept_word"))
    slider = losses.locator("input[type=range]")
    slider.scroll_into_view_if_needed()
    before = word.locator("canvas").get_attribute("aria-label")
    page.evaluate(WATCH)
    losses.locator("canvas").evaluate(PICTURES)
    drag(page, slider, 0.5, 0.15, release=False)
    assert page.evaluate("window.__sent.length") == 0, "a drag is no business of the server"
    assert page.evaluate("new Set(window.__pictures).size") >= 13
    page.mouse.up()
    page.wait_for_url(re.compile("ffn_kept="))
    visit.settle()
    expect(word.locator("canvas")).not_to_have_attribute("aria-label", before)  # told once the hand rests
    visit.check()


def test_an_expert_is_moved_by_the_keyboard(visit):
    page = visit.open("/feedforward?depth=all").page
    button = page.get_by_role("button", name="expert 8 →")
    button.scroll_into_view_if_needed()
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("moe_homes="))
    visit.settle()
    first = page.locator(".st-key-machine_0")
    assert first.get_by_role("button").all_inner_texts() == ["expert 1 →", "expert 2 →", "expert 8 →"]
    visit.check()
