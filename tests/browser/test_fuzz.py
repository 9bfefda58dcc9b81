"""Twenty seconds of a visitor who does anything at all, mostly in one session: the menu, Back and Forward too.

The seed is printed; set FUZZ_SEED to repeat.
"""

import os
import random
import time
from collections import Counter
from urllib.parse import quote

import pytest

from pages.shared import frame
from pages.shared.words import WORDS

PAGES = [("" if e.file == "01_home" else e.file[3:]) for e in frame.entries()]
TEXTS = [
    "",
    " ",
    "Sam",
    "<b>x</b>",
    "你好",
    "🙂" * 40,
    "$x$ **y** :z:",
    "a\x00b",
    "The cat " * 90,
    "\u202eabc",
    "1 2\n3 4",
    "-1e9",
]
KEYS = ["Tab", "Enter", "Space", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Escape", "Home", "End", "PageDown"]
VALUES = ["", "-1", "0", "1", "3,2", "nan", "true", "false", "zh", "en", "z", "random", "hand", "all", "512", "x" * 50]
SECONDS = 20


def act(page, chance):
    """One thing a hand could do; its kind, or None where the page had nothing for it."""
    kind = chance.choice(["click", "click", "key", "drag", "type", "point", "menu", "back", "forward"])
    width, height = 1400, 1000
    if kind == "key":
        for _ in range(chance.randint(1, 6)):
            page.keyboard.press(chance.choice(KEYS))
    elif kind == "menu":
        rooms = page.locator("[data-testid=stSidebarNav] a")
        n = rooms.count()
        if not n:
            return None
        rooms.nth(chance.randrange(n)).click(timeout=1500, no_wait_after=True)
    elif kind in ("back", "forward"):
        if not page.evaluate("(kind) => kind === 'back' ? navigation.canGoBack : navigation.canGoForward", kind):
            return None  # beyond it lies another site
        page.evaluate("(steps) => history.go(steps)", -1 if kind == "back" else 1)
    elif kind == "click":
        targets = page.locator(
            "[data-testid=stMain] button:visible, [data-testid=stMain] input:visible, [data-testid=stMain] summary:visible"
        )
        n = targets.count()
        if not n:
            return None
        targets.nth(chance.randrange(n)).click(timeout=1500, force=True, no_wait_after=True)
    elif kind == "type":
        boxes = page.locator("[data-testid=stMain] textarea:visible, [data-testid=stMain] input[type=text]:visible")
        n = boxes.count()
        if not n:
            return None
        box = boxes.nth(chance.randrange(n))
        box.fill(chance.choice(TEXTS), timeout=1500)
        box.press("Enter", timeout=1500)
    elif kind == "drag":
        page.mouse.move(chance.randrange(260, width), chance.randrange(height))
        page.mouse.down()
        page.mouse.move(chance.randrange(260, width), chance.randrange(height), steps=8)
        page.mouse.up()
    else:
        page.mouse.click(chance.randrange(260, width), chance.randrange(height))
    return kind


def open_link(visit, chance, keys):
    """Any page with any words, fitting or not."""
    query = "&".join(f"{chance.choice(keys)}={quote(chance.choice(VALUES))}" for _ in range(chance.randint(0, 4)))
    visit.open(f"/{chance.choice(PAGES)}?{query}")


def hasty(error):
    """A file asked for and then, before it came, another act: Streamlit has thrown it away by then."""
    return "/media/" in error or "Download Button source error" in error


@pytest.mark.long
def test_nothing_a_visitor_does_breaks_a_page(visitor):
    from playwright.sync_api import Error

    seed = int(os.environ.get("FUZZ_SEED", random.SystemRandom().randrange(10**6)))
    print(f"\nfuzz seed {seed}")
    chance = random.Random(seed)
    visit = visitor(accept_downloads=True)
    keys = sorted(WORDS)
    end, done, refused = time.monotonic() + SECONDS, Counter(), 0
    visit.open("/")
    while time.monotonic() < end:
        if chance.random() < 0.3:  # a link from outside: another session
            open_link(visit, chance, keys)
        for _ in range(chance.randint(3, 8)):
            try:
                done[act(visit.page, chance)] += 1
            except Error:  # the target went away while the hand moved: nothing was done
                refused += 1
        visit.settle()
        visit.errors[:] = [error for error in visit.errors if not hasty(error)]
        visit.check()
    print(dict(done), f"{refused} refused")
    assert sum(done.values()) > 20, "too little was done to prove anything"
    assert done["click"] > 2
    assert done[None] + refused < sum(done.values()) / 2
