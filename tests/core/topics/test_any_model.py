"""Every topic on every family of models: it works and its result is true of itself.

Or it says in one sentence why it cannot.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from core.lab import text
from core.topics import __path__ as TOPICS
from core.topics.inference import drafts, roofline
from tests.core.families import Pair
from tests.core.topics.cases import CASES, NO_MODEL, Given

TEXT = "then the dog saw a cat. the dog ran to"


def public() -> list[str]:
    """Every public function of the topics, `attention.facts.sink`."""
    found = []
    for path in sorted(Path(TOPICS[0]).rglob("[a-z]*.py")):
        short = ".".join(path.relative_to(TOPICS[0]).with_suffix("").parts)
        module = importlib.import_module(f"core.topics.{short}")
        found += [
            f"{short}.{name}"
            for name, one in vars(module).items()
            if not name.startswith("_")
            and callable(one)
            and not inspect.isclass(one)
            and getattr(one, "__module__", "") == module.__name__
        ]
    return found


def test_the_table_names_every_public_function():
    every = public()
    assert len(every) > 150
    listed = {name for name in every if name in NO_MODEL or name.rpartition(".")[0] in NO_MODEL}
    assert set(every) - set(CASES) - listed == set(), "neither called nor listed"
    assert set(CASES) & listed == set(), "listed as without a model, but called with one"
    assert {name for name in CASES if not name.startswith("lab.")} - set(every) == set(), "gone"
    modules = {name.rpartition(".")[0] for name in every}
    assert NO_MODEL - set(every) - modules == set(), "gone"


def given(family: Pair) -> Given:
    return Given(text.exactly(TEXT, str(family.folder)), TEXT)


def works(name: str, g: Given) -> bool:
    """Whether the function runs and its law holds. The errors are those of a part that a family has not."""
    case = CASES[name]
    try:
        found = case.call(g)
    except text.Cannot as no:
        return str(no).endswith(".")
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, RuntimeError):
        return False
    return case.law is None or case.law(found)


@pytest.fixture
def hasty(monkeypatch):
    """What takes times takes each once: the middle of one is as good as that of several, and another family's too."""
    monkeypatch.setattr(drafts, "RUNS", 1)
    monkeypatch.setattr(roofline._middle, "__defaults__", (1,))


@pytest.mark.long
@pytest.mark.usefixtures("hasty")
def test_every_topic_function_runs_and_its_laws_hold(any_model):
    g = given(any_model)
    assert len(g.ids) > 10
    assert {name for name in CASES if not works(name, g)} == set()
