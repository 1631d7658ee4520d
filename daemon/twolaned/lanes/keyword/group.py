"""The terms of a query that have columns in a segment, scored together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.columns import SLIM, WIDE, Columns
from twolaned.lanes.keyword.impacts import ABOVE, STEPS

Norms = NDArray[np.float32]
Passages = NDArray[np.uint32]


BLOCK = 16_384
"""Windows whose bounds are added up at once."""


class Group:
    """Columns with weights, those that can add most first.

    *tops* are the most that each can add to a score, and *top* the most that all can. *looseness*
    scales the stored bounds.
    """

    __slots__ = (
        "_slim", "_starts", "_steps", "_wide", "columns", "rest", "rows", "top", "tops", "weights",
    )  # fmt: skip

    def __init__(
        self, columns: Columns, found: Sequence[tuple[float, int, float]], looseness: float
    ) -> None:
        """Of each column in *found*: its top, its row, its weight."""
        ordered = sorted(found, reverse=True)
        self.columns = columns
        self.tops = [top for top, _, _ in ordered]
        self.top = sum(self.tops) * ABOVE
        self.rows = np.array([row for _, row, _ in ordered], np.int64)
        self.weights = np.array([weight for _, _, weight in ordered], np.float32)
        self._starts = (self.rows * columns.width)[:, None]
        self._steps = self.weights * np.float32(ABOVE * looseness / float(STEPS))
        self._wide: NDArray[np.float32] | None = None
        self._slim: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def wide(self) -> NDArray[np.float32]:
        """The most that passages of each large window can get."""
        if self._wide is None:
            self._wide = self._steps @ self.columns.wide[self.rows].astype(np.float32)
        return self._wide

    def slim(self) -> NDArray[np.float32]:
        """The most that passages of each small window can get."""
        if self._slim is None:
            # In blocks, so that what lies between the two steps stays in the processor's cache.
            table = self.columns.slim
            self._slim = np.empty(table.shape[1], np.float32)
            for first in range(0, table.shape[1], BLOCK):
                block = table[self.rows, first : first + BLOCK].astype(np.float32)
                np.matmul(self._steps, block, out=self._slim[first : first + BLOCK])
        return self._slim

    @property
    def slim_known(self) -> bool:
        """Whether `slim` costs nothing any more."""
        return self._slim is not None

    def slim_of(self, windows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The part of `slim` that lies in large *windows*, one after the other."""
        each = WIDE // SLIM
        table = self.columns.slim.reshape(len(self.columns.slim), -1, each)
        picked = table[self.rows[:, None], windows].reshape(len(self.rows), -1)
        return self._steps @ picked.astype(np.float32)

    def slim_head(self, windows: NDArray[np.int64], last: int) -> NDArray[np.float32]:
        """The most that the columns up to *last* add in small *windows*."""
        table: NDArray[np.uint8] = self.columns.slim[self.rows[:last, None], windows]
        total: NDArray[np.float32] = self._steps[:last] @ table.astype(np.float32)
        return total

    def exact(self, passages: Passages, norms: Norms) -> NDArray[np.float64]:
        """The group's share of the scores of *passages*."""
        shares = self._impacts(passages, norms, 0, len(self.rows))
        shares *= self.weights[:, None]
        total: NDArray[np.float64] = shares.sum(0, dtype=np.float64)
        return total

    def about(
        self, passages: Passages, norms: Norms, first: int = 0, last: int | None = None
    ) -> NDArray[np.float32]:
        """The share of the columns from *first* to *last*, rounded somehow; fast for many."""
        end = len(self.rows) if last is None else last
        impact = self._impacts(passages, norms, first, end)
        total: NDArray[np.float32] = self.weights[first:end] @ impact
        return total

    def about_windows(
        self, windows: NDArray[np.int64], norms: Norms, last: int
    ) -> NDArray[np.float32]:
        """As `about`, the columns up to *last* for all passages of small *windows*."""
        columns = self.columns
        starts = (self.rows[:last] * (columns.width // SLIM))[:, None]
        impact = columns.words.take(starts + windows, mode="clip").view(np.uint8)
        shares = impact.astype(np.float32)
        shares /= shares + norms.reshape(-1, SLIM).take(windows, axis=0).reshape(-1)
        total: NDArray[np.float32] = self.weights[:last] @ shares
        return total

    def _impacts(
        self, passages: Passages, norms: Norms, first: int, last: int
    ) -> NDArray[np.float32]:
        tf = self.columns.flat.take(self._starts[first:last] + passages, mode="clip")
        impact: NDArray[np.float32] = tf.astype(np.float32)
        impact /= impact + norms.take(passages, mode="clip")
        return impact
