"""Arrays that grow at the end and are shared between snapshots."""

from __future__ import annotations

from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

S = TypeVar("S", bound=np.generic)

_SMALLEST = 1024


class _Buffer(Generic[S]):
    """Room for items. Those before *used* are never written again."""

    __slots__ = ("array", "lock", "used")

    def __init__(self, array: NDArray[S], used: int) -> None:
        self.array = array
        self.used = used
        self.lock = Lock()


class Column(Generic[S]):
    """An immutable sequence of items; extending it copies nothing where its buffer has room.

    A column made from another one writes behind the items that the other shows, so both can be
    read in any thread while a third is made.
    """

    __slots__ = ("_buffer", "values")

    def __init__(self, buffer: _Buffer[S], count: int) -> None:
        self._buffer = buffer
        self.values: NDArray[S] = buffer.array[:count]
        """The items along the first axis. Not to be written to."""

    @classmethod
    def empty(cls, dtype: DTypeLike, *shape: int) -> Column[Any]:
        """A column without items, each of which will have *shape*."""
        return cls(_Buffer(np.empty((0, *shape), dtype), 0), 0)

    def __len__(self) -> int:
        return len(self.values)

    def extended(self, items: NDArray[S]) -> Column[S]:
        """This column with *items* behind it."""
        count, total, buffer = len(self), len(self) + len(items), self._buffer
        with buffer.lock:
            mine = buffer.used == count and total <= len(buffer.array)
            if mine:
                buffer.used = total
        if not mine:
            room = max(total + total // 2, _SMALLEST)
            array = np.empty((room, *buffer.array.shape[1:]), buffer.array.dtype)
            array[:count] = self.values
            buffer = _Buffer(array, total)
        buffer.array[count:total] = items
        return Column(buffer, total)
