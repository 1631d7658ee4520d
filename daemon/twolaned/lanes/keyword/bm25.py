"""BM25 in the form that Lucene uses (Robertson and Zaragoza 2009, The Probabilistic Relevance
Framework; without the factor k1 + 1, which changes no order).

A passage's score is the sum over the query's terms of weight · idf · tf / (tf + norm), where
idf = ln(1 + (N - df + 0.5) / (df + 0.5)) and norm = k1 · (1 - b + b · length / average length).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_OCCURRENCES = 255
"""tf counts no further."""
LONGEST_PASSAGE = 65_535
"""Terms. A passage's length counts no further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25:
    """The constants of an index. *average_length* is in terms and above 0."""

    k1: float = 0.9
    b: float = 0.4
    average_length: float

    def norms(self, lengths: NDArray[np.uint16]) -> NDArray[np.float32]:
        """The norm of passages with *lengths* terms."""
        if len(lengths) > LONGEST_PASSAGE + 1:
            every: NDArray[np.float32] = self.norms(np.arange(LONGEST_PASSAGE + 1, dtype=np.uint16))
            return every.take(lengths)
        slope = self.k1 * self.b / self.average_length
        return (self.k1 * (1 - self.b) + slope * lengths).astype(np.float32)


def idf(passages: int, frequency: int) -> float:
    """The weight of a term that *frequency* of *passages* hold; above 0."""
    return math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5))
