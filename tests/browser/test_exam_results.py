"""Answering in a browser; the result card, which the browser remembers and the server does not."""

import json
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from core.lab import text as sentence
from core.topics.exam import questions as qs

TEXT = sentence.exactly(sentence.SENTENCE)
BOXES = ".st-key-asked_{} input"
KEPT = "() => localStorage.getItem('exam-results')"


def open_exam(visit, query=""):
    visit.open(f"/exam?paper=7{query}", ready=".st-key-asked_1")
    return visit.page


def answer(visit, place, said):
    box = visit.page.locator(BOXES.format(place))
    box.fill(said)
    box.press("Enter")
    visit.settle()


def test_a_browser_remembers_how_each_room_went(visit):
    paper = qs.make(TEXT, 7)
    page = open_exam(visit)
    expect(page.locator(".st-key-results_none")).to_be_visible()
    right = next(i for i, one in enumerate(paper, 1) if not one.options)
    wrong = next(i for i, one in enumerate(paper, 1) if not one.options and i != right)
    answer(visit, right, f"{paper[right - 1].answer:.6g}")
    answer(visit, wrong, "123456")
    row = page.locator(f".st-key-result_{paper[right - 1].room}")
    missed = page.locator(f".st-key-result_{paper[wrong - 1].room}")
    expect(row).to_be_visible()
    expect(missed).not_to_be_visible()  # one miss brings the hint, not the end
    answer(visit, wrong, f"{paper[wrong - 1].answer:.6g}")
    expect(missed).to_be_visible()
    said = "e => getComputedStyle(e, '::after').content"
    assert row.locator("a").evaluate(said) == '"1 / 1 ✓"'
    assert missed.locator("a").evaluate(said) == '"0 / 1 ↻"'
    assert sorted(json.loads(page.evaluate(KEPT)).values()) == sorted(
        [[paper[right - 1].room, True], [paper[wrong - 1].room, False]]
    )
    page.goto("about:blank")
    open_exam(visit, "&lang=zh")
    expect(row).to_be_visible()
    page.locator(".st-key-results_forget button").click()
    expect(row).not_to_be_visible()
    assert page.evaluate(KEPT) is None
    visit.check()


def test_what_another_hand_left_there_breaks_nothing(visit):
    page = open_exam(visit)
    for left in ('{"1f":["x{}<b>",1]}', "[", '{"zz":1,"2":["why",true]}'):
        page.evaluate("left => localStorage.setItem('exam-results', left)", left)
        open_exam(visit)
        expect(page.locator(".st-key-results")).to_be_visible()
    expect(page.locator(".st-key-result_why")).to_be_visible()
    visit.check()


def test_answers_wait_where_a_class_looks_on(visit):
    page = open_exam(visit, "&depth=teach&hide=answers")
    first = page.locator(".st-key-solution_ask_1")
    expect(first).to_be_hidden()
    page.keyboard.press("a")
    expect(first).to_be_visible()
    visit.check()


def test_the_link_leads_to_the_room_as_it_was_asked(visit):
    question = qs.make(TEXT, 7)[0]
    page = open_exam(visit, "&depth=teach")
    page.locator(".st-key-solution_ask_1 a").click()
    page.wait_for_url(f"**/{question.room}?*")
    here = parse_qs(urlsplit(page.url).query)
    left = {word: here[word] for word, _said in question.state if word in here}
    assert left == {word: [said] for word, said in question.state if word in left}
    assert len(left) > 1
    visit.check()
