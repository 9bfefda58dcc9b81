"""The spine of the house: rooms seen and rooms next, two depths, and words explained where they stand."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import weight


def test_what_never_comes_does_not_hide_the_rest_for_ever(chromium, server):
    """The painters' scripts are asked for, and no answer comes: after a while the page is shown as it is."""
    with chromium.new_context(viewport=weight.TELEPHONE, locale="en-US") as context:
        page = context.new_page()
        page.clock.install()
        page.route(re.compile(r"/(parts/|shared/pictures/(?!live/)).*\.js$"), lambda _route: None)
        page.goto(f"{server.url}/ledger")
        page.locator(".st-key-ending_ledger a").first.wait_for(state="attached")
        page.clock.fast_forward("01:00")
        page.locator(".st-key-ending_ledger a").first.wait_for(state="visible")


def test_a_room_seen_to_its_end_is_marked_in_the_menu_and_only_there(visitor):
    visit = visitor(viewport={"width": 1280, "height": 720}).open("/softmax", ready="[data-signature] canvas")
    page = visit.page
    sign = "e => getComputedStyle(e, '::after').content"
    link = page.get_by_test_id("stSidebarNavLink").filter(has_text="Softmax lab")
    assert "✓" not in link.evaluate(sign)
    page.locator(".st-key-ending_softmax").scroll_into_view_if_needed()
    page.wait_for_function("() => (localStorage.getItem('rooms-seen') ?? '').includes('softmax')")
    assert "✓" in link.evaluate(sign)
    page.reload()
    link.wait_for()
    assert "✓" in link.evaluate(sign), "this browser remembers"
    assert "softmax" not in re.sub(r"^.*?/softmax", "", page.url), "no address says it"
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Home").click()
    way = page.locator(".st-key-path a").filter(has_text="Softmax lab")
    way.wait_for()
    assert "✓" in way.evaluate(sign), "on Home's path too"
    assert "✓" not in page.locator(".st-key-path a").filter(has_text="RoPE").evaluate(sign)
    visit.check()


# Its entries stand at their beginning, and something has come.
COMES = """() => {
  document.querySelector('[data-testid=stSidebarContent]').scrollTop = 0;
  document.querySelector('[data-testid=stSidebarNav]').append(document.createElement('i'));
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def test_the_menu_shows_where_one_is(visitor):
    visit = visitor(viewport={"width": 1280, "height": 720}).open("/inference", ready=".st-key-ending_inference")
    link = visit.page.get_by_test_id("stSidebarNavLink").filter(has_text="Running it: the cache")
    visit.page.wait_for_function("() => document.querySelector('[data-testid=stSidebarContent]').scrollTop > 0")
    box = link.bounding_box()
    assert 0 < box["y"] < 720 - box["height"]
    visit.page.evaluate(COMES)  # the menu came a little later, or once more
    expect(link).to_be_in_viewport()
    visit.page.mouse.wheel(0, 40)
    visit.page.evaluate(COMES)
    expect(link).not_to_be_in_viewport()
    visit.check()


def test_home_leads_back_to_where_one_was(visitor):
    visit = visitor(viewport={"width": 1280, "height": 720}).open("/")
    page = visit.page
    link = page.get_by_role("link", name=re.compile("Go on where you were"))
    path = page.locator(".st-key-path")
    path.wait_for()
    assert link.count() == 0, "nobody was anywhere yet"
    said = page.get_by_text("Only this browser remembers it.").bounding_box()
    assert path.bounding_box()["y"] - said["y"] - said["height"] < 60, "and nothing is kept free for it"
    page.get_by_role("link", name="Softmax lab").first.click()
    page.locator(".st-key-ending_softmax").wait_for()
    page.wait_for_function("() => localStorage.getItem('room-last') === 'softmax'")
    page.get_by_role("link", name="Home").first.click()
    link.wait_for()
    assert "Softmax lab" in link.inner_text()
    link.click()
    page.wait_for_url(re.compile("/softmax"))
    visit.check()


def test_the_depth_is_remembered_and_in_the_address(visitor):
    visit = visitor(viewport={"width": 1280, "height": 720}).open("/softmax", ready="[data-signature] canvas")
    page = visit.page
    tall = "e => e.scrollHeight"
    before = page.locator("[data-testid=stMainBlockContainer]").evaluate(tall)
    page.get_by_role("button", name="Show everything").click()
    page.wait_for_url(re.compile("depth=all"))
    visit.settle()
    assert page.locator("[data-testid=stMainBlockContainer]").evaluate(tall) > before
    page.get_by_role("link", name="Attention, step by step").first.click()
    page.wait_for_url(re.compile("/attention.*depth=all"))
    visit.check()


def test_a_word_of_the_glossary_is_explained_where_it_stands(visitor):
    page = visitor().open("/heads", ready="[data-signature] canvas").page
    page.wait_for_function("() => CSS.highlights.get('term')?.size > 0")
    spot = page.evaluate(
        "() => { const r = [...CSS.highlights.get('term')][0].getBoundingClientRect();"
        " return [r.x + r.width / 2, r.y + r.height / 2]; }"
    )
    page.mouse.move(*spot)
    assert ": " in page.locator("#term-tip").inner_text()
    page.mouse.move(2, 2)
    page.locator("#term-tip").wait_for(state="hidden")


def test_a_word_means_what_it_means_in_this_room(visitor):
    """A merge has a rank, and so has a matrix; between two pieces no query turns."""
    page = visitor().open("/tokens", ready="[data-signature] canvas").page
    page.wait_for_function("() => CSS.highlights.get('term')?.size > 0")
    found = "(word) => [...CSS.highlights.get('term')].filter((r) => r.toString().toLowerCase() === word)"
    assert page.evaluate(f"() => ({found})('pair').length") == 0
    spot = page.evaluate(
        f"() => {{ const r = ({found})('rank')[0].getBoundingClientRect();"
        " return [r.x + r.width / 2, r.y + r.height / 2]; }"
    )
    page.mouse.move(*spot)
    assert "merge" in page.locator("#term-tip").inner_text()


def test_one_sign_of_chinese_is_no_word_inside_another(visitor):
    """头 is a head, 开头 a beginning."""
    page = visitor().open("/?lang=zh").page
    page.wait_for_function("() => CSS.highlights.get('term')?.size > 0")
    marked = page.evaluate("() => [...CSS.highlights.get('term')].map((r) => [r.toString(), r.startContainer.data])")
    assert any(len(term) > 1 for term, _line in marked)
    assert not [line for term, line in marked if len(term) == 1 and "开头" in line]
    assert "开头" in page.get_by_text("用英文写个故事").inner_text(), "there is one to be mistaken"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_name_of_a_file_is_no_word_of_the_glossary(visitor, lang):
    page = visitor().open(f"/rope?lang={lang}&depth=all&at=code-angles", ready="[data-signature] canvas").page
    page.get_by_text("core/rope.py").first.wait_for()
    around = """() => [...(CSS.highlights.get('term') ?? [])].map((r) => (
      r.startContainer.data.slice(Math.max(0, r.startOffset - 1), r.endOffset + 3)))"""
    page.wait_for_function(f"() => ({around})().length > 5")
    assert not [text for text in page.evaluate(around) if text.startswith("/") or text.endswith(".py")]
