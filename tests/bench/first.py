"""What a cold browser meets on every page: things to press, height, what moves while it comes, what travels, and the
slider of a slow laptop. `python -m tests.bench.first` prints the table alone.
"""

from __future__ import annotations

import shutil
from dataclasses import astuple, dataclass, fields

from playwright.sync_api import Browser, sync_playwright

from pages.shared import frame
from tests.bench import meter
from tests.browser.conftest import FLAGS, Server
from tests.browser.test_spine import PRESSED

SCREEN = {"width": 1280, "height": 720}
SLOW = 6  # times: a school's laptop
SHIFTS = """window.__shift = 0; new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.__shift += one.value;
}).observe({ type: "layout-shift", buffered: true });"""
READY = """() => document.querySelector('[data-test-script-state="notRunning"]')
    && !document.querySelector('[data-stale="true"]')"""


@dataclass(frozen=True)
class First:
    """One page. pressed: on the first screen, the menu apart; tall: px; kilobytes: over HTTP, and over the socket;
    picture: px from the picture's top to its slider's end; slowed: p95 in ms with the CPU slowed, None without a slider."""

    page: str
    pressed: int
    tall: int
    shift: float
    http: int
    socket: int
    picture: int
    slowed: float | None


def look(browser: Browser, url: str, name: str) -> First:
    """In a browser of its own that has kept nothing."""
    context = browser.new_context(viewport=SCREEN, locale="en-US")
    page = context.new_page()
    page.add_init_script(SHIFTS)
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    seen = {"http": 0, "socket": 0}
    wire.on("Network.loadingFinished", lambda e: seen.update(http=seen["http"] + e["encodedDataLength"]))
    wire.on(
        "Network.webSocketFrameReceived",
        lambda e: seen.update(socket=seen["socket"] + len(e["response"]["payloadData"])),
    )
    page.goto(f"{url}/{name}")
    room = page.locator("[data-signature]" if name else ".live").first
    room.locator("canvas").first.wait_for(timeout=60_000)
    page.wait_for_function(READY)
    page.wait_for_load_state("networkidle")
    pressed, shift = len(page.evaluate(PRESSED, SCREEN["height"])), page.evaluate("() => window.__shift")
    tall = page.locator("[data-testid=stMainBlockContainer]").evaluate("e => e.scrollHeight")
    picture, slowed = int(room.bounding_box()["height"]), None
    if name:
        wire.send("Emulation.setCPUThrottlingRate", {"rate": SLOW})
        slider, canvas = room.locator("input[type=range]"), room.locator("canvas").first
        slowed = meter.percentile(meter.keys(page, slider, canvas, n=12), 95)
    context.close()
    return First(name or "home", pressed, tall, shift, seen["http"] // 1000, seen["socket"] // 1000, picture, slowed)


def table(browser: Browser, url: str) -> list[First]:
    names = [("" if e.file == "01_home" else frame.topic_of(e.file)) for e in frame.entries()]
    found = []
    print("| " + " | ".join(field.name for field in fields(First)) + " |\n" + "|---" * len(fields(First)) + "|")
    for name in names:
        found.append(look(browser, url, name))
        cells = (f"{x:.2f}" if isinstance(x, float) else str(x) for x in astuple(found[-1]))
        print("| " + " | ".join(cells) + " |", flush=True)
    return found


def main() -> None:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "no Chromium found"
    server = Server()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        table(browser, server.url)
        browser.close()
    server.stop()


if __name__ == "__main__":
    main()
