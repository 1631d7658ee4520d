"""The keyword index at one generation: immutable, and each change makes the next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import Bm25, idf
from twolaned.lanes.keyword.memtable import Run
from twolaned.lanes.keyword.part import Part, frequencies, postings_of
from twolaned.lanes.keyword.posting_batch import PostingBatch
from twolaned.lanes.keyword.query import KeywordQuery
from twolaned.lanes.keyword.scorer import WeightedTerm, score_rows
from twolaned.lanes.keyword.segment import Segment
from twolaned.lanes.keyword.tally import Tally
from twolaned.model.result import LaneHits

Rows = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class KeywordIndex:
    """Segments, recent runs, and what has died since. Safe in any thread."""

    bm25: Bm25
    _segments: tuple[tuple[str, Part], ...]
    _runs: tuple[tuple[int, Part], ...]
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
        part = Part.of(segment, self.bm25, self._dead)
        return replace(self, _segments=(*self._segments, (segment_id, part)))

    def with_run(self, sequence: int, rows: Rows, postings: PostingBatch) -> KeywordIndex:
        """This index and the passages of the commit *sequence*; *rows* as in `build_segment`."""
        part = Part.of(Run(sequence, rows, postings), self.bm25, self._dead)
        return replace(self, _runs=(*self._runs, (sequence, part)))

    def without(
        self, segment_ids: Collection[str] = (), up_to_seq: int | None = None
    ) -> KeywordIndex:
        """This index without some segments and without the runs up to a sequence number."""
        return replace(
            self,
            _segments=tuple(s for s in self._segments if s[0] not in segment_ids),
            _runs=tuple(r for r in self._runs if up_to_seq is None or r[0] > up_to_seq),
        )

    def with_dead(self, rows: Rows, term_ids: Rows, counts: NDArray[np.int64]) -> KeywordIndex:
        """This index where the row versions *rows* no longer answer.

        *term_ids* (distinct, ascending) lose *counts* passages each. That keeps N and df those of
        live passages exactly.
        """
        return replace(
            self,
            _segments=tuple((key, part.without(rows)) for key, part in self._segments),
            _runs=tuple((key, part.without(rows)) for key, part in self._runs),
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
        terms = self._weighted(query)
        found = [score_rows(part, terms, allowed) for part in self._parts()]
        rows = np.concatenate([np.empty(0, np.uint32), *(f[0] for f in found)])
        scores = np.concatenate([np.empty(0, np.float32), *(f[1] for f in found)])
        passages = np.concatenate([np.empty(0, np.uint32), *(f[2] for f in found)])
        order = np.lexsort((rows, -scores))
        kept = order
        if len(order) > n:
            kept = order[scores[order] >= scores[order[n - 1]]] if n > 0 else order[:0]
        return LaneHits(rows[kept], scores[kept], passages[kept], len(kept) == len(order))

    def rows_with_all(self, term_ids: Sequence[int]) -> Rows:
        """The live rows that hold every term, in whichever of their passages, ascending."""
        return reduce(np.intersect1d, (self.rows_with_any([term]) for term in term_ids))

    def rows_with_any(self, term_ids: Sequence[int]) -> Rows:
        """The live rows that hold at least one of the terms, ascending."""
        found = [np.empty(0, np.uint32)]
        for part in self._parts():
            for term in term_ids:
                passages, _ = postings_of(part.source.postings(), term)
                passages = passages[np.isfinite(part.norms[passages])]
                found.append(np.unique(part.source.rows[passages]))
        return np.unique(np.concatenate(found))

    def document_frequency(self, term_ids: Sequence[int]) -> NDArray[np.int64]:
        """In how many live passages each term occurs."""
        total = -self._lost.of(np.array(term_ids, np.uint32))
        for part in self._parts():
            total += frequencies(part.source.postings(), term_ids)
        return np.maximum(total, 0)

    def _weighted(self, query: KeywordQuery) -> list[WeightedTerm]:
        passages = self.passages
        found = self.document_frequency(query.term_ids).tolist()
        return [
            WeightedTerm(term, weight * idf(passages, frequency))
            for (term, weight), frequency in zip(query.weighted_terms(), found, strict=True)
            if frequency
        ]

    def _parts(self) -> list[Part]:
        return [part for _, part in (*self._segments, *self._runs)]
