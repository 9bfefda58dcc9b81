"""Mutation testing of core: `make mutants`, or `python -m tests.mutants -n 100 core/attention.py core/rope.py`.

One small thing in the source is changed at a time, `<` to `<=`, `+` to `-`, `and` to `or`, a number, a string, a returned
value, and the tests that should notice are run: first those that run its line (tests.reached), then those of its
neighbourhood, file by file. No file is touched: the changed module is handed to Python by an import hook, in a process
forked from one that has loaded torch and transformers already, so that a mutant costs its tests and nothing else.
(mutmut and cosmic-ray start Python anew for each mutant, four seconds before the first test.)

A random sample with a seed, so that two runs can be compared; what survives is listed with its line.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType

from tests import reached

ROOT = Path(__file__).parents[1]
USAGE_ERROR = 4  # pytest's exit status where it finds no such test
SECONDS = 120  # of CPU, for one test: what takes longer has begun to loop
# Which tests look at a module first, beside those that carry its name: quick ones. What they let live meets the others.
NEAR = {
    "core/attention.py": ["test_formulas.py"],
    "core/blocks.py": ["test_model.py"],
    "core/config.py": ["test_counting.py"],
    "core/embeddings.py": ["test_model.py"],
    "core/feedforward.py": ["test_model.py"],
    "core/heads.py": ["test_model.py"],
    "core/norms.py": ["test_model.py"],
    "core/positions.py": ["topics/position/test_schemes.py"],
    "core/watch.py": ["topics/model/test_walk.py"],
    "core/assets.py": ["test_tokenizer.py"],
}
LEDGER = ("core/counting.py", "core/costs.py")

COMPARE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change. number: of the node among those of its file, in the order of ast.walk."""

    path: str
    line: int
    number: int
    before: str
    after: str


# ---- what can be changed ----


def other(node: ast.AST) -> ast.AST | None:
    """The node with one small thing different; None where there is nothing to change."""
    made = copy.deepcopy(node)
    match made:
        case ast.Compare(ops=[op, *_]) if type(op) in COMPARE:
            made.ops[0] = COMPARE[type(op)]()
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            made.op = ARITHMETIC[type(op)]()
        case ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            made.op = ARITHMETIC[type(op)]()
        case ast.BoolOp(op=op):
            made.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            return made.operand
        case ast.If() | ast.IfExp() | ast.While():
            made.test = ast.UnaryOp(ast.Not(), made.test)
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            made.value = ast.Constant(None)
        case ast.Constant(value=value):
            return _constant(value)
        case _:
            return None
    return made


def _constant(value: object) -> ast.Constant | None:
    if isinstance(value, bool):
        return ast.Constant(not value)
    if isinstance(value, int):
        return ast.Constant(value + 1)
    if isinstance(value, float):
        return ast.Constant(value * 1.5 + 0.25)
    return ast.Constant("x" + value) if isinstance(value, str) else None


def _nodes(tree: ast.Module) -> Iterator[tuple[int, ast.AST]]:
    """The nodes that may be changed: no docstrings, annotations, error messages or guards for type checkers."""
    left_out: set[int] = set()
    for node in ast.walk(tree):
        out: list[ast.AST | None] = []
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Raise() | ast.Import() | ast.ImportFrom() | ast.JoinedStr():
                out = [node]
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                out = [node]
            case ast.FunctionDef(args=args, returns=returns, decorator_list=marks):
                every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
                out = [returns, *marks, *(one.annotation for one in every if one)]
            case ast.ClassDef(decorator_list=marks, body=body):
                # A literal default of a field is where a demo begins: the pages' own tests hold it.
                out = [*marks, *(one.value for one in body if isinstance(one, ast.AnnAssign))]
            case ast.Module(body=body):  # a table of data is no behaviour; a number computed from others is
                tables = (one.value for one in body if isinstance(one, ast.Assign | ast.AnnAssign))
                out = [value for value in tables if _literal(value)]
            case ast.AnnAssign(annotation=annotation):
                out = [annotation]
            case ast.Call(func=ast.Name(id="Quantity"), args=[_name, _axes, _formula, says]):
                out = [says]  # a sentence: the texts' own tests hold it
            case ast.keyword(arg="strict"):  # both sides are as long as each other, or an error would have been seen
                out = [node.value]
            case ast.Assign(value=ast.Subscript(value=ast.Name(id="Literal" | "tuple" | "dict" | "Callable"))):
                out = [node]
            case ast.Call(args=args):  # a lone -1 names the last axis, and 1 is the same of a table; -2 is tried
                left_out |= {id(one) for one in args if isinstance(one, ast.UnaryOp) and ast.unparse(one) == "-1"}
        left_out |= {id(one) for part in out if part is not None for one in ast.walk(part)}
    return ((i, node) for i, node in enumerate(ast.walk(tree)) if id(node) not in left_out)


