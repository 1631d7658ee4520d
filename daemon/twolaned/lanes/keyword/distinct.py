"""The distinct numbers of an array, ascending: `numpy.unique` for numbers that lie close together.

numpy hashes integers before it sorts them (since 2.3), which takes several times as long.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SPARSE = 64
"""Where the largest number is above so many times the count, sorting is cheaper than a table."""


def distinct(numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The distinct ones of *numbers*, ascending."""
    if not len(numbers):
        return numbers
    top = int(numbers.max())
    if top > SPARSE * len(numbers):
        ordered = np.sort(numbers)
        firsts = np.ones(len(ordered), np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=firsts[1:])
        return ordered[firsts]
    held = np.zeros(top + 1, np.bool_)
    held[numbers] = True
    return held.nonzero()[0].astype(np.uint32)
