"""The scan of all coarse codes: xor, count bits, add up, a block at a time."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.codes import CodeTable, Words

BLOCK = 32_768
"""Vectors a block: its buffers stay in the second-level cache, and numpy's calls stay few."""


class _Scratch(threading.local):
    """Buffers of one thread, so that a search allocates nothing large."""

    def __init__(self) -> None:
        self.different = np.empty(BLOCK, np.uint64)
        self.counts = np.empty(BLOCK, np.uint8)
        self.distances = np.empty(0, np.uint8)

    def room(self, count: int) -> NDArray[np.uint8]:
        if len(self.distances) < count:
            self.distances = np.empty(count + count // 8, np.uint8)
        return self.distances[:count]


_scratch = _Scratch()


def scan(table: CodeTable, code: Words) -> NDArray[np.uint8]:
    """The coarse distance of every vector from *code*, by position.

    The array is this thread's own and holds until its next scan.
    """
    result = _scratch.room(len(table))
    columns = [(c.values, word) for c, word in zip(table.coarse, code, strict=False)]
    for start in range(0, len(table), BLOCK):
        total = result[start : start + BLOCK]
        different, counts = _scratch.different[: len(total)], _scratch.counts[: len(total)]
        for number, (column, word) in enumerate(columns):
            np.bitwise_xor(column[start : start + BLOCK], word, out=different)
            np.bitwise_count(different, out=counts if number else total)
            if number:
                np.add(total, counts, out=total)
    return result
