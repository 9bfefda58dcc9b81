"""What a visitor saves: the picture with its legend and its words, and the numbers under it."""

import csv
import io
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from PIL import Image

from core.lab import head as onehead
from core.lab import text
from pages.shared.pictures import palette
from tests.browser.test_live import scale_colour

STOP = 33


def saved(page, picture, kind):
    picture.locator(".save").click()
    with page.expect_download() as caught:
        picture.get_by_role("button", name=kind, exact=True).click()
    return Path(caught.value.path()).read_bytes()


def drawing(page, picture):
    """The texts of an SVG, and its shapes."""
    root = ElementTree.fromstring(saved(page, picture, "SVG"))
    every = {tag: list(root.iter(f"{{http://www.w3.org/2000/svg}}{tag}")) for tag in ("text", "rect", "path")}
    return [t.text for t in every["text"]], every["rect"], every["path"]


def photograph(page, picture):
    """The pixels of a PNG, and how tall the picture alone is."""
    image = np.asarray(Image.open(io.BytesIO(saved(page, picture, "PNG"))).convert("RGB"))
    return image, int(picture.locator("canvas").first.evaluate("c => c.height"))


def test_a_matrix_is_saved_with_its_numbers_and_its_words(visit):
    page = visit.open("/attention").page
    picture = visit.signature()
    slider = picture.locator("input[type=range]")
    slider.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('input', { bubbles: true })); }", STOP)
    reading = text.read(text.SENTENCE)
    frame = onehead.frames(onehead.Demo(text.of(reading)), "weights").values[STOP]
    shown = picture.locator("output").inner_text()

    head, *rows = csv.reader(io.StringIO(saved(page, picture, "CSV").decode("utf-8-sig")))
    numbers = np.array([[float(x or "nan") for x in row[1:]] for row in rows])
    kept = np.tril(np.ones_like(frame, dtype=bool))
    assert len(head) == len(reading.tokens) + 1
    np.testing.assert_allclose(numbers[kept], frame[kept], rtol=1e-5, atol=1e-7)

    texts, boxes, _ = drawing(page, picture)
    low = [f"{x:.2f}" for x in frame[kept]]
    assert [t for t in texts if t in low][: len(low)] == low, "row by row, what is in the cells"
    assert f"Temperature {shown}" in texts
    r, g, b = scale_colour(palette.WEIGHTS[0], 0, 1, frame[13, 3])
    assert f"rgb({r},{g},{b})" in {box.get("fill") for box in boxes}

    image, tall = photograph(page, picture)
    below = image[tall:]
    assert below.shape[0] > 20
    assert (below != below[-1, -1]).any(), "the words beneath"
    visit.check()


def test_lines_are_saved_with_their_legend(visit):
    page = visit.open("/why?depth=all").page
    picture = page.locator("[data-quantity=influence]")
    picture.locator(".legend span").first.wait_for()  # it stands far down, and comes after the first picture
    legend = [name.strip() for name in picture.locator(".legend span").all_inner_texts()]
    dashes = picture.locator(".legend i.dash").count()
    assert len(legend) > 2
    assert dashes
    texts, _, paths = drawing(page, picture)
    assert set(legend) <= set(texts)
    assert sum(path.get("stroke-dasharray") == "6 4" for path in paths) == dashes
    image, tall = photograph(page, picture)
    above = image[: picture.locator(".legend").evaluate("e => e.offsetHeight")]
    assert image.shape[0] > tall + 40
    assert len(np.unique(above.reshape(-1, 3), axis=0)) > len(legend) / 2
    visit.check()
