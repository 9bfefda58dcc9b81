"""A page on paper: the question with room to write, a code that leads back, the answer on a page of its own."""

import re

import pytest

from tests.browser.test_classroom import PAINTED, SMALLEST
from tests.browser.test_pages import findings

SCREEN = {"width": 1280, "height": 720}
PAGES = re.compile(rb"/Type /Page\b")
GONE = (
    ".stSidebar, [data-testid=stHeader], .stButton, .stButtonGroup, .stExpander, .stPopover, .stDownloadButton, .tools"
)


@pytest.mark.parametrize(("room", "lang"), [("attention", "en"), ("rope", "zh")])
def test_a_handout_has_a_front_and_an_answer(visitor, room, lang):
    visit = visitor(viewport=SCREEN, color_scheme="dark").open(
        f"/{room}?print=1&lang={lang}", ready="[data-signature] canvas"
    )
    page = visit.page
    page.wait_for_function("() => document.documentElement.dataset.paper?.split(',').length === 7")
    for shown in (
        ".st-key-title h1",
        "[data-signature] canvas",
        ".st-key-handout",
        ".st-key-handout_key",
        ".st-key-handout img",
    ):
        assert page.locator(shown).first.is_visible(), shown
    assert page.locator(".st-key-handout li").count() >= 2
    assert page.locator(".stBidiComponent:visible").count() == 1, "the signature alone"
    assert not page.locator(f".st-key-ending_{room}").is_visible()
    assert findings(page) == []
    page.emulate_media(media="print")
    for one in page.locator(GONE).all():
        assert not one.is_visible()
    assert len(PAGES.findall(page.pdf(format="A4"))) == 2
    corner = "c => [...c.getContext('2d').getImageData(1, 1, 1, 1).data].slice(0, 3)"
    assert page.locator("[data-signature] canvas").evaluate(corner) == [255, 255, 255], "on white paper"
    accent = page.locator("[data-signature] input[type=range]").evaluate("e => getComputedStyle(e).accentColor")
    assert accent == "rgb(11, 87, 208)", "the light theme's: beside a pale one the track is dark"
    page.emulate_media(media="screen")
    page.locator(".st-key-handout_back button").click()
    page.wait_for_url(re.compile(r"^(?!.*print=)"))
    page.get_by_test_id("stSidebar").wait_for()
    visit.check()


def test_any_page_can_be_printed(visitor):
    page = visitor(viewport=SCREEN).open("/softmax", ready="[data-signature] canvas").page
    page.emulate_media(media="print")
    for one in page.locator(GONE).all():
        assert not one.is_visible()
    assert page.locator("[data-signature] canvas").is_visible()
    assert len(PAGES.findall(page.pdf(format="A4"))) > 1, "the whole page, not what fits on the screen"
    page.emulate_media(media="screen")


def test_a_teacher_makes_a_handout_with_a_button(visitor):
    visit = visitor(viewport=SCREEN).open("/softmax?depth=teach", ready="[data-signature] canvas")
    visit.page.get_by_role("button", name="Handout").click()
    visit.page.wait_for_url(re.compile("print=1"))
    visit.page.locator(".st-key-handout_key").wait_for()
    visit.check()


# The lines to write on: what stands between two of them, in px.
LINES = """(room) => [getComputedStyle(room, '::before'), getComputedStyle(room, '::after'), getComputedStyle(room)]
  .filter((s) => s.borderBottomStyle === 'solid' && parseFloat(s.width) > 600).length"""


@pytest.mark.parametrize("room", ["", "inference"])
def test_who_has_guessed_prints_the_picture_that_waits(visitor, room):
    visit = visitor(viewport=SCREEN, color_scheme="dark").open(f"/{room}?depth=teach")
    page = visit.page
    page.locator(".stMain [class*=st-key-question_]").first.get_by_role("radio").first.click()
    page.locator("[class*=st-key-verdict_]").first.wait_for()
    visit.settle()
    page.get_by_role("button", name="Handout").click()
    page.wait_for_url(re.compile("print=1"))
    page.locator(".st-key-handout_key").wait_for()
    page.wait_for_function(
        "() => document.documentElement.dataset.paper && document.querySelector('.st-key-handout li')"
    )
    visit.settle()
    assert "98.6%" not in page.locator(".stBidiComponent:visible").inner_text()
    if not room:
        assert page.locator(".st-key-opening h1").inner_text().endswith("____"), "the sentence stands above its map"
        scroll = "() => [...document.querySelectorAll('.stMain *')].map((e) => e.shadowRoot?.querySelector('.scroll')).find(Boolean)"
        page.wait_for_function(f"() => {{ const box = ({scroll})(); return box.scrollWidth <= box.clientWidth; }}")
    assert page.locator(".st-key-handout_room").evaluate(LINES) == 3
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "no black paper"
    page.emulate_media(media="print")
    assert len(PAGES.findall(page.pdf(format="A4"))) == 2
    page.emulate_media(media="screen")
    page.locator(".st-key-handout_back button").click()
    page.wait_for_url(re.compile(r"^(?!.*print=)"))
    page.locator("[class*=st-key-verdict_]").first.wait_for()
    visit.check()


# Another machine's fixed-width font is a fifth wider than this one's.
WIDER = """const measure = CanvasRenderingContext2D.prototype.measureText;
CanvasRenderingContext2D.prototype.measureText = function (text) {
  return { width: (this.font.includes("mono") ? 1.2 : 1) * measure.call(this, text).width };
};"""


def test_the_pieces_of_a_line_are_written_whole_on_paper(visitor):
    visit = visitor(viewport=SCREEN)
    for script in (PAINTED, WIDER):
        visit.page.add_init_script(script)
    canvas = visit.open("/exam?print=1", ready="[data-signature] canvas").page.locator("[data-signature] canvas").first
    canvas.evaluate(SMALLEST)
    painted = canvas.evaluate("c => [...c.__painted.keys()]")
    assert {"mask first", "softmax first"} <= set(painted), painted
    visit.check()
