"""`make pictures`: the README's two pictures and Home's experiments, taken from the running app.

`assets/experiments/`: what each experiment of Home shows once it is done, in both languages, light and dark.
`assets/pages.webp`: the first screen of every page. `assets/moving.webp`: the slider of every page's own picture, dragged
there and back. Both are made of whatever pages there are, so they are made again whenever a page looks different.
"""

from __future__ import annotations

import io
import itertools
import math
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlencode

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Browser, Page, sync_playwright

from pages.parts.home.path import EXPERIMENTS, picture
from pages.shared import frame
from pages.shared.text import LANGUAGES
from tests.browser.conftest import FLAGS, ROOT, Server

SCREEN = {"width": 1280, "height": 720}
TALL = {"width": 1280, "height": 1100}  # no signature is taller
CLIP = {"x": 280, "y": 48, "width": 1000, "height": 700}  # the page without its menu and its bar
FRAME = (640, 488)  # of the animation: a line of words, then the clip
LINE = 40
STEPS, MS, REST = 8, 150, 900  # frames of the whole track, milliseconds of each, and of a page's last
PRESSED = {"01_home": "Amy"}  # Home shows its map to who has guessed
WIDE, TALLEST = 300, 0.62  # px an experiment's picture is shown, and its height at most, in widths
MOST = 2_600_000  # bytes of the animation
PATIENCE = 180_000  # ms; the machine may be busy
INK, PAPER, HAND = "#111111", "#f3f5f9", "#c2410c"
READY = """() => document.querySelector('[data-test-script-state="notRunning"]')
    && !document.querySelector('[data-stale="true"]')"""
STILL = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
TOP = "(e) => { e.style.scrollMarginTop = '60px'; e.scrollIntoView({ block: 'start', behavior: 'instant' }); }"


def visit(page: Page, url: str, entry: frame.Entry) -> None:
    """The page, drawn to its end."""
    page.goto(f"{url}/{'' if entry.file == '01_home' else entry.file[3:]}")
    page.locator(".live canvas").first.wait_for()
    page.wait_for_load_state("networkidle")
    if name := PRESSED.get(entry.file):
        page.get_by_role("button", name=name, exact=True).or_(page.get_by_role("radio", name=name)).first.click()
    at_rest(page)


def at_rest(page: Page) -> None:
    """Until the script has run and two screens in a row are alike."""
    before = None
    for _ in range(40):
        page.wait_for_function(READY)
        page.evaluate("() => new Promise(done => setTimeout(done, 250))")
        now = page.screenshot()
        if now == before:
            return
        before = now
    raise RuntimeError(f"{page.url} does not come to rest")


def shot(page: Page, **options: object) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot(animations="disabled", **options))).convert("RGB")


def sheet(shots: list[Image.Image], columns: int = 3, gap: int = 12) -> Image.Image:
    """All screens on one sheet, row by row; a last row that is short stands in the middle."""
    width, height = 480, 270
    rows = math.ceil(len(shots) / columns)
    whole = Image.new("RGB", (columns * (width + gap) + gap, rows * (height + gap) + gap), PAPER)
    for i, one in enumerate(shots):
        row, column = divmod(i, columns)
        short = columns - (len(shots) - row * columns if row == rows - 1 else columns)
        x = gap + int((column + short / 2) * (width + gap))
        whole.paste(one.resize((width, height), Image.Resampling.LANCZOS), (x, gap + row * (height + gap)))
    return whole


