"""An immutable part of the index: arrays that are built once and then only read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.clause import places_in
from twolaned.lanes.keyword.columns import Columns, build_columns, dense_places
from twolaned.lanes.keyword.impacts import bounds_of
from twolaned.lanes.keyword.posting_batch import PostingBatch

LONG = 1_024
"""Postings from which on a term has a mark."""
SPARSE = 8
"""Numbers for each term from which on terms are found by bisection."""
MARKED = 128
"""At least so many of its postings have bounds that reach a term's mark."""


def build_segment(
    postings: PostingBatch, rows: NDArray[np.uint32], *, bm25: Bm25
) -> dict[str, NDArray[Any]]:
    """The arrays of a segment with *postings*.

    *rows* (uint32 by passage, ascending) are the numbers of the rows that the passages belong to.
    Bounds are those of the constants *bm25*; with others they are scaled.
    """
    norms = bm25.norms(postings.lengths)
    steps, largest = bounds_of(postings, norms)
    dense = dense_places(postings)
    frequencies = postings.frequencies
    counts = frequencies.copy()
    counts[dense] = 0
    kept = slice(None) if not len(dense) else np.repeat(counts > 0, frequencies)
    return {
        "constants": np.array([bm25.k1, bm25.b, bm25.average_length]),
        "terms": postings.terms,
        "lookup": _lookup(postings.terms),
        "frequencies": frequencies.astype(np.uint32),
        "offsets": np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        "passages": postings.passages[kept],
        "tf": postings.tf[kept],
        "bounds": steps[kept],
        "largest": largest,
        "marks": _marks(steps, postings.offsets),
        "lengths": postings.lengths,
        "rows": rows,
        **build_columns(postings, dense, steps, norms),
    }


def _lookup(terms: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The place of each number up to the last of *terms*; nothing where most are missing."""
    size = int(terms[-1]) + 1 if len(terms) else 0
    if size > SPARSE * len(terms):
        return np.empty(0, np.int32)
    lookup = np.full(size, -1, np.int32)
    lookup[terms] = np.arange(len(terms), dtype=np.int32)
    return lookup


def _marks(steps: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
    marks = np.zeros(len(offsets) - 1, np.uint8)
    for place in np.flatnonzero(np.diff(offsets) >= LONG).tolist():
        of_term = steps[offsets[place] : offsets[place + 1]]
        at = len(of_term) - MARKED
        marks[place] = np.partition(of_term, at)[at]
    return marks


class Segment:
    """Read access to a segment's *arrays*, without copies.

    *keepalive* is whatever owns the arrays' memory.
    """

    __slots__ = (
        "_keepalive", "bounds", "columns", "constants", "frequencies", "largest", "lengths",
        "lookup", "marks", "offsets", "passages", "rows", "single", "terms", "tf",
    )  # fmt: skip

    def __init__(self, arrays: Mapping[str, NDArray[Any]], keepalive: object = None) -> None:
        self._keepalive = keepalive
        k1, b, average = arrays["constants"].tolist()
        self.constants = Bm25(k1=k1, b=b, average_length=average)
        """What the bounds were made with."""
        self.terms: NDArray[np.uint32] = arrays["terms"]
        self.lookup: NDArray[np.int32] | None = arrays["lookup"] if len(arrays["lookup"]) else None
        self.frequencies: NDArray[np.uint32] = arrays["frequencies"]
        self.largest: NDArray[np.float32] = arrays["largest"]
        """The largest impact, by term."""
        self.marks: NDArray[np.uint8] = arrays["marks"]
        self.offsets: NDArray[np.int64] = arrays["offsets"]
        """Where each term's postings begin; none lie here of a term with a column."""
        self.passages: NDArray[np.uint32] = arrays["passages"]
        self.tf: NDArray[np.uint8] = arrays["tf"]
        self.bounds: NDArray[np.uint8] = arrays["bounds"]
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

    def postings_at(self, place: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """The passages that hold the term at *place*, ascending, and how often."""
        row = self.columns.row_of.get(int(self.terms[place]))
        if row is not None:
            return self.columns.postings(row)
        part = slice(int(self.offsets[place]), int(self.offsets[place + 1]))
        return self.passages[part], self.tf[part]

    def postings(self) -> PostingBatch:
        """All postings, for a merge."""
        if not self.columns.row_of:
            return PostingBatch(self.terms, self.offsets, self.passages, self.tf, self.lengths)
        offsets = np.concatenate(
            [np.zeros(1, np.int64), np.cumsum(self.frequencies, dtype=np.int64)]
        )
        passages = np.empty(int(offsets[-1]), np.uint32)
        tf = np.empty(len(passages), np.uint8)
        # Between two terms with a column lies one stretch of postings.
        dense = sorted(self.columns.row_of.items())
        terms = np.array([term for term, _ in dense], np.uint32)
        places = [*self.places(terms), len(self.terms)]
        first = 0
        for (_, row), place in zip([*dense, (0, -1)], places, strict=True):
            source = slice(int(self.offsets[first]), int(self.offsets[place]))
            target = slice(int(offsets[first]), int(offsets[place]))
            passages[target], tf[target] = self.passages[source], self.tf[source]
            if row >= 0:
                target = slice(int(offsets[place]), int(offsets[place + 1]))
                passages[target], tf[target] = self.columns.postings(row)
            first = place + 1
        return PostingBatch(self.terms, offsets, passages, tf, self.lengths)
