"""The cells of the cache under a pointer, and the text that goes another way where one clicks."""

import re


def test_a_click_renews_one_cell_and_the_slider_takes_over_again(visitor):
    visit = visitor().open("/inference", ready="[data-signature] canvas")
    signature = visit.signature()
    canvas, slider = signature.locator("canvas").first, signature.locator("input[type=range]")
    box = canvas.bounding_box()
    assert canvas.get_attribute("aria-label")
    visit.page.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + 150)
    visit.page.wait_for_url(re.compile("stale_cell="))
    visit.settle()
    assert signature.get_by_text(re.compile("one cell renewed")).count()
    slider.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.wait_for_url(re.compile(r"stale=1(?!.*stale_cell)"))
    visit.settle()
    assert signature.get_by_text(re.compile("1 of 78 cells renewed")).count()
    visit.check()


def test_another_word_can_be_taken_where_the_text_is_written(visitor):
    visit = visitor().open("/inference?gen=3", ready=".st-key-growing canvas")
    canvas = visit.page.locator(".st-key-growing canvas").first
    canvas.scroll_into_view_if_needed()
    canvas.focus()
    visit.page.keyboard.press("2")
    visit.page.wait_for_url(re.compile("gen_fork=2"))
    visit.settle()
    visit.page.get_by_role("button", name="Back from the fork").click()
    visit.page.wait_for_url(lambda url: "gen_fork" not in url)
    visit.check()
