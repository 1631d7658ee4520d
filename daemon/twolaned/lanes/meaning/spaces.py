"""The meaning index at one generation: all vector spaces, each row compared in one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.index import Vector, VectorIndex
from twolaned.lanes.meaning.selection import Mask
from twolaned.lanes.meaning.vectors import Floats, Rows, VectorSource
from twolaned.model.result import LaneHits

Places = NDArray[np.int64]
"""For each row, which of a `MeaningIndex`'s spaces its cosine is of; -1 for none."""


@dataclass(frozen=True, slots=True, eq=False)
class MeaningIndex:
    """The vectors of all spaces. Immutable: each change makes the next. Safe in any thread.

    A row with vectors in several spaces is compared in the first of them, so that it has one
    cosine.
    """

    spaces: tuple[VectorIndex, ...] = ()
    loading: bool = False
    """Whether vectors that are stored already are being read; then none is here."""
    _first: tuple[Mask | None, ...] = ()
    """For each space, by row number, the rows that no space before it has; None where all are."""

    @classmethod
    def empty(cls) -> MeaningIndex:
        """An index without vectors."""
        return cls()

    @classmethod
    def of(cls, spaces: Sequence[VectorIndex]) -> MeaningIndex:
        """An index of *spaces*, the one that goes before the others first."""
        return cls()._of(spaces)

    @property
    def count(self) -> int:
        """Vectors that can be found."""
        return sum(space.count for space in self.spaces)

    def space(self, name: str) -> VectorIndex | None:
        """The space *name*, or None where there are no vectors of it."""
        return next((space for space in self.spaces if space.space == name), None)

    def with_space(self, index: VectorIndex) -> MeaningIndex:
        """This index with *index* in place of the space of that name, or as the last one."""
        others = [index if s.space == index.space else s for s in self.spaces]
        if self.space(index.space) is None:
            others.append(index)
        return self._of(others)

    def with_rows(
        self,
        space: str,
        rows: Rows,
        passages: Rows,
        vectors: Floats | VectorSource,
        dimensions: int,
    ) -> MeaningIndex:
        """This index and new vectors in *space*; see `VectorIndex.with_rows`."""
        index = self.space(space) or VectorIndex.empty(space, dimensions)
        return self.with_space(index.with_rows(rows, passages, vectors))

    def with_dead(self, rows: Rows) -> MeaningIndex:
        """This index where the row versions *rows* (uint32) no longer answer."""
        return self._of([space.without(rows) for space in self.spaces])

    def search(
        self, questions: Mapping[str, Vector], n: int, allowed: Mask | None = None
    ) -> LaneHits:
        """The best *n* distinct rows by their best passage's cosine, and all ties with the n-th.

        *questions* has the question's vector by space; a space without one is left out. *allowed*
        says by row number which rows may be found; None allows all that are live. Raises ValueError
        where a vector has another width than its space or no direction.
        """
        found = [
            space.search(questions[space.space], n, _both(allowed, first))
            for space, first in zip(self.spaces, self._first, strict=True)
            if space.space in questions
        ]
        if len(found) == 1:
            return found[0]
        rows = np.concatenate([np.empty(0, np.uint32), *(f.rows for f in found)])
        scores = np.concatenate([np.empty(0, np.float32), *(f.scores for f in found)])
        passages = np.concatenate([np.empty(0, np.uint32), *(f.passages for f in found)])
        order = np.lexsort((rows, -scores))
        kept = order
        if len(order) > n:
            kept = order[scores[order] >= scores[order[n - 1]]] if n > 0 else order[:0]
        exhausted = all(f.exhausted for f in found) and len(kept) == len(order)
        return LaneHits(rows[kept], scores[kept], passages[kept], exhausted)

    def cosines(self, questions: Mapping[str, Vector], rows: Rows) -> tuple[Floats, Places]:
        """Each row's best cosine (float32, NaN for none), and the place of its space in `spaces`.

        *rows* (uint32) are distinct.
        """
        best = np.full(len(rows), np.nan, np.float32)
        places = np.full(len(rows), -1, np.int64)
        for place, space in enumerate(self.spaces):
            if space.space in questions and len(rows):
                found = space.cosines(questions[space.space], rows)
                new = np.isnan(best) & ~np.isnan(found) & self._is_first(place, rows)
                best[new], places[new] = found[new], place
        return best, places

    def _is_first(self, place: int, rows: Rows) -> Mask:
        first = self._first[place]
        if first is None:
            return np.ones(len(rows), np.bool_)
        kept: Mask = np.zeros(len(rows), np.bool_)
        inside = rows < len(first)
        kept[inside] = first[rows[inside]]
        return kept

    def _of(self, spaces: Sequence[VectorIndex]) -> MeaningIndex:
        if len(spaces) < 2:
            return replace(self, spaces=tuple(spaces), _first=(None,) * len(spaces))
        masks = [space.rows_with_vectors() for space in spaces]
        size = max(len(mask) for mask in masks)
        free, first = np.ones(size, np.bool_), []
        for mask in masks:
            first.append(free.copy())
            free[: len(mask)] &= ~mask
        return replace(self, spaces=tuple(spaces), _first=tuple(first))


def _both(first: Mask | None, second: Mask | None) -> Mask | None:
    """Rows that both allow; beyond a mask's end nothing is allowed."""
    if first is None or second is None:
        return second if first is None else first
    size = min(len(first), len(second))
    both: Mask = first[:size] & second[:size]
    return both
