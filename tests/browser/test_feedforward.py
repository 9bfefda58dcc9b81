"""The FFN page in a real browser: one neuron under the finger, a word taken from the strip, the guess and its verdict."""

import re

from tests.browser.gestures import PICTURES, WATCH, drag


def test_the_neuron_follows_the_finger_and_the_server_hears_nothing(visit):
    page = visit.open("/feedforward").page
    slider, canvas = visit.signature().locator("input[type=range]"), visit.signature().locator("canvas").first
    page.evaluate(WATCH)
    canvas.evaluate(PICTURES)
    drag(page, slider, 0.5, 0.25, release=False)
    assert page.evaluate("window.__sent.length") == 0, "a drag is no business of the server"
    assert page.evaluate("new Set(window.__pictures).size") >= 13, "a quarter of its stops"
    slider_at = slider.input_value()
    page.mouse.up()
    page.wait_for_url(re.compile("ffn_factor="))
    visit.settle()
    assert slider.input_value() == slider_at
    page.reload()
    visit.settle()
    assert slider.input_value() == slider_at
    visit.check()


def test_muted_it_says_so_aloud(visit):
    page = visit.open("/feedforward?ffn_factor=0").page
    canvas = visit.signature().locator("canvas").first
    page.wait_for_function("(c) => c.getAttribute('aria-label')?.includes('where 54.9%')", arg=canvas.element_handle())
    assert "·ed 0.8%" in canvas.get_attribute("aria-label")
    visit.check()


def test_a_word_is_taken_from_the_strip_and_only_its_row_moves(visit):
    page = visit.open("/feedforward").page
    picture = page.locator(".live[data-key=alone]")
    canvas = picture.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + 60, box["y"] + 40)
    page.wait_for_url(re.compile("ffn_word=1"))
    visit.settle()
    drag(page, picture.locator("input[type=range]"), 0.02, 0.98)
    page.wait_for_url(re.compile("ffn_mix="))
    visit.settle()
    page.wait_for_function("(c) => /Sam [1-9]/.test(c.getAttribute('aria-label'))", arg=canvas.element_handle())
    upper, lower = canvas.get_attribute("aria-label").split(";")
    assert len(re.findall(r" 0(?=,|$)", upper)) == 13, "thirteen of fourteen words stand still"
    assert len(re.findall(r" 0(?=,|\b(?!\.))", lower)) <= 2, "attention carries it on"
    visit.check()


def test_the_guess_is_told_and_moves_no_picture_off_the_screen(visitor):
    visit = visitor(viewport={"width": 1280, "height": 720}).open("/feedforward", ready="[data-signature] canvas")
    page = visit.page
    page.get_by_role("radio", name="half").or_(page.get_by_role("button", name="half")).first.click()
    page.get_by_text("Sharing the work between two").wait_for()
    visit.settle()
    slider = visit.signature().locator("input[type=range]").bounding_box()
    assert slider["y"] + slider["height"] <= 720
    visit.check()
