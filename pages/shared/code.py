"""The code of this number: the function of core that records a quantity, with the line that does it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from core.trace import Quantity
from pages.shared.text import _, say

CORE = Path(__file__).parents[2] / "core"


@dataclass(frozen=True)
class Source:
    """path: from the top of the repository; line: the line that records the quantity; text: the whole function."""

    path: str
    line: int
    text: str


@cache
def where(quantity: Quantity) -> Source | None:
    """The first function of core in which `trace(QUANTITY, ...)` stands."""
    for path in sorted(CORE.glob("*.py")):
        text = path.read_text("utf8")
        named = re.search(rf'^(\w+) = Quantity\(\s*"{re.escape(quantity.name)}"', text, re.M)
        if named:
            return next(filter(None, (_recorded(p, named[1]) for p in [path, *sorted(CORE.glob("*.py"))])), None)
    return None


def _recorded(path: Path, constant: str) -> Source | None:
    text = path.read_text("utf8")
    call = re.search(rf"\btrace(?:\.later)?\({constant}\b", text)
    if not call:
        return None
    line = text.count("\n", 0, call.start()) + 1
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    around = max((f for f in functions if f.lineno <= line <= f.end_lineno), key=lambda f: f.lineno)
    lines = text.splitlines()[around.lineno - 1 : around.end_lineno]
    return Source(f"core/{path.name}", line, "\n".join(lines))


def show(quantity: Quantity) -> None:
    """The function on the page, its line named. Plain colours: Streamlit's own fail contrast."""
    source = where(quantity)
    if source is None:
        return
    with st.expander(_("The code of this number")):
        say("Line «line» of «path»:", line=source.line, path=source.path)
        st.code(source.text, language=None, wrap_lines=True)
