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
    """They move with the map above them: its slider is theirs."""
    visit = visitor().open("/attention", ready="[data-signature] canvas")
    tour = visit.page.locator(".st-key-tour")
    for step, quantity in (("2 ·", "scaled"), ("4 ·", "weights"), ("1 ·", "scores"), ("5 ·", "z"), ("2 ·", "scaled")):
        visit.page.get_by_role("radio", name=step).click()
        tour.locator(f"[data-quantity='{quantity}'] canvas").first.wait_for()
        visit.settle()
        assert not tour.locator("input[type=range]").is_visible()
        assert visit.signature().locator("input[type=range]").is_visible()
        visit.check()
    canvas = tour.locator("canvas").first
    visit.page.evaluate(WATCH)
    canvas.evaluate(PICTURES)
    drag(visit.page, visit.signature().locator("input[type=range]"), 0.5, 0.1, release=False)
    assert visit.page.evaluate("new Set(window.__pictures).size") >= 10
    assert visit.page.evaluate("window.__sent.length") == 0
    visit.page.mouse.up()
    visit.settle()
    visit.check()


def test_the_next_word_follows_the_temperature_while_it_is_dragged(visitor):
    visit = visitor().open("/attention", ready="[data-signature] canvas")
    words = visit.page.locator(".st-key-next canvas").first
    visit.page.evaluate(WATCH)
    words.evaluate(PICTURES)
    drag(visit.page, visit.signature().locator("input[type=range]"), 0.5, 0.98, release=False)
    assert visit.page.evaluate("new Set(window.__pictures).size") >= 10
    assert visit.page.evaluate("window.__sent.length") == 0, "it is no business of the server"
    visit.page.mouse.up()
    visit.page.get_by_text("p(Amy) = 0.2").wait_for()
    visit.check()
