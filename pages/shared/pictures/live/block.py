"""Numbers on their way to the browser: one block of bytes, in which nothing travels twice. numbers.js unpacks it.

What arrives is what was sent, bit for bit: a number travels in fewer bytes only where they hold it exactly, as they do
in masks, counts and half floats, and rows that are alike travel once.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

KINDS = {"float32": "f4", "float64": "f8", "int32": "i4", "int16": "i2", "uint8": "u1", "float16": "f2"}
NAMES = {kind: name for name, kind in KINDS.items()}
SMALLER = {"f8": ("u1", "f2", "f4"), "f4": ("u1", "f2"), "i4": ("u1", "i2")}  # the smallest first
FIRST = 64  # numbers, which mostly say already that the others will not fit
WORTH = 256  # bytes of an array that one looks at twice


def pack(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """The length of a JSON head, the head, then the parts of every array, each starting on a multiple of eight."""
    rows, parts = [], []
    for name, array in arrays.items():
        few, which = _once(np.ascontiguousarray(array))
        sent = [_narrow(few)] if which is None else [_narrow(few), which]
        parts += sent
        row = {"name": name, "kind": KINDS[array.dtype.name], "shape": array.shape}
        rows.append((row, [{"sent": KINDS[part.dtype.name], "size": part.size, "at": 10**9} for part in sent]))
    told = [row | {"parts": at} for row, at in rows]
    room = at = _padded(4 + len(_head(meta, told)))  # measured with places as long as any, then filled with spaces
    for place, part in zip((place for row in told for place in row["parts"]), parts, strict=True):
        place["at"] = at
        at = _padded(at + part.nbytes)
    head = _head(meta, told).ljust(room - 4)
    body = b"".join(part.tobytes().ljust(_padded(part.nbytes), b"\0") for part in parts)
    return struct.pack("<I", len(head)) + head + body


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What `pack` packed; for tests and for nobody else."""
    (length,) = struct.unpack_from("<I", data)
    head = json.loads(data[4 : 4 + length])
    arrays = {row["name"]: _whole(row, [*_read(data, row["parts"])]) for row in head["arrays"]}
    return head["meta"], arrays


def _read(data: bytes, parts: list[dict[str, Any]]) -> Iterator[np.ndarray]:
    for part in parts:
        yield np.frombuffer(data, NAMES[part["sent"]], part["size"], part["at"])


def _whole(row: dict[str, Any], parts: list[np.ndarray]) -> np.ndarray:
    few = parts[0].astype(NAMES[row["kind"]])
    return (few.reshape(-1, row["shape"][-1])[parts[1]] if len(parts) > 1 else few).reshape(row["shape"])


def _once(array: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """(its different rows, for every row which of them it is), or the array itself where that would be no shorter."""
    if array.ndim < 2 or array.nbytes < WORTH:
        return array, None
    raw, width, seen = array.tobytes(), array.shape[-1] * array.itemsize, dict[bytes, int]()
    which = [seen.setdefault(raw[at : at + width], len(seen)) for at in range(0, len(raw), width)]
    if len(seen) > np.iinfo(np.int16).max or len(seen) * width + 2 * len(which) >= array.nbytes:
        return array, None
    few = np.frombuffer(b"".join(seen), array.dtype).reshape(len(seen), -1)
    return few, np.array(which, np.uint8 if len(seen) < 256 else np.int16)


def _narrow(array: np.ndarray) -> np.ndarray:
    """The same numbers in the fewest bytes that hold each of them exactly."""
    if array.nbytes < WORTH:
        return array
    fits = (kind for kind in SMALLER.get(KINDS[array.dtype.name], ()) if _as(kind, array.ravel()[:FIRST]) is not None)
    return next((small for kind in fits if (small := _as(kind, array)) is not None), array)


def _as(kind: str, array: np.ndarray) -> np.ndarray | None:
    """The same numbers as this kind, or None where one of them would be another."""
    with np.errstate(invalid="ignore", over="ignore"):
        small = array.astype(NAMES[kind])
    return small if small.astype(array.dtype).tobytes() == array.tobytes() else None


def _head(meta: dict[str, Any], rows: list[dict[str, Any]]) -> bytes:
    return json.dumps({"meta": meta, "arrays": rows}, ensure_ascii=True, allow_nan=False).encode()


def _padded(size: int) -> int:
    return -(-size // 8) * 8
