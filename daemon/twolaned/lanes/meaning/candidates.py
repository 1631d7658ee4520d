"""Vectors in the order in which their codes are near to a question's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.codes import CodeTable, Words
from twolaned.lanes.meaning.outlook import Line, above
from twolaned.lanes.meaning.scan import scan
from twolaned.lanes.meaning.selection import Selection, sample_stride
from twolaned.lanes.meaning.vectors import Positions

Distances = NDArray[np.uint16]

FIRST_RING: Final = 8_192
"""How many vectors get their whole distance at first."""
SPARE: Final = 0.0025
"""Expected good vectors that are not worth a comparison."""
_WIDER = 4
"""By how much each ring grows."""
_FITTED = 2_048
_FARTHEST = 255
_TAKEN = np.uint16(0xFFFF)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a search may still find.

    *inside* and *beyond* are expected numbers of good vectors: waiting inside the ring, and outside
    it. *worth* is how many waiting ones have nearly all of those inside among them, and *limit* the
    coarse distance of a ring that would have nearly all of those beyond.
    """

    inside: float
    beyond: float
    worth: int
    limit: int


class Candidates:
    """What a search looks at next, and how much it would still find.

    Rings by coarse distance: those inside the ring have their whole distance and come in its order;
    those beyond are only counted, by a sample, until the ring is made wider.
    """

    def __init__(self, table: CodeTable, code: Words, selection: Selection, total: int) -> None:
        self.total = total
        """How many vectors there are to choose from, or a little more."""
        self._table = table
        self._code = code
        self._selection = selection
        self._at: Positions = np.empty(0, np.intp)
        self._distances: Distances = np.empty(0, np.uint16)
        """Of the positions inside the ring, in order of position within each ring; or taken."""
        self._waiting = np.zeros(64 * table.codec.words + 1, np.int64)
        """How many positions inside the ring wait at each distance."""
        self._line = Line()
        """From the coarse distance to the whole one."""
        self._limit = -1
        """The coarse distance up to which vectors are inside the ring."""
        self._coarse: NDArray[np.uint8] = np.empty(0, np.uint8)
        self._counts: NDArray[np.float64] = np.zeros(_FARTHEST + 1)
        """About how many vectors there are at each coarse distance."""

    @classmethod
    def near(cls, table: CodeTable, code: Words, selection: Selection) -> Candidates:
        """Of all vectors that *selection* keeps."""
        self = cls(table, code, selection, len(table))
        self._coarse = scan(table, code)
        stride = sample_stride(len(table))
        sample = self._coarse[::stride]
        kept = selection.mask(slice(None, None, stride))
        counts = np.bincount(sample if kept is None else sample[kept], minlength=_FARTHEST + 1)
        self._counts = counts.astype(np.float64) * stride
        self._widen_to(FIRST_RING, _FARTHEST)
        return self

    @classmethod
    def among(cls, table: CodeTable, code: Words, at: Positions) -> Candidates:
        """Of the vectors at *at* only."""
        self = cls(table, code, Selection.everything(), len(at))
        self._limit = _FARTHEST
        self._take_in(at, table.coarse_distances(at, code))
        return self

    def batch(self, size: int) -> tuple[Positions, Distances]:
        """The nearest positions that were not in a batch before, and their distances.

        At least *size* where there are so many, for those at one distance come together. Empty
        where every vector was looked at.
        """
        reached = np.cumsum(self._waiting)
        while reached[-1] < size and self._limit < _FARTHEST:
            self.widen(_FARTHEST)
            reached = np.cumsum(self._waiting)
        level = int(np.searchsorted(reached, min(size, int(reached[-1]))))
        chosen = np.flatnonzero(self._distances <= level)
        distances = self._distances[chosen]
        self._distances[chosen] = _TAKEN
        self._waiting[: level + 1] = 0
        return self._at[chosen], distances

    def outlook(self, line: Line, threshold: float) -> Outlook:
        """How many vectors reach the cosine *threshold*, of those that were in no batch yet.

        *line* leads from the distance to the cosine. What it leaves over is taken as normal.
        """
        start, slope, left = line.fit()
        levels = np.flatnonzero(self._waiting)
        waiting = self._waiting[levels]
        inside = waiting * above(threshold, start + slope * levels, left)
        base, rise, apart = self._line.fit()
        farther = np.arange(self._limit + 1, _FARTHEST + 1)
        means = start + slope * (base + rise * farther)
        deviation = float(np.hypot(left, slope * apart))
        beyond = self._counts[farther] * above(threshold, means, deviation)
        return Outlook(
            float(inside.sum()),
            float(beyond.sum()),
            int(waiting[: _enough(inside)].sum()),
            self._limit + _enough(beyond),
        )

    def widen(self, limit: int) -> None:
        """Give vectors up to the coarse distance *limit* their whole distance, or not as many."""
        inside = float(self._counts[: self._limit + 1].sum())
        self._widen_to(max(_WIDER * inside, FIRST_RING), limit)

    def _widen_to(self, most: float, limit: int) -> None:
        """Move the limit outwards to *limit*, but with no more than about *most* vectors inside."""
        old = self._limit
        bound = int(np.searchsorted(np.cumsum(self._counts), most))
        self._limit = min(max(min(bound, limit), old + 1), _FARTHEST)
        # Unsigned bytes wrap around, so that one comparison tests both ends.
        ring = (self._coarse - np.uint8(old + 1)) <= np.uint8(self._limit - old - 1)
        at = self._selection.kept(np.flatnonzero(ring))
        self._take_in(at, self._coarse[at])

    def _take_in(self, at: Positions, coarse: NDArray[np.uint8]) -> None:
        distances = self._table.fine_distances(at, self._code)
        distances += coarse
        fitted = slice(None, None, max(1, len(at) // _FITTED))
        self._line.add(coarse[fitted], distances[fitted])
        self._waiting += np.bincount(distances, minlength=len(self._waiting))
        self._at = np.concatenate([self._at, at])
        self._distances = np.concatenate([self._distances, distances])


def _enough(values: NDArray[np.float64]) -> int:
    """How many of the first *values* leave next to nothing to the others."""
    rest = np.cumsum(values[::-1])
    return len(values) - int(np.searchsorted(rest, SPARE, "right"))