def _literal(node: ast.AST | None) -> bool:
    """Words and tables of words and numbers, written down as they are."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, str)
        case ast.Tuple() | ast.List() | ast.Dict() | ast.Set():
            return all(
                isinstance(one, ast.expr_context | ast.Constant) or _literal(one) for one in ast.iter_child_nodes(node)
            )
        case _:
            return False


def mutants(path: Path) -> list[Mutant]:
    tree = ast.parse(path.read_text("utf8"))
    name = path.relative_to(ROOT).as_posix()
    found = [(i, node, other(node)) for i, node in _nodes(tree)]
    return [Mutant(name, getattr(node, "lineno", 0), i, _short(node), _short(made)) for i, node, made in found if made]


def _short(node: ast.AST) -> str:
    first = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).splitlines()[0]
    return first if len(first) <= 90 else first[:90] + "…"


def changed(mutant: Mutant) -> CodeType:
    """The module with this one change, compiled under its own name."""
    path = ROOT / mutant.path
    tree = ast.parse(path.read_text("utf8"))
    node = list(ast.walk(tree))[mutant.number]
    made = ast.copy_location(other(node), node)

    class Swap(ast.NodeTransformer):
        def visit(self, one: ast.AST) -> ast.AST:
            return made if one is node else super().generic_visit(one)

    return compile(ast.fix_missing_locations(Swap().visit(tree)), str(path), "exec")


# ---- running its tests ----


class Hook(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Hands out the changed module under its own name and path."""

    def __init__(self, mutant: Mutant) -> None:
        self.name = mutant.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        self.path, self.code = str(ROOT / mutant.path), changed(mutant)

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, module.__dict__)


def tests_of(path: str) -> tuple[list[str], ...]:
    """Those that carry its name and a few more; all others that import it, its neighbours', and every topic on every
    family; at last those of the page that shows it."""
    inside, tests = Path(path).relative_to("core"), ROOT / "tests/core"
    near = [tests / inside.parent / f"test_{inside.stem}.py", *(tests / name for name in NEAR.get(path, ()))]
    near += [ROOT / "tests/pages/test_ledger_formulas.py"] if path in LEDGER else []
    near += [tests / "test_stated.py"] if len(inside.parts) == 1 else []
    name = path.removesuffix(".py").replace("/", ".")
    wide = [one for one, imported in _imports().items() if name in imported]
    room = inside.parts[1] if inside.parts[0] == "topics" else "ledger" if path in LEDGER else ""
    wide += sorted((tests / "topics" / room).glob("test_*.py")) if room else []
    wide += [tests / "test_formulas.py", tests / "topics/test_any_model.py"]
    shown = sorted((ROOT / "tests/pages").glob(f"test_{room}_*.py")) if room else []
    return tuple([str(one) for one in dict.fromkeys(part) if one.exists()] for part in (near, wide, shown))


@cache
def _imports() -> dict[Path, set[str]]:
    """Test file of core -> what it imports, `core.rope` and `core.rope.rotate`; the smallest files first."""
    found: dict[Path, set[str]] = {}
    for path in sorted((ROOT / "tests/core").rglob("test_*.py"), key=lambda one: one.stat().st_size):
        nodes = [node for node in ast.walk(ast.parse(path.read_text("utf8"))) if isinstance(node, ast.ImportFrom)]
        found[path] = {f"{node.module}.{one.name}" for node in nodes for one in node.names}
        found[path] |= {node.module for node in nodes if node.module}
    return found


def run(mutant: Mutant, quick: bool, reach: reached.Reached) -> str:
    """killed, survived or looped."""
    near, *wider = tests_of(mutant.path)
    if first := reach.tests_of(mutant.path, mutant.line):
        fate = _forked(mutant, first)
        if fate not in ("survived", "unfound"):
            return fate
    fate = _forked(mutant, near) if near else "survived"
    for tests in [] if quick else wider:
        fate = _forked(mutant, tests) if tests and fate == "survived" else fate
    return "killed" if fate == "unfound" else fate  # the files are there: what they import broke


