"""A Trace is the ordered record of one computation: core writes it, every page reads it.

Needs only NumPy, so that a recorded trace can be opened and shown before torch is imported.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from fnmatch import translate
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

# Every axis a tensor may have. d_v: the width of a value, in most models that of a key; one: a number for each row, kept
# as an axis so that it can be taken off the row.
AXES = {"query", "key", "head", "kv_head", "d_head", "d_v", "d_model", "d_ff", "vocab"}
AXES |= {"expert", "pair", "frame", "kept", "part", "one"}


@dataclass(frozen=True)
class Quantity:
    """What a tensor is, before there is one: declared once, beside the function that computes it."""

    name: str  # "scores"
    axes: str  # "head query key", one word per dimension, each from AXES
    formula: str  # LaTeX: r"S = QK^\top"
    says: str  # one plain English sentence; pages translate it

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """The axes, one by one."""
        return tuple(self.axes.split())


WILD = re.compile(r"[*?[]")


class Names:
    """Names of tensors, `*` in them for anything. Made once and asked thousands of times."""

    def __init__(self, patterns: Iterable[str]) -> None:
        every = tuple(patterns)
        wild = [translate(pattern) for pattern in every if WILD.search(pattern)]
        self._exact = frozenset(pattern for pattern in every if not WILD.search(pattern))
        self._wild = re.compile("|".join(wild)).match if wild else None

    def __contains__(self, name: str) -> bool:
        return name in self._exact or (self._wild is not None and self._wild(name) is not None)


_names = lru_cache(maxsize=256)(Names)


@dataclass
class Step:
    """One recorded tensor. `value` is a read-only array, made the first time it is asked for."""

    name: str  # "block1.scores": the quantity's name inside its scope
    quantity: Quantity
    labels: dict[str, list[str]]  # what the indices along an axis are called
    held: Any = field(repr=False)  # a tensor, an array, or a function that makes one

    @cached_property
    def _made(self) -> Any:
        return self.held() if callable(self.held) else self.held

    @cached_property
    def value(self) -> np.ndarray:
        return to_numpy(self._made)

    @cached_property
    def tensor(self) -> Tensor:
        """The tensor itself, as it was computed: to be read, never written to. A loaded one is made from its array."""
        import torch

        held: Tensor = torch.from_numpy(self._made.copy()) if isinstance(self._made, np.ndarray) else self._made
        return held

    @property
    def shape(self) -> str:
        """`head 6 x query 14 x key 14`, as pages write it."""
        return " × ".join(f"{a} {n}" for a, n in zip(self.quantity.dims, self.value.shape, strict=True))


class Trace:
    """Steps in the order they were computed. Within a scope, an axis has one size.

    only: names to record ("next.probs", "block3.*"); None records everything.
    labels: what the indices along an axis are called, query=["the", "cat"].
    """

    def __init__(self, only: tuple[str, ...] | None = None, **labels: list[str]) -> None:
        self.labels = labels
        self.only = None if only is None else _names(tuple(only))
        self._steps: dict[str, Step] = {}
        self._sizes: dict[str, int] = {}
        self._scope = ""

    def __call__(self, quantity: Quantity, value: Tensor) -> Tensor:
        """Record `value` without copying it and hand it back, so that a line of maths stays a line of maths.

        Nothing in core writes into a tensor it has recorded; the array handed out is read-only.
        Raises ValueError for a name recorded before, an unknown axis, or an axis that changed its size.
        """
        if self.wants(quantity):
            self._check(quantity, value.shape, self._scope, self.labels)
            self._keep(quantity, value.detach())
        return value

    def later(self, quantity: Quantity, make: Callable[[], Tensor]) -> None:
        """Record a tensor that nothing downstream needs: it is made, and checked, when somebody reads it."""
        if not self.wants(quantity):
            return
        scope, labels = self._scope, self.labels

        def made() -> Tensor:
            value = make()
            self._check(quantity, value.shape, scope, labels)
            return value

        self._keep(quantity, made)

    def wants(self, quantity: Quantity) -> bool:
        return self.only is None or self._scope + quantity.name in self.only

    def inside(self, scope: str, **labels: list[str]) -> AbstractContextManager[None]:
        """In here `scores` is recorded, and found, as `<scope>.scores`; axes may get names of their own."""
        return self._inside(scope, labels)

    @contextmanager
    def _inside(self, scope: str, labels: dict[str, list[str]]) -> Iterator[None]:
        outer = self._scope, self.labels
        self._scope, self.labels = f"{self._scope}{scope}.", self.labels | labels
        try:
            yield
        finally:
            self._scope, self.labels = outer

    def _check(self, quantity: Quantity, shape: tuple[int, ...], scope: str, labels: Mapping[str, list[str]]) -> None:
        if len(quantity.dims) != len(shape):
            raise ValueError(f"{scope}{quantity.name}: {len(shape)} dimensions, but its axes are {quantity.axes!r}")
        for axis, size in zip(quantity.dims, shape, strict=True):
            known = self._sizes.setdefault(scope + axis, size)
            expected = len(labels[axis]) if axis in labels else known
            if axis not in AXES or size != expected:
                raise ValueError(f"{scope}{quantity.name}: axis {axis} has size {size}, expected {expected}")

    def _keep(self, quantity: Quantity, held: Any) -> None:
        name = self._scope + quantity.name
        if name in self._steps:
            raise ValueError(f"{name} was recorded before; use trace.inside(...) to tell the two apart")
        self._steps[name] = Step(name, quantity, self.labels, held)

    def part(self, only: tuple[str, ...] | None) -> Trace:
        """The same record, as if no more than this had been asked for."""
        if only is None:
            return self
        part = Trace(only, **self.labels)
        part._steps = {name: step for name, step in self._steps.items() if part.only is None or name in part.only}
        return part

    def _name(self, key: Quantity | str) -> str:
        return key if isinstance(key, str) else self._scope + key.name

    def __getitem__(self, key: Quantity | str) -> Step:
        return self._steps[self._name(key)]

    def __contains__(self, key: Quantity | str) -> bool:
        return self._name(key) in self._steps

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps.values())

    def __len__(self) -> int:
        return len(self._steps)

    def save(self, file: str | Path | IO[bytes], wanted: Callable[[str], bool] = bool) -> None:
        """Write the steps whose name `wanted` accepts, or all, into one .npz: arrays under their names, `about` (JSON)
        beside them."""
        kept = [step for step in self if wanted(step.name)]
        about = [{"name": s.name, "quantity": asdict(s.quantity), "labels": _own(s.quantity, s.labels)} for s in kept]
        _write(file, {"about": np.array(json.dumps(about))} | {step.name: step.value for step in kept})

    def as_npz(self) -> bytes:
        """What `save` writes, for a download."""
        file = io.BytesIO()
        self.save(file)
        return file.getvalue()

    @classmethod
    def load(cls, file: str | Path | IO[bytes]) -> Trace:
        """Open what `save` wrote. Nothing is unpickled; arrays are read when they are asked for."""
        trace, stored = cls(), np.load(file, allow_pickle=False)
        for row in json.loads(str(stored["about"])):
            name = row["name"]
            quantity = Quantity(**row["quantity"])
            trace._steps[name] = Step(name, quantity, row["labels"], lambda name=name: stored[name])
            trace.labels = trace.labels | row["labels"]
        return trace


def _own(quantity: Quantity, labels: dict[str, list[str]]) -> dict[str, list[str]]:
    return {axis: said for axis, said in labels.items() if axis in quantity.dims}


class Silent(Trace):
    """Records nothing, so that training and timing run the very code that the pages explain."""

    def __call__(self, quantity: Quantity, value: Tensor) -> Tensor:
        return value

    def wants(self, quantity: Quantity) -> bool:
        return False

    def inside(self, scope: str, **labels: list[str]) -> AbstractContextManager[None]:
        return nullcontext()  # one SILENT serves every session at once: it keeps no state


SILENT = Silent()


def as_npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays under their names in one .npz file, for a download."""
    file = io.BytesIO()
    _write(file, arrays)
    return file.getvalue()


def _write(file: str | Path | IO[bytes], arrays: Mapping[str, np.ndarray]) -> None:
    np.savez_compressed(file, **cast("dict[str, Any]", arrays))


def to_numpy(value: Tensor | np.ndarray) -> np.ndarray:
    """A read-only float32, integer or boolean array; half-precision tensors are widened."""
    if not isinstance(value, np.ndarray):
        value = value.detach().cpu()
        value = (value.float() if value.is_floating_point() and value.element_size() < 4 else value).numpy()
    value = value.view()
    value.flags.writeable = False
    return value
