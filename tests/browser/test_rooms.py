"""Every room, visited once on a projector and once on a telephone: what is there, who can use it, and what it does under
a hand. The tests of a visit go from looking to touching; each stands by itself, on a visit of its own too."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from pages.shared import frame
from tests.browser import weight
from tests.browser.conftest import visiting
from tests.browser.gestures import PICTURES, WATCH, drag, slider, stands, step, words
from tests.browser.test_pages import findings

ROOMS = [entry.file[3:] for entry in frame.entries() if entry.file != "01_home"]
EACH_ROOM = pytest.mark.parametrize("room", ROOMS, indirect=True)
EACH_PAGE = pytest.mark.parametrize("room", [*ROOMS, ""], indirect=True, ids=[*ROOMS, "home"])
EACH_PAGE_BY_HAND = pytest.mark.parametrize("held", [*ROOMS, ""], indirect=True, ids=[*ROOMS, "home"])
EACH_ROOM_BY_HAND = pytest.mark.parametrize("held", ROOMS, indirect=True)
TO_AND_FRO = ("attention", "norms", "exam")  # Forward, Back once more and a reload too
TALLEST = 2400  # px of a page at the depth "idea", 1,280 px wide
MOST = 16  # things to press on the first screen
MOVED = 0.1  # layout shift while a page arrives: the sum of all its entries

PRESSED = """(height) => {
  const found = [];
  const walk = (root) => {
    for (const e of root.querySelectorAll('*')) {
      if (e.shadowRoot) walk(e.shadowRoot);
      if (!e.matches('button, a[href], input, textarea, select, summary, [role=radio], [role=slider], [tabindex="0"]')) continue;
      const box = e.getBoundingClientRect();
      if (e.closest("[data-testid=stHeader], [hidden]") || !box.width || !box.height || box.top > height - 8) continue;
      if (e.matches('label *, button *') || getComputedStyle(e).visibility === 'hidden') continue;
      found.push(`${e.tagName} ${e.getAttribute('aria-label') ?? e.textContent}`.slice(0, 60));
    }
  };
  walk(document.querySelector('[data-testid=stMain]'));
  return found;
}"""


def opened(visit, room):
    return visit.open(f"/{room}", ready="[data-signature] canvas" if room else ".live canvas")


@pytest.fixture(scope="module")
def room(request, chromium, server):
    with visiting(chromium, server, viewport=weight.WIDE) as visit:
        weight.watch(visit.page)
        yield opened(visit, request.param)


@EACH_ROOM
def test_the_first_screen_holds_the_picture_its_slider_and_little_else(room):
    page = room.page
    assert room.signature().count() == 1, "one picture is the page's signature"
    picture, dial = page.locator("[data-signature] canvas").first, page.locator("[data-signature] input[type=range]")
    assert dial.count() == 1
    low = max(box["y"] + box["height"] for box in (picture.bounding_box(), dial.bounding_box()))
    assert low <= 720, "the picture and its slider stand wholly on the first screen"
    pressed = page.evaluate(PRESSED, 720)
    assert len(pressed) <= MOST, pressed


@EACH_PAGE
def test_nothing_moves_that_was_seen(room):
    assert weight.shift(room.page) <= MOVED


@EACH_ROOM
def test_the_idea_is_short(room):
    room.page.locator("[class*=st-key-ending_]").wait_for()
    room.settle()
    tall = room.page.locator("[data-testid=stMainBlockContainer]").evaluate("e => e.scrollHeight")
    assert tall <= TALLEST, tall


@EACH_PAGE
def test_charts_and_pictures_have_a_text(room):
    for canvas in room.page.locator(".live canvas").all():
        assert canvas.get_attribute("aria-label"), "a picture without words"
        assert canvas.get_attribute("role") in ("img", "application"), "application where keys carry what is drawn"


def too_wide(page):
    """What can be scrolled sideways or is cut off, inside the pictures too, but for code, formulas and tables, which
    Streamlit lets scroll on their own, and the map and the matrices that say that they scroll."""
    over = page.evaluate(
        """() => {
          const found = [];
          const look = (root, inside) => {
            for (const e of [...(inside ? [] : [root]), ...root.querySelectorAll('*')]) {
              if (e.shadowRoot) look(e.shadowRoot, true);
              const scrolls = ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
              if (e.scrollWidth <= e.clientWidth + 2 || !e.clientWidth || !(inside || scrolls)) continue;
              if (e.closest('pre, .katex, .katex-display, .unseen, .scroll, .stage.wide, .titles') || e.querySelector('table')) continue;
              found.push([e.tagName, e.className.toString().slice(0, 60), e.scrollWidth, e.clientWidth]);
            }
          };
          look(document.querySelector('[data-testid=stMain]'), false);
          return found;
        }"""
    )
    return [row for row in over if "stHorizontalBlock" not in row[1]]


@EACH_PAGE
def test_nothing_is_wider_than_the_screen(room):
    assert too_wide(room.page) == []
    assert room.page.evaluate("document.documentElement.scrollWidth") <= 1280


@EACH_PAGE
def test_no_accessibility_violation(room):
    assert findings(room.page) == []
    room.check()


@EACH_PAGE
def test_every_control_is_reached_from_the_keyboard(room):
    """Tab visits every slider, button, input and picture of the page, and never gets stuck."""
    wanted = """() => {
      const found = window.__wanted = new Set();
      const walk = (root) => {
        root.addEventListener('focusin', (event) => found.delete(event.composedPath()[0]));  // heard in each root alone
        for (const e of root.querySelectorAll('*')) {
          if (e.matches('.live [tabindex="0"], .live input, .live button') && e.getClientRects().length) found.add(e);
          if (e.shadowRoot) walk(e.shadowRoot);
        }
      };
      walk(document);
      return found.size;
    }"""
    assert room.page.evaluate(wanted) > 0
    left = "window.__wanted.size"
    for _ in range(40):
        for _ in range(10):
            room.page.keyboard.press("Tab")
        if room.page.evaluate(left) == 0:
            break
    assert room.page.evaluate(left) == 0


@EACH_ROOM
def test_the_picture_follows_the_finger(room):
    """It moves while it is dragged, and the server hears nothing before the finger is lifted; then the address says it."""
    page, signature = room.page, room.signature()
    dial, canvas = slider(page), signature.locator("canvas").first
    assert dial.get_attribute("data-slider")
    assert signature.get_attribute("data-quantity")
    signature.evaluate("e => e.scrollIntoView({ block: 'end' })")
    stops = int(dial.get_attribute("max")) + 1
    page.evaluate(WATCH)
    canvas.evaluate(PICTURES)
    away = (0.02, 0.98) if int(dial.input_value()) < 0.9 * stops else (0.98, 0.02)  # from where it rests
    drag(page, dial, *away, moves=24, release=False)
    sent, drawn = page.evaluate("window.__watching = false, [window.__sent.length, window.__pictures.length - 1]")
    page.mouse.up()
    assert sent == 0, "a drag is no business of the server"
    assert drawn >= min(12, 0.7 * (stops - 1)), f"{drawn} pictures of {stops} stops"
    page.wait_for_url(re.compile(dial.get_attribute("data-slider") + "="))
    room.settle()
    room.check()


@EACH_ROOM
def test_a_guess_moves_nothing_and_is_in_no_link(room):
    page = room.page
    step(room)
    left, at = words(page), stands(page)
    guesses = page.locator("[data-testid=stMain] [data-testid=stButtonGroup]").filter(
        has_text=re.compile("I don.t know")
    )
    if not guesses.count():
        pytest.fail("no guess on this page")
    guesses.first.get_by_role("radio").first.click()
    page.locator("[class*=st-key-verdict_]").first.wait_for()
    room.settle()
    assert words(page) == left
    assert stands(page) == at
    room.check()


@EACH_ROOM
def test_back_forward_and_reload_restore_the_page(room):
    """One entry of the history a page; Streamlit's own account of Back (`is_history_navigation`) is guarded here. What
    Forward does is no business of a page's own; what a link opens is compared on every page in test_rest.py."""
    page, here = room.page, re.compile(re.escape(room.page.url.partition("?")[0]))
    entries = page.evaluate("history.length")
    step(room)
    left, at = words(page), stands(page)
    assert page.evaluate("history.length") == entries
    name = urlsplit(page.url).path.strip("/")
    other = "ledger" if name != "ledger" else "softmax"

    def left_for_another():
        page.wait_for_url(f"**/{other}**")
        page.locator(f".st-key-ending_{other}").wait_for(state="attached")
        room.settle()

    def restored():
        page.wait_for_url(here)
        page.locator(f".st-key-ending_{name}").wait_for(state="attached")
        expect(slider(page)).to_have_attribute("aria-valuetext", at, timeout=60_000)
        room.settle()

    page.locator(f"[data-testid=stSidebarNav] a[href$='/{other}']").click()
    left_for_another()
    assert page.evaluate("history.length") == entries + 1
    page.go_back()
    restored()
    assert words(page) == left
    room.check()
    if not page.url.startswith(tuple(f"{room.server.url}/{one}?" for one in TO_AND_FRO)):
        return
    page.go_forward()
    left_for_another()
    page.go_back()
    restored()
    page.reload()
    restored()
    assert words(page) == left
    room.check()


# ---- the same on a telephone ----


@pytest.fixture(scope="module")
def held(request, chromium, server):
    with visiting(chromium, server, viewport=weight.TELEPHONE) as visit:
        weight.watch(visit.page)
        yield opened(visit, request.param)


@EACH_PAGE_BY_HAND
def test_nothing_moves_that_was_seen_on_a_telephone(held):
    assert weight.shift(held.page) <= MOVED


@EACH_ROOM_BY_HAND
def test_a_telephone_shows_picture_and_slider_at_once(held):
    picture, dial = held.page.locator("[data-signature] canvas").first, slider(held.page)
    top, low = picture.bounding_box()["y"], dial.bounding_box()["y"] + dial.bounding_box()["height"]
    assert low - top <= 844 - 60, "what the finger moves is seen while it moves"


@EACH_PAGE_BY_HAND
def test_nothing_is_wider_than_a_telephone(held):
    assert too_wide(held.page) == []
    assert held.page.evaluate("document.documentElement.scrollWidth") <= 390
    held.check()
