"""An immutable part of the index: arrays that are built once and then only read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.posting_batch import PostingBatch


def build_segment(
    postings: PostingBatch, rows: NDArray[np.uint32], *, bm25: Bm25
) -> dict[str, NDArray[Any]]:
    """The arrays of a segment with *postings*.

    *rows* (uint32 by passage, ascending) are the numbers of the rows that the passages belong to.
    """
    return {
        "terms": postings.terms,
        "offsets": postings.offsets,
        "passages": postings.passages,
        "tf": postings.tf,
        "lengths": postings.lengths,
        "rows": rows,
    }


class Segment:
    """Read access to a segment's *arrays*, without copies.

    *keepalive* is whatever owns the arrays' memory.
    """

    __slots__ = ("_keepalive", "_postings", "rows")

    def __init__(self, arrays: Mapping[str, NDArray[Any]], keepalive: object = None) -> None:
        self._keepalive = keepalive
        self._postings = PostingBatch(
            arrays["terms"],
            arrays["offsets"],
            arrays["passages"],
            arrays["tf"],
            arrays["lengths"],
        )
        self.rows: NDArray[np.uint32] = arrays["rows"]
        """The row's number, by passage."""

    def postings(self) -> PostingBatch:
        """All postings, for a merge."""
        return self._postings
