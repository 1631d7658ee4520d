"""A term's postings in a segment, with what they are worth in a query."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.codebook import Codebook
from twolaned.lanes.keyword.impacts import impacts

Norms = NDArray[np.float32]
Passages = NDArray[np.uint32]
Places = NDArray[np.int64]

BLOCK_BITS = 16
"""Passages of a block differ in so many bits."""


class WholeIds:
    """Passages as they are."""

    __slots__ = ("_ids",)

    def __init__(self, ids: Passages) -> None:
        self._ids = ids

    def all(self) -> Passages:
        """All passages, ascending."""
        return self._ids

    def at(self, places: Places) -> Passages:
        """The passages at *places*."""
        return self._ids[places]


class BlockIds:
    """The low bits of passages, and where the postings of each block end (uint32 [blocks])."""

    __slots__ = ("_all", "_ends", "_low")

    def __init__(self, low: NDArray[np.uint16], ends: NDArray[np.uint32]) -> None:
        self._low = low
        self._ends = ends
        self._all: Passages | None = None

    def all(self) -> Passages:
        """All passages, ascending."""
        if self._all is None:
            ends = self._ends.astype(np.int64)
            bases = np.arange(len(ends), dtype=np.uint32) << np.uint32(BLOCK_BITS)
            ends[1:] -= self._ends[:-1]
            self._all = np.repeat(bases, ends)
            self._all |= self._low
        return self._all

    def at(self, places: Places) -> Passages:
        """The passages at *places*."""
        if self._all is not None:
            return self._all[places]
        passages = self._ends.searchsorted(places, "right").astype(np.uint32)
        passages <<= np.uint32(BLOCK_BITS)
        passages |= self._low[places]
        return passages


class PostingList:
    """A term's postings, and what they are worth.

    *ids* are their passages, *codes* (uint8) what *book* explains. *top* is the most that one can
    add to a score, *scale* what the bound 1 adds at the most. At least `builder.MARKED` codes
    reach *mark*, if that is above 0.
    """

    __slots__ = ("book", "codes", "count", "ids", "mark", "scale", "top", "weight")

    def __init__(
        self,
        ids: WholeIds | BlockIds,
        codes: NDArray[np.uint8],
        book: Codebook,
        weight: float,
        top: float,
        scale: float,
        mark: int,
    ) -> None:
        self.ids = ids
        self.codes = codes
        self.book = book
        self.count = len(codes)
        self.weight = np.float32(weight)
        self.top = top
        self.scale = scale
        self.mark = mark

    def shares(self, places: Places, passages: Passages, norms: Norms) -> NDArray[np.float32]:
        """The exact shares of the postings at *places*, whose passages are given."""
        share = impacts(self.book.tf.take(self.codes[places]), norms.take(passages, mode="clip"))
        share *= self.weight
        return share

    def all_shares(self, norms: Norms) -> NDArray[np.float32]:
        """The exact shares of all postings."""
        tf = self.book.tf.take(self.codes)
        share = impacts(tf, norms.take(self.ids.all(), mode="clip"))
        share *= self.weight
        return share

    def first_code(self, impact: float) -> int:
        """The first code whose bound reaches *impact*; the number of codes where none does."""
        return bisect_left(self.book.ladder, impact)

    def bounds(self, places: Places | None) -> NDArray[np.float32]:
        """The most that the postings at *places* add; None is all."""
        codes = self.codes if places is None else self.codes[places]
        bound: NDArray[np.float32] = self.book.bounds.take(codes)
        bound *= np.float32(self.scale)
        return bound
