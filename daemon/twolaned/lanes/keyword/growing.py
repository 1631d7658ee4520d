"""An array that grows at its end without ever being in memory twice."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

CHUNK = 64 << 20
"""Bytes. Memory of this size goes back to the system as soon as it is freed."""

_T = TypeVar("_T", bound=np.generic)


class Growing(Generic[_T]):
    """Values of one type, at most *limit* of them."""

    __slots__ = ("_chunks", "_kind", "_left", "_size", "_used")

    def __init__(self, kind: type[_T], limit: int) -> None:
        self._kind = kind
        self._size = CHUNK // np.dtype(kind).itemsize
        self._left = limit
        self._chunks: list[NDArray[_T]] = []
        self._used = 0

    def add(self, values: NDArray[_T]) -> None:
        """Put *values* at the end."""
        while len(values):
            if not self._chunks or self._used == len(self._chunks[-1]):
                assert self._left > 0
                self._chunks.append(np.empty(min(self._size, self._left), self._kind))
                self._left -= len(self._chunks[-1])
                self._used = 0
            room = self._chunks[-1][self._used :]
            part = values[: len(room)]
            room[: len(part)] = part
            self._used += len(part)
            values = values[len(part) :]

    def joined(self) -> NDArray[_T]:
        """All values. Leaves nothing here."""
        chunks, self._chunks = self._chunks, []
        if len(chunks) < 2:
            return chunks[0][: self._used] if chunks else np.empty(0, self._kind)
        total = sum(len(chunk) for chunk in chunks[:-1]) + self._used
        values = np.empty(total, self._kind)
        at = 0
        chunks.reverse()
        while chunks:
            chunk = chunks.pop()
            part = chunk[: total - at]
            values[at : at + len(part)] = part
            at += len(part)
        return values
