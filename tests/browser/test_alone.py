"""A picture as a file: saved from its menu, opened from the disk without a server, it is the picture of the page."""

import json
from pathlib import Path

import numpy as np
import pytest

from pages.shared.pictures.live import alone
from tests.browser.test_pages import findings
from tests.browser.test_saved import saved

HERE = ("file:", "data:", "blob:")  # a file asks nobody, not even the server it comes from
MOST = 150_000  # bytes of the attention picture
STOP = 33
MOVE = "(s, v) => { s.value = v; s.dispatchEvent(new Event('input', { bubbles: true })); }"


@pytest.fixture
def kept(visitor, tmp_path):
    """kept(address): the page, its signature picture, and the same picture out of its file in another tab."""

    def keep(address, before=lambda picture: None, **options):
        visit = visitor(**options).open(address, ready="[data-signature] canvas")
        picture = visit.signature()
        before(picture)
        file = tmp_path / "picture.html"
        file.write_bytes(saved(visit.page, picture, "HTML"))
        visit.check()
        tab = visit.page.context.new_page()
        tab.on("console", lambda message: visit.errors.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: visit.errors.append(str(error)))
        tab.on("request", lambda request: request.url.startswith(HERE) or visit.errors.append(f"asks {request.url}"))
        tab.goto(file.as_uri())
        tab.locator("[data-quantity] canvas").first.wait_for()
        return visit, picture, tab, file

    return keep


def drawn(picture):
    """Every pixel of it, as text."""
    return picture.locator("canvas").first.evaluate("c => c.toDataURL()")


def test_the_attention_picture_is_a_file_that_moves(kept):
    def before(picture):
        picture.locator("input[type=range]").evaluate(MOVE, STOP)

    visit, picture, tab, file = kept("/attention?cell=9,2", before)
    assert file.stat().st_size <= MOST, file.stat().st_size
    alone_there = tab.locator("[data-quantity]")
    slider = alone_there.locator("input[type=range]")
    assert slider.input_value() == str(STOP), "as it was left"
    same = "(e, width) => { document.documentElement.style.setProperty('--st-font', 'monospace'); e.style.width = `${width}px`; }"
    wide = picture.evaluate("e => e.clientWidth")
    visit.page.add_style_tag(content=".st-key-picture * { --st-font: monospace !important; }")
    tab.locator("#picture").evaluate(same, wide)
    for page in (visit.page, tab):
        page.evaluate("dispatchEvent(new Event('live-room'))")
    for stop in (STOP, 5, 48):
        for one in (picture, alone_there):
            one.locator("input[type=range]").evaluate(MOVE, stop)
        assert drawn(alone_there) == drawn(picture)
    assert saved(tab, alone_there, "CSV") == saved(visit.page, picture, "CSV")
    assert b"<svg" in saved(tab, alone_there, "SVG")
    assert saved(tab, alone_there, "PNG").startswith(b"\x89PNG")
    assert visit.errors == []
    tab.close()


def test_the_file_is_driven_by_hand_and_by_keys_in_the_dark_too(kept):
    visit, _picture, tab, _file = kept("/attention", color_scheme="dark")
    stage, slider = tab.locator(".stage"), tab.locator("input[type=range]")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 17, 23)"
    before = slider.input_value()
    box = slider.bounding_box()
    tab.mouse.click(box["x"] + 0.2 * box["width"], box["y"] + box["height"] / 2)
    assert slider.input_value() != before
    stage.focus()
    tab.keyboard.press("ArrowDown")
    assert tab.locator(".tip").is_visible(), "a cell is told"
    told = tab.locator(".tip").inner_text()
    tab.keyboard.press("ArrowUp")
    assert tab.locator(".tip").inner_text() != told
    assert findings(tab) == []
    assert visit.errors == []
    tab.close()


@pytest.mark.parametrize(
    "room", ["why", "projections", "position", "rope", "norms", "feedforward", "ledger", "theory", "exam"]
)
def test_other_painters_become_files_too(kept, room):
    visit, picture, tab, _file = kept(f"/{room}")
    slider = tab.locator("input[type=range]").first
    before = drawn(tab.locator("[data-quantity]"))
    slider.evaluate(MOVE, 0 if slider.input_value() != "0" else 3)
    assert drawn(tab.locator("[data-quantity]")) != before, "it moves"
    assert tab.locator("[data-quantity]").get_attribute("aria-label") == picture.get_attribute("aria-label")
    assert visit.errors == []
    tab.close()


def test_the_server_makes_pages_of_its_own_painters_only(server):
    from tests.browser.test_gate import ask

    for painter in ("", "app.py", "../app.py", "shared/pictures/live/live.js", "shared/start/marks.js", "/etc/passwd"):
        assert ask(server, f"/picture.html?painter={painter}").status == 404, painter
    for painter in alone.painters():
        assert ask(server, f"/picture.html?painter={painter}").status == 200, painter


def test_a_notebook_shows_the_same_page(chromium, tmp_path):
    from pages.shared.pictures import live, matrix

    values = np.linspace(0, 1, 3 * 4 * 5, dtype=np.float32).reshape(3, 4, 5)
    slider = live.Slider("t", "Time </script>", (0.0, 1.0, 2.0), 1.0, ("a", "b", "c"))
    one = alone.Shown(key="cells", quantity="weights", says="A «title» <b> & </script>", slider=slider)
    matrix.show(one, values, rows=list("abcd"), columns=list("vwxyz"), cell=(1, 2))
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{one._repr_html_()}", "utf8")
    page = chromium.new_page()
    page.goto(Path(file).as_uri())
    inside = page.frame_locator("iframe")
    assert inside.locator("input[type=range]").input_value() == "1"
    assert inside.locator("[data-quantity]").get_attribute("aria-label") == one.says
    assert inside.locator(".caption").inner_text() == "Time </script>"
    page.close()
    assert json.dumps(one.says) not in one.held[0].split("octet-stream")[0]
