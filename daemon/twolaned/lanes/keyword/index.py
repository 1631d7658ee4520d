"""The keyword index at one generation: immutable, and each change makes the next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25, idf
from twolaned.lanes.keyword.clause import Clauses
from twolaned.lanes.keyword.distinct import distinct
from twolaned.lanes.keyword.found import Found
from twolaned.lanes.keyword.memtable import RecentPart, Run, after, with_run
from twolaned.lanes.keyword.part import SegmentPart
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.query import KeywordQuery
from twolaned.lanes.keyword.segment import Segment
from twolaned.lanes.keyword.tally import Tally
from twolaned.lanes.keyword.threshold import Threshold
from twolaned.model.result import LaneHits

Rows = NDArray[np.uint32]
_Part = SegmentPart | RecentPart


@dataclass(frozen=True, slots=True)
class KeywordIndex:
    """Segments, recent runs, and what has died since. Safe in any thread."""

    bm25: Bm25
    _segments: tuple[tuple[str, SegmentPart], ...]
    _recent: tuple[RecentPart, ...]
    _dead: Rows
    _lost: Tally

    @classmethod
    def empty(cls, bm25: Bm25) -> KeywordIndex:
        """An index without passages."""
        return cls(bm25, (), (), np.empty(0, np.uint32), Tally.empty())

    @property
    def passages(self) -> int:
        """Live passages."""
        return sum(part.live for part in self._parts())

    def with_segment(self, segment_id: str, segment: Segment) -> KeywordIndex:
        """This index and one more segment. Rows that are known to be dead stay so."""
        part = SegmentPart.of(segment, self.bm25, self._dead)
        return replace(self, _segments=(*self._segments, (segment_id, part)))

    def with_run(self, sequence: int, rows: Rows, postings: PostingBatch) -> KeywordIndex:
        """This index and the passages of the commit *sequence*; *rows* as in `build_segment`."""
        run = Run(sequence, rows, postings)
        return replace(self, _recent=with_run(self._recent, run, self.bm25, self._dead))

    def without(
        self, segment_ids: Collection[str] = (), up_to_seq: int | None = None
    ) -> KeywordIndex:
        """This index without some segments and without the runs up to a sequence number."""
        recent = self._recent
        if up_to_seq is not None:
            recent = after(recent, up_to_seq, self.bm25, self._dead)
        segments = tuple(s for s in self._segments if s[0] not in segment_ids)
        return replace(self, _segments=segments, _recent=recent)

    def with_dead(self, rows: Rows, term_ids: Rows, counts: NDArray[np.int64]) -> KeywordIndex:
        """This index where the row versions *rows* no longer answer.

        *term_ids* (distinct, ascending) lose *counts* passages each. That keeps N and df those of
        live passages exactly.
        """
        return replace(
            self,
            _segments=tuple((key, part.without(rows)) for key, part in self._segments),
            _recent=tuple(part.without(rows) for part in self._recent),
            _dead=np.union1d(self._dead, rows),
            _lost=self._lost.plus(term_ids, counts),
        )

    def reclaimed(self, rows: Rows, term_ids: Rows, counts: NDArray[np.int64]) -> KeywordIndex:
        """This index where the dead *rows* are in no part any more; the reverse of `with_dead`."""
        return replace(
            self,
            _dead=np.setdiff1d(self._dead, rows),
            _lost=self._lost.plus(term_ids, -counts),
        )

    def search(
        self, query: KeywordQuery, n: int, allowed: NDArray[np.bool_] | None = None
    ) -> LaneHits:
        """The best *n* distinct rows by their best passage, and all that tie with the n-th.

        *allowed* says by row number which rows may be found; None allows all that are live. Exact.
        """
        parts = self._parts()
        places = _places(parts, query.term_ids)
        clauses = self._clauses(query, self._frequencies(parts, places, query.term_ids))
        if n <= 0 or not any(clauses.weights):
            return LaneHits(*_joined([]), exhausted=n > 0)
        threshold = Threshold(n)
        answers: list[Found] = []
        for part, in_part in zip(parts, places, strict=True):
            if answers:
                threshold.learn(answers[-1].scores)
            answers.append(part.search(clauses, in_part, threshold, allowed))
        rows, scores, passages = _joined(answers)
        order = np.lexsort((rows, -scores))
        every = len(order) if threshold.value == 0 else None
        if len(order) > n:
            descending = -scores[order]
            order = order[: int(descending.searchsorted(descending[n - 1], "right"))]
        return LaneHits(rows[order], scores[order], passages[order], len(order) == every)

    def rows_with_all(self, term_ids: Sequence[int]) -> Rows:
        """The live rows that hold every term, in whichever of their passages, ascending."""
        if not len(term_ids):
            raise ValueError("there is no set of rows with all of no terms")
        frequencies = self.document_frequency(term_ids).tolist()
        # The rarest term first: what it leaves is looked up among the rows of the others.
        rarest, *others = sorted(zip(frequencies, term_ids, strict=True))
        rows = self.rows_with_any([rarest[1]])
        for _, term in others:
            if not len(rows):
                break
            rows = rows[np.isin(rows, self._with_any([term]), kind="table")]
        return rows

    def rows_with_any(self, term_ids: Sequence[int]) -> Rows:
        """The live rows that hold at least one of the terms, ascending."""
        return distinct(self._with_any(term_ids))

    def _with_any(self, term_ids: Sequence[int]) -> Rows:
        """The same with repetitions, in no order."""
        parts = self._parts()
        found = [
            part.rows_with(place)
            for part, in_part in zip(parts, _places(parts, term_ids), strict=True)
            for place in in_part
            if place >= 0
        ]
        return np.concatenate([np.empty(0, np.uint32), *found])

    def document_frequency(self, term_ids: Sequence[int]) -> NDArray[np.int64]:
        """In how many live passages each term occurs."""
        parts = self._parts()
        return np.array(self._frequencies(parts, _places(parts, term_ids), term_ids), np.int64)

    def _frequencies(
        self, parts: list[_Part], places: list[list[int]], terms: Sequence[int]
    ) -> list[int]:
        lost = self._lost.of(np.array(terms, np.uint32)).tolist()
        found = [-count for count in lost]
        for part, in_part in zip(parts, places, strict=True):
            for at, place in enumerate(in_part):
                if place >= 0:
                    found[at] += part.frequency(place)
        return [max(count, 0) for count in found]

    def _clauses(self, query: KeywordQuery, frequencies: list[int]) -> Clauses:
        passages = self.passages
        weights = [
            weight * idf(passages, frequency) if frequency else 0.0
            for (_, weight), frequency in zip(query.weighted_terms(), frequencies, strict=True)
        ]
        return Clauses(list(query.term_ids), weights)

    def _parts(self) -> list[_Part]:
        return [*(part for _, part in self._segments), *self._recent]


def _places(parts: Sequence[_Part], terms: Sequence[int]) -> list[list[int]]:
    wanted = np.array(terms, np.uint32)
    return [part.places(wanted) for part in parts]


def _joined(answers: Sequence[Found]) -> tuple[Rows, NDArray[np.float32], NDArray[np.uint32]]:
    if len(answers) == 1:
        return answers[0].rows, answers[0].scores, answers[0].passages
    answers = answers or [Found.nothing()]
    return (
        np.concatenate([found.rows for found in answers]),
        np.concatenate([found.scores for found in answers]),
        np.concatenate([found.passages for found in answers]),
    )
