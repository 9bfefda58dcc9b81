"""Which tests of core run which of its lines: measured once by coverage.py, so that a mutant meets first those that can notice.

A test that finds something made already (a model of the session, a cache) does not run the lines that made it. So what
is noted here says whom to ask first, and never that nobody else need be asked.
"""

from __future__ import annotations

import ast
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIRST = 120  # tests a mutant meets before whole files are run


class Reached:
    """tests: name and seconds, as a whole run of core took them. lines: file of core -> line -> numbers of tests."""

    def __init__(self, path: Path) -> None:
        held = json.loads(path.read_text("utf8"))
        self.tests: list[tuple[str, float]] = [(name, seconds) for name, seconds in held["tests"]]
        self.lines: dict[str, dict[str, list[int]]] = held["lines"]

    def tests_of(self, path: str, line: int) -> list[str]:
        """Those that run the statement that holds this line, the quickest first; none where no test is known to."""
        lines = self.lines.get(path, {})
        found = {one for at in _statement(ROOT / path, line) for one in lines.get(str(at), [])}
        return [self.tests[one][0] for one in sorted(found, key=lambda one: self.tests[one][1])[:FIRST]]


def _statement(path: Path, line: int) -> range:
    """The lines of the innermost statement around a line; of one that holds others, its head."""
    found = range(line, line + 1)
    widest = float("inf")
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.stmt) and node.end_lineno is not None:
            body = getattr(node, "body", None)
            end = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno
            if node.lineno <= line <= end and end - node.lineno < widest:
                found, widest = range(node.lineno, end + 1), end - node.lineno
    return found


class _Recorder:
    """Tells coverage whose lines are running."""

    def __init__(self, measured: Any) -> None:
        self.measured, self.seconds = measured, defaultdict(float)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.measured.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] += report.duration


def record(out: Path, workers: int = 2) -> None:
    """Runs every test of core and writes what each runs. The processes are forked: what is loaded is loaded."""
    out.parent.mkdir(exist_ok=True)
    files = sorted((ROOT / "tests/core").rglob("test_*.py"))
    parts = [out.with_suffix(f".{i}") for i in range(workers)]
    children = []
    for i, part in enumerate(parts):
        child = os.fork()
        if not child:
            _run(part, [str(one) for one in files[i::workers]])
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    _write(out, [json.loads(part.read_text("utf8")) for part in parts])
    for part in parts:
        part.unlink()


def _run(part: Path, files: list[str]) -> None:
    import coverage
    import pytest

    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    measured = coverage.Coverage(data_file=None, source=[str(ROOT / "core")], config_file=False)
    measured.start()
    recorder = _Recorder(measured)
    pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", *files], [recorder])
    measured.stop()
    data = measured.get_data()
    lines = {one: data.contexts_by_lineno(one) for one in data.measured_files()}
    part.write_text(json.dumps({"seconds": recorder.seconds, "lines": lines}), "utf8")


def _write(out: Path, parts: list[dict[str, Any]]) -> None:
    seconds = {name: taken for part in parts for name, taken in part["seconds"].items()}
    number = {name: i for i, name in enumerate(seconds)}
    lines: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for part in parts:
        for file, at in part["lines"].items():
            for line, names in at.items():
                inside = lines[Path(file).relative_to(ROOT).as_posix()]
                inside[line] |= {number[name] for name in names if name in number}
    kept = {file: {line: sorted(of) for line, of in at.items() if of} for file, at in lines.items()}
    out.write_text(json.dumps({"tests": list(seconds.items()), "lines": kept}), "utf8")
