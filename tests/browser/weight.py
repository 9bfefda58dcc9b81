"""What a page weighs, and how calmly it arrives: bytes over the socket and over HTTP, and what moves meanwhile."""

from __future__ import annotations

from playwright.sync_api import Page, WebSocket

WIDE, TELEPHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
SHIFTS = """window.__shift = 0; new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.__shift += one.value;
}).observe({ type: "layout-shift", buffered: true });"""
ARRIVED = """() => document.querySelector('[data-test-script-state="notRunning"]')
  && !document.querySelector('[data-stale="true"], html[data-arriving]')"""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"


class Scales:
    """Counts from when it is made: put a page on it before it is opened, one that no other visit was on."""

    def __init__(self, page: Page) -> None:
        self.page, self.socket, self.http = page, 0, 0
        page.add_init_script(SHIFTS)
        page.on("websocket", self._heard)
        self.wire = page.context.new_cdp_session(page)
        self.wire.send("Network.enable")
        self.wire.on("Network.loadingFinished", self._loaded)

    def _heard(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._received)

    def _received(self, frame: str | bytes) -> None:
        self.socket += len(frame.encode() if isinstance(frame, str) else frame)

    def _loaded(self, event: dict) -> None:
        self.http += event["encodedDataLength"]

    def settle(self) -> None:
        """Until all is here, drawn and told."""
        self.page.wait_for_function(ARRIVED, timeout=60_000)
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate(PAINTED)

    @property
    def shift(self) -> float:
        """The sum of all shifts so far that followed no touch."""
        return self.page.evaluate("() => window.__shift")
