"""Whom a mutant meets first. That it meets all others too when those let it live is `tests.mutants.run`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import mutants, reached

SOURCE = """\
def f(x):
    if (
        x > 1
    ):
        return [
            x,
            x + 1,
        ]
    return 0
"""


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> reached.Reached:
    monkeypatch.setattr(reached, "ROOT", tmp_path)
    (tmp_path / "core").mkdir()
    (tmp_path / "core/f.py").write_text(SOURCE, "utf8")
    measured = {
        "tests": [["slow", 3.0], ["quick", 0.1], ["other", 0.2]],
        "lines": {"core/f.py": {"2": [0, 1, 2], "3": [0, 1, 2], "5": [0], "7": [1], "9": [2]}},
    }
    (tmp_path / "reached.json").write_text(json.dumps(measured), "utf8")
    return reached.Reached(tmp_path / "reached.json")


@pytest.mark.parametrize(
    ("line", "first"),
    [
        (3, ["quick", "other", "slow"]),  # the head of the if, over three lines
        (6, ["quick", "slow"]),  # a line on which nothing begins belongs to its statement
        (9, ["other"]),
    ],
)
def test_a_line_meets_the_tests_that_run_its_statement_the_quickest_first(
    known: reached.Reached, line: int, first: list[str]
) -> None:
    assert known.tests_of("core/f.py", line) == first


def test_a_mutant_that_they_let_live_meets_the_whole_neighbourhood(
    known: reached.Reached, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[list[str]] = []
    monkeypatch.setattr(mutants, "tests_of", lambda path: (["near"], ["wide"], ["shown"]))
    monkeypatch.setattr(mutants, "_forked", lambda mutant, tests: met.append(tests) or "survived")
    one = mutants.Mutant("core/f.py", 9, 0, "0", "1")
    assert mutants.run(one, False, known) == "survived"
    assert met == [["other"], ["near"], ["wide"], ["shown"]]


@pytest.mark.parametrize(("near", "fate"), [("survived", "survived"), ("unfound", "killed")])
def test_a_test_that_is_gone_kills_nothing_and_a_file_that_cannot_be_read_does(
    known: reached.Reached, monkeypatch: pytest.MonkeyPatch, near: str, fate: str
) -> None:
    monkeypatch.setattr(mutants, "tests_of", lambda path: (["near"],))
    monkeypatch.setattr(mutants, "_forked", lambda mutant, tests: near if tests == ["near"] else "unfound")
    assert mutants.run(mutants.Mutant("core/f.py", 9, 0, "0", "1"), False, known) == fate


def test_what_one_test_notices_meets_no_other(known: reached.Reached, monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[list[str]] = []
    monkeypatch.setattr(mutants, "_forked", lambda mutant, tests: met.append(tests) or "killed")
    assert mutants.run(mutants.Mutant("core/f.py", 9, 0, "0", "1"), False, known) == "killed"
    assert met == [["other"]]
