"""`make bench`: the rows of the budget table, for this app and for plain Streamlit, measured in one run.

Latencies are from the input event to the painted frame, in ms; loads are server-side. Nothing here is a test: timings
on a shared machine differ by a fifth from run to run.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from playwright.sync_api import sync_playwright

from tests.bench import first, load, meter
from tests.browser.conftest import FLAGS, ROOT, Server

ROWS: list[tuple[str, str, str, str, str]] = []


def row(what: str, ours: list[float], plain: list[float] | None = None, unit: str = "ms", budget: str = "") -> None:
    def said(values: list[float] | None) -> str:
        if not values:
            return ""
        if len(values) == 1:
            return f"{values[0]:.4g} {unit}"
        return f"{meter.percentile(values, 50):.0f} / {meter.percentile(values, 95):.0f} {unit} (n {len(values)})"

    ROWS.append((what, said(ours), said(plain), budget, ""))
    print(f"  {what}: {said(ours)}" + (f"   plain: {said(plain)}" if plain else ""), flush=True)


class Plain(Server):
    """The yardstick app, with Streamlit as it comes."""

    def __init__(self) -> None:
        self._home = tempfile.mkdtemp()
        super().__init__(ROOT / "tests" / "bench" / "plain.py", self._home)


def interactions(page, url: str, plain_url: str) -> None:
    page.goto(url + "/attention")
    canvas = page.locator("[data-signature] canvas").first
    canvas.wait_for(timeout=60_000)
    slider = page.locator("[data-signature] input[type=range]")
    ours = meter.keys(page, slider, canvas)
    drawn = meter.pictures_in_a_drag(page, slider, canvas)
    page.goto(plain_url)
    chart = page.locator(".js-plotly-plot").first
    chart.wait_for(timeout=60_000)
    knob = page.get_by_role("slider").first
    plain = meter.keys(page, knob, chart)
    row("signature slider, step to pixels", ours, plain, budget="17 / 33")
    row("pictures in a 30-move drag", [drawn], [meter.pictures_in_a_drag(page, knob, chart)], "", "28")

    page.goto(url + "/attention?source=random")
    canvas.wait_for(timeout=60_000)
    ours = meter.keys(page, page.locator("input[data-slider=tau]"), canvas)
    row("control that needs torch, step to pixels", ours, plain, budget="75 / 120")

    page.goto(url + "/attention")
    canvas.wait_for(timeout=60_000)
    words = page.locator("[data-quantity=next_probs] canvas").first
    words.wait_for()
    page.locator("[data-signature] .stage").focus()
    page.keyboard.press("ArrowRight")  # the cursor appears at the last row's first cell
    page.keyboard.press("ArrowRight")

    def point(i: int) -> None:
        for _ in range(2):
            page.keyboard.press("ArrowLeft" if i % 2 else "ArrowRight")

    row("a cell cut, to the next word's bars", meter.presses(page, words, point), budget="75 / 120")


def signatures(page, url: str) -> None:
    """Every page's own signature control."""
    for name in _pages():
        page.goto(f"{url}/{name}")
        signature = page.locator("[data-signature]")
        canvas, slider = signature.locator("canvas").first, signature.locator("input[type=range]")
        canvas.wait_for(timeout=60_000)
        page.wait_for_function("() => document.querySelector('[data-test-script-state=\"notRunning\"]')")
        row(f"/{name}: signature, step to pixels", meter.keys(page, slider, canvas, n=12), budget="17 / 33")
        row(f"/{name}: pictures in a 30-move drag", [meter.pictures_in_a_drag(page, slider, canvas)], unit="")


def _pages() -> list[str]:
    from pages.shared import frame

    return [e.file[3:] for e in frame.entries() if e.file != "01_home"]


# From the click to the frame in which the next page has its heading and a picture of its own.
ARRIVAL = """() => {
  const heading = () => document.querySelector("h1")?.textContent;
  const pictures = () => [...document.querySelectorAll("[data-drawn]")];
  const before = heading(), old = new WeakSet(pictures());
  window.__arrived = null;
  document.addEventListener("click", () => {
    const start = performance.now();
    const seen = (one) => !old.has(one) && one.checkVisibility({ visibilityProperty: true });
    const look = () => {
      if (heading() !== before && pictures().some(seen)) window.__arrived = performance.now() - start;
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, { capture: true, once: true });
}"""


def navigation(page, url: str) -> None:
    page.goto(url + "/attention")
    page.locator("[data-signature] canvas").first.wait_for(timeout=60_000)
    links = page.locator("[data-testid=stSidebarNavLink]")
    names = [name for name in links.all_inner_texts() if name.strip()]
    found = []
    for i in range(3 * len(names)):
        page.evaluate(ARRIVAL)
        links.filter(has_text=re.compile(f"^{re.escape(names[i % len(names)].strip())}$")).first.click()
        found.append(page.wait_for_function("() => window.__arrived", polling="raf").json_value())
        page.wait_for_function("() => document.querySelector('[data-test-script-state=\"notRunning\"]')")
    row("page to page, warm", found[len(names) :], budget="120 / ")


