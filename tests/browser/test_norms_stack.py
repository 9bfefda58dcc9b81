"""The stack of the norms room in a real browser: it grows under the finger, and its band of seeds with it."""

import re

from tests.browser.gestures import PICTURES, WATCH, drag


def test_the_stack_grows_under_the_finger_and_sends_nothing(visit):
    page = visit.open("/norms", ready="[data-signature] canvas").page
    stack = page.locator(".st-key-norm_stack")
    stack.locator("canvas").first.wait_for()
    visit.settle()
    slider, note = stack.locator("input[type=range]"), stack.locator(".note")
    slider.scroll_into_view_if_needed()
    assert "16 blocks" in note.inner_text()
    page.evaluate(WATCH)
    stack.locator("canvas").first.evaluate(PICTURES)
    drag(page, slider, 0.25, 0.98, release=False)
    assert page.evaluate("window.__sent.length") == 0, "a drag is no business of the server"
    assert page.evaluate("new Set(window.__pictures).size") >= 20
    assert re.search(r"6\d blocks", note.inner_text())
    page.mouse.up()
    page.wait_for_url(re.compile("stack_blocks=6"))
    visit.check()


def test_a_guess_brings_the_line_that_waited(visit):
    page = visit.open("/norms", ready="[data-signature] canvas").page
    stack = page.locator(".st-key-norm_stack")
    stack.locator("canvas").first.wait_for()
    assert stack.get_by_text("no norms", exact=True).count() == 0
    page.locator(".st-key-norms_deep_choice").get_by_role("radio", name="far larger").click()
    stack.get_by_text("no norms", exact=True).wait_for()
    page.locator(".st-key-verdict_norms_deep").get_by_text("Right.").wait_for()
    visit.check()