def _forked(mutant: Mutant, tests: list[str]) -> str:
    """In a process of its own, which has all that was loaded before and whose changes nobody sees. unfound: a test is not
    there any more, or what its file imports broke."""
    child = os.fork()
    if not child:
        os._exit(_tests_pass(mutant, tests))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "looped"
    return {0: "survived", USAGE_ERROR: "unfound"}.get(os.WEXITSTATUS(status), "killed")


class Clock:
    """Winds itself up for every test. Many tests together may take long; none does by itself."""

    @staticmethod
    def pytest_runtest_logstart() -> None:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)


def _tests_pass(mutant: Mutant, tests: list[str]) -> int:
    import pytest

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    Clock.pytest_runtest_logstart()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        sys.meta_path.insert(0, Hook(mutant))
        return int(pytest.main(["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *tests], [Clock]))
    except BaseException:  # whatever a mutant does, it was noticed
        return 1


def warm_up() -> None:
    """What every test would load again, and nothing of this project."""
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(ROOT / "assets/tokenizers")
    import hypothesis.extra.numpy
    import numpy.testing
    import pytest
    import streamlit.testing.v1
    import tiktoken
    import tokenizers
    import torch
    import torch.utils.flop_counter
    from transformers import (
        AutoModelForCausalLM,
        GPT2LMHeadModel,
        LlamaForCausalLM,
        MistralForCausalLM,
        Qwen2ForCausalLM,
        Qwen3ForCausalLM,
    )

    torch.set_num_threads(1)
    with torch.device("meta"):  # its rules for shapes without numbers, and sympy with them
        torch.nn.Linear(2, 2)(torch.zeros(1, 2)).softmax(-1)
    pytest.main(["--version"])  # its plugins
    for name in ("gpt2", "cl100k_base", "o200k_base"):
        tiktoken.get_encoding(name)
    loaded = (
        hypothesis,
        numpy,
        streamlit,
        AutoModelForCausalLM,
        tokenizers,
        GPT2LMHeadModel,
        LlamaForCausalLM,
        MistralForCausalLM,
    )
    assert all((*loaded, Qwen2ForCausalLM, Qwen3ForCausalLM))
    assert not any(name.split(".")[0] in ("core", "pages") for name in sys.modules)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("paths", nargs="*", default=["core"])
    asked.add_argument("-n", type=int, default=300)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--out", type=Path, help="a line of JSON a mutant; mutants that stand in it are not run again")
    asked.add_argument(
        "--reach",
        type=Path,
        default=ROOT / "out" / "reached.json",
        help="which tests run which lines: measured where it is not there; take it away when core or tests have changed",
    )
    asked.add_argument(
        "--quick", action="store_true", help="only the nearest tests: a first look at what they let live"
    )
    given = asked.parse_args()
    files = [
        p for one in given.paths for p in ([ROOT / one] if one.endswith(".py") else (ROOT / one).rglob("[a-z]*.py"))
    ]
    every = [one for path in sorted(files) if "core/make" not in path.as_posix() for one in mutants(path)]
    sample = random.Random(given.seed).sample(every, min(given.n, len(every)))
    done = {}
    if given.out and given.out.exists():
        rows = map(json.loads, given.out.read_text("utf8").splitlines())
        done = {Mutant(**{k: v for k, v in row.items() if k != "fate"}): row["fate"] for row in rows}
    warm_up()
    if not given.reach.exists():
        reached.record(given.reach)
    reach = reached.Reached(given.reach)
    begun, fates = time.monotonic(), []
    for one in sample:
        fate = done.get(one) or run(one, given.quick, reach)
        fates.append(fate)
        if given.out and one not in done:
            with given.out.open("a", encoding="utf8") as file:
                file.write(json.dumps(asdict(one) | {"fate": fate}) + "\n")
        if fate == "survived":
            print(f"{one.path}:{one.line}  {one.before}  ->  {one.after}", flush=True)
    lost = fates.count("survived")
    print(f"{len(fates)} of {len(every)} mutants: {len(fates) - lost} killed ({1 - lost / len(fates):.1%}), {lost} survived,"
          f" {fates.count('looped')} of the killed by the clock; {time.monotonic() - begun:.0f} s")  # fmt: skip


if __name__ == "__main__":
    main()
