"""The code of this number: the function of core that records a quantity, with the line that does it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from core.lab import subject
from core.trace import Quantity
from pages.shared import headings
from pages.shared.text import say

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Source:
    """path: from the top of the repository; line: the line that records the quantity; text: the whole function; inside:
    which line of it that is, from one on."""

    path: str
    line: int
    text: str
    inside: int


@cache
def where(quantity: Quantity) -> Source:
    """The function of core in which `trace(QUANTITY, ...)` stands: of several the one that the model that ships runs,
    else the first. Raises LookupError where there is none."""
    files = sorted((ROOT / "core").rglob("*.py"))
    for path in files:
        text = path.read_text("utf8")
        named = re.search(rf'^(\w+) = Quantity\(\s*"{re.escape(quantity.name)}"', text, re.M)
        if named and (found := next(filter(None, (_recorded(p, named[1]) for p in [path, *files])), None)):
            return found
    raise LookupError(f"no function of core records {quantity.name}")


def _recorded(path: Path, constant: str) -> Source | None:
    text = path.read_text("utf8")
    calls = re.finditer(rf"\btrace(?:\.later)?\({constant}\b", text)
    found = [text.count("\n", 0, call.start()) + 1 for call in calls]
    if not found:
        return None
    tree = ast.parse(text)
    line = found[0] if len(found) == 1 else next(filter(_running(tree), found), found[0])
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _holds(node, line)]
    around = max(functions, key=lambda f: f.lineno)
    lines = text.splitlines()[around.lineno - 1 : around.end_lineno]
    return Source(path.relative_to(ROOT).as_posix(), line, "\n".join(lines), line - around.lineno + 1)


def _running(tree: ast.Module) -> Callable[[int], bool]:
    """Whether a line belongs to a part of the model that ships."""
    parts = {type(part).__name__ for part in subject.model().modules()}
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name in parts]
    return lambda line: any(_holds(node, line) for node in classes)


def _holds(node: ast.ClassDef | ast.FunctionDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or 0)


def show(quantity: Quantity) -> None:
    """The function on the page, its line named. Plain colours: Streamlit's own fail contrast."""
    source = where(quantity)

    def inside() -> None:
        say(
            "Line «line» of «path», line «inside» of what follows:",
            line=source.line,
            path=source.path,
            inside=source.inside,
        )
        st.code(source.text, language=None, wrap_lines=True)

    headings.fold("The code of this number", inside, name=f"code {quantity.name}")
