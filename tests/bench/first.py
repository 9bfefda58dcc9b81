"""What a cold browser meets on every page: things to press, height, what moves while it comes, what travels, and the
slider of a slow laptop. `python -m tests.bench.first` prints the table alone, `python -m tests.bench.first why rope`
these rows of it.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, fields

from playwright.sync_api import Browser, Page, sync_playwright

from pages.shared import frame
from tests.bench import meter
from tests.browser.conftest import FLAGS, Server
from tests.browser.test_rooms import PRESSED
from tests.browser.weight import TELEPHONE, WIDE, Scales, settle, shift, watch

SLOW = 6  # times: a school's laptop


def column(said: str) -> str:
    """A field of the table, and what stands above it."""
    found: str = field(metadata={"said": said})
    return found


@dataclass(frozen=True)
class First:
    """One page at the depth "idea", but for `everything`, which is its socket with all that is shown at the other."""

    page: str = column("page")
    pressed: int = column("pressed")  # on the first screen, the menu apart
    tall: int = column("height, px")
    wide: float = column("shift wide")
    telephone: float = column("shift telephone")
    http: int = column("HTTP, kB")
    socket: int = column("socket idea, kB")
    everything: int = column("socket all, kB")
    picture: int = column("picture, px")  # from its top to its slider's end
    slowed: float | None = column("slowed p95, ms")  # its slider with the CPU slowed; None without one


@contextmanager
def cold(browser: Browser, url: str, screen: dict[str, int]) -> Iterator[tuple[Page, Scales]]:
    """The page, opened by a browser that has kept nothing, and all that it weighed until it was there."""
    context = browser.new_context(viewport=screen, locale="en-US")
    page = context.new_page()
    scales = Scales(page)
    watch(page)
    page.goto(url)
    page.locator(".live canvas").first.wait_for(timeout=60_000)
    page.wait_for_load_state("networkidle")
    settle(page)
    yield page, scales
    context.close()


def look(browser: Browser, url: str, name: str) -> First:
    with cold(browser, f"{url}/{name}?depth=all", WIDE) as (_page, scales):
        everything = scales.socket
    with cold(browser, f"{url}/{name}", TELEPHONE) as (page, _scales):
        telephone = shift(page)
    with cold(browser, f"{url}/{name}", WIDE) as (page, scales):
        http, socket, moved = scales.http, scales.socket, shift(page)
        pressed = len(page.evaluate(PRESSED, WIDE["height"]))
        tall = page.locator("[data-testid=stMainBlockContainer]").evaluate("e => e.scrollHeight")
        room = page.locator("[data-signature]" if name else ".live").first
        picture, slowed = int(room.bounding_box()["height"]), None
        if name:
            scales.wire.send("Emulation.setCPUThrottlingRate", {"rate": SLOW})
            slider, canvas = room.locator("input[type=range]"), room.locator("canvas").first
            slowed = meter.percentile(meter.keys(page, slider, canvas, n=12), 95)
    kilobytes = (one // 1000 for one in (http, socket, everything))
    return First(name or "home", pressed, tall, moved, telephone, *kilobytes, picture, slowed)


def table(browser: Browser, url: str, wanted: list[str] | None = None) -> list[First]:
    names = [("" if e.file == "01_home" else frame.topic_of(e.file)) for e in frame.entries()]
    found = []
    print("| " + " | ".join(one.metadata["said"] for one in fields(First)) + " |\n" + "|---" * len(fields(First)) + "|")
    for name in names:
        if wanted and (name or "home") not in wanted:
            continue
        found.append(look(browser, url, name))
        cells = (
            f"{x:.3f}" if isinstance(x, float) and x < 1 else f"{x:.0f}" if isinstance(x, float) else str(x)
            for x in astuple(found[-1])
        )
        print("| " + " | ".join(cells) + " |", flush=True)
    return found


def main() -> None:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "no Chromium found"
    server = Server()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        table(browser, server.url, sys.argv[1:])
        browser.close()
    server.stop()


if __name__ == "__main__":
    main()
