"""Where the vectors of a row lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.vectors import Positions, Rows

LOOKED_UP: Final = 100
"""Where a filter allows less than one row in so many, those are looked up one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Runs of positions that belong to one row each, in order of row number."""

    rows: Positions
    """As wide as indices are, since looking a filter up by narrower ones would copy them."""
    starts: Positions
    lengths: Positions


class RowRuns:
    """An immutable map from row numbers to the positions of their vectors.

    A row's vectors lie in runs, usually in one. Runs are kept in a few sorted blocks; a new block
    swallows the ones before it that are not much larger, so that looking a row up takes a binary
    search in each of a dozen at most.
    """

    __slots__ = ("_blocks",)

    def __init__(self, blocks: tuple[_Block, ...] = ()) -> None:
        self._blocks = blocks

    def extended(self, rows: Rows, start: int) -> RowRuns:
        """This map with the positions from *start* on, which belong to *rows* one by one."""
        if not len(rows):
            return self
        first = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
        lengths = np.diff(first, append=len(rows))
        blocks = list(self._blocks)
        merged = [_Block(rows[first].astype(np.intp), first + start, lengths)]
        size = len(first)
        while blocks and len(blocks[-1].rows) <= 2 * size:
            merged.insert(0, blocks.pop())
            size += len(merged[0].rows)
        return RowRuns((*blocks, _sorted(merged)))

    def positions(self, rows: NDArray[np.integer[Any]]) -> Positions:
        """The positions of the vectors of the distinct *rows*, in no particular order."""
        found = []
        for block in self._blocks:
            low = np.searchsorted(block.rows, rows, "left")
            high = np.searchsorted(block.rows, rows, "right")
            found.append(_expanded(block, _ranges(low, high - low)))
        return np.concatenate(found) if found else np.empty(0, np.intp)

    def allowed_positions(self, allowed: NDArray[np.bool_]) -> Positions:
        """The ascending positions of the vectors whose rows *allowed* holds for, by row number."""
        runs = sum(len(block.rows) for block in self._blocks)
        if np.count_nonzero(allowed) * LOOKED_UP < runs:
            at = self.positions(np.flatnonzero(allowed))
        else:
            found = [_expanded(b, np.flatnonzero(within(allowed, b.rows))) for b in self._blocks]
            at = np.concatenate(found) if found else np.empty(0, np.intp)
        return at if np.all(at[1:] > at[:-1]) else np.sort(at)


def within(allowed: NDArray[np.bool_], rows: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """*allowed* at *rows*; a row number that it does not reach to is not allowed."""
    if len(allowed) and int(rows.max(initial=0)) < len(allowed):
        result: NDArray[np.bool_] = allowed[rows]
        return result
    result = np.zeros(len(rows), np.bool_)
    inside = np.flatnonzero(rows < len(allowed))
    result[inside] = allowed[rows[inside]]
    return result


def _sorted(blocks: list[_Block]) -> _Block:
    rows = np.concatenate([b.rows for b in blocks])
    order = np.argsort(rows, kind="stable")
    starts = np.concatenate([b.starts for b in blocks])
    lengths = np.concatenate([b.lengths for b in blocks])
    return _Block(rows[order], starts[order], lengths[order])


def _expanded(block: _Block, runs: Positions) -> Positions:
    return _ranges(block.starts[runs], block.lengths[runs])


def _ranges(starts: Positions, lengths: Positions) -> Positions:
    """All numbers of the ranges that begin at *starts* and have *lengths*, range after range."""
    before = np.cumsum(lengths) - lengths
    total = int(lengths.sum())
    ranges: Positions = np.arange(total) + np.repeat(starts - before, lengths)
    return ranges
