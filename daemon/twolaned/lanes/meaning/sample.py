"""What a fixed sample of a space's vectors says about all of them.

A sample is taken from the vectors that were there when the count last passed a power of two (or of
four), evenly over them. So it follows from the vectors and their order alone, and not from the
batches in which they came: a restart changes no score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.vectors import Floats, Positions

CENTRE_SAMPLE = 16_384
UNRELATED_SAMPLE = 2_048


def landmark(count: int, base: int) -> int:
    """The largest power of *base* up to *count*; 0 for a count of 0."""
    mark = 1 if count else 0
    while 0 < mark * base <= count:
        mark *= base
    return mark


def sample_positions(count: int, size: int) -> Positions:
    """At most *size* positions, evenly over the first *count*."""
    return np.arange(0, count, max(1, -(-count // size)))


@dataclass(frozen=True, slots=True, eq=False)
class Centre:
    """Mean and standard deviation of each dimension of a space's unit vectors."""

    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, units: Floats) -> Centre:
        """The centre of the sample *units* (float32 [m, dimensions], m > 0)."""
        return cls(
            units.mean(axis=0, dtype=np.float64).astype(np.float32),
            units.std(axis=0, dtype=np.float64).astype(np.float32),
        )


def mean_unrelated_cosine(units: Floats, rows: NDArray[np.uint32]) -> float:
    """The mean cosine of two texts of different rows; 0 where there are no two rows.

    *units* are float32 [m, dimensions] of length 1, *rows* (uint32 [m]) the row of each.
    """
    if not len(rows):
        return 0.0
    order = np.argsort(rows, kind="stable")
    first = np.flatnonzero(np.diff(rows[order], prepend=-1))
    sums = np.add.reduceat(units[order].astype(np.float64), first, axis=0)
    sizes = np.diff(first, append=len(rows)).astype(np.float64)
    pairs = sizes.sum() ** 2 - (sizes**2).sum()
    if pairs <= 0:
        return 0.0
    total = sums.sum(axis=0)
    return float((total @ total - (sums * sums).sum()) / pairs)
