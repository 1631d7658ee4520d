"""Terms that very many passages hold: a column of tf over all passages instead of postings.

Beside each column stand the bounds of its impacts, the largest of every 8 and of every 64
passages, and the passages with the largest impacts, its champions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.bm25 import LONGEST_PASSAGE
from twolaned.lanes.keyword.growing import Growing
from twolaned.lanes.keyword.impacts import bounds

WIDE = 64
"""Passages of a large window."""
SLIM = 8
"""Passages of a small window."""
CHAMPIONS = 64
SHARE = 16
"""A term in more than one of so many passages gets a column."""
MOST = LONGEST_PASSAGE * SHARE
"""Columns, at the most: a passage has no more terms than that."""
FEWEST_PASSAGES = 4_096
"""Smaller segments have no columns."""


def width_of(passages: int) -> int:
    """*passages*, rounded up to whole windows."""
    return -(-passages // WIDE) * WIDE


class ColumnsBuilder:
    """Collects columns of passages with *norms*, by ascending term."""

    def __init__(self, norms: NDArray[np.float32]) -> None:
        self._norms = norms
        self._width = width_of(len(norms))
        self._terms: list[int] = []
        self._parts: list[tuple[NDArray[Any], ...]] = []
        self._columns = Growing(np.uint8, MOST * self._width)

    def add(
        self,
        term: int,
        passages: NDArray[np.uint32],
        tf: NDArray[np.uint8],
        impact: NDArray[np.float32],
    ) -> None:
        """Add the column of *term* of its postings, of which there are at least `CHAMPIONS`."""
        column, bound = np.zeros(self._width, np.uint8), np.zeros(self._width, np.uint8)
        column[passages], bound[passages] = tf, bounds(impact)
        slim = bound.reshape(-1, SLIM).max(1)
        best = np.argpartition(-impact, CHAMPIONS)[:CHAMPIONS]
        champions = passages[best[np.argsort(-impact[best], kind="stable")]]
        self._terms.append(term)
        self._columns.add(column)
        self._parts.append((slim, slim.reshape(-1, WIDE // SLIM).max(1), champions))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of all columns. Ends the builder."""
        count, width = len(self._parts), self._width
        columns = self._columns.joined().reshape(count, width)
        slim = np.empty((count, width // SLIM), np.uint8)
        wide = np.empty((count, width // WIDE), np.uint8)
        champions = np.empty((count, CHAMPIONS), np.uint32)
        for row, part in enumerate(self._parts):
            slim[row], wide[row], champions[row] = part
        return {
            "dense_terms": np.array(self._terms, np.uint32),
            "columns": columns,
            "slim_bounds": slim,
            "wide_bounds": wide,
            "champions": champions,
        }


class Columns:
    """Read access to the arrays of `ColumnsBuilder`."""

    __slots__ = ("champions", "flat", "row_of", "slim", "table", "wide", "width", "words")

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.row_of = {term: row for row, term in enumerate(arrays["dense_terms"].tolist())}
        """The column of each term."""
        self.table: NDArray[np.uint8] = arrays["columns"]
        self.width = self.table.shape[1]
        self.flat = self.table.reshape(-1)
        self.words: NDArray[np.uint64] = self.flat.view(np.uint64)
        """The columns, a small window an element."""
        self.slim: NDArray[np.uint8] = arrays["slim_bounds"]
        self.wide: NDArray[np.uint8] = arrays["wide_bounds"]
        self.champions: NDArray[np.uint32] = arrays["champions"]

    def postings(self, row: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """The passages of a column and their tf."""
        column = self.table[row]
        passages = np.flatnonzero(column)
        return passages.astype(np.uint32), column[passages]
