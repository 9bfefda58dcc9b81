"""The page on linear layers in a real browser: arrows in the hand, pictures that follow, a number that is clicked."""

import re
from itertools import pairwise

from tests.browser.gestures import PICTURES, WATCH, drag

FOLLOWERS = (".live[data-quantity=weights]", ".live[data-quantity=next_probs]")


def hand(page, canvas, path):
    """Drag over a canvas; path: parts of its width and height, from where the hand takes hold."""
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    spots = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in path]
    page.mouse.move(*spots[0])
    page.mouse.down()
    for (x0, y0), (x1, y1) in pairwise(spots):
        for i in range(1, 13):
            page.mouse.move(x0 + (x1 - x0) * i / 12, y0 + (y1 - y0) * i / 12)
            page.evaluate("() => new Promise(requestAnimationFrame)")


def test_the_query_is_turned_by_hand_and_everything_follows(visit):
    page = visit.open("/projections?depth=all").page
    plane = page.locator(".live[data-quantity=turned_q]")
    slider, canvas = plane.locator("input[type=range]"), plane.locator("canvas").first
    before = plane.locator(".note").inner_text()
    page.evaluate(WATCH)
    canvas.evaluate(PICTURES)
    hand(page, canvas, [(0.75, 0.5), (0.65, 0.2), (0.35, 0.2), (0.2, 0.5), (0.35, 0.8), (0.65, 0.75)])
    assert page.evaluate("window.__sent.length") == 0, "a drag is no business of the server"
    assert page.evaluate("new Set(window.__pictures).size") >= 20
    now = slider.input_value()
    assert 90 < int(now) < 120, "in the fourth quarter"
    assert plane.locator(".note").inner_text() != before
    for follower in FOLLOWERS:
        assert page.locator(follower).locator("input[type=range]").input_value() == now
    page.mouse.up()
    page.wait_for_url(re.compile("turn_q="))
    visit.settle()
    page.reload()
    visit.settle()
    assert slider.input_value() == now
    visit.check()


def test_the_wish_moves_query_and_shares_and_sends_nothing(visit):
    page = visit.open("/projections").page
    slider = visit.signature().locator("input[type=range]")
    page.evaluate(WATCH)
    visit.signature().locator("canvas").first.evaluate(PICTURES)
    drag(page, slider, 0.25, 0.9, release=False)
    assert page.evaluate("window.__sent.length") == 0
    assert page.evaluate("new Set(window.__pictures).size") >= 20
    shares = page.locator(".live[data-quantity=shares]").first
    assert shares.locator("input[type=range]").input_value() == slider.input_value()
    page.mouse.up()
    page.wait_for_url(re.compile("wish="))
    visit.check()


def test_both_arrows_are_taken_by_the_tip(visit):
    page = visit.open("/projections?depth=all&arrow_q=90&arrow_k=0").page
    arrows = page.locator(".live[data-quantity=dot]")
    canvas = arrows.locator("canvas").first
    canvas.wait_for()
    page.evaluate(WATCH)
    hand(page, canvas, [(0.7, 0.56), (0.6, 0.4), (0.5, 0.3)])
    assert page.evaluate("window.__sent.length") == 0
    page.mouse.up()
    page.wait_for_url(re.compile("arrow_k="))
    visit.settle()
    assert "arrow_q=90" in page.url, "the other arrow stays"
    visit.check()


def test_a_number_of_the_product_is_clicked_and_written_out(visit):
    page = visit.open("/projections?depth=all").page
    canvas = page.locator(".live[data-quantity=q] canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 0.8, "y": box["height"] - 8})
    page.wait_for_url(re.compile(r"proj_cell="))
    row, column = re.search(r"proj_cell=(\d+)(?:,|%2C)(\d+)", page.url).groups()
    page.locator(".katex", has_text=re.compile(f"Q.*{row},{column}")).first.wait_for()
    visit.check()


def test_the_keyboard_reaches_every_point_of_the_plane(visitor):
    visit = visitor().open("/projections", ready="[data-signature] canvas")
    plane = visit.page.locator(".live[data-quantity=turned_q]")
    plane.locator(".stage").focus()
    told = []
    for _ in range(3):
        visit.page.keyboard.press("ArrowRight")
        told.append(plane.locator(".tip").inner_text())
    assert len(set(told)) == 3, told
    visit.page.keyboard.press("ArrowLeft")
    assert plane.locator(".tip").inner_text() == told[1]
    visit.page.keyboard.press("Escape")
    assert not plane.locator(".tip").is_visible()
    visit.check()


def test_the_sum_of_the_product_has_a_line_of_its_own(visit):
    page = visit.open("/projections?depth=all", ready=".st-key-product .live canvas").page
    picture = page.locator(".st-key-product .live")
    said, dial = picture.locator(".picture .note"), picture.locator(".dial label")
    assert said.inner_text()
    below = said.bounding_box()
    assert below["y"] + below["height"] <= dial.bounding_box()["y"], "it is not written over the slider"


def test_on_a_telephone_a_word_of_a_table_stands_on_its_line(visitor):
    visit = visitor(viewport={"width": 390, "height": 844}).open(
        "/projections?depth=all&lang=zh", ready="[data-signature] canvas"
    )
    fold = visit.page.locator(".stMain details", has=visit.page.get_by_text("这一页的词语"))
    fold.locator("summary").click()
    word = fold.locator("td", has_text="奇异值").first
    word.wait_for()
    assert (
        word.evaluate(
            "e => { const r = document.createRange(); r.selectNodeContents(e); return r.getClientRects().length; }"
        )
        == 1
    )
