"""Building the arrays of a segment, a range of terms at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.codebook import Encoder
from twolaned.lanes.keyword.columns import FEWEST_PASSAGES, SHARE, ColumnsBuilder
from twolaned.lanes.keyword.growing import Growing
from twolaned.lanes.keyword.impacts import impacts
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.posting_list import BLOCK_BITS
from twolaned.lanes.keyword.postings import ranges_of

MARKED = 128
"""At least so many of its postings have codes that reach a term's mark."""
LONG = 1_024
"""Postings from which on a term has a mark."""
BLOCKS = 4
"""Segments with fewer blocks store passages as they are: these are faster to read, and small."""
BLOCKED = 256
"""Postings from which on a term's passages are stored by blocks."""
SPARSE = 8
"""Numbers for each term from which on terms are found by bisection."""

Arrays = dict[str, NDArray[Any]]


def build_segment(postings: PostingBatch, rows: NDArray[np.uint32], *, bm25: Bm25) -> Arrays:
    """The arrays of a segment with *postings*.

    *rows* (uint32 by passage, ascending) are the numbers of the rows that the passages belong to.
    Bounds are those of the constants *bm25*; with others they are scaled.
    """
    parts = (postings.of_terms(first, last) for first, last in ranges_of([postings]))
    return build_from_parts(parts, postings.lengths, postings.tf_counts(), rows, bm25=bm25)


def build_from_parts(
    parts: Iterable[PostingBatch],
    lengths: NDArray[np.uint16],
    counts: NDArray[np.int64],
    rows: NDArray[np.uint32],
    *,
    bm25: Bm25,
) -> Arrays:
    """As `build_segment`, of *parts* that each have the next terms.

    *lengths* are those of the passages; *counts* says how many postings have each tf, at least.
    """
    builder = _Builder(lengths, counts, bm25)
    for part in parts:
        if len(part.terms):
            builder.add(part)
    return {
        "constants": np.array([bm25.k1, bm25.b, bm25.average_length]),
        "lengths": lengths,
        "rows": rows,
        **builder.arrays(),
    }


class _Builder:
    """Collects terms in ascending order.

    A term has a column, or its passages are stored by blocks or whole. Starts count the postings
    by blocks first.
    """

    def __init__(self, lengths: NDArray[np.uint16], counts: NDArray[np.int64], bm25: Bm25) -> None:
        self._norms = bm25.norms(lengths)
        self._encoder = Encoder(lengths, counts, bm25)
        self._columns = ColumnsBuilder(self._norms)
        self._blocks = max(1, -(-len(lengths) >> BLOCK_BITS))
        self._blocked = 0
        self._whole = 0
        self._parts: list[Arrays] = []
        postings = int(counts.sum())
        self._low = Growing(np.uint16, postings)
        self._low_codes = Growing(np.uint8, postings)
        self._passages = Growing(np.uint32, postings)
        self._codes = Growing(np.uint8, postings)

    def add(self, part: PostingBatch) -> None:
        """Add terms that come after all before."""
        impact = impacts(part.tf, self._norms[part.passages])
        codes = self._encoder.encode(part.tf, part.passages)
        frequencies = part.frequencies
        count = len(self._norms)
        dense = frequencies > (count // SHARE if count >= FEWEST_PASSAGES else count)
        for place in np.flatnonzero(dense).tolist():
            of_term = slice(int(part.offsets[place]), int(part.offsets[place + 1]))
            self._columns.add(
                int(part.terms[place]), part.passages[of_term], part.tf[of_term], impact[of_term]
            )
        blocked = ~dense & (frequencies >= BLOCKED) & (self._blocks >= BLOCKS)
        whole = ~(dense | blocked)
        in_blocks = np.repeat(blocked, frequencies)
        as_whole = np.repeat(whole, frequencies)
        low = part.passages[in_blocks]
        self._low.add(low.astype(np.uint16))
        self._low_codes.add(codes[in_blocks])
        self._passages.add(part.passages[as_whole])
        self._codes.add(codes[as_whole])
        self._parts.append(
            {
                "terms": part.terms,
                "frequencies": frequencies.astype(np.uint32),
                "largest": np.maximum.reduceat(impact, part.offsets[:-1]),
                "marks": _marks(codes, part.offsets),
                "starts": self._starts(frequencies, blocked, whole),
                "blocked": blocked,
                "ends": self._ends(low, frequencies[blocked]),
            }
        )

    def _starts(
        self,
        frequencies: NDArray[np.int64],
        blocked: NDArray[np.bool_],
        whole: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        starts = np.zeros(len(frequencies), np.int64)
        for kind, used in ((blocked, self._blocked), (whole, self._whole)):
            of_kind = frequencies[kind]
            starts[kind] = used + np.cumsum(of_kind) - of_kind
        self._blocked += int(frequencies[blocked].sum())
        self._whole += int(frequencies[whole].sum())
        return starts

    def _ends(
        self, passages: NDArray[np.uint32], frequencies: NDArray[np.int64]
    ) -> NDArray[np.uint32]:
        """Where each block of some terms ends (uint32 [terms, blocks])."""
        blocks = self._blocks
        cells = np.repeat(np.arange(len(frequencies)) * blocks, frequencies)
        cells += passages >> np.uint32(BLOCK_BITS)
        counts = np.bincount(cells, minlength=len(frequencies) * blocks)
        ends = np.cumsum(counts.reshape(-1, blocks), axis=1)
        return ends.astype(np.uint32)

    def arrays(self) -> Arrays:
        """The arrays of all terms. Ends the builder."""
        terms = self._joined("terms", np.uint32)
        blocked = self._joined("blocked", np.bool_)
        starts = self._joined("starts", np.int64)
        starts[~blocked] += self._blocked
        ends = [part["ends"] for part in self._parts]
        return {
            "terms": terms,
            "lookup": _lookup(terms),
            "frequencies": self._joined("frequencies", np.uint32),
            "starts": starts,
            "largest": self._joined("largest", np.float32),
            "marks": self._joined("marks", np.uint8),
            "blocked": np.flatnonzero(blocked).astype(np.uint32),
            "ends": np.concatenate([np.empty((0, self._blocks), np.uint32), *ends]),
            "low": self._low.joined(),
            "low_codes": self._low_codes.joined(),
            "passages": self._passages.joined(),
            "codes": self._codes.joined(),
            "code_tf": self._encoder.book.tf,
            "code_bounds": self._encoder.book.bounds,
            **self._columns.arrays(),
        }

    def _joined(self, name: str, kind: type[np.generic]) -> NDArray[Any]:
        return np.concatenate([np.empty(0, kind), *(part[name] for part in self._parts)])


def _lookup(terms: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The place of each number up to the last of *terms*; nothing where most are missing."""
    size = int(terms[-1]) + 1 if len(terms) else 0
    if size > SPARSE * len(terms):
        return np.empty(0, np.int32)
    lookup = np.full(size, -1, np.int32)
    lookup[terms] = np.arange(len(terms), dtype=np.int32)
    return lookup


def _marks(codes: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
    marks = np.zeros(len(offsets) - 1, np.uint8)
    for place in np.flatnonzero(np.diff(offsets) >= LONG).tolist():
        of_term = codes[offsets[place] : offsets[place + 1]]
        at = len(of_term) - MARKED
        marks[place] = np.partition(of_term, at)[at]
    return marks
