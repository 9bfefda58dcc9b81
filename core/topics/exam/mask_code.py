"""A causal mask as three blanks, and the unit tests that it must pass. Every way is run by this code, nobody else's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

STARTS: dict[str, tuple[str, Callable[[int], Tensor]]] = {
    "eye": ("torch.eye(n)", torch.eye),
    "ones": ("torch.ones(n, n)", lambda n: torch.ones(n, n)),
    "zeros": ("torch.zeros(n, n)", lambda n: torch.zeros(n, n)),
}
CUTS: dict[str, tuple[str, Callable[[Tensor], Tensor]]] = {
    "tril1": (".tril(-1)", lambda x: x.tril(-1)),
    "tril": (".tril()", torch.tril),
    "triu": (".triu()", torch.triu),
    "triu1": (".triu(1)", lambda x: x.triu(1)),
}
ENDS: dict[str, tuple[str, Callable[[Tensor], Tensor]]] = {
    "none": ("", lambda x: x),
    "bool": (".bool()", lambda x: x.bool()),
    "zero": (" == 0", lambda x: x == 0),
}
TESTS = ("shape", "kind", "itself", "past", "future", "short")
SIZES = (1, 5)


@dataclass(frozen=True)
class Code:
    """How the three blanks are filled, by the words above."""

    start: str = "ones"
    cut: str = "tril1"
    end: str = "bool"

    @property
    def line(self) -> str:
        """As it is written in Python."""
        return f"mask = {STARTS[self.start][0]}{CUTS[self.cut][0]}{ENDS[self.end][0]}"

    def run(self, n: int) -> Tensor:
        """(n, n): what it makes."""
        return ENDS[self.end][1](CUTS[self.cut][1](STARTS[self.start][1](n)))


EVERY = tuple(Code(start, cut, end) for start in STARTS for cut in CUTS for end in ENDS)


def passes(code: Code) -> dict[str, bool]:
    """Which of TESTS it passes: n by n; True and False; a word sees itself, all before it, nothing ahead; and n = 1."""
    n = SIZES[-1]
    mask, single = code.run(n), code.run(1)
    seen = mask.bool()
    return {
        "shape": tuple(mask.shape) == (n, n),
        "kind": mask.dtype == torch.bool,
        "itself": bool(seen.diagonal().all()),
        "past": all(bool(seen[i, j]) for i in range(n) for j in range(i)),
        "future": not any(bool(seen[i, j]) for i in range(n) for j in range(i + 1, n)),
        "short": bool(single.bool().all()),
    }


def right() -> tuple[Code, ...]:
    """All that pass every test."""
    return tuple(code for code in EVERY if all(passes(code).values()))
