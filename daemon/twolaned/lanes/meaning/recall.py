"""How many of the best rows a search finds, measured on questions that were asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.index import VectorIndex
from twolaned.model.result import LaneHits

MEAN_BAR = 0.995
WORST_BAR = 0.95

_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class RecallReport:
    """Recall at *n* over *questions*: the mean, and that of the worst question."""

    questions: int
    n: int
    mean: float
    worst: float

    @property
    def is_good(self) -> bool:
        """Whether it reaches the bars that the lane is built for."""
        return self.mean >= MEAN_BAR and self.worst >= WORST_BAR


def measure_recall(
    index: VectorIndex,
    questions: Iterable[NDArray[np.floating[Any]]],
    n: int = 30,
    *,
    go_on: Callable[[], bool] = lambda: True,
) -> RecallReport | None:
    """Compare the index's answers with exact ones; None without questions or rows.

    For the background: an exact answer takes about 150 ms of one core at a million vectors, and
    *go_on* is asked before each whether there is time for it.
    """
    found = []
    for question in questions:
        if not go_on():
            break
        exact = index.search_exactly(question, n)
        if len(exact.rows):
            found.append(recall(index.search(question, n), exact, n))
    if not found:
        return None
    return RecallReport(len(found), n, float(np.mean(found)), min(found))


def recall(hits: LaneHits, exact: LaneHits, n: int) -> float:
    """The share of the exact answer's best *n* rows that *hits* has.

    A row counts by its score: of rows that tie with the n-th any will do.
    """
    wanted = min(n, len(exact.rows))
    reached = np.count_nonzero(hits.scores >= exact.scores[wanted - 1] - _ROUNDING)
    return min(int(reached), wanted) / wanted
