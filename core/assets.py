"""Where everything that ships lies."""

from __future__ import annotations

from pathlib import Path

ASSETS = Path(__file__).parents[1] / "assets"
