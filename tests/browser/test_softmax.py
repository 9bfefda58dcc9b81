"""The softmax lab in a real browser: one hand moves every picture of the row, and the server hears of it once."""

import re

from tests.browser.gestures import PICTURES, WATCH, drag

SHARES = ".live[data-quantity=shares][data-signature]"
FOLLOWERS = (".live[data-quantity=slopes]", ".live[data-quantity=softmax_steps]")


def test_one_drag_moves_all_pictures_and_sends_nothing(visit):
    page = visit.open("/softmax?depth=all").page
    slider = visit.signature().locator("input[type=range]")
    assert slider.get_attribute("data-slider") == "temperature"
    page.evaluate(WATCH)
    visit.signature().locator("canvas").first.evaluate(PICTURES)
    drag(page, slider, 0.5, 0.05, release=False)
    assert page.evaluate("window.__sent.length") == 0, "a drag is no business of the server"
    assert page.evaluate("new Set(window.__pictures).size") >= 20
    now = slider.input_value()
    assert now != "24"
    for follower in FOLLOWERS:
        assert page.locator(follower).locator("input[type=range]").input_value() == now
        assert page.locator(follower).locator("output").inner_text() == visit.signature().locator("output").inner_text()
    page.mouse.up()
    page.wait_for_url(re.compile("temperature="))
    visit.settle()
    for follower in FOLLOWERS:
        assert page.locator(follower).locator("input[type=range]").input_value() == now
    page.reload()
    visit.settle()
    assert visit.signature().locator("input[type=range]").input_value() == now
    visit.check()


def test_any_of_the_pictures_may_lead(visit):
    page = visit.open("/softmax?depth=all&closer=triangle").page
    triangle = page.locator(".live[data-quantity=triangle]")
    note = page.locator(SHARES).locator(".note")
    before = note.inner_text()
    drag(page, triangle.locator("input[type=range]"), 0.5, 0.9, release=False)
    assert note.inner_text() != before
    assert page.locator(SHARES).locator("input[type=range]").input_value() == triangle.locator("input").input_value()
    page.mouse.up()
    page.wait_for_url(re.compile("temperature="))
    visit.check()


def test_other_sliders_stand_still(visit):
    page = visit.open("/softmax?depth=all").page
    added = page.locator(".live[data-quantity=added]")
    drag(page, added.locator("input[type=range]"), 0.5, 0.9, release=False)
    assert page.locator(SHARES).locator("input[type=range]").input_value() == "24"
    page.mouse.up()
    page.wait_for_url(re.compile("add_c="))
    visit.check()


def test_a_bar_is_taken_by_the_hand(visit):
    page = visit.open("/softmax?scores=2+1+0.1").page
    dragged = page.locator(".st-key-dragged .live, [class*=st-key-dragged] .live").first
    canvas, slider = dragged.locator("canvas").first, dragged.locator("input[type=range]")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + 130, box["y"] + 48)  # the second bar
    page.wait_for_url(re.compile("drag=1"))
    visit.settle()
    canvas.scroll_into_view_if_needed()
    box, rest = canvas.bounding_box(), int(slider.input_value())
    page.mouse.move(box["x"] + 180, box["y"] + 48)
    page.mouse.down()
    for x in range(180, 400, 20):
        page.mouse.move(box["x"] + x, box["y"] + 48)
    assert int(slider.input_value()) > rest, "the slider follows the bar"
    page.mouse.up()
    page.wait_for_url(re.compile("drag_to="))
    visit.settle()
    visit.check()