def framed(picture: Image.Image, words: str, hand: tuple[float, float]) -> Image.Image:
    """One frame of the animation: what the page asks, the picture, and where the hand is."""
    whole = Image.new("RGB", FRAME, PAPER)
    pen = ImageDraw.Draw(whole)
    pen.text((12, LINE // 2), words, INK, ImageFont.load_default(18), anchor="lm")
    scale = FRAME[0] / picture.width
    small = picture.resize((FRAME[0], round(picture.height * scale)), Image.Resampling.LANCZOS)
    whole.paste(small, (0, LINE))
    x, y = hand[0] * scale, hand[1] * scale + LINE
    pen.ellipse((x - 9, y - 9, x + 9, y + 9), outline=HAND, width=3)
    return whole


def dragged(page: Page, words: str) -> Iterator[Image.Image]:
    """The signature's slider from where it stands to both ends and back."""
    page.locator("[data-signature]").first.evaluate(TOP)
    at_rest(page)
    slider = page.locator("[data-signature] input[type=range]").first
    box = slider.bounding_box()
    low, high, now = (float(slider.evaluate(f"e => e.{of}")) for of in ("min", "max", "value"))
    start = (now - low) / (high - low)
    y = box["y"] + box["height"] / 2
    ways = [0.04, 0.96, start] if start > 0.5 else [0.96, 0.04, start]
    at = start
    page.mouse.move(box["x"] + box["width"] * at, y)
    page.mouse.down()
    for goal in ways:
        steps = max(2, round(STEPS * abs(goal - at)))
        for i in range(1, steps + 1):
            x = box["x"] + box["width"] * (at + (goal - at) * i / steps)
            page.mouse.move(x, y)
            page.evaluate(STILL)
            yield framed(shot(page, clip=CLIP), words, (x - CLIP["x"], y - CLIP["y"]))
        at = goal
    page.mouse.up()


def experiments(browser: Browser, url: str) -> None:
    """What Home shows of each experiment, as a visitor sees it who has done it."""
    for language, theme in itertools.product(LANGUAGES, ("light", "dark")):
        page = browser.new_context(viewport=SCREEN, locale="en-US", color_scheme=theme).new_page()
        page.set_default_timeout(PATIENCE)
        for one in EXPERIMENTS:
            page.goto(f"{url}/{one.file[3:]}?{urlencode(one.done | {'lang': language})}")
            page.locator("[data-signature] canvas").first.wait_for()
            page.wait_for_load_state("networkidle")
            at_rest(page)
            box = page.locator("[data-signature] .picture").first.bounding_box()
            small = shot(page, clip=box | {"height": min(box["height"], box["width"] * TALLEST)})
            small.thumbnail((2 * WIDE, 2 * WIDE), Image.Resampling.LANCZOS)
            file = picture(one, language, theme == "dark")
            file.parent.mkdir(exist_ok=True)
            small.save(file, quality=70, method=6)
            print(file.name, small.size, f"{file.stat().st_size} bytes", flush=True)
        page.context.close()


def main() -> None:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "no Chromium found"
    with ExitStack() as ends, sync_playwright() as playwright:
        server = Server()
        ends.callback(server.stop)
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        experiments(browser, server.url)
        page = browser.new_context(viewport=SCREEN, locale="en-US", color_scheme="light").new_page()
        page.set_default_timeout(PATIENCE)
        screens, frames, holds = taken(page, server.url)
        browser.close()
    sheet(screens).save(ROOT / "assets" / "pages.webp", quality=80, method=6)
    moving = animation(frames, holds)
    (ROOT / "assets" / "moving.webp").write_bytes(moving)
    print(f"assets/moving.webp: {len(frames)} frames, {len(moving) / 1e6:.2f} MB")


def taken(page: Page, url: str) -> tuple[list[Image.Image], list[Image.Image], list[int]]:
    """Every page's first screen, the frames of all drags, and how long each stands, in ms."""
    screens, frames, holds = [], [], []
    for entry in frame.entries():
        print(entry.file, flush=True)
        page.set_viewport_size(SCREEN)
        visit(page, url, entry)
        screens.append(shot(page))
        if page.locator("[data-signature] input[type=range]").count():
            page.set_viewport_size(TALL)
            new = list(dragged(page, entry.asks))
            frames += new
            holds += [MS] * (len(new) - 1) + [REST]
    return screens, frames, holds


def animation(frames: list[Image.Image], holds: list[int]) -> bytes:
    """As WebP, as fine as fits."""
    for quality in (60, 45, 30, 15):
        whole = io.BytesIO()
        frames[0].save(whole, "webp", save_all=True, append_images=frames[1:], duration=holds, loop=0, quality=quality)
        if whole.tell() <= MOST:
            return whole.getvalue()
    raise RuntimeError(f"{len(frames)} frames take more than {MOST} bytes")


if __name__ == "__main__":
    main()
