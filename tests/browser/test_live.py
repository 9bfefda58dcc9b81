"""The live matrix in a real browser: the picture follows the finger, and it is core's picture."""

import re
from bisect import bisect

import numpy as np
import pytest
from playwright.sync_api import expect

from core.lab import head, text
from pages.shared.pictures import palette
from tests.browser.gestures import PICTURES, WATCH, drag

ATTENTION = "/attention"


def scale_colour(anchors, low, high, x):
    """The colour of a number, from the palette alone: linear between the anchors, 256 steps."""
    i = round(255 * min(1, max(0, (x - low) / (high - low)))) / 255 * (len(anchors) - 1)
    k = min(int(i), len(anchors) - 2)
    return [round(a + (i - k) * (b - a)) for a, b in zip(anchors[k], anchors[k + 1], strict=True)]


def pixel(page, canvas, x, y):
    """The colour at a point of the canvas, in CSS pixels."""
    script = """(canvas, [x, y]) => {
      const ratio = canvas.width / canvas.getBoundingClientRect().width;
      return [...canvas.getContext('2d').getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data].slice(0, 3);
    }"""
    return canvas.evaluate(script, [x, y])


def test_the_picture_of_every_stop_is_the_frame_that_core_computed(visit):
    page = visit.open(ATTENTION).page
    reading = text.read(text.SENTENCE)
    frames = head.frames(head.Demo(text.of(reading)), "weights").values
    slider = visit.signature().locator("input[type=range]")
    canvas = visit.signature().locator("canvas").first
    assert slider.get_attribute("data-slider") == "temperature"
    assert visit.signature().get_attribute("data-quantity") == "weights"
    assert int(slider.get_attribute("max")) == len(frames) - 1
    left, top, cell, tall = _geometry(page, canvas, frames.shape[-1])
    for stop in (0, 17, 24, 33, 48):
        slider.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('input', { bubbles: true })); }", stop)
        for row, column in ((13, 3), (13, 1), (9, 0), (5, 3)):
            seen = pixel(page, canvas, left + (column + 0.12) * cell, top + (row + 0.12) * tall)
            expected = scale_colour(palette.WEIGHTS[0], 0, 1, frames[stop, row, column])
            assert np.abs(np.array(seen) - expected).max() <= 3, (stop, row, column)
    visit.check()


def _geometry(page, canvas, n):
    """Where the cells are, how wide and how tall: found by the cursor, as a visitor would."""
    box = canvas.bounding_box()
    tip = canvas.locator("xpath=following-sibling::div")

    def told(x, y):
        page.mouse.move(box["x"] + x, box["y"] + y)
        return tip.is_visible()

    def edges(long, tells):
        """The first and the last pixel of a line on which the cursor tells a cell; in the middle it does."""
        middle = int(long) // 2
        assert tells(middle)
        first = bisect(range(2, middle), False, key=tells) + 2
        last = bisect(range(middle, int(long) - 1), False, key=lambda at: not tells(at)) + middle - 1
        return first, last

    left, right = edges(box["width"], lambda x: told(x, 200))
    top, bottom = edges(box["height"], lambda y: told(left + 2, y))
    page.mouse.move(box["x"] + 1, box["y"] + 1)
    return left, top, (right - left + 1) / n, (bottom - top + 1) / n


def test_the_number_on_hover_is_the_number_of_the_trace(visit):
    page = visit.open(ATTENTION).page
    reading = text.read(text.SENTENCE)
    weights = head.head_of(head.Demo(text.of(reading))).weights
    stage = visit.signature().locator(".stage")
    stage.focus()
    page.keyboard.press("ArrowLeft")  # the cursor appears at the last row's first cell
    said = visit.signature().locator("[aria-live]").inner_text()
    assert said == f"to → <s>: {weights[13, 0]:.6g}"
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert visit.signature().locator("[aria-live]").inner_text() == f"to → Amy: {weights[13, 3]:.6g}"
    assert visit.signature().locator(".tip").inner_text() == f"to → Amy: {weights[13, 3]:.6g}"


def test_a_click_cuts_the_cell_and_the_link_brings_it_back(visit, visitor):
    page = visit.open(ATTENTION + "?layer=5&head=1").page
    before = page.get_by_text("p(Amy) = 0.986, untouched 0.986")
    before.wait_for()
    stage = visit.signature().locator(".stage")
    stage.focus()
    page.keyboard.press("ArrowLeft")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("cell=13"))
    changed = page.get_by_text(re.compile(r"p\(Amy\) = 0\.000, untouched 0\.986"))
    changed.wait_for()
    other = visitor().open(page.url.removeprefix(visit.server.url))
    other.page.get_by_text(changed.inner_text()).wait_for()
    other.check()
    page.get_by_role("button", name="Put it back").click()
    before.wait_for()
    assert "cell=" not in page.url
    visit.check()


