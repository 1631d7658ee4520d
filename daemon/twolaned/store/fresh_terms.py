"""Terms of the last commits, one value a commit.

A table of terms in their order is written all over by a commit with new terms: a page for nearly
each of them. So the terms of small commits lie together at first, in memory they are one dict, and
later many of them go into the table at once.
"""

from __future__ import annotations

import struct
import threading
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import lmdb
import msgspec

from twolaned.store.records import Unsealer

_U64 = struct.Struct(">Q")


class FreshRun(msgspec.Struct, frozen=True, array_like=True):
    """The keys of one commit's terms and, in the same order, the terms' numbers."""

    terms: list[bytes]
    numbers: list[int]


unseal_run = Unsealer(FreshRun)


class FreshTerms:
    """The numbers of fresh terms by key, of the commits from *first* to *last*.

    Once more commits are there, they are added in place: whoever reads at an earlier generation
    may see terms that nothing there holds yet.
    """

    __slots__ = ("_ordered", "first", "last", "numbers")

    def __init__(self, first: int) -> None:
        self.first = first
        self.last = first - 1
        self.numbers: dict[bytes, int] = {}
        self._ordered: list[bytes] = []

    def follow(self, txn: lmdb.Transaction, table: Any) -> None:
        """Read the commits behind *last*."""
        cursor = txn.cursor(db=table)
        if cursor.set_range(_U64.pack(self.last + 1)):
            for key, value in cursor:
                run = unseal_run(value)
                self.numbers.update(zip(run.terms, run.numbers, strict=True))
                self.last = _U64.unpack(key)[0]

    def beginning_with(self, prefix: bytes) -> Iterator[tuple[bytes, int]]:
        """The terms that begin with *prefix*, in order."""
        ordered = self._ordered
        if len(ordered) < len(self.numbers):
            # Numbers keep the order in which they came.
            ordered = ordered + list(self.numbers)[len(ordered) :]
            ordered.sort()
            self._ordered = ordered
        for place in range(bisect_left(ordered, prefix), len(ordered)):
            key = ordered[place]
            if not key.startswith(prefix):
                return
            yield key, self.numbers[key]


NONE = FreshTerms(0)
"""For a store whose terms are all in the table."""


class FreshTermsCache:
    """Keeps what was read for the next view, in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._terms = NONE

    def of(self, txn: lmdb.Transaction, table: Any) -> FreshTerms:
        """The fresh terms that *txn* sees, and possibly later ones."""
        cursor = txn.cursor(db=table)
        if not cursor.first():
            self._terms = NONE
            return NONE
        first = _U64.unpack(cursor.key())[0]
        cursor.last()
        last = _U64.unpack(cursor.key())[0]
        terms = self._terms
        if terms.first == first and terms.last >= last:
            return terms
        with self._lock:
            terms = self._terms
            if terms.first != first:
                terms = FreshTerms(first)
            terms.follow(txn, table)
            # A view from before terms were moved must not bring them back for others.
            if first >= self._terms.first:
                self._terms = terms
        return terms
