"""A part of the index with what has died in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.posting_batch import PostingBatch

Rows = NDArray[np.uint32]


class Postings(Protocol):
    """Where a part's postings are: a segment, or a run of recent rows."""

    @property
    def rows(self) -> Rows:
        """The row's number, by passage; ascending."""

    def postings(self) -> PostingBatch:
        """All postings."""


@dataclass(frozen=True, slots=True)
class Part:
    """Postings of passages, some of which may be dead.

    *norms* (float32 by passage) are infinite where a passage is dead, which makes its score 0.
    """

    source: Postings
    norms: NDArray[np.float32]
    live: int

    @classmethod
    def of(cls, source: Postings, bm25: Bm25, dead: Rows) -> Part:
        """*source* without the rows *dead*."""
        batch = source.postings()
        return cls(source, bm25.norms(batch.lengths), len(source.rows)).without(dead)

    def without(self, dead: Rows) -> Part:
        """This part without the rows *dead*; unknown ones do not matter."""
        places = passages_of(self.source.rows, dead)
        places = places[np.isfinite(self.norms[places])]
        if not len(places):
            return self
        norms = self.norms.copy()
        norms[places] = np.inf
        return replace(self, norms=norms, live=self.live - len(places))


def passages_of(rows: Rows, wanted: Rows) -> NDArray[np.int64]:
    """The passages of the rows *wanted*, where *rows* (ascending) is the row by passage."""
    wanted = np.unique(wanted)
    starts = rows.searchsorted(wanted, "left")
    counts = rows.searchsorted(wanted, "right") - starts
    ends = np.cumsum(counts)
    places: NDArray[np.int64] = np.repeat(starts - (ends - counts), counts)
    places += np.arange(len(places))
    return places


def postings_of(batch: PostingBatch, term: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """The passages that hold *term* and how often."""
    at = int(batch.terms.searchsorted(np.uint32(term)))
    if at == len(batch.terms) or batch.terms[at] != term:
        return batch.passages[:0], batch.tf[:0]
    part = slice(int(batch.offsets[at]), int(batch.offsets[at + 1]))
    return batch.passages[part], batch.tf[part]


def frequencies(batch: PostingBatch, terms: Sequence[int]) -> NDArray[np.int64]:
    """In how many passages each of *terms* occurs, dead ones included."""
    wanted = np.array(terms, np.uint32)
    at = batch.terms.searchsorted(wanted)
    known = at < len(batch.terms)
    known[known] = batch.terms[at[known]] == wanted[known]
    found = np.zeros(len(wanted), np.int64)
    found[known] = batch.offsets[at[known] + 1] - batch.offsets[at[known]]
    return found
