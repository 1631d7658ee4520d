"""How many passages each term has lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Tally:
    """*counts* (int64, above 0) by *terms* (uint32, distinct and ascending)."""

    terms: NDArray[np.uint32]
    counts: NDArray[np.int64]

    @classmethod
    def empty(cls) -> Tally:
        """Nothing was lost."""
        return cls(np.empty(0, np.uint32), np.empty(0, np.int64))

    def plus(self, terms: NDArray[np.uint32], counts: NDArray[np.int64]) -> Tally:
        """This tally and *counts* more of *terms*; fewer where they are below 0."""
        distinct, places = np.unique(np.concatenate([self.terms, terms]), return_inverse=True)
        total = np.zeros(len(distinct), np.int64)
        np.add.at(total, places, np.concatenate([self.counts, counts]))
        kept = total > 0
        return Tally(distinct[kept], total[kept])

    def of(self, terms: NDArray[np.uint32]) -> NDArray[np.int64]:
        """The count of each of *terms*; 0 where it has none."""
        found = np.zeros(len(terms), np.int64)
        if len(self.terms):
            places = np.minimum(self.terms.searchsorted(terms), len(self.terms) - 1)
            known = self.terms[places] == terms
            found[known] = self.counts[places[known]]
        return found
