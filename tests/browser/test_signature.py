"""The signature control of every page moves its picture while it is dragged, with no message to the server."""

import re

import pytest

from pages.shared import frame
from tests.browser.gestures import PICTURES, WATCH, drag

PAGES = [e.file[3:] for e in frame.entries() if e.file != "01_home"]


@pytest.mark.parametrize("page", PAGES)
def test_the_picture_follows_the_finger(visitor, page):
    visit = visitor().open(f"/{page}", ready="[data-signature] canvas")
    signature = visit.signature()
    assert signature.count() == 1, "one signature a page"
    slider, canvas = signature.locator("input[type=range]"), signature.locator("canvas").first
    box = slider.bounding_box()
    assert box["y"] + box["height"] <= 1000, "the slider stands in the first screen"
    assert slider.get_attribute("data-slider")
    assert signature.get_attribute("data-quantity")
    stops = int(slider.get_attribute("max")) + 1
    visit.page.evaluate(WATCH)
    canvas.evaluate(PICTURES)
    away = (0.02, 0.98) if int(slider.input_value()) < 0.9 * stops else (0.98, 0.02)  # from where it rests
    drag(visit.page, slider, *away, release=False)
    assert visit.page.evaluate("window.__sent.length") == 0, "a drag is no business of the server"
    drawn = visit.page.evaluate("window.__pictures.length") - 1
    assert drawn >= min(20, 0.7 * (stops - 1)), f"{drawn} pictures of {stops} stops"
    visit.page.mouse.up()
    visit.page.wait_for_url(re.compile(slider.get_attribute("data-slider") + "="))
    visit.settle()
    where = slider.input_value()
    visit.page.reload()
    signature.locator("canvas").first.wait_for()
    visit.settle()
    assert slider.input_value() == where, "the link brings the slider back"
    visit.check()


def test_each_step_of_attention_takes_the_place_of_the_one_before(visitor):
    """Not all of them have a slider: the picture loses it and gets it back."""
    visit = visitor().open("/attention", ready="[data-signature] canvas")
    for step, quantity in (("1 ·", "scores"), ("4 ·", "weights"), ("1 ·", "scores"), ("5 ·", "z"), ("2 ·", "scaled")):
        visit.page.get_by_role("radio", name=step).click()
        visit.page.locator(f"[data-signature][data-quantity='{quantity}'] canvas").first.wait_for()
        visit.settle()
        slider = visit.signature().locator("input[type=range]")
        assert slider.is_visible() == (quantity != "scores")
        visit.check()
