"""What a page weighs, and how calmly it arrives: bytes over the socket and over HTTP, and what moves meanwhile.

The bench and the tests share it."""

from __future__ import annotations

from playwright.sync_api import Page

WIDE, TELEPHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
SHIFTS = """if (!("__shift" in window)) {
  window.__shift = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) window.__shift += one.value;
  }).observe({ type: "layout-shift", buffered: true });
}"""
ARRIVED = """() => document.querySelector('[data-test-script-state="notRunning"]')
  && !document.querySelector('[data-stale="true"], html[data-arriving]')"""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"


def watch(page: Page) -> None:
    """From the next page that is opened in this tab: how much moves, of what is seen, that no touch moved."""
    page.add_init_script(SHIFTS)


def settle(page: Page) -> None:
    """Until all is here, drawn and told."""
    page.wait_for_function(ARRIVED, timeout=60_000)
    page.evaluate(PAINTED)


def shift(page: Page) -> float:
    """The sum of all shifts since the page was opened."""
    settle(page)
    return float(page.evaluate("() => window.__shift"))


class Scales:
    """Bytes from now on: over the network, as they travel, and over the socket."""

    def __init__(self, page: Page) -> None:
        self.socket, self.http = 0, 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._received))
        self.wire = page.context.new_cdp_session(page)
        self.wire.send("Network.enable")
        self.wire.on("Network.loadingFinished", self._loaded)

    def _received(self, frame: str | bytes) -> None:
        self.socket += len(frame)

    def _loaded(self, event: dict) -> None:
        self.http += event["encodedDataLength"]
