"""Of a release the server draws little, and still the page says what a link to it says."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from pages.shared import frame
from pages.shared.pictures import live
from tests.bench.load import Visitor
from tests.browser.gestures import drag, slider, stands, words

# Every page; of three the one look at which most parts speak of the same stop, so that the plain one shows nothing more.
MOST = {"attention": "&step=weights", "softmax": "&slope=0%2C1&closer=steps", "ledger": "&sharing=true"}
ROOMS = [entry.file[3:] for entry in frame.entries() if entry.file != "01_home"]
EVERY = [f"/{room}?depth=all{MOST.get(room, '')}" for room in ROOMS]
LOOKS = (  # where other parts of a page speak of the same stop
    "/attention?step=z&scaling=false",
    "/attention?step=scaled&scope=all",
    "/attention?depth=all&source=hand&step=z",
)
PATHS = [LOOKS[0], *EVERY[:8], LOOKS[1], *EVERY[8:12], LOOKS[2], *EVERY[12:]]  # another page between two of one: `turn`
SAYS = """
() => {
  const said = [];
  const read = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return void said.push(node.data.trim());
    if (!(node instanceof Element || node instanceof ShadowRoot) || node.matches?.('style, script, .unseen, .tip')) return;
    if (node.matches?.('canvas, input')) said.push(node.getAttribute('aria-label'), node.getAttribute('aria-valuetext'));
    for (const child of [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]) read(child);
  };
  read(document.querySelector('[data-testid=stMain]'));
  return said.filter(Boolean).join('\\n');
}
"""
LET_GO = """
(slider, part) => {
  const most = Number(slider.max), now = Number(slider.value);
  slider.value = Math.round((now > most / 2 ? 1 - part : part) * most);
  for (const kind of ['input', 'change']) slider.dispatchEvent(new Event(kind, { bubbles: true }));
}
"""


STILL = """
(says) => {
  const now = says();
  const [before, times] = window.__still ?? ["", 0];
  window.__still = [now, now === before ? times + 1 : 0];
  return window.__still[1] > 4 && now;
}
"""


def says(page):
    """All that the page says, once it says it for 0.3 s: what is spoken of a picture comes a little later (0.12)."""
    return page.wait_for_function(f"() => ({STILL})({SAYS})", polling=60).json_value()


def as_a_link_opens_it(visit, other=None):
    """The page says what it says once its address is opened anew, or by another visitor, who has never been there."""
    left, address = says(visit.page), words(visit.page)
    assert len(left) > 1000, "there is something to compare"
    if other is None:
        visit.page.reload()
        visit.signature().locator("canvas").first.wait_for()
        visit.settle()
    else:
        other.turn(visit.page.url.removeprefix(visit.server.url), ready="[data-signature] canvas")
    again = other or visit
    assert says(again.page) == left
    assert words(again.page) == address
    again.check()


def let_go(visit, part=0.8):
    """Leave the signature's slider at another stop, until the address says so."""
    before = visit.page.url
    slider(visit.page).evaluate(LET_GO, part)
    visit.page.wait_for_function("(before) => location.href !== before", arg=before)
    visit.settle()


@pytest.mark.parametrize("path", PATHS)
def test_a_release_leaves_what_a_link_opens(tab, path):
    visit = tab().turn(path, ready="[data-signature] canvas")
    let_go(visit)
    as_a_link_opens_it(visit, None if path in LOOKS else tab(number=2))


def test_a_link_that_is_cut_and_put_back_leaves_what_a_link_opens(visit):
    """The map, what is made of it and its links cut follow a click; in each of them a click concerns it alone."""
    page = visit.open("/attention?depth=all&step=weights", ready="[data-signature] canvas").page
    visit.signature().locator("canvas").first.click(position={"x": 120, "y": 200})
    page.wait_for_url(re.compile("cell="))
    visit.settle()
    as_a_link_opens_it(visit)
    page.locator(".st-key-tour canvas").first.click(position={"x": 120, "y": 100})
    page.wait_for_url(re.compile("origin="))
    visit.settle()
    as_a_link_opens_it(visit)
    page.get_by_role("button", name="Put it back").click()
    page.wait_for_function("() => !location.search.includes('cell=')")
    visit.settle()
    as_a_link_opens_it(visit)