def test_the_mouse_clicks_a_cell_too(visit):
    page = visit.open(ATTENTION).page
    canvas = visit.signature().locator("canvas").first
    canvas.click(position={"x": 120, "y": 200})
    page.wait_for_url(re.compile(r"cell=\d+(,|%2C)\d+"))
    visit.settle()
    visit.check()


def test_a_picture_far_from_the_screen_follows_once_it_comes_near(visitor):
    """It is not drawn while nobody sees it, and says at once what it will show."""
    low = {"width": 1280, "height": 420}
    page = (visit := visitor(viewport=low).open(ATTENTION + "?step=weights")).page
    canvas = page.locator("[data-key=tour] canvas").first
    before = canvas.evaluate("c => c.toDataURL()")
    assert canvas.bounding_box()["y"] > 420 + 250
    slider = visit.signature().locator("input[type=range]")
    slider.evaluate("e => { e.value = e.max; e.dispatchEvent(new Event('input', { bubbles: true })); }")
    assert canvas.evaluate("c => c.toDataURL()") == before
    page.locator("[data-key=tour] input[type=range]").wait_for(state="attached")
    canvas.scroll_into_view_if_needed()
    page.wait_for_function("([c, before]) => c.toDataURL() !== before", arg=[canvas.element_handle(), before])
    fresh = visitor(viewport=low).open(ATTENTION + "?step=weights&temperature=10")
    there = fresh.page.locator("[data-key=tour] canvas").first
    there.scroll_into_view_if_needed()
    assert there.evaluate("c => c.toDataURL()") == canvas.evaluate("c => c.toDataURL()")
    visit.check()


def test_what_is_printed_has_followed_too(visitor):
    page = (visit := visitor(viewport={"width": 1280, "height": 420}).open(ATTENTION + "?step=weights")).page
    canvas = page.locator("[data-key=tour] canvas").first
    before = canvas.evaluate("c => c.toDataURL()")
    slider = visit.signature().locator("input[type=range]")
    slider.evaluate("e => { e.value = e.max; e.dispatchEvent(new Event('input', { bubbles: true })); }")
    assert canvas.evaluate("c => c.toDataURL()") == before, "far from the screen"
    page.evaluate("() => void dispatchEvent(new Event('beforeprint'))")
    assert canvas.evaluate("c => c.toDataURL()") != before
    visit.check()


def test_a_link_means_the_same_above_and_below(visit):
    """A click in the map is told to the two ways of cutting; a click in their list is told to the map."""
    page = visit.open(ATTENTION + "?depth=all&ranking=true").page
    page.get_by_role("button", name=re.compile("4.4")).click()
    page.get_by_text(re.compile("no longer reads .* in head 4.4")).wait_for()
    page.get_by_text(re.compile(r"block 4 · head 4")).wait_for()
    visit.settle()
    stage = visit.signature().locator(".stage")
    stage.focus()
    for key in ("ArrowLeft", "Home", *["ArrowRight"] * 3, "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(re.compile("cell=13(,|%2C)3(&|$)"))
    page.get_by_text("Here “to” no longer reads “Amy” in head 4.4").wait_for()
    visit.check()


def test_a_slider_that_needs_torch_streams_while_it_moves(visit):
    page = visit.open("/attention?source=random").page
    dial = page.locator("input[data-slider=tau]")
    page.evaluate(WATCH)
    visit.signature().locator("canvas").first.evaluate(PICTURES)
    drag(page, dial, 0.5, 0.95, release=False)
    page.wait_for_function("() => new Set(window.__pictures).size >= 3")
    assert "tau=" not in page.url, "only where it rests it goes into the URL"
    page.mouse.up()
    page.wait_for_url(re.compile(r"tau=\d"))
    shown = float(dial.evaluate("d => d.closest('label').querySelector('output').textContent"))
    assert float(re.search(r"tau=([\d.]+)", page.url)[1]) == pytest.approx(shown, abs=0.01)
    visit.settle()
    visit.check()


def test_the_keyboard_reaches_the_slider_and_commits_once_it_rests(visit):
    page = visit.open(ATTENTION).page
    slider = visit.signature().locator("input[type=range]")
    slider.focus()
    page.evaluate(WATCH)
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"temperature=1\.6"))
    assert page.evaluate("window.__sent.length") == 1
    assert slider.get_attribute("aria-label") == "Temperature"
    assert slider.get_attribute("aria-valuetext") == "1.62"
    visit.check()


