"""What a part of the index answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Found:
    """Distinct *rows* with the *scores* of their best passages, and those passages' indexes.

    Of passages with equal scores it is the first.
    """

    rows: Rows
    scores: NDArray[np.float32]
    passages: NDArray[np.uint32]

    @classmethod
    def nothing(cls) -> Found:
        """No rows."""
        return cls(np.empty(0, np.uint32), np.empty(0, np.float32), np.empty(0, np.uint32))


def best_of_rows(
    rows: Rows, passages: NDArray[np.uint32], scores: NDArray[np.float32]
) -> NDArray[np.int64]:
    """The places of each row's best passage, where *rows* are the rows of *passages*."""
    order = np.lexsort((passages, -scores, rows))
    ordered = rows[order]
    firsts = np.ones(len(order), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=firsts[1:])
    return order[firsts]


def allowed_of(rows: Rows, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of *rows* are allowed; those beyond the mask are not."""
    if not len(allowed):
        return np.zeros(len(rows), np.bool_)
    return allowed.take(rows, mode="clip") & (rows < len(allowed))
