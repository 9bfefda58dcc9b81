"""A lesson in a browser: a bar leads from step to step, every step is its link and nothing else; a visitor makes one."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pages.shared import lessons
from tests.browser.test_pages import findings

SCREEN = {"width": 1280, "height": 720}
TELEPHONE = {"width": 390, "height": 844}


def test_a_lesson_leads_from_step_to_step(visitor):
    visit = visitor(viewport=SCREEN)
    page = visit.page
    page.goto(f"{visit.server.url}/lesson?name=attention")
    page.locator(".st-key-lesson_begin a").wait_for(timeout=60_000)
    visit.settle()
    assert findings(page) == []
    page.locator(".st-key-lesson_begin a").click()
    found = lessons.shipped("en", "attention").stops
    for at, stop in enumerate(found, 1):
        page.wait_for_url(re.compile(rf"stop={at}(&|$)"))
        page.locator(".st-key-lesson").get_by_text(f"{at} of {len(found)}").wait_for()
        visit.settle()
        for word, text in stop.query:
            assert dict(lessons.parse_qsl(page.url.partition("?")[2]))[word] == text
        page.locator(".st-key-lesson_next a").click()
    page.locator(".st-key-lesson_begin a").wait_for()
    visit.check()


def test_a_step_brings_its_section_under_the_eye(visitor):
    """From another room, and where it stands deeper than the room is read."""
    visit = visitor(viewport=SCREEN).open("/norms?times=10&lesson=prompt&stop=6", ready="[data-signature] canvas")
    page = visit.page
    for link, at in (("/theory", "points-in-the-prompt-a-line-as-the-answe"), ("/exam", "what-if")):
        page.locator(".st-key-lesson_next a").click()
        page.wait_for_url(re.compile(f"{link}.*at={at}"))
        visit.settle()
        expect(page.locator(f"#at-{at}")).to_be_in_viewport()
    visit.check()


@pytest.mark.parametrize("screen", [SCREEN, TELEPHONE], ids=["wide", "telephone"])
def test_the_way_on_is_on_the_screen_at_a_section_and_the_next_step_begins_above(visitor, screen):
    visit = visitor(viewport=screen).open("/attention?step=z&at=how-is-it-made&lesson=attention&stop=7")
    page = visit.page
    on, heading = page.locator(".st-key-lesson_next a"), page.locator("#at-how-is-it-made")
    expect(heading).to_be_in_viewport()
    expect(on).to_be_in_viewport(ratio=1)
    expect(page.locator(".st-key-lesson p").first).to_be_in_viewport(ratio=1)  # what to look for
    bar = page.locator(".st-key-lesson").bounding_box()
    assert bar["y"] + bar["height"] <= heading.bounding_box()["y"], "the bar lies over nothing that is named"
    on.click()
    page.wait_for_url(re.compile("stop=8"))
    visit.settle()
    expect(page.locator(".st-key-title h1")).to_be_in_viewport(ratio=1)
    visit.check()


def test_on_a_telephone_the_ways_on_and_back_lie_at_its_edge(visitor):
    visit = visitor(viewport={"width": 390, "height": 844}).open(
        "/attention?step=z&at=how-is-it-made&lesson=attention&stop=7"
    )
    page = visit.page
    expect(page.locator("#at-how-is-it-made")).to_be_in_viewport()
    for way in ("back", "next"):
        expect(page.locator(f".st-key-lesson_{way} a")).to_be_in_viewport(ratio=1)
    page.locator(".st-key-lesson_next a").click()
    page.wait_for_url(re.compile("stop=8"))
    visit.settle()
    visit.check()


def shown(page):
    """How much of a page is shown, as the switch in the menu says it."""
    return page.locator(".st-key-depth_choice [role=radio][aria-checked=true]")


@pytest.mark.parametrize("again", ["reload", "back"])
def test_a_deep_step_that_is_read_again_still_leaves_the_depth_as_it_was(visitor, again):
    visit = visitor(viewport=SCREEN).open("/theory?lesson=prompt&stop=7", ready="[data-signature] canvas")
    page = visit.page
    expect(shown(page)).to_have_text("The idea")
    page.locator(".st-key-lesson_next a").click()
    page.wait_for_url(re.compile("/exam.*lent=depth"))
    visit.settle()
    if again == "reload":
        page.reload()
    else:
        page.get_by_test_id("stSidebarNavLink").filter(has_text="RoPE").click()
        page.wait_for_url(re.compile("/rope"))
        visit.settle()
        expect(shown(page)).to_have_text("The idea")
        page.go_back()
        page.wait_for_url(re.compile("/exam.*lent=depth"))
    page.locator("#at-what-if").wait_for()
    visit.settle()
    expect(shown(page)).to_have_text("Everything")
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Softmax lab").click()
    page.wait_for_url(re.compile("/softmax"))
    visit.settle()
    expect(shown(page)).to_have_text("The idea")
    assert "depth" not in page.url
    visit.check()


def test_a_step_forgets_what_the_hand_changed_before(visitor):
    visit = visitor(viewport=SCREEN).open(
        "/softmax?temperature=0.125&lesson=attention&stop=3", ready="[data-signature] canvas"
    )
    page = visit.page
    page.locator(".st-key-lesson_next a").click()
    page.wait_for_url(re.compile(r"temperature=8(&|$)"))
    page.locator(".st-key-lesson").get_by_text("4 of 8").wait_for()  # before that its link leads here
    page.locator(".st-key-lesson_next a").click()
    page.wait_for_url(re.compile(r"/attention.*stop=5"))
    visit.settle()
    page.reload()
    page.locator(".st-key-lesson").get_by_text("5 of 8").wait_for()
    assert findings(page) == []
    assert "temperature" not in page.url, "the softmax lab's is not the next step's"
    page.locator(".st-key-lesson_back a").click()
    page.wait_for_url(re.compile(r"/softmax.*stop=4"))
    visit.check()


def test_one_makes_a_lesson_of_ones_own(visitor):
    visit = visitor(viewport=SCREEN).open("/softmax?temperature=0.125&depth=teach", ready="[data-signature] canvas")
    page = visit.page
    page.get_by_role("button", name="Add this state to my lesson").click()
    page.get_by_role("link", name="My lesson (1)").wait_for()
    page.get_by_test_id("stSidebarNavLink").filter(has_text="RoPE").click()
    page.wait_for_url(re.compile("/rope"))
    visit.settle()
    page.get_by_role("button", name="Add this state to my lesson").click()
    page.get_by_role("link", name="My lesson (2)").click()
    page.locator(".st-key-lesson_begin a").wait_for()
    visit.settle()
    title = page.get_by_label("Title of step 1")
    assert title.input_value() == "Softmax lab"
    title.fill("Cold [and] <b>sharp</b>")
    title.press("Enter")
    page.wait_for_url(re.compile("sharp"))
    expect(page.locator("input[value='Cold and <b>sharp</b>']")).to_have_count(1)  # as it was read, in a new box
    expect(title).to_have_count(1)
    visit.settle()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save as Markdown").click()
    text = Path(caught.value.path()).read_text("utf8")
    assert "1. [Cold and <b>sharp</b>](/softmax?temperature=0.125)" in text
    assert "2. [RoPE and long context](/rope)" in text
    assert findings(page) == []
    page.reload()
    page.locator(".st-key-lesson_begin a").click()
    page.wait_for_url(re.compile(r"/softmax.*stop=1"))
    page.locator(".st-key-lesson").get_by_text("1 of 2").wait_for()
    assert "Lessons" not in page.get_by_test_id("stSidebarNav").inner_text(), "a lesson is no room"
    visit.check()
