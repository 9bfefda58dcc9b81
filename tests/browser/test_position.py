"""The page on order in a real browser: cards are laid by hand and by keys, and the slider leads to the order they lie in."""

import re

from playwright.sync_api import expect


def test_a_card_is_laid_elsewhere(visit):
    page = visit.open("/position", ready="[data-signature] canvas").page
    canvas, slider = visit.signature().locator("canvas").first, visit.signature().locator("input[type=range]")
    box = canvas.bounding_box()
    cell, y = (box["width"] - 78) / 14, box["y"] + 30
    page.mouse.move(box["x"] + 78 + 3.5 * cell, y)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(box["x"] + 78 + (3.5 + step / 4) * cell, y)
    page.mouse.up()
    page.wait_for_url(re.compile("order=0%2C1%2C2%2C4%2C5%2C3%2C6"))
    visit.settle()
    expect(slider).to_have_value("48")  # the order that was laid is the slider's end
    page.reload()
    canvas.wait_for()
    visit.settle()
    assert slider.input_value() == "48"
    assert visit.signature().locator(".note").inner_text().startswith("2 of 78 pairs")
    visit.check()


def test_keys_carry_a_card(visit):
    page = visit.open("/position", ready="[data-signature] canvas").page
    visit.signature().locator("canvas").first.focus()
    for key in ("ArrowRight", "Shift+ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(re.compile("order=0%2C1%2C3%2C2%2C4"))
    visit.settle()
    visit.check()
