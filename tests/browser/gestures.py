"""What a hand does, and what can be seen of a picture while it does it."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

WATCH = """
() => {
  const sent = (window.__sent = []);
  if (!window.__socket) {
    window.__socket = WebSocket.prototype.send;
    WebSocket.prototype.send = function (data) { window.__sent.push(performance.now()); return window.__socket.call(this, data); };
  }
}
"""

PICTURES = """
(canvas) => {
  const seen = (window.__pictures = []);
  const small = document.createElement('canvas');
  small.width = small.height = 48;
  const pen = small.getContext('2d', { willReadFrequently: true });
  let last = '';
  window.__watching = true;
  const look = () => {
    pen.clearRect(0, 0, 48, 48);
    pen.drawImage(canvas, 0, 0, 48, 48);
    let hash = 7;
    for (const b of pen.getImageData(0, 0, 48, 48).data) hash = Math.imul(hash ^ b, 16777619);
    if (hash !== last) seen.push(hash);
    last = hash;
    if (window.__watching) requestAnimationFrame(look);
  };
  look();
}
"""


def deep(page, selector):
    """Playwright pierces open shadow roots by itself."""
    return page.locator(selector).first


def drag(page, slider, start: float, end: float, moves: int = 30, *, release: bool = True) -> None:
    """Drag a range input from one part of its track to another, one mouse move a frame."""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * start, y)
    page.mouse.down()
    for i in range(1, moves + 1):
        page.mouse.move(box["x"] + box["width"] * (start + (end - start) * i / moves), y)
        page.evaluate("() => new Promise(requestAnimationFrame)")
    if release:
        page.mouse.up()


def leads(visit, follower) -> None:
    """The signature's slider, dragged and not let go, moves another picture too, and the server hears nothing."""
    follower.wait_for()
    visit.page.evaluate(WATCH)
    follower.evaluate(PICTURES)
    drag(visit.page, visit.signature().locator("input[type=range]"), 0.02, 0.5, release=False)
    assert visit.page.evaluate("new Set(window.__pictures).size") >= 8, "it follows"
    assert visit.page.evaluate("window.__sent.length") == 0
    visit.page.mouse.up()
    visit.settle()


def slider(page):
    return page.locator("[data-signature] input[type=range]").first


def stands(page):
    """Where the signature's slider stands, as it is spoken."""
    return slider(page).get_attribute("aria-valuetext")


def words(page):
    return {word: said[0] for word, said in parse_qs(urlsplit(page.url).query).items()}


def step(visit):
    """Move the signature's slider by one key, towards where there is room; until the address says so. One: of several,
    a busy machine may tell the server the first before the second is pressed."""
    page, before = visit.page, words(visit.page)
    dial = slider(page)
    dial.press("ArrowLeft" if int(dial.input_value()) > int(dial.get_attribute("max")) / 2 else "ArrowRight")
    page.wait_for_function(
        "(before) => location.search !== before", arg=urlsplit(page.url).query and "?" + urlsplit(page.url).query
    )
    visit.settle()
    assert words(page) != before


OPEN_ALL = """async () => {
  for (const summary of document.querySelectorAll('details:not([open]) > summary')) {
    summary.click();
    for (let frame = 0; frame < 6; frame++) await new Promise(requestAnimationFrame);  // no hand is faster
  }
}"""
FILLED = """() => [...document.querySelectorAll('details:has(> summary)')]
  .every((e) => e.open && e.innerText.length > e.querySelector('summary').innerText.length + 9)"""


def open_all(visit) -> None:
    """Open every fold of a page, a tenth of a second after the other and so faster than it is drawn, until each is filled."""
    visit.page.evaluate(OPEN_ALL)
    visit.page.wait_for_function(FILLED)
    visit.settle()
