"""The norms room in a real browser: the stream under the finger, a column that is clicked, a bar that is dragged."""

import re

from tests.browser.gestures import PICTURES, WATCH, drag


def test_one_drag_moves_columns_and_next_words_and_sends_nothing(visit):
    page = visit.open("/norms", ready="[data-signature] canvas").page
    signature, words = visit.signature(), page.locator(".st-key-louder_next canvas").first
    slider, note = signature.locator("input[type=range]"), signature.locator(".note")
    assert slider.get_attribute("data-slider") == "times"
    before = note.inner_text()
    page.evaluate(WATCH)
    words.evaluate(PICTURES)
    drag(page, slider, 0.5, 0.75, release=False)
    assert page.evaluate("window.__sent.length") == 0, "a drag is no business of the server"
    assert page.evaluate("new Set(window.__pictures).size") >= 10, "the next word moves along"
    assert note.inner_text() != before
    assert "“his”" in note.inner_text()
    page.mouse.up()
    page.wait_for_url(re.compile("times="))
    visit.check()


def test_a_clicked_column_is_the_station(visit):
    page = visit.open("/norms", ready="[data-signature] canvas").page
    visit.settle()
    canvas = visit.signature().locator("canvas").first
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 0.5 / 13, "y": 100})
    page.wait_for_url(re.compile("station=0"))
    page.get_by_text("multiply the stream after the embedding by 10").first.wait_for()
    visit.check()


def test_a_clicked_attention_shows_its_heads(visit):
    page = visit.open("/norms", ready="[data-signature] canvas").page
    visit.settle()
    canvas = page.locator(".live[data-quantity=contributions] canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 11.5 / 14, "y": 120})
    page.wait_for_url(re.compile("heads_of=11"))
    page.locator(".live[data-quantity=contributions_of_heads] canvas").first.wait_for()
    visit.check()


def test_a_bar_of_the_vector_is_taken_by_the_hand(visit):
    page = visit.open("/norms", ready="[data-signature] canvas").page
    vector = page.locator(".live[data-quantity=normed]")
    canvas, slider = vector.locator("canvas").first, vector.locator("input[type=range]")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    third = box["width"] / 6  # the zero line of the first panel
    page.mouse.click(box["x"] + third, box["y"] + 26 + 15)  # the first bar
    page.wait_for_url(re.compile("six_bar=0"))
    visit.settle()
    canvas.scroll_into_view_if_needed()
    box, rest = canvas.bounding_box(), int(slider.input_value())
    page.evaluate(WATCH)
    page.mouse.move(box["x"] + third + 20, box["y"] + 41)
    page.mouse.down()
    for x in range(20, -60, -4):
        page.mouse.move(box["x"] + third + x, box["y"] + 41)
    assert page.evaluate("window.__sent.length") == 0
    assert int(slider.input_value()) < rest, "the slider follows the bar"
    page.mouse.up()
    page.wait_for_url(re.compile("six=-"))
    visit.settle()
    page.get_by_text(re.compile(r"Six numbers: −\d")).wait_for()
    visit.check()


def test_a_table_with_a_sentence_a_row_is_seen_whole(visitor):
    page = (
        visitor(viewport={"width": 1280, "height": 720}).open("/norms?depth=all", ready="[data-signature] canvas").page
    )
    fold = page.locator(".stMain details", has=page.get_by_text("The same number in other sentences"))
    fold.locator("summary").click()
    table = fold.locator("table")
    table.wait_for()
    assert table.evaluate("e => e.parentElement.scrollWidth - e.parentElement.clientWidth") <= 1
    assert all(row.bounding_box()["height"] < 60 for row in table.locator("tr").all())
