"""A running app and a real Chromium. Where there is no browser the tests fail; they never skip."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from tests.browser.weight import ARRIVED

ROOT = Path(__file__).parents[2]
# The first is Chromium without windows, which nobody sees here: the same engine for a seventh less CPU.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-sync",
    "--font-render-hinting=none",  # letters stand as they do in a browser with windows
    # Whoever else is asked is not found, and the browser says so as an error.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


# Nothing is on its way: what fades in or out is read at its end, not in between.
CALM = """() => document.getAnimations().every((a) => a.playState !== 'running'
  || a.effect?.getComputedTiming().endTime === Infinity)"""


# What Back does in an address that was left behind: the server is told of another page and its words.
TURN = """(address) => {
  history.pushState(null, '', address);
  dispatchEvent(new PopStateEvent('popstate', { state: null }));
}"""


class Server:
    """`streamlit run` on a port of its own; app.py with the repository's configuration unless told otherwise."""

    def __init__(self, app: Path = ROOT / "app.py", folder: str | Path = ROOT) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the server
        command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.headless", "true"]
        command += [
            "--server.address",
            "127.0.0.1",
            "--server.port",
            str(self.port),
        ]
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=self.log, stderr=subprocess.STDOUT, env=dict(os.environ)
        )
        self._wait()

    def _wait(self, patience: float = 60.0) -> None:
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except OSError as error:
                if self.process.poll() is not None or time.perf_counter() - self.started > patience:
                    raise RuntimeError(f"the app did not start: {self.output()}") from error
                self.process.poll()
                select_nothing(0.05)

    def output(self) -> str:
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def select_nothing(seconds: float) -> None:
    """Give way between two polls of a condition."""
    import select

    select.select([], [], [], seconds)


@pytest.fixture(scope="session")
def server():
    one = Server()
    yield one
    one.stop()


@pytest.fixture
def fresh_server():
    """A server nobody has talked to."""
    one = Server()
    yield one
    one.stop()


@pytest.fixture(scope="session")
def chromium():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert path, "no Chromium found: `apt-get install chromium`; these tests are never skipped"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """A page in the browser, and everything that went wrong while it was open."""

    def __init__(self, page, server: Server) -> None:
        self.page, self.server = page, server
        self.errors: list[str] = []
        self._listeners = {"console": self._console, "pageerror": self._page_error}
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def leave(self) -> None:
        """Forget everything: nothing of this visit is there for the next."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self.page.mouse.move(0, 0)
        self.page.goto("about:blank")

    def _page_error(self, error) -> None:
        self.errors.append(f"page error: {error}")

    def _console(self, message) -> None:
        # A deep link asks for these two under the page's path first (Streamlit's own, DESIGN section 7).
        own = ("/_stcore/health", "/_stcore/host-config")
        if message.type == "error" and not message.location.get("url", "").endswith(own):
            self.errors.append(f"{message.text} {message.location.get('url')}")

    def open(self, path: str = "/", ready: str = ".live canvas") -> Visit:
        self.page.goto(self.server.url + path)
        self.page.locator(f"{ready}, [data-testid='stException']").first.wait_for(timeout=60_000)
        self.settle()
        assert self.page.locator("[data-testid=stMain] button").count(), "tests look for things inside of it"
        assert self.page.locator("[data-testid='stException']").count() == 0, self.server.output()[-2000:]
        return self

    def turn(self, path: str, ready: str = ".live canvas") -> Visit:
        """As `open`, but to a page other than this one, as the browser's history goes there: in the same session, and
        without Streamlit's own start, which is half of what opening a page costs."""
        room, here = (urlsplit(url).path.strip("/") for url in (path, self.page.url))
        if room == here or not self.page.url.startswith(self.server.url):
            return self.open(path, ready)
        self.page.evaluate(TURN, path)
        ending = f".st-key-ending_{room}" if room else ".st-key-path"  # no other page has it
        self.page.locator(f"{ending}, [data-testid='stException']").first.wait_for(state="attached", timeout=60_000)
        self.settle()
        assert self.page.locator("[data-testid='stException']").count() == 0, self.server.output()[-2000:]
        self.page.locator(ready).first.wait_for(timeout=60_000)
        return self

    def settle(self) -> None:
        """Until the script has run, no element is stale and nothing waits for what is still on its way."""
        self.page.wait_for_function(ARRIVED, timeout=60_000)

    def signature(self):
        return self.page.locator("[data-signature]")

    def check(self) -> None:
        """Nothing broke: no exception box, no console error; whoever else was asked for anything is one."""
        broken = self.page.locator("[data-testid='stException']").all_inner_texts()
        assert not broken, f"{self.page.url}\n{broken[0]}\n{self.server.output()[-3000:]}"
        torn = self.page.get_by_text("BidiComponent Error").locator("xpath=ancestor::*[4]").all_inner_texts()
        assert not torn, f"{self.page.url}\n{torn[0]}"
        assert self.errors == []


IDLE: dict[str, list] = {}
FULL = 30  # entries of a tab's history: beyond 50 a browser forgets the oldest, and nothing can be counted


@contextmanager
def visiting(chromium, server, **options):
    """A tab of its own for as long as the visit lasts. Tabs of equal options are used again, swept clean: a new one
    costs a second, in which Streamlit's scripts are compiled once more."""
    options = {"viewport": {"width": 1400, "height": 1000}, "locale": "en-US"} | options
    idle = IDLE.setdefault(repr(sorted(options.items())), [])
    page = idle.pop() if idle else chromium.new_context(**options).new_page()
    one = Visit(page, server)
    yield one
    full = page.evaluate("history.length") > FULL
    one.leave()
    if full:
        page.context.close()
    else:
        idle.append(page)


@pytest.fixture
def visit(chromium, server):
    with visiting(chromium, server) as one:
        yield one


@pytest.fixture(scope="module")
def _tabs(chromium, server):
    """A number and options -> the tab that all tests of a file share."""
    with ExitStack() as visits:
        opened: dict[str, Visit] = {}

        def of(number=1, **options):
            said = repr((number, sorted(options.items())))
            if said not in opened:
                opened[said] = visits.enter_context(visiting(chromium, server, **options))
            return opened[said]

        yield of


@pytest.fixture
def tab(_tabs):
    """tab(color_scheme="dark", ...): the one visit that the tests of a file share, for those that `turn` to a page which
    its address describes wholly; number: another visitor's. What went wrong before is another test's."""

    def of(number=1, **options):
        one = _tabs(number, **options)
        one.errors.clear()
        return one

    return of


@pytest.fixture
def visitor(chromium, server):
    """visitor(color_scheme="dark", ...): as many visits as a test needs."""
    with ExitStack() as visits:
        yield lambda of=None, **options: visits.enter_context(visiting(chromium, of or server, **options))