def test_up_to_256_tokens_stay_fluid_and_true(visit):
    words = "+".join(["The+cat+sat+on+the+mat."] * 60)
    page = visit.open(f"{ATTENTION}?words={words}").page
    page.get_by_text("at most 256 tokens").wait_for()
    visit.signature().locator("canvas").first.evaluate(PICTURES)
    drag(page, visit.signature().locator("input[type=range]"), 0.5, 0.1)
    assert page.evaluate("new Set(window.__pictures).size") >= 15
    visit.settle()
    visit.check()


def test_a_picture_says_what_it_shows_now(visit):
    """The description is that of the frame under the slider, not that of the first."""
    page = visit.open(ATTENTION).page
    reading = text.read(text.SENTENCE)
    frames = head.frames(head.Demo(text.of(reading)), "weights").values
    slider, canvas = visit.signature().locator("input[type=range]"), visit.signature().locator("canvas").first
    for stop in (48, 0):
        slider.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('input', { bubbles: true })); }", stop)
        shown = visit.signature().locator("output").inner_text()
        wait = "([canvas, shown]) => canvas.getAttribute('aria-label').includes(' ' + shown + '.')"
        page.wait_for_function(wait, arg=[canvas.element_handle(), shown])
        told = canvas.get_attribute("aria-label")
        assert told.endswith(f"{frames[stop].max():.3f}"), (told, stop)
    visit.check()


def test_the_tooltip_of_a_cut_cell_tells_its_new_weight(visit):
    page = visit.open(ATTENTION + "?layer=5&head=1").page
    stage, tip = visit.signature().locator(".stage"), visit.signature().locator(".tip")
    stage.focus()
    page.keyboard.press("ArrowLeft")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert tip.inner_text() != "to → Amy: 0"
    page.keyboard.press("Enter")
    page.wait_for_function("tip => tip.textContent === 'to → Amy: 0' && !tip.hidden", arg=tip.element_handle())
    visit.settle()
    visit.check()


# Pictures that are mounted where there is no room yet, as while a page arrives.
NO_ROOM = """
const sheet = Object.assign(new CSSStyleSheet(), { none: true });
sheet.replaceSync(`.stMain [data-testid^="stBidiComponent"] { width: 0 !important; min-width: 0 !important; overflow: hidden; }`);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
"""
ROOM = "document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheet.none)"
DRAWN = """() => {
  const hosts = [...document.querySelectorAll("*")].flatMap((e) => (e.shadowRoot ? [e.shadowRoot] : []));
  const canvas = hosts.map((root) => root.querySelector("[data-signature] canvas")).find(Boolean);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some(Boolean);
}"""


@pytest.mark.parametrize("path", ["/attention", "/softmax"])
def test_a_picture_without_room_follows_once_there_is_some(visitor, path):
    visit = visitor(viewport={"width": 1301, "height": 901})  # no other test's tab: its start stays changed
    visit.page.add_init_script(f"addEventListener('DOMContentLoaded', () => {{ {NO_ROOM} }})")
    page = visit.open(path, ready=".st-key-title h1").page
    move = "(s) => { s.value = s.max; s.dispatchEvent(new Event('input', { bubbles: true })); }"
    page.locator("[data-signature] input[type=range]").first.evaluate(move)
    visit.check()
    page.evaluate(ROOM)
    page.wait_for_function(DRAWN)
    visit.check()


# Another picture of the page answers that a hand is on its slider, at the fourth stop.
ANSWERS = """addEventListener('live-asks', ({ detail: name }) => {
  const stops = {stops};
  dispatchEvent(new CustomEvent('live-together', { detail: { from: null, name, stops, frame: 3 } }));
});"""


def test_a_picture_that_is_mounted_under_a_hand_follows_it(visitor):
    """It knows its numbers before it is told where the hand is."""
    visit = visitor(viewport={"width": 1302, "height": 902})
    visit.page.add_init_script(ANSWERS.replace("{stops}", str(len(head.TEMPERATURES))))
    visit.open(ATTENTION)
    for picture in (visit.signature(), visit.page.locator(".st-key-next .live")):
        expect(picture.locator("input[type=range]")).to_have_value("3")
    visit.check()
