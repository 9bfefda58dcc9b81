"""Address, picture and text say the same in a copied link, on another server, in each language and after a press on a heading."""

import pytest
from playwright.sync_api import expect

from tests.browser.gestures import open_all, slider, stands, step, words


def test_a_copied_link_opens_the_same_on_another_server(visitor, fresh_server):
    one = visitor()
    page = one.open("/attention?layer=4&head=4&scaling=false", ready="[data-signature] canvas").page
    step(one)
    link, at, label = page.url, stands(page), page.locator("[data-signature]").get_attribute("aria-label")
    other = visitor(of=fresh_server)
    again = other.open(link.removeprefix(one.server.url), ready="[data-signature] canvas").page
    assert words(again) == words(page)
    assert stands(again) == at
    assert again.locator("[data-signature]").get_attribute("aria-label") == label


def test_the_language_is_in_every_address_and_spoken(visitor):
    chinese = visitor(locale="zh-CN")
    page = chinese.open("/why").page
    assert words(page)["lang"] == "zh"
    assert page.evaluate("document.documentElement.lang") == "zh"
    assert "为什么" in page.title()
    english = visitor()
    page = english.open("/why?lang=zh").page
    assert page.evaluate("document.documentElement.lang") == "zh"


def test_an_unknown_address_names_the_rooms(visitor, fresh_server):
    """Without a dialog, on a server that nobody has asked for anything."""
    one = visitor(of=fresh_server, locale="zh-CN")
    page = one.page
    page.goto(fresh_server.url + "/no%3Cb%3E/where")
    page.get_by_role("heading", name="没有这一页").wait_for()
    assert page.locator("[role=dialog]").count() == 0
    page.locator("[data-testid=stMain] [data-testid=stPageLink] a").filter(has_text="Softmax").click()
    page.wait_for_url("**/softmax**")
    page.locator("[data-signature] canvas").first.wait_for()


@pytest.mark.parametrize(
    ("link", "seen"),
    [
        ("/why?at=the-bill", "The bill"),
        ("/attention?depth=all&at=common-mistakes", "Looks right"),
        ("/attention?at=common-mistakes", "Looks right"),
    ],
)
def test_a_link_points_to_a_section_or_opens_a_fold(visit, link, seen):
    page = visit.open(link).page
    expect(page.get_by_text(seen, exact=False).first).to_be_in_viewport(timeout=30_000)
    assert words(page)["at"] == link.partition("at=")[2]


def test_a_fold_that_is_opened_shuts_no_other_and_the_address_says_all(visitor):
    visit = visitor().open("/masks?depth=all", ready="[data-signature] canvas")
    page = visit.page
    folds = page.locator("details:has(> summary)")
    first, second = folds.nth(0), folds.nth(1)
    for fold in (first, second):
        fold.locator("summary").click()
        expect(fold).to_have_attribute("open", "")
        visit.settle()
    expect(first).to_have_attribute("open", "")
    expect(second.locator("summary")).to_be_in_viewport()
    page.wait_for_url("**open=*.*")
    page.reload()
    page.locator("[data-signature] canvas").first.wait_for()
    visit.settle()
    for fold in (first, second):
        expect(fold).to_have_attribute("open", "")
    first.locator("summary").click()
    expect(first).not_to_have_attribute("open", "")
    visit.settle()
    expect(second).to_have_attribute("open", "")
    assert "." not in words(page)["open"]
    visit.check()


def test_folds_opened_faster_than_the_page_is_drawn_stay_open(visit):
    """Each is opened while the page is still drawn for the one before."""
    visit.open("/masks?depth=all", ready="[data-signature] canvas")
    open_all(visit)
    folds = visit.page.locator("details:has(> summary)").count()
    assert folds == len(words(visit.page)["open"].split(".")) > 2
    visit.check()


def test_the_sign_beside_a_heading_gives_its_link(visit):
    page = visit.open("/why").page
    page.locator('a[href="#at-the-bill"]').first.dispatch_event("click")
    page.wait_for_url("**at=the-bill**")
    expect(page.get_by_role("heading", name="The bill")).to_be_in_viewport()
    entries = page.evaluate("history.length")
    slider(page).press("ArrowRight")
    page.wait_for_url("**reach=**")
    assert words(page)["at"] == "the-bill", "the server knows it too"
    assert page.evaluate("history.length") == entries


def test_on_a_telephone_the_menu_makes_way_for_the_page_it_opens(visitor):
    visit = visitor(viewport={"width": 390, "height": 844})
    page = visit.open("/why").page
    page.locator("[data-testid=stExpandSidebarButton]").click()
    room = page.locator("[data-testid=stSidebarNav] a[href$='/softmax']")
    room.click()
    page.wait_for_url("**/softmax**")
    expect(room).not_to_be_in_viewport()
