"""What core has computed, kept for whoever asks next: bounded by bytes, and computed once however many ask at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

ROOM = 150_000_000  # bytes of results: thirty visitors' sentences on every page, or a dozen pictures of 256 tokens
LEAST = 100  # bytes of anything, however small
Key = tuple[Callable[..., Any], tuple[Hashable, ...]]


Result = TypeVar("Result")


@dataclass
class Entry:
    lock: Lock = field(default_factory=Lock)
    done: bool = False
    value: Any = None
    bytes: int = 0


class Memory:
    """Results by function and settings; the least recently used go first once all together weigh more than `room`."""

    def __init__(self, room: int = ROOM) -> None:
        self.room, self.bytes = room, 0
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._lock = Lock()

    def __call__(self, run: Callable[..., Any], settings: tuple[Hashable, ...]) -> Any:
        """run(*settings). A second visitor who asks while it is computed waits for the first one's result."""
        key = (run, settings)
        with self._lock:
            entry = self._entries.setdefault(key, Entry())
            self._entries.move_to_end(key)
        with entry.lock:
            if not entry.done:
                self._fill(key, entry)
        return entry.value

    def __len__(self) -> int:
        return len(self._entries)

    def held(self, run: Callable[..., Any]) -> int:
        """How many results of one function are kept."""
        return sum(key[0] is run for key in self._entries)

    def _fill(self, key: Key, entry: Entry) -> None:
        run, settings = key
        try:
            entry.value, entry.done = run(*settings), True
        finally:
            if not entry.done:
                with self._lock:
                    self._entries.pop(key, None)
        self._keep(key, entry)

    def _keep(self, key: Key, entry: Entry) -> None:
        entry.bytes = weight(entry.value)
        with self._lock:
            if self._entries.get(key) is not entry:
                return  # forgotten while it was computed
            self.bytes += entry.bytes
            while self.bytes > self.room and len(self._entries) > 1:
                _key, oldest = self._entries.popitem(last=False)
                self.bytes -= oldest.bytes


def _place(value: Any) -> int:
    """Where something lies: a tensor and the array that was made of it are one and the same numbers."""
    if callable(pointer := getattr(value, "data_ptr", None)):
        return int(pointer())
    interface = getattr(value, "__array_interface__", None)
    return int(interface["data"][0]) if interface else id(value)


def weight(value: Any, seen: set[int] | None = None) -> int:
    """About how many bytes a result holds: its arrays, tensors and texts, wherever they are in it, each once."""
    seen = set() if seen is None else seen
    if (place := _place(value)) in seen:
        return 0
    seen.add(place)
    if isinstance(size := getattr(value, "nbytes", None), int):
        return LEAST + size
    if isinstance(value, str | bytes):
        return LEAST + len(value)
    inner = value if isinstance(value, list | tuple | set | frozenset) else getattr(value, "__dict__", {}).values()
    inner = value.values() if isinstance(value, dict) else inner
    return LEAST + sum(weight(part, seen) for part in inner)


MEMORY = Memory()


def kept(run: Callable[..., Result], *settings: Hashable) -> Result:
    """`run(*settings)`, kept for all sessions and for the functions of core alike, so results are only read.

    settings are plain values, tuples or frozen dataclasses. This answers in microseconds; Streamlit's own cache reads
    the function's source and hashes every argument, a millisecond each time.
    """
    result: Result = MEMORY(run, settings)
    return result
