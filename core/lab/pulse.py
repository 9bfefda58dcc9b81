"""Long computations breathe: between two steps they let whoever waits for them look up, and each other have a turn.

A page hears the beat to show how far it is, or to give up because its visitor has left; core knows nothing of either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TypeVar

Item = TypeVar("Item")
_heard: ContextVar[Callable[[int], None] | None] = ContextVar("heard", default=None)
_turn = Lock()


@contextmanager
def heard(beat: Callable[[int], None]) -> Iterator[None]:
    """Within, `beat(steps done)` is called after every step of `breathing` in this thread; what it raises ends it."""
    token = _heard.set(beat)
    try:
        yield
    finally:
        _heard.reset(token)


def breathing(steps: Iterable[Item]) -> Iterator[Item]:
    """The same steps, one of all who compute such steps at a time: the other cores stay free for short questions."""
    found, done = iter(steps), 0
    while True:
        with _turn:
            try:
                step = next(found)
            except StopIteration:
                return
        yield step
        done += 1
        if beat := _heard.get():
            beat(done)