@pytest.mark.parametrize("more", ["&step=masked", "&step=scaled&d_k=16"])
def test_a_dial_that_needs_core_leaves_what_a_link_opens(visit, more):
    page = visit.open(f"/attention?depth=all&source=random{more}", ready="[data-signature] canvas").page
    page.locator("input[data-slider=tau]").evaluate(LET_GO, 0.8)
    page.wait_for_url(re.compile("tau="))
    visit.settle()
    as_a_link_opens_it(visit)
    let_go(visit)  # the width: what was heated stays so
    assert "tau=" in page.url
    as_a_link_opens_it(visit)


DRAG = "(s) => { s.value = s.max; s.dispatchEvent(new Event('input', { bubbles: true })); }"


def test_a_drag_that_never_ends_leaves_nothing_behind(visit):
    """The hand is gone before it let go: the next thing that happens, a choice or another page, shows what the address
    says."""
    page = visit.open("/attention?source=random", ready="[data-signature] canvas").page
    picture = visit.signature().locator("canvas").first

    def dragged():
        calm = picture.get_attribute("aria-label")
        page.locator("input[data-slider=tau]").evaluate(DRAG)
        expect(picture).not_to_have_attribute("aria-label", calm)

    dragged()
    page.get_by_role("radio", name="3", exact=True).click()
    page.wait_for_url(re.compile("seed=3"))
    visit.settle()
    assert "tau" not in page.url
    as_a_link_opens_it(visit)
    dragged()
    page.get_by_role("link", name="Many heads, fewer keys").first.click()
    page.wait_for_url(re.compile("/heads"))
    visit.settle()
    page.go_back()
    page.wait_for_url(re.compile("/attention"))
    visit.settle()
    assert "tau" not in page.url
    as_a_link_opens_it(visit)


def test_what_python_changes_afterwards_reaches_every_picture(visit):
    """The slider stood at its default when they were last drawn, and an example takes it back there."""
    page = visit.open("/attention", ready="[data-signature] canvas").page
    dials = [page.locator(f".st-key-{key} input[type=range]") for key in ("picture", "next")]
    calm = dials[0].get_attribute("aria-valuetext")
    let_go(visit, 1.0)
    for dial in dials:
        expect(dial).not_to_have_attribute("aria-valuetext", calm)
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("button", name="Who gets the ball").click()
    page.wait_for_function("() => !location.search.includes('temperature')")
    for dial in dials:
        expect(dial).to_have_attribute("aria-valuetext", calm)
    visit.check()


def test_a_button_brings_back_every_picture_to_where_it_was_drawn(visit):
    """Under the hand they have moved away from there, and were not told of it."""
    page = visit.open("/ledger?depth=all&sharing=true", ready="[data-signature] canvas").page
    page.get_by_role("radio", name="a million or more").click()
    there = page.get_by_role("button", name="Go there")
    there.click()
    page.wait_for_url(re.compile("text_length="))
    dials = [page.locator(f".st-key-{key} input[type=range]") for key in ("balance_bars", "sharing_bars")]
    expect(dials[0]).not_to_have_attribute("aria-valuetext", "4,096")
    even = dials[0].get_attribute("aria-valuetext")
    let_go(visit, 0.2)
    for dial in dials:
        expect(dial).not_to_have_attribute("aria-valuetext", even)
    there.click()
    for dial in dials:
        expect(dial).to_have_attribute("aria-valuetext", even)
    visit.check()


def test_a_link_that_is_clicked_after_a_release_keeps_both(visit):
    page = visit.open("/attention?step=weights", ready="[data-signature] canvas").page
    let_go(visit)
    visit.signature().locator("canvas").first.click(position={"x": 120, "y": 200})
    page.wait_for_url(re.compile("cell="))
    visit.settle()
    assert "temperature=" in page.url
    as_a_link_opens_it(visit)


