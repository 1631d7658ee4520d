"""The best distinct rows among the vectors that were compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.vectors import Floats, Positions, Question, VectorTable
from twolaned.model.result import LaneHits

_SORTED = 128
"""Cosines that are sorted at once; of more, the best are picked first."""


class BestRows:
    """The *n* best distinct rows so far by their best passage, and all that may tie with them."""

    def __init__(self, n: int, table: VectorTable) -> None:
        self._n = n
        self._table = table
        self._rows = table.rows.values
        self._at: Positions = np.empty(0, np.intp)
        self._cosines: Floats = np.empty(0, np.float32)
        self._distinct = 0
        self._total = 0.0
        self.threshold = float("-inf")
        """The n-th best row's cosine; minus infinity until there are n rows."""
        self.complete = True
        """Whether everything that was added is still here: nothing was too far down to matter."""

    @property
    def full(self) -> bool:
        """Whether there are n distinct rows."""
        return self._distinct >= self._n

    @property
    def _floor(self) -> float:
        """What a vector must reach to have any part in the answer."""
        return self.threshold - self._table.margin

    def add(self, at: Positions, found: Floats) -> bool:
        """Take in the positions *at* with their cosines. Says whether the best rows got better."""
        better = False
        few = max(_SORTED, 4 * self._n)
        while few < len(found):
            least = np.partition(found, len(found) - few)[len(found) - few]
            top = found >= least
            better |= self._add(at[top], found[top])
            if self.full and self._floor > least:
                self.complete = False
                return better
            at, found, few = at[~top], found[~top], few * 4
        return self._add(at, found) or better

    def _add(self, at: Positions, found: Floats) -> bool:
        near = np.flatnonzero(found >= self._floor)
        self.complete = self.complete and len(near) == len(found)
        if not len(near):
            return False
        self._at = np.concatenate([self._at, at[near]])
        self._cosines = np.concatenate([self._cosines, found[near]])
        order = np.argsort(-self._cosines, kind="stable")
        best = self._cosines[order[_firsts(self._rows[self._at[order]])[: self._n]]]
        total = float(best.sum(dtype=np.float64))
        better = len(best) > self._distinct or total > self._total
        self._distinct, self._total = len(best), total
        if self.full:
            self.threshold = float(best[-1])
            keep = self._cosines >= self._floor
            self.complete = self.complete and bool(keep.all())
            self._at, self._cosines = self._at[keep], self._cosines[keep]
        return better

    def hits(self, question: Question, *, seen_all: bool) -> LaneHits:
        """The answer: n distinct rows where there are so many, and all ties with the n-th.

        *seen_all* says that every matching vector was added.
        """
        exhausted = seen_all and self.complete
        scores = self._table.scores(question, self._at)
        rows, passages = self._rows[self._at], self._table.passages.values[self._at]
        order = np.lexsort((passages, rows, -scores))
        chosen = order[_firsts(rows[order])]
        if len(chosen) > self._n:
            tied = scores[chosen] >= scores[chosen[self._n - 1]]
            exhausted = exhausted and bool(tied.all())
            chosen = chosen[tied]
        return LaneHits(rows[chosen], scores[chosen], passages[chosen], exhausted)


def _firsts(rows: NDArray[np.uint32]) -> Positions:
    """Where each row occurs first, ascending."""
    firsts = np.unique(rows, return_index=True)[1]
    firsts.sort()
    return firsts
