"""Working memory of a thread, kept between searches."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray


class _Scratch(threading.local):
    def __init__(self) -> None:
        self.positions = np.zeros(0, np.int32)
        self.numbers = np.arange(1, 4_097, dtype=np.int32)


_scratch = _Scratch()


def positions(count: int) -> NDArray[np.int32]:
    """At least *count* zeros. Whoever writes into them makes them 0 again."""
    if len(_scratch.positions) < count:
        _scratch.positions = np.zeros(count, np.int32)
    return _scratch.positions


def numbers(count: int) -> NDArray[np.int32]:
    """1 to *count*; not to be written."""
    if len(_scratch.numbers) < count:
        _scratch.numbers = np.arange(1, 2 * count + 1, dtype=np.int32)
    return _scratch.numbers[:count]
