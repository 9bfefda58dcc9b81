"""Nothing of the curriculum gets lost: every row is taught in its room, in a section that is really drawn.

assets/data/rows.txt names the rows and their rooms. In assets/text/en/<room>.md a line `<!-- rows: S0-01 S0-02 -->` under
a section's name says what the section teaches. `python -m tests.test_rows` prints row, room, section, depth.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from pages.shared import frame
from pages.shared.text import ROWS, TEXT, sections
from tests.pages.opening import open_page, words

ROOT = Path(__file__).parents[1]
LISTED = ROOT / "assets/data/rows.txt"
COUNTS = {"S0": 68, "S1": 127, "S2": 87, "S3": 29, "S4": 55}


def listed():
    """row -> room, as the list has it."""
    return dict(line.split() for line in LISTED.read_text("utf8").splitlines())


@cache
def marks():
    """(row, room, section) as the texts have it."""
    found = []
    for path in sorted((TEXT / "en").glob("*.md")):
        parts = re.split(r"^<!-- (\w+) -->$", path.read_text("utf8"), flags=re.M)
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            found += [(row, path.stem, name) for line in ROWS.findall(body.lstrip("\n")) for row in line.split()]
    return found


def rooms():
    return [frame.topic_of(entry.file) for entry in frame.entries()]


@cache
def source(room):
    """All code that may draw a section of this room."""
    files = [*(ROOT / "pages").glob(f"[0-9]*_{room}.py"), *(ROOT / "pages/parts" / room).rglob("*.py")]
    return "\n".join(path.read_text("utf8") for path in files)


def drawn(room, section):
    """Does the code of a room name this section, whole or as the beginning of a name that is put together?"""
    code, short = source(room), section.removeprefix("mistake_")
    began = re.findall(r'f"(\w+?_?)\{', code)
    return (
        f'"{section}"' in code
        or (short != section and f'"{short}"' in code)
        or any(start and section.startswith(start) for start in began)
        or section == "teach"
    )


def depth(room, section, shown):
    """Where a visitor meets it: "idea" if it stands on the page as it opens there, else "all"."""
    said = re.split(r"«\w+»|\n", sections("en", room)[section])
    longest = max(said, key=len).strip()
    return "idea" if longest and longest in shown else "all"


def test_the_list_is_whole():
    found = listed()
    assert Counter(row[:2] for row in found) == COUNTS
    for prefix, many in COUNTS.items():
        assert [row for row in found if row.startswith(prefix)] == [f"{prefix}-{n:02d}" for n in range(1, many + 1)]
    assert set(found.values()) <= set(rooms())


def test_every_row_is_taught_once_where_the_list_says():
    taught = Counter(row for row, _room, _section in marks())
    wanted = listed()
    assert set(wanted) - set(taught) == set(), "not taught"
    assert set(taught) - set(wanted) == set(), "unknown"
    assert {row: n for row, n in taught.items() if n > 1} == {}
    assert {row: room for row, room, _section in marks()} == wanted


def test_what_teaches_is_drawn():
    assert [(room, section) for _row, room, section in marks() if not drawn(room, section)] == []


def test_marks_are_no_text():
    for _row, room, section in marks():
        assert "<!--" not in sections("en", room)[section]
        assert sections("en", room)[section]


@pytest.mark.parametrize("room", sorted(set(listed().values())))
def test_a_room_teaches_some_of_its_rows_at_the_idea(room):
    depths = [one[-1] for one in table(room)]
    assert "idea" in depths, depths


def table(room):
    """(row, room, section, depth) of a room."""
    file = next(entry.file for entry in frame.entries() if frame.topic_of(entry.file) == room)
    shown = words(open_page(file, depth="idea"))
    return [(row, room, section, depth(room, section, shown)) for row, at, section in marks() if at == room]


if __name__ == "__main__":
    for room in rooms():
        for line in table(room):
            print(*line)
