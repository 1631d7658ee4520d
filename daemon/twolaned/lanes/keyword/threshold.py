"""How good a row must be to be among the best n."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BELOW = 0.99999
"""Rounding of float32 scores stays above this factor."""


class Threshold:
    """A lower bound of the n-th best row's score, which rises while parts are searched.

    *value* lies a little below what is known, so that whatever ties is kept. *n* is at least 1.
    """

    __slots__ = ("_best", "n", "value")

    def __init__(self, n: int) -> None:
        self.n = n
        self.value = 0.0
        self._best = np.empty(0, np.float32)

    def raise_to(self, score: float) -> None:
        """At least n rows reach *score*."""
        self.value = max(self.value, score * BELOW)

    def learn(self, scores: NDArray[np.float32]) -> None:
        """Other rows than before have these *scores*."""
        self._best = np.concatenate((self._best, scores)) if len(self._best) else scores
        count = len(self._best)
        if count >= self.n:
            if count > self.n:
                self._best = np.partition(self._best, count - self.n)[count - self.n :]
            self.raise_to(float(self._best.min()))

    def look_at(
        self,
        scores: NDArray[np.float64] | NDArray[np.float32],
        passages: NDArray[np.uint32],
        rows: NDArray[np.uint32] | None,
    ) -> None:
        """Distinct *passages* reach at least *scores*.

        *rows* are the rows by passage; None where no row has two passages. Passages beyond them
        may be there with the score 0.
        """
        n, count = self.n, len(scores)
        if count < n:
            return
        if rows is None:
            self.raise_to(float(np.partition(scores, count - n)[count - n]))
            return
        top = np.argpartition(scores, count - n)[count - n :]
        least = float(scores[top].min())
        if least * BELOW <= self.value:
            return
        if len(set(rows.take(passages[top], mode="clip").tolist())) == n:
            self.raise_to(least)
            return
        take = 3 * n
        while True:
            if count > take:
                top = np.argpartition(scores, count - take)[count - take :]
                found, of_row = scores[top], rows.take(passages[top], mode="clip")
            else:
                found, of_row = scores, rows.take(passages, mode="clip")
            order = np.argsort(-found)
            seen = set()
            for place, row in enumerate(of_row[order].tolist()):
                seen.add(row)
                if len(seen) == n:
                    self.raise_to(float(found[order[place]]))
                    return
            if take >= count:
                return
            take *= 8
