"""An immutable part of the index: arrays that are built once and then only read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.builder import build_segment
from twolaned.lanes.keyword.clause import places_in
from twolaned.lanes.keyword.codebook import Codebook
from twolaned.lanes.keyword.columns import Columns
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.posting_list import BLOCK_BITS, BlockIds, WholeIds
from twolaned.store.faults import corrupt

__all__ = ["Segment", "build_segment"]


ARRAYS = frozenset(
    """
    constants lengths rows terms lookup frequencies starts largest marks blocked ends low low_codes
    passages codes code_tf code_bounds dense_terms columns slim_bounds wide_bounds champions
    """.split()
)
"""What a segment consists of."""


class Segment:
    """Read access to a segment's *arrays*, without copies.

    *keepalive* is whatever owns the arrays' memory. Raises StoreCorrupt where arrays are missing.
    """

    __slots__ = (
        "_blocked", "_ends", "_keepalive", "_low", "_low_codes", "_passages", "_starts", "book",
        "codes", "columns", "constants", "frequencies", "largest", "lengths", "lookup", "marks",
        "rows", "single", "terms",
    )  # fmt: skip

    def __init__(self, arrays: Mapping[str, NDArray[Any]], keepalive: object = None) -> None:
        self._keepalive = keepalive
        missing = sorted(ARRAYS - arrays.keys())
        if missing:
            raise corrupt(f"segment without {', '.join(missing)}")
        k1, b, average = arrays["constants"].tolist()
        self.constants = Bm25(k1=k1, b=b, average_length=average)
        """What the bounds were made with."""
        self.terms: NDArray[np.uint32] = arrays["terms"]
        self.lookup: NDArray[np.int32] | None = arrays["lookup"] if len(arrays["lookup"]) else None
        self.frequencies: NDArray[np.uint32] = arrays["frequencies"]
        self.largest: NDArray[np.float32] = arrays["largest"]
        """The largest impact, by term."""
        self.marks: NDArray[np.uint8] = arrays["marks"]
        self.codes: NDArray[np.uint8] = arrays["codes"]
        """Of the postings that lie neither in columns nor in blocks; *book* explains them."""
        self._low_codes: NDArray[np.uint8] = arrays["low_codes"]
        self.book = Codebook(arrays["code_tf"], arrays["code_bounds"])
        self._starts: NDArray[np.int64] = arrays["starts"]
        self._low: NDArray[np.uint16] = arrays["low"]
        self._passages: NDArray[np.uint32] = arrays["passages"]
        self._blocked: NDArray[np.uint32] = arrays["blocked"]
        self._ends: NDArray[np.uint32] = arrays["ends"]
        self.lengths: NDArray[np.uint16] = arrays["lengths"]
        self.rows: NDArray[np.uint32] = arrays["rows"]
        """The row's number, by passage."""
        self.columns = Columns(arrays)
        self.single = bool((self.rows[1:] > self.rows[:-1]).all())
        """Whether no row has two passages."""

    def places(self, terms: NDArray[np.uint32]) -> list[int]:
        """The place of each of *terms*, -1 where it does not occur."""
        places: list[int] = places_in(self.terms, terms, self.lookup).tolist()
        return places

    def list_at(self, place: int) -> tuple[WholeIds | BlockIds, NDArray[np.uint8]]:
        """The passages and the codes of the term at *place*, which has no column."""
        start, count = int(self._starts[place]), int(self.frequencies[place])
        if start < len(self._low):
            row = int(self._blocked.searchsorted(np.uint32(place)))
            part = slice(start, start + count)
            return BlockIds(self._low[part], self._ends[row]), self._low_codes[part]
        part = slice(start - len(self._low), start - len(self._low) + count)
        return WholeIds(self._passages[part]), self.codes[part]

    def postings_at(self, place: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """The passages that hold the term at *place*, ascending, and how often."""
        row = self.columns.row_of.get(int(self.terms[place]))
        if row is not None:
            return self.columns.postings(row)
        ids, codes = self.list_at(place)
        return ids.all(), self.book.tf[codes]

    def postings(self) -> PostingBatch:
        """All postings."""
        return self.of_terms(0, 1 << 32)

    def of_terms(self, first: int, last: int) -> PostingBatch:
        """The postings of the terms from *first* to before *last*, for a merge."""
        begin, end = self.terms.searchsorted([first, last]).tolist()
        frequencies = self.frequencies[begin:end].astype(np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(frequencies)])
        passages, tf = np.empty(int(offsets[-1]), np.uint32), np.empty(int(offsets[-1]), np.uint8)
        kinds = np.ones(end - begin, np.uint8)
        dense = self._dense_between(begin, end)
        kinds[[place for place, _ in dense]] = 0
        # The terms of each kind lie one after the other, so one stretch holds all of the range.
        rows = slice(*self._blocked.searchsorted(np.array([begin, end], np.uint32)).tolist())
        blocked = self._blocked[rows].astype(np.int64) - begin
        kinds[blocked] = 2
        by_posting = np.repeat(kinds, frequencies)
        for kind, base, codes in ((1, len(self._low), self.codes), (2, 0, self._low_codes)):
            places = np.flatnonzero(kinds == kind)
            if len(places):
                start = int(self._starts[begin + places[0]]) - base
                part = slice(start, start + int(frequencies[places].sum()))
                of_kind = by_posting == kind
                passages[of_kind] = (
                    self._passages[part] if kind == 1 else self._block_ids(part, rows)
                )
                tf[of_kind] = self.book.tf[codes[part]]
        for place, row in dense:
            target = slice(int(offsets[place]), int(offsets[place + 1]))
            passages[target], tf[target] = self.columns.postings(row)
        return PostingBatch(self.terms[begin:end], offsets, passages, tf, self.lengths)

    def tf_counts(self) -> NDArray[np.int64]:
        """How many postings have each tf (int64 [256])."""
        counts = np.zeros(256, np.int64)
        for codes in (self.codes, self._low_codes):
            for first in range(0, len(codes), _COUNTED):
                of_codes = np.bincount(codes[first : first + _COUNTED], minlength=256)
                np.add.at(counts, self.book.tf, of_codes)
        for column in self.columns.table:
            counts += np.bincount(column, minlength=256)
        counts[0] = 0
        return counts

    def _dense_between(self, begin: int, end: int) -> Sequence[tuple[int, int]]:
        """The columns of terms between two places: the place from *begin* on, and the row."""
        if not self.columns.row_of:
            return []
        terms = np.fromiter(self.columns.row_of, np.uint32)
        places = zip(self.places(terms), self.columns.row_of.values(), strict=True)
        return [(place - begin, row) for place, row in places if begin <= place < end]

    def _block_ids(self, part: slice, rows: slice) -> NDArray[np.uint32]:
        ends = self._ends[rows]
        counts = np.diff(ends, axis=1, prepend=np.zeros((len(ends), 1), np.uint32))
        bases = np.arange(ends.shape[1], dtype=np.uint32) << np.uint32(BLOCK_BITS)
        ids = np.repeat(np.tile(bases, len(ends)), counts.reshape(-1))
        ids |= self._low[part]
        return ids


_COUNTED = 4 << 20
"""Codes that are counted at once."""
