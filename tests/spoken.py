"""All English that can reach the screen, read from the source: what `_`, `N_` and their like are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIRST = {
    "_",
    "N_",
    "say",
    "choice",
    "switch",
    "pick",
    "stops",
    "sentence",
    "section",
    "fold",
    "typed",
    "pasted",
    "live_slider",
    "some",
}  # their first argument is spoken
NTH = {"Quantity": (3,), "Entry": (1, 2)}
NAMED = {"help"}


def files() -> list[Path]:
    return sorted([*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"])


def texts(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        spoken = [node.args[i] for i in ((0,) if name in FIRST else NTH.get(name, ())) if i < len(node.args)]
        spoken += [keyword.value for keyword in node.keywords if keyword.arg in NAMED and name in FIRST]
        for value in spoken:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value


def everything() -> set[str]:
    from pages.shared.frame import CATALOG

    return {text for path in files() for text in texts(path)} | set(CATALOG)
