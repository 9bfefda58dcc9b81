"""The rules that keep the house in order."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from pages.shared import frame
from pages.shared.readers import DEPENDS, written
from pages.shared.text import ROWS, labels
from tests import spoken

ROOT = Path(__file__).parents[1]
FILES = [p for p in spoken.files() if p.parent != ROOT]
MODULES = sorted(p for p in (ROOT / "core").rglob("[a-z]*.py"))


def name(path):
    return str(path.relative_to(ROOT))


def test_imports_point_one_way_and_in_no_circle():
    """The contracts stand in .importlinter."""
    from importlinter.cli import lint_imports

    assert lint_imports(config_filename=str(ROOT / ".importlinter"), no_cache=True) == 0


@pytest.mark.parametrize("path", FILES, ids=name)
def test_functions_fit_on_a_screen(path):
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < 45, node.name


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("[0-9]*.py")), ids=name)
def test_a_page_reads_like_a_page(path):
    text = path.read_text("utf8")
    assert len(text.splitlines()) <= 110
    assert "frame.begin()" in text
    assert "session_state" not in text or path.stem == "01_home"


def test_every_quantity_is_made_of_known_axes_and_named_once():
    from core.trace import AXES, Quantity

    modules = [importlib.import_module(".".join(p.relative_to(ROOT).with_suffix("").parts)) for p in MODULES]
    found = {v for m in modules for v in vars(m).values() if isinstance(v, Quantity)}
    assert found
    for quantity in found:
        assert set(quantity.axes.split()) <= set(AXES), quantity
        assert quantity.says.endswith("."), quantity
    assert len({q.name for q in found}) == len(found)


def test_everything_said_has_a_translation_and_no_more():
    english, chinese = spoken.everything(), labels("zh")
    assert english - set(chinese) == set(), "not translated"
    assert set(chinese) - english == set(), "translated, but nobody says it"


HOLES = re.compile(r"«(\w+)»|\{(\w+)\}")


def test_translations_keep_their_holes():
    for english, chinese in labels("zh").items():
        assert sorted(HOLES.findall(english)) == sorted(HOLES.findall(chinese)), english


def prose_files():
    return sorted((ROOT / "assets/text/en").glob("*.md"))


@pytest.mark.parametrize("path", prose_files(), ids=lambda p: p.stem)
def test_both_languages_have_the_same_sections_formulas_and_holes(path):
    pair = [ROWS.sub("", (ROOT / "assets/text" / lang / path.name).read_text("utf8")) for lang in ("en", "zh")]
    for pattern in (r"^<!-- (\w+) -->$", r"\$[^$]+\$", r"`[^`]+`"):
        sections = [re.split(r"^(?=<!-- )", text, flags=re.M) for text in pair]
        found = [[sorted(re.findall(pattern, part, re.M)) for part in parts] for parts in sections]
        assert found[0] == found[1], pattern
    for english, chinese in zip(*(re.split(r"^<!-- \w+ -->$", text, flags=re.M) for text in pair), strict=True):
        assert set(re.findall(r"«(\w+)»", english)) == set(re.findall(r"«(\w+)»", chinese))


def test_nobody_renders_html_or_hides_an_error():
    for path in spoken.files():
        text = path.read_text("utf8")
        assert "unsafe_allow_html" not in text, path
        assert not re.search(r"import pickle|torch\.load\(|allow_pickle=True|\beval\(\w|\bexec\(", text), path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ExceptHandler):
                broad = node.type is None or getattr(node.type, "id", "") in ("Exception", "BaseException")
                assert not broad, f"{path}:{node.lineno}"


def test_no_widget_is_bound_and_state_has_few_owners():
    """One class owns a value of the address; what a browser keeps for a picture and a frame's own marks stay with them."""
    owners = {"address", "controls", "frame", "live", "predict", "text", "uploads"}
    for path in (ROOT / "pages").rglob("*.py"):
        text = path.read_text("utf8")
        assert "bind=" not in text, path
        name = path.parent.name if path.name == "__init__.py" else path.stem
        assert "session_state" not in text or (path.is_relative_to(ROOT / "pages/shared") and name in owners), path


def test_every_word_of_the_address_is_declared_once_and_used():
    """Two pages may share a word only where it is declared for both."""
    from pages.shared.words import WORDS

    topics = {entry.file[3:] for section in frame.CATALOG.values() for entry in section}
    said = "\n".join(path.read_text("utf8") for path in (ROOT / "pages").rglob("*.py") if path.name != "words.py")
    for word, declared in WORDS.items():
        assert set(declared.pages) <= topics, word
        assert f'"{word}"' in said or any(f'f"{word[:n]}' in said for n in range(2, len(word))), (
            f"{word} is used nowhere"
        )
        if declared.default not in (None, DEPENDS, ()):
            assert declared.read(written(declared.default)) == declared.default, word