class Hasty(Visitor):
    """Lets the slider go and presses a button while the server is busy: both reach it as one message."""

    def see(self, message):
        super().see(message)
        element = message.delta.new_element
        if element.WhichOneof("type") == "button" and "step_on" in element.button.id:
            self.button = element.button.id
        elif element.WhichOneof("type") == "bidi_component":
            self.shown.add(live.unpack(element.bidi_component.bytes)[0]["quantity"])

    async def both(self):
        self.shown = set()
        await self.open()
        self.shown.clear()
        message = self.says()
        message.rerun_script.fragment_id = self.fragment
        states = message.rerun_script.widget_states.widgets
        states.add(id=self.slider, json_value=json.dumps({self.name: self.stops[0]}))
        states.add(id=self.button, trigger_value=True)
        await self.socket.send(message.SerializeToString())
        await self.finished()
        await self.socket.close()
        return self.shown


def test_what_comes_with_a_release_is_drawn_too(server):
    """Streamlit makes one message of what it hears while it is busy."""
    with ThreadPoolExecutor(1) as apart:  # another thread: Playwright's loop runs in this one
        shown = apart.submit(asyncio.run, Hasty(server.url, "attention").both()).result(60)
    assert "scaled" in shown


FRAMES = "(n) => new Promise((done) => { const next = () => (n-- ? requestAnimationFrame(next) : done()); next(); })"


BOTH = """([said, before]) => {
  const address = new URLSearchParams(location.search);
  return address.get('words')?.endsWith(said) && address.get('temperature') !== before;
}"""


def test_a_hand_faster_than_the_page_moves_every_picture(visit, subtests):
    """What was being drawn when it let go was told of the stop before."""
    page = visit.open("/attention", ready="[data-signature] canvas").page
    box = page.locator("[data-testid=stMain] input[type=text]").first
    dial, follower = slider(page), page.locator(".st-key-next input[type=range]")
    for frames in (0, 4, 8, 12, 18):  # of the browser: before, while and after the server draws
        with subtests.test(frames=frames):
            stood, before = stands(page), words(page).get("temperature")
            box.fill(f"The dog and the boy ran {frames}")
            box.press("Enter")
            page.evaluate(FRAMES, frames)
            dial.evaluate(LET_GO, 0.9)
            page.wait_for_function(BOTH, arg=[f"ran {frames}", before])
            visit.settle()
            there = stands(page)
            assert there not in (stood, "1.00")
            expect(follower).to_have_attribute("aria-valuetext", there)
            visit.check()


def test_the_code_on_the_paper_follows(visit):
    """It says the whole address, and the slider stands on the paper too."""
    page = visit.open("/rope?print=1", ready="[data-signature] canvas").page
    code = page.locator(".st-key-handout_code img")
    before = code.get_attribute("src")
    let_go(visit)
    expect(code).not_to_have_attribute("src", before)
    visit.check()


def test_random_vectors_stand_with_both_sliders_on_the_first_screen(visitor):
    visit = visitor(viewport={"width": 1280, "height": 720}).open(
        "/attention?source=random", ready="[data-signature] canvas"
    )
    heat = visit.page.locator(".st-key-tau_dial input[type=range]").bounding_box()
    assert heat["y"] + heat["height"] <= 720, "what it does is seen"


def test_what_is_said_of_random_vectors_follows_the_slider_of_the_second_picture(visit):
    page = visit.open("/attention?source=random&depth=all", ready=".st-key-mixture .live canvas").page
    drag(page, page.locator(".st-key-mixture input[type=range]"), 0.5, 0.9)
    page.wait_for_url(re.compile("d_k="))
    width = re.search(r"d_k=(\d+)", page.url).group(1)
    page.get_by_text(f"random vectors of width {width} and").first.wait_for()
    visit.check()