def cold(chromium) -> None:
    found = []
    for _ in range(3):
        server = Server()
        page = chromium.new_page()
        start = time.perf_counter()
        page.goto(server.url, wait_until="commit")
        page.locator(".live canvas").first.wait_for(timeout=60_000)
        found.append(1000 * (time.perf_counter() - start))
        page.close()
        server.stop()
    row("Home drawn after a cold server start", found, budget="1500")


def overview(page, url: str) -> None:
    start = time.perf_counter()
    page.goto(url + "/attention?words=The+moon+was+big+and+the+little+owl+was+not+sleepy.")
    page.locator("[data-quantity=weights]:not([data-signature]) canvas").first.wait_for(timeout=60_000)
    row("all heads at once, first picture of a new text", [1000 * (time.perf_counter() - start)], budget="1000")


def classes(server: Server, plain: Server) -> None:
    for users in (30, 60):
        ours = load.together(server.url, "attention", users, server.process.pid)
        theirs = load.together(plain.url, "", users, plain.process.pid)
        assert not ours.failed, "a page failed under load"
        row(f"{users} users, one release a second, server-side", ours.latencies, theirs.latencies, budget="p95 100")
        row(f"server CPU a release, {users} users", [ours.cpu_ms], [theirs.cpu_ms], budget="30")


def rooms(server: Server) -> None:
    """A class of thirty on every page, each letting go of its signature once a second."""
    for name in _pages():
        ours = load.together(server.url, name, 30, server.process.pid, seconds=6)
        assert not ours.failed, f"/{name} failed under load"
        row(f"/{name}: 30 users, one release a second, server-side", ours.latencies, budget="p95 100")
        row(f"/{name}: server CPU a release", [ours.cpu_ms], budget="30")


def writing(server: Server) -> None:
    """Thirty let the model write 256 tokens, one text after the other; ten others let go of a slider once a second."""
    beside = load.beside_writers(server.url, "attention", 10, 30)
    assert not beside.failed, "a page failed beside writers"
    row("beside 30 who let it write, a release, server-side", beside.latencies, budget="p95 300")
    row("texts of 256 tokens written meanwhile, 20 s", [beside.texts], unit="")


def memory(server: Server) -> None:
    import psutil

    from pages.shared import frame

    load.visit_all(server.url, [e.file[3:] if e.file != "01_home" else "" for e in frame.entries()], 60)
    row(
        "memory after 60 sessions on every page",
        [psutil.Process(server.process.pid).memory_info().rss / 1e6],
        unit="MB",
        budget="700",
    )


def forward() -> None:
    """core's traced pass against transformers' eager one with attentions and hidden states, in paired runs."""
    from transformers import AutoModelForCausalLM

    from core.lab import subject, text
    from core.trace import Trace

    torch.set_num_threads(2)
    theirs = AutoModelForCausalLM.from_pretrained(text.FOLDER, dtype=torch.float32, attn_implementation="eager").eval()
    ours = subject.model()
    for n in (14, 64, 256):
        ids = torch.randint(3, 30_000, (n,), generator=torch.Generator().manual_seed(n))
        pairs = []
        for _ in range(25):
            start = time.perf_counter()
            ours(ids, trace=Trace())
            middle = time.perf_counter()
            with torch.inference_mode():
                theirs(ids[None], output_attentions=True, output_hidden_states=True)
            pairs.append((middle - start, time.perf_counter() - middle))
        ratio = statistics.median(a / b for a, b in pairs[5:])
        a, b = (1000 * statistics.median(side) for side in zip(*pairs[5:], strict=True))
        ROWS.append(
            (f"traced forward, {n} tokens", f"{a:.1f} ms", f"transformers {b:.1f} ms", "1.0 x", f"{ratio:.2f} x")
        )
        print(f"  traced forward, {n} tokens: {a:.1f} ms, transformers {b:.1f} ms, ratio {ratio:.2f}", flush=True)


def table() -> None:
    print("\n| what | this app, p50 / p95 | plain st.slider + Plotly | goal | ratio |\n|---|---|---|---|---|")
    for cells in ROWS:
        print("| " + " | ".join(cells) + " |")


def main() -> None:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "no Chromium found"
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {_commit()}", flush=True)
    server, plain = Server(), Plain()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_context(viewport={"width": 1400, "height": 1000}, locale="en-US").new_page()
        page.set_default_timeout(60_000)
        interactions(page, server.url, plain.url)
        signatures(page, server.url)
        navigation(page, server.url)
        overview(page, server.url)
        page.close()
        cold(browser)
        first.table(browser, server.url)
        browser.close()
    classes(server, plain)
    rooms(server)
    writing(server)
    server.stop()
    plain.stop()
    server = Server()
    memory(server)
    server.stop()
    forward()
    table()


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=Path(ROOT), capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
