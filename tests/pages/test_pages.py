"""Every page, in both languages, runs; a link brings back what it was copied from."""

import re
from functools import cache
from unittest.mock import patch

import pytest

from pages.shared import address, frame
from pages.shared.pictures import matrix
from pages.shared.text import sections
from tests.pages.opening import labels, open_page, words

FILES = [entry.file for entry in frame.entries()]


HEARD = {}  # (file, key) of a matrix -> does it offer to choose a cell, and does the address keep the one that is chosen
show = matrix.show


def pressed(file):
    """matrix.show, and a press on two cells of what it shows, of which the page itself hears nothing."""

    def shown(picture, values, **how):
        show(picture, values, **how)
        with patch.object(address, "write") as kept:
            for cell in ([0, 0], [1, 1]):
                if picture.released:
                    picture.released("cell", cell)
        HEARD[file, picture.key] = how.get("cell", matrix.UNHEARD) != matrix.UNHEARD, kept.called

    return shown


@cache
def spoken(file, language):
    """The page as it opens in a language; whoever runs it again finds the same."""
    with patch.object(matrix, "show", pressed(file)):
        return open_page(file, lang=language)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("file", FILES)
def test_runs_inside_the_frame(file, language):
    app = spoken(file, language)
    assert not app.exception
    assert app.sidebar.segmented_control(key="lang").value == language
    assert not app.run().exception, "and a second time"
    assert "«" not in words(app), "a hole was left open"
    said = re.sub(r"`[^`]*`", "", words(app))  # code may speak of them
    assert not re.search(r"\bnan\b|\binf\b", said), "a number that is none"
    assert [label for label in labels(app) if "\\" in label] == [], "Markdown's escapes where nothing reads Markdown"


@pytest.mark.parametrize("file", FILES)
def test_a_cell_can_be_chosen_where_somebody_listens(file):
    """Else the picture says that one is chosen, and whoever reloads the page finds none."""
    spoken(file, "en")
    matrices = {key: both for (page, key), both in HEARD.items() if page == file}
    assert {key for key, (offered, heard) in matrices.items() if offered != heard} == set()


def test_there_are_matrices_in_which_one_chooses_and_others():
    spoken("06_attention", "en")
    assert {HEARD["06_attention", key] for key in ("picture", "tour")} == {(True, True)}
    spoken("16_efficient", "en")
    assert HEARD["16_efficient", "pairs"] == (False, False)


@pytest.mark.parametrize("file", FILES)
def test_chinese_pages_speak_chinese(file):
    english, chinese = (words(spoken(file, language)) for language in ("en", "zh"))
    sentences = {line for line in english.splitlines() if len(line.split()) > 4 and "$" not in line and "|" not in line}
    quoted = {line for line in sentences if "Sam and Amy" in line}
    assert not (sentences - quoted) & set(chinese.splitlines())
    assert sum("\u4e00" <= c <= "\u9fff" for c in chinese) > 100


@pytest.mark.parametrize(
    ("file", "guess"),
    [
        *(("05_softmax", "add100"), ("07_masks", "unmasked"), ("09_position", "shuffled")),
        *(("10_rope", "rope_freeze"), ("11_norms", "louder_last")),
    ],
)
@pytest.mark.parametrize("depth", ["idea", "all"])
def test_no_sentence_to_take_home_before_the_guess_that_it_answers(file, guess, depth):
    closing = sections("en", file[3:])["closing"].split(":**")[1][:60].replace("$", "")
    before, after = (words(open_page(file, depth=depth, **{guess: said})) for said in ("", "?"))
    assert closing not in before
    assert "guess first, then it stands here" in before
    assert closing in after
