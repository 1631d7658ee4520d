"""The storage behind the row table: columns by row number that grow at the end."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from twolaned.search.profiles import Profile
from twolaned.search.row_filter import RowFilter

K = TypeVar("K")


def encoded_id(row_id: str) -> bytes:
    """An id in UTF-8, which sorts as the id does."""
    return row_id.encode("utf-8", "surrogatepass")


def decoded_id(row_id: bytes) -> str:
    """What `encoded_id` made *row_id* of."""
    return row_id.decode("utf-8", "surrogatepass")


@dataclass(slots=True)
class Columns:
    """What is known of every row version, by its number.

    Shared by many row tables: a slot is written once, before any table shows it, so that a table
    may be read in one thread while a later one is made in another.
    """

    capacity: int = 0
    profile: NDArray[np.uint32] = field(init=False)
    indexed_at: NDArray[np.int64] = field(init=False)
    own_time: NDArray[np.int64] = field(init=False)
    """The source's own time, else `indexed_at`."""
    text_hash: NDArray[np.uint64] = field(init=False)
    """0 for rows that do not fold by content."""
    id_start: NDArray[np.uint32] = field(init=False)
    id_length: NDArray[np.uint32] = field(init=False)
    written: NDArray[np.bool_] = field(init=False)
    ids: bytearray = field(default_factory=bytearray)
    profiles: list[Profile] = field(default_factory=list)
    codes: dict[tuple[object, ...], int] = field(default_factory=dict)
    """The place of each profile in *profiles*, by the properties it was made of."""
    order: array[int] = field(default_factory=lambda: array("I"))
    """Numbers as they came."""
    topics: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    decisions: list[tuple[int, str]] = field(default_factory=list)
    copy_of: dict[bytes, bytes] = field(default_factory=dict)
    other_paths: dict[int, str] = field(default_factory=dict)
    """Paths that do not follow from the row's id."""
    profile_masks: GrowingMasks[RowFilter] = field(default_factory=lambda: GrowingMasks(32))
    path_masks: GrowingMasks[str] = field(default_factory=lambda: GrowingMasks(8))

    def __post_init__(self) -> None:
        n = self.capacity
        self.profile = np.zeros(n, np.uint32)
        self.indexed_at = np.zeros(n, np.int64)
        self.own_time = np.zeros(n, np.int64)
        self.text_hash = np.zeros(n, np.uint64)
        self.id_start = np.zeros(n, np.uint32)
        self.id_length = np.zeros(n, np.uint32)
        self.written = np.zeros(n, np.bool_)

    def grown(self, capacity: int) -> Columns:
        """A copy with room for the numbers below *capacity*; this one stays as it is."""
        new = Columns(capacity)
        for name in _ARRAYS:
            old = getattr(self, name)
            getattr(new, name)[: len(old)] = old
        new.ids = bytearray(self.ids)
        new.order = self.order[:]
        for name in ("profiles", "codes", "topics", "decisions", "copy_of", "other_paths"):
            setattr(new, name, getattr(self, name).copy())
        return new

    def row_id(self, number: int) -> bytes:
        """A row's id in UTF-8."""
        start = int(self.id_start[number])
        return bytes(self.ids[start : start + int(self.id_length[number])])

    def path(self, number: int) -> str | None:
        """A document's absolute path."""
        other = self.other_paths.get(number)
        root = self.profiles[int(self.profile[number])].root
        if other is not None or root is None:
            return other
        return f"{root}/{decoded_id(self.row_id(number))[len(root) + 1 :]}"


_ARRAYS = (
    "profile", "indexed_at", "own_time", "text_hash", "id_start", "id_length", "written"
)  # fmt: skip


class GrowingMasks(Generic[K]):
    """Remembers for the last *size* keys which entries a key's condition holds for.

    Entries only ever come to the end of their sequence and never change, so each is judged once
    for each key.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._masks: OrderedDict[K, tuple[int, NDArray[np.bool_]]] = OrderedDict()
        self._lock = Lock()

    def mask(
        self, key: K, entries: Sequence[int], length: int, holds: Callable[[int], bool]
    ) -> NDArray[np.bool_]:
        """A mask of at least *length*, more than any entry: true at the *entries* where *holds*."""
        with self._lock:
            judged, mask = self._masks.pop(key, (0, np.zeros(length, np.bool_)))
            if len(mask) < length:
                mask = np.concatenate([mask, np.zeros(2 * length - len(mask), np.bool_)])
            total = len(entries)
            mask[[entry for entry in entries[judged:total] if holds(entry)]] = True
            self._masks[key] = (total, mask)
            if len(self._masks) > self._size:
                self._masks.popitem(last=False)
            return mask
