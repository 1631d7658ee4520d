"""A segment's passages as a search may see them."""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.columns import Columns
from twolaned.lanes.keyword.found import Rows, allowed_of
from twolaned.lanes.keyword.impacts import impacts

NARROW = 16
"""A filter that leaves less than one passage in so many is narrow."""
REMEMBERED = 4
"""Filters of which a segment's views are kept."""


class View:
    """*norms* (float32, padded to whole windows) are infinite where a passage may not be found.

    *passages* are those that may, where they are few; else None. *positions* (int32 by passage)
    are then their places among these, counted from 1, and 0 for all others.
    """

    __slots__ = ("_table", "norms", "passages", "positions")

    def __init__(
        self, norms: NDArray[np.float32], passages: NDArray[np.uint32] | None = None
    ) -> None:
        self.norms = norms
        self.passages = passages
        self.positions = np.empty(0, np.int32)
        if passages is not None:
            self.positions = np.zeros(len(norms), np.int32)
            self.positions[passages] = np.arange(1, len(passages) + 1, dtype=np.int32)
        self._table: NDArray[np.float32] | None = None

    def table(self, columns: Columns) -> NDArray[np.float32]:
        """The impacts of all columns (float32 [columns, passages])."""
        if self._table is None:
            self._table = impacts(columns.table, self.norms)
        return self._table


class Views:
    """The views of one segment by filter, the last few of them. Safe in any thread."""

    __slots__ = ("_all", "_kept", "_norms", "_rows")

    def __init__(self, rows: Rows, norms: NDArray[np.float32]) -> None:
        self._rows = rows
        self._norms = norms
        self._all = View(norms)
        self._kept: tuple[tuple[weakref.ref[NDArray[np.bool_]], View], ...] = ()

    def of(self, allowed: NDArray[np.bool_] | None) -> View:
        """The view through *allowed*, which must not change as long as it is used."""
        if allowed is None:
            return self._all
        for reference, view in self._kept:
            if reference() is allowed:
                return view
        view = self._made(allowed)
        self._kept = ((weakref.ref(allowed), view), *self._kept[: REMEMBERED - 1])
        return view

    def _made(self, allowed: NDArray[np.bool_]) -> View:
        mask = allowed_of(self._rows, allowed)
        alive = self._norms[: len(mask)]
        if np.count_nonzero(mask) * NARROW < len(mask):
            passages = np.flatnonzero(mask)
            passages = passages[np.isfinite(alive[passages])]
            return View(self._norms, passages.astype(np.uint32))
        norms = self._norms.copy()
        np.copyto(norms[: len(mask)], np.float32(np.inf), where=~mask)
        return View(norms)
