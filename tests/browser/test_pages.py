"""Every page in a real browser: nothing breaks, nobody else is asked, everybody can use it."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from pages.shared import frame
from tests.browser.conftest import CALM
from tests.browser.gestures import open_all

PAGES = [("" if e.file == "01_home" else e.file[3:]) for e in frame.entries()]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda p: p or "home")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# What passes is not written down: finding a name for each of its elements costs more than all the rules.
OPTIONS = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}
# Streamlit's own: the sidebar's navigation puts sections between a list and its items (DESIGN section 7).
EXEMPT = {"list": "[data-testid='stSidebarNav']", "listitem": "[data-testid='stSidebarNav']"}


def findings(page):
    """axe-core's violations of WCAG 2.2 A and AA, shadow roots included, but for Streamlit's own."""
    page.wait_for_function(CALM)
    result = Axe().run(page, options=OPTIONS)
    found = []
    for violation in result.response["violations"]:
        for node in violation["nodes"]:
            own = EXEMPT.get(violation["id"])
            if not (own and page.locator(node["target"][0]).first.evaluate("(e, own) => Boolean(e.closest(own))", own)):
                found.append((violation["id"], node["html"][:200], node["failureSummary"][:300]))
    return found


@EACH_PAGE
def test_no_accessibility_violation_in_the_dark_in_chinese_with_all_opened(tab, page):
    visit = tab(color_scheme="dark").turn(f"/{page}?lang=zh&guess=Amy")
    open_all(visit)
    assert findings(visit.page) == []
    visit.check()


def test_a_link_straight_to_a_page_of_a_cold_server(fresh_server, visitor):
    link = "/attention?temperature=0.5&layer=4&head=4&step=scaled&cell=13,9&lang=zh"
    visit = visitor(of=fresh_server).open(link)
    page = visit.page
    page.get_by_role("heading", name="注意力，一步一步").wait_for()
    page.get_by_role("link", name="首页").wait_for()
    assert page.locator("[data-signature]").get_attribute("data-quantity") == "weights"
    page.locator("[data-quantity=scaled] canvas").wait_for()
    assert page.locator("[data-signature] input[type=range]").get_attribute("aria-label") == "温度"
    assert page.locator("[data-signature] output").inner_text() == "0.51"
    page.get_by_text("to → Sam 2").last.wait_for()
    for part in ("layer=4", "head=4", "step=scaled", "temperature=0.5"):
        assert part in page.url
    visit.check()


def test_home_is_drawn_before_torch_is_loaded(fresh_server, visitor):
    visit = visitor(of=fresh_server).open("/")
    maps = Path(f"/proc/{fresh_server.process.pid}/maps").read_text()
    assert "libtorch" not in maps
    visit.page.get_by_role("radio", name="Amy", exact=True).click()
    visit.page.get_by_role("heading", name="Amy 98.6%").wait_for()
    visit.check()


def test_the_first_minute(visitor):
    visit = visitor().open("/")
    page = visit.page
    page.get_by_role("radio", name="Sam", exact=True).click()
    page.get_by_role("heading", name="Amy 98.6%").wait_for()
    page.get_by_role("button", name="Cut it").click()
    page.get_by_role("heading", name="Sam 98.1%").wait_for()
    page.get_by_text("you have found 1.").wait_for()
    page.get_by_role("button", name="Put it back").click()
    page.get_by_role("heading", name="Amy 98.6%").wait_for()
    page.get_by_role("button", name="Swap the names").click()
    page.get_by_role("heading", name="Sam 96.8%").wait_for()
    page.get_by_role("button", name="Back to the first sentence").click()
    page.get_by_role("heading", name="Amy 98.6%").wait_for()
    page.get_by_role("button", name="attention", exact=True).click()
    page.wait_for_url(re.compile("/attention"))
    page.get_by_role("link", name="Home").first.click()
    page.get_by_role("button", name="attention", exact=True).click()
    page.wait_for_url(re.compile("/attention"))
    visit.check()


def test_the_hunt_on_the_map_by_hand_and_by_keyboard(visitor):
    """A small picture opens a head without the server; a click on its boldest arc cuts; Enter does, too."""
    visit = visitor().open("/")
    page = visit.page
    page.get_by_role("radio", name="Amy", exact=True).click()
    page.get_by_role("heading", name="Amy 98.6%").wait_for()
    visit.settle()
    canvas = page.locator(".live .scroll canvas")
    before = canvas.evaluate("c => c.toDataURL()")
    page.get_by_role("radio", name="Head 4.4").click()
    assert canvas.evaluate("c => c.toDataURL()") != before
    page.wait_for_url(re.compile("(?=.*map_block=4)(?=.*map_head=4)"))
    visit.settle()
    arc = canvas.evaluate("c => { const b = c.getBoundingClientRect(); return [b.x, b.y, b.width]; }")
    page.locator(".live .scroll").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")  # the last row, its boldest link
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("link=4%2C4%2C13%2C9|link=4,4,13,9"))
    page.get_by_text("This link decides.").wait_for()
    assert arc[2] > 800
    page.get_by_role("radio", name="Head 5.1").click()
    page.get_by_role("button", name="Put it back").click()
    page.get_by_role("heading", name="Amy 98.6%").wait_for()
    visit.settle()
    spot = page.evaluate(ARC)
    page.mouse.click(*spot)
    page.wait_for_url(re.compile("link=5%2C1%2C13%2C3|link=5,1,13,3"))
    page.get_by_role("heading", name="Sam 98.1%").wait_for()
    visit.check()


ARC = """() => {
  let canvas, title;
  for (const e of document.querySelectorAll('*')) if (e.shadowRoot?.querySelector('.scroll canvas')) {
    canvas = e.shadowRoot.querySelector('.scroll canvas');
    title = [...e.shadowRoot.querySelectorAll('.title')].find((t) => t.textContent === 'attention');
  }
  const box = canvas.getBoundingClientRect(), middle = title.getBoundingClientRect(), row = 22, head = 62;
  return [middle.x + middle.width / 2, box.y + head + row * ((13 + 3) / 2 + 0.5)];
}"""


def test_the_model_writes_on_under_the_finger_and_by_itself(visitor):
    visit = visitor().open("/")
    page = visit.page
    page.get_by_role("radio", name="Amy", exact=True).click()
    page.get_by_role("button", name="Let it write on").click()
    slider = page.get_by_role("slider", name="Tokens written")
    slider.wait_for()
    visit.settle()
    page.get_by_role("button", name="One step on").click()
    page.get_by_text("threw the ball to Amy …").wait_for()
    page.wait_for_url(re.compile(r"[?&]on=1(&|$)"))
    page.get_by_role("combobox", name="Speed").select_option("8")
    page.get_by_role("button", name="Run").click()
    page.wait_for_function("() => true")
    page.get_by_text("they saw a big dog").wait_for()
    page.get_by_role("button", name="Pause").or_(page.get_by_role("button", name="Run")).click()
    visit.check()


def test_with_less_motion_wanted_nothing_moves(visitor):
    visit = visitor(reduced_motion="reduce").open("/")
    canvas = visit.page.locator(".live .scroll canvas")
    first = canvas.evaluate("c => c.toDataURL()")
    visit.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert canvas.evaluate("c => c.toDataURL()") == first
    assert not visit.page.get_by_role("button", name="Once more").is_visible()


@pytest.mark.parametrize(
    ("other", "name", "title"), [("zh", "中文", "注意力，一步一步"), ("en", "English", "Attention, step by step")]
)
def test_the_language_can_be_switched_and_stays(visitor, other, name, title):
    visit = visitor(locale="zh-CN" if other == "en" else "en-US").open("/attention")
    visit.page.get_by_role("radio", name=name, exact=True).click()
    visit.page.get_by_role("heading", name=title).wait_for()
    assert f"lang={other}" in visit.page.url
    visit.check()


def test_a_stage_of_the_map_opens_its_page_in_the_visitors_language(visitor):
    visit = visitor().open("/?lang=zh&map_block=1")
    visit.page.get_by_role("radio", name="Amy", exact=True).click()
    visit.settle()
    visit.page.locator("button.title", has_text="注意力").first.click()
    visit.page.get_by_role("heading", name="注意力，一步一步").wait_for()
    visit.page.wait_for_url(re.compile(r"/attention\?lang=zh$"))
    visit.settle()
    visit.check()


def test_a_formula_that_goes_on_scrolls_by_itself_and_says_so_at_its_edge(visitor):
    page = visitor(viewport={"width": 320, "height": 700}).open("/attention?depth=all").page
    written = page.locator(".stMain .katex-display", has_text="69.705")
    written.wait_for()
    wide, room, shade = written.evaluate("e => [e.scrollWidth, e.clientWidth, getComputedStyle(e).backgroundImage]")
    assert wide > room + 10, "the sum is wider than a small telephone"
    assert shade.count("gradient") == 4, "a shade at each edge, and the paper that covers it at the end"
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
