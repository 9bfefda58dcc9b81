"""A picture as a file of its own: one page without a server, in which slider, hover, keys and the menu still work.

The browser is sent the page of a painter with holes for the numbers and fills them ("HTML" in a picture's menu); a
notebook is shown the same page, filled here.
"""

from __future__ import annotations

import base64
import html
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pages.shared.pictures import live
from pages.shared.text import lang

HERE = Path(__file__).parent
START = HERE / "alone.js"
IMPORTED = re.compile(r'(?<=from )"(\.[^"]+)"')
SHEET = re.compile(r'new URL\("([^"]+\.css)", import\.meta\.url\)')
HOLE = re.compile(r"«(\w+)»")
NAMES = {"primaryColor": "primary-color", "backgroundColor": "background-color", "textColor": "text-color"}
NAMES |= {"secondaryBackgroundColor": "secondary-background-color", "borderColor": "border-color"}


@cache
def painters() -> frozenset[str]:
    """The scripts that a picture's data may name."""
    found = (path for path in live.PAGES.rglob("*.js") if "export default" in path.read_text("utf8"))
    return frozenset(path.relative_to(live.PAGES).as_posix() for path in found if path.parent != HERE)


@cache
def template(painter: str) -> str:
    """The page of this painter, with holes for the language, the title, the numbers and how the picture was left."""
    modules: dict[str, str] = {}
    for script in (live.PAGES / painter, START):
        _gather(script, modules)
    packed = {name: f"data:text/javascript;base64,{_packed(text.encode())}" for name, text in modules.items()}
    themes = tomllib.loads((live.PAGES.parent / ".streamlit" / "config.toml").read_text("utf8"))["theme"]
    holes = {name: _colours(themes[name]) for name in ("light", "dark")}
    holes |= {"modules": json.dumps({"imports": packed}), "painter": painter, "start": _name(START)}
    return _filled((HERE / "alone.html").read_text("utf8"), holes)


def page(painter: str, told: Mapping[str, Any], numbers: bytes, left: Mapping[str, Any]) -> str:
    """The whole page. numbers: as `live.pack` packs them; left: {"state": ..., "frame": ...}, as base.js keeps it."""
    start = json.dumps(left).replace("<", "\\u003c")
    holes = {"lang": lang(), "title": html.escape(str(told["label"])), "left": start, "numbers": _packed(numbers)}
    return _filled(template(painter), holes)


@dataclass(frozen=True, kw_only=True)
class Shown(live.Picture):
    """For a notebook: `one = Shown(key=..., quantity=..., says=...)`, `matrix.show(one, values, ...)`, `one`."""

    held: list[str] = field(default_factory=list)

    def mount(
        self,
        painter: live.Painter,
        meta: Mapping[str, object],
        arrays: dict[str, np.ndarray],
        *,
        state: dict[str, Any] | None = None,
        triggers: tuple[str, ...] = (),
    ) -> None:
        """Keep it instead of putting it on a page. triggers: nobody is there to hear them."""
        told = self.told(painter, meta) | {"state": state or {}}
        at = self.slider.at if self.slider else 0
        self.held[:] = [page(painter.script, told, live.pack(told, arrays), {"state": state or {}, "frame": at})]

    def _repr_html_(self) -> str:
        """A frame that is as tall as its picture."""
        inside = html.escape(self.held[0] if self.held else "")
        return f'<iframe srcdoc="{inside}" style="width: 100%; height: 480px; border: 0"></iframe>'


def _gather(script: Path, modules: dict[str, str]) -> None:
    """A script and all it imports, by name; what it imports is called by name too, and style sheets are text."""
    if _name(script) in modules:
        return
    text = script.read_text("utf8")
    imported = {found: (script.parent / found).resolve() for found in IMPORTED.findall(text)}
    text = IMPORTED.sub(lambda m: json.dumps(_name(imported[m[1]])), text)
    modules[_name(script)] = SHEET.sub(lambda m: json.dumps((script.parent / m[1]).read_text("utf8")), text)
    for found in imported.values():
        _gather(found, modules)


def _name(script: Path) -> str:
    return script.relative_to(live.PAGES).as_posix()


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _colours(theme: Mapping[str, Any]) -> str:
    """The theme as the pictures read it."""
    return " ".join(f"--st-{name}: {theme[option]};" for option, name in NAMES.items())


def _filled(text: str, holes: Mapping[str, str]) -> str:
    return HOLE.sub(lambda m: holes.get(m[1], m[0]), text)
