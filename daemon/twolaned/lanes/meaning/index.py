"""One vector space's index: immutable, and each change makes the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.candidates import Candidates
from twolaned.lanes.meaning.codes import Codec, CodeTable, usual_bits
from twolaned.lanes.meaning.compare import with_all, with_near, with_some
from twolaned.lanes.meaning.runs import RowRuns
from twolaned.lanes.meaning.sample import (
    CENTRE_SAMPLE,
    UNRELATED_SAMPLE,
    Centre,
    landmark,
    mean_unrelated_cosine,
    sample_positions,
)
from twolaned.lanes.meaning.selection import Mask, Selection
from twolaned.lanes.meaning.vectors import Floats, Question, Rows, VectorSource, VectorTable
from twolaned.model.result import LaneHits

EXACT_UP_TO: Final = 16_384
"""Vectors of a space that is compared as a whole; a larger one gets codes."""
GATHERED_UP_TO: Final = 2_048
"""Vectors behind a filter that are compared as a whole."""
NARROW: Final = 24
"""Where a filter leaves less than one vector in so many, their codes are looked up one by one."""

_BLOCK = 4096

Vector = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class VectorIndex:
    """The vectors of one space, each of one passage of one row. Safe in any thread.

    Beside the vectors, which stay in their file, it takes the codes (64 bytes a vector at 256 and
    at 512 dimensions) and 13 bytes a vector.
    """

    space: str
    bits: int
    """Of a code, a dimension."""
    count: int
    """Vectors that can be found."""
    mean_cosine: float
    """The mean cosine of two texts that have nothing to do with each other, from a sample."""
    _table: VectorTable
    _live: Mask
    _runs: RowRuns
    _codes: CodeTable | None = None
    _trained: int = 0
    """Of how many vectors the codes' centre was taken."""

    @classmethod
    def empty(cls, space: str, dimensions: int, *, bits: int | None = None) -> VectorIndex:
        """An index without vectors. *bits* is 1 or 2; None lets *dimensions* decide."""
        return cls(
            space=space,
            bits=bits or usual_bits(dimensions),
            count=0,
            mean_cosine=0.0,
            _table=VectorTable.empty(dimensions),
            _live=np.empty(0, np.bool_),
            _runs=RowRuns(),
        )

    @property
    def dimensions(self) -> int:
        """Numbers a vector."""
        return self._table.dimensions

    @property
    def stored(self) -> int:
        """Vectors, those that can't be found included; the position of the next one."""
        return len(self._table)

    @property
    def is_coded(self) -> bool:
        """Whether it is searched by codes, so that a row may be missed."""
        return self._codes is not None

    @property
    def code_bytes(self) -> int:
        """Bytes of the codes in memory."""
        return 0 if self._codes is None else self._codes.nbytes

    def with_rows(self, rows: Rows, passages: Rows, vectors: Floats | VectorSource) -> VectorIndex:
        """This index and new vectors behind the last position.

        *rows* (uint32 [n]) and *passages* (uint32 [n]) say whose they are: a row's number and the
        passage's index within it. *vectors* are float32 [n, dimensions], or the file whose row
        positions are the index's. A vector of zeros, or with a number that is not finite, is kept
        and never found. Raises ValueError where the shapes do not fit.

        When the count passes a power of four, the codes are made anew around the mean of what is
        there then: about a second of one core at a million vectors.
        """
        before, table = self.stored, self._table.extended(rows, passages, vectors)
        live = np.concatenate([self._live, table.inverse.values[before:] > 0])
        new = replace(
            self,
            count=int(np.count_nonzero(live)),
            _table=table,
            _live=live,
            _runs=self._runs.extended(rows, before),
        )
        return new._described(before)._coded(before)

    def without(self, rows: Rows) -> VectorIndex:
        """This index without the vectors of *rows* (uint32); unknown rows do not matter."""
        live = self._live.copy()
        live[self._runs.positions(np.unique(rows))] = False
        return replace(self, count=int(np.count_nonzero(live)), _live=live)

    def search(self, question: Vector, n: int, allowed: Mask | None = None) -> LaneHits:
        """The *n* best distinct rows by their best passage's cosine, and all ties with the n-th.

        *question* is float [dimensions] of any length; *allowed* says by row number which rows may
        be returned. Scores are exact. With more than a few thousand vectors in reach a row may be
        missed; `measure_recall` says how often. Raises ValueError where *question* has another
        width or no direction.
        """
        asked = Question.of(question, self.dimensions)
        selection = self._selection(allowed)
        if self._codes is None:
            return with_all(self._table, selection, asked, n)
        code = self._codes.codec.encode(asked.unit[np.newaxis])[0]
        if allowed is None or self._is_wide(selection):
            candidates = Candidates.near(self._codes, code, selection)
            hits = with_near(self._table, candidates, asked, n)
            return with_all(self._table, selection, asked, n) if hits is None else hits
        at = self._runs.allowed_positions(allowed)
        at = at[self._live[at]]
        hits = None
        if len(at) > GATHERED_UP_TO:
            candidates = Candidates.among(self._codes, code, at)
            hits = with_near(self._table, candidates, asked, n)
        return with_some(self._table, at, asked, n) if hits is None else hits

    def search_exactly(self, question: Vector, n: int, allowed: Mask | None = None) -> LaneHits:
        """What `search` approaches, by comparing with every vector."""
        asked = Question.of(question, self.dimensions)
        return with_all(self._table, self._selection(allowed), asked, n)

    def cosines(self, question: Vector, rows: Rows) -> Floats:
        """Each row's best cosine with *question* (float32 by *rows*); NaN where it has no vector.

        *rows* (uint32) are distinct. A row has the score here that `search` would give it.
        """
        asked = Question.of(question, self.dimensions)
        at = self._runs.positions(rows)
        at = at[self._live[at]]
        order = np.argsort(rows, kind="stable")
        place = order[np.searchsorted(rows[order], self._table.rows.values[at])]
        about = np.full(len(rows), -np.inf, np.float32)
        found = self._table.cosines(asked, at)
        np.maximum.at(about, place, found)
        best = np.full(len(rows), -np.inf, np.float32)
        near = found >= about[place] - self._table.margin
        np.maximum.at(best, place[near], self._table.scores(asked, at[near]))
        best[np.isneginf(best)] = np.nan
        return best

    def rows_with_vectors(self) -> Mask:
        """By row number, which rows have a vector that can be found."""
        rows = self._table.rows.values[self._live]
        mask: Mask = np.zeros(int(rows.max()) + 1 if len(rows) else 0, np.bool_)
        mask[rows] = True
        return mask

    def _is_wide(self, selection: Selection) -> bool:
        """Whether so many vectors are in reach, as a sample tells, that scanning all is faster."""
        kept = selection.sample(self.stored)
        return bool(np.count_nonzero(kept) * NARROW > len(kept))

    def _selection(self, allowed: Mask | None) -> Selection:
        live = None if self.count == self.stored else self._live
        return Selection(live, allowed, self._table.rows.values)

    def _described(self, before: int) -> VectorIndex:
        """This index with the mean cosine measured anew, where the count passed a landmark."""
        mark = landmark(self.stored, 2)
        if mark == landmark(before, 2):
            return self
        at = sample_positions(mark, UNRELATED_SAMPLE)
        at = at[self._table.inverse.values[at] > 0]
        mean = mean_unrelated_cosine(self._table.units(at), self._table.rows.values[at])
        return replace(self, mean_cosine=mean)

    def _coded(self, before: int) -> VectorIndex:
        """This index with codes for all vectors, where it needs codes."""
        if self.stored <= EXACT_UP_TO:
            return self
        mark, codes = landmark(self.stored, 4), self._codes
        if codes is None or mark != self._trained:
            at = sample_positions(mark, CENTRE_SAMPLE)
            at = at[self._table.inverse.values[at] > 0]
            if not len(at):
                return self
            codes, before = CodeTable.empty(Codec(Centre.of(self._table.units(at)), self.bits)), 0
        for start in range(before, self.stored, _BLOCK):
            part = slice(start, min(start + _BLOCK, self.stored))
            codes = codes.extended(self._table.units(part))
        return replace(self, _codes=codes, _trained=mark)
