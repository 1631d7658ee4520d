"""Which vectors a search may return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.runs import within
from twolaned.lanes.meaning.vectors import Positions, Rows

Mask = NDArray[np.bool_]


SAMPLE = 16_384


def sample_stride(count: int) -> int:
    """The distance of about `SAMPLE` positions that stand for the first *count*."""
    return max(1, count // SAMPLE)


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The vectors that are live, and whose rows a filter allows.

    *live* is by position and None where all are; *allowed* is by row number and None where there is
    no filter; *rows* gives the row of each position.
    """

    live: Mask | None
    allowed: Mask | None
    rows: Rows | None

    @classmethod
    def everything(cls) -> Selection:
        """All vectors there are."""
        return cls(None, None, None)

    def mask(self, at: Positions | slice) -> Mask | None:
        """Which of the positions *at* are kept, or None where all are."""
        kept = None if self.live is None else self.live[at]
        if self.allowed is None:
            return kept
        assert self.rows is not None, "a filter is by row"
        allowed = within(self.allowed, self.rows[at])
        return allowed if kept is None else allowed & kept

    def sample(self, count: int) -> Mask:
        """Which of a sample of the first *count* positions are kept."""
        at = slice(None, count, sample_stride(count))
        mask = self.mask(at)
        return np.ones(len(range(count)[at]), np.bool_) if mask is None else mask

    def kept(self, at: Positions) -> Positions:
        """Those of the positions *at* that are kept."""
        mask = self.mask(at)
        return at if mask is None else at[mask]
