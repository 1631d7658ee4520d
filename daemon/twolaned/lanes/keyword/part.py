"""A segment with what has died in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25
from twolaned.lanes.keyword.candidates import Candidates
from twolaned.lanes.keyword.clause import Clauses
from twolaned.lanes.keyword.columns import width_of
from twolaned.lanes.keyword.flat import SMALL, score_every
from twolaned.lanes.keyword.found import Found, Rows, best_of_rows
from twolaned.lanes.keyword.group import Group
from twolaned.lanes.keyword.impacts import ABOVE, looseness
from twolaned.lanes.keyword.maxscore import MaxScore
from twolaned.lanes.keyword.narrow import score_allowed
from twolaned.lanes.keyword.posting_list import PostingList
from twolaned.lanes.keyword.segment import Segment
from twolaned.lanes.keyword.threshold import Threshold
from twolaned.lanes.keyword.view import Views


@dataclass(frozen=True, slots=True)
class SegmentPart:
    """A segment whose passages may be dead.

    *norms* (float32 by passage, padded to whole windows) are infinite where a passage is dead,
    which makes its score 0. *loose* scales the segment's bounds.
    """

    segment: Segment
    norms: NDArray[np.float32]
    live: int
    loose: float
    views: Views = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "views", Views(self.segment.rows, self.norms))

    @classmethod
    def of(cls, segment: Segment, bm25: Bm25, dead: Rows) -> SegmentPart:
        """*segment* without the rows *dead*."""
        count = len(segment.rows)
        norms = np.full(width_of(count), np.inf, np.float32)
        norms[:count] = bm25.norms(segment.lengths)
        return cls(segment, norms, count, looseness(segment.constants, bm25)).without(dead)

    def without(self, dead: Rows) -> SegmentPart:
        """This part without the rows *dead*; unknown ones do not matter."""
        places = passages_of(self.segment.rows, dead)
        places = places[np.isfinite(self.norms[places])]
        if not len(places):
            return self
        norms = self.norms.copy()
        norms[places] = np.inf
        return replace(self, norms=norms, live=self.live - len(places))

    def places(self, terms: NDArray[np.uint32]) -> list[int]:
        """The place of each of *terms*, -1 where it does not occur."""
        return self.segment.places(terms)

    def frequency(self, place: int) -> int:
        """In how many passages the term at *place* occurs, dead ones included."""
        return int(self.segment.frequencies[place])

    def rows_with(self, place: int) -> Rows:
        """The live rows that hold the term at *place*, with repetitions."""
        passages, _ = self.segment.postings_at(place)
        return self.segment.rows[passages[np.isfinite(self.norms[passages])]]

    def search(
        self,
        clauses: Clauses,
        places: Sequence[int],
        threshold: Threshold,
        allowed: NDArray[np.bool_] | None,
    ) -> Found:
        """All rows that reach the threshold; some that do not may be there too.

        *places* are the places of the terms.
        """
        lists, group = self._resolve(clauses, places)
        if not lists and group is None:
            return Found.nothing()
        view = self.views.of(allowed)
        rows = None if self.segment.single else self.segment.rows
        if view.passages is not None:
            found = score_allowed(lists, group, view, rows, threshold)
        elif group and len(self.segment.rows) <= SMALL and len(lists) + len(group) > 1:
            table = view.table(self.segment.columns)
            found = score_every(lists, group, view.norms, table, rows, threshold)
        else:
            found = MaxScore(lists, group, view.norms, rows, threshold).search()
        return self._by_row(found, threshold.value)

    def _resolve(
        self, clauses: Clauses, places: Sequence[int]
    ) -> tuple[list[PostingList], Group | None]:
        segment, loose = self.segment, self.loose * ABOVE
        lists, dense = [], []
        row_of = segment.columns.row_of
        for term, place, weight in zip(clauses.terms, places, clauses.weights, strict=True):
            if place < 0 or not weight:
                continue
            top = weight * float(segment.largest[place]) * loose
            if term in row_of:
                dense.append((top, row_of[term], weight))
                continue
            ids, codes = segment.list_at(place)
            mark = int(segment.marks[place])
            lists.append(PostingList(ids, codes, segment.book, weight, top, weight * loose, mark))
        return lists, Group(segment.columns, dense, self.loose) if dense else None

    def _by_row(self, found: Candidates, least: float) -> Found:
        passages, exact = found.passages, found.scores
        kept = exact >= least if least > 0 else exact > 0
        if not kept.all():
            passages, exact = passages[kept], exact[kept]
        scores = exact.astype(np.float32)
        segment = self.segment
        rows = segment.rows[passages]
        if segment.single:
            return Found(rows, scores, np.zeros(len(rows), np.uint32))
        best = best_of_rows(rows, passages, scores)
        rows, passages = rows[best], passages[best]
        indexes = passages - segment.rows.searchsorted(rows)
        return Found(rows, scores[best], indexes.astype(np.uint32))


def passages_of(rows: Rows, wanted: Rows) -> NDArray[np.int64]:
    """The passages of the rows *wanted*, where *rows* (ascending) is the row by passage."""
    wanted = np.unique(wanted)
    starts = rows.searchsorted(wanted, "left")
    counts = rows.searchsorted(wanted, "right") - starts
    ends = np.cumsum(counts)
    places: NDArray[np.int64] = np.repeat(starts - (ends - counts), counts)
    places += np.arange(len(places))
    return places
