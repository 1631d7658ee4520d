"""The statements that stand for many: closest to the centre of their term weights.

The centroid method of Radev, Jing and Budzikowska ("Centroid-based summarization of multiple
documents", 2000), with every conversation weighing the same and near-repetitions left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.compaction.statements import Statement
from twolaned.lanes.keyword.tokenizer import BatchTokenizer

REPEATS = 0.6
"""Two statements whose cosine is above this say the same."""


@dataclass(frozen=True, slots=True)
class _Matrix:
    """Unit vectors of statements, sparse: entry i says that row[i] holds weight[i] of term[i]."""

    row: NDArray[np.int64]
    term: NDArray[np.int64]
    weight: NDArray[np.float64]
    starts: NDArray[np.int64]
    terms: int

    def times(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """The dot product of each row with *vector*."""
        products = self.weight * vector[self.term]
        return _sums(self.row, products, len(self.starts) - 1)

    def dense(self, row: int) -> NDArray[np.float64]:
        """One row as a vector over all terms."""
        vector = np.zeros(self.terms)
        span = slice(self.starts[row], self.starts[row + 1])
        vector[self.term[span]] = self.weight[span]
        return vector


class _Numbers:
    """Numbers terms as they come."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def ids(self, terms: Sequence[str]) -> list[int]:
        return [self.known.setdefault(term, len(self.known)) for term in terms]


def most_central(statements: Sequence[Statement], count: int) -> list[Statement]:
    """At most *count* of *statements* that say most of what all say, best first.

    Of several conversations none gives more than its share, unless the others have no more to
    say. The same statements give the same answer, whatever their order.
    """
    ordered = sorted(statements, key=lambda s: (s.key, s.at, s.text))
    if not ordered:
        return []
    matrix = _matrix(ordered)
    scores = matrix.times(_centre(matrix, ordered)) * [s.weight for s in ordered]
    by_score = sorted(range(len(ordered)), key=lambda n: (-round(float(scores[n]), 12), n))
    share = max(2, -(-count // len({s.key for s in ordered})))
    chosen: list[int] = []
    late: list[int] = []
    taken: Counter[str] = Counter()
    nearest = np.zeros(len(ordered))
    for limit, candidates in ((share, by_score), (count, late)):
        for n in candidates:
            if len(chosen) >= count:
                break
            if nearest[n] > REPEATS:
                continue
            if taken[ordered[n].key] >= limit:
                late.append(n)
                continue
            chosen.append(n)
            taken[ordered[n].key] += 1
            nearest = np.maximum(nearest, matrix.times(matrix.dense(n)))
    return [ordered[n] for n in chosen]


def _matrix(statements: Sequence[Statement]) -> _Matrix:
    numbers = _Numbers()
    tokens = BatchTokenizer(numbers).tokenize([s.text for s in statements])
    rows = np.repeat(np.arange(len(statements), dtype=np.int64), tokens.lengths)
    width = max(1, len(numbers.known))
    pairs, counts = np.unique(rows * width + tokens.term_ids.astype(np.int64), return_counts=True)
    row, term = pairs // width, pairs % width
    frequency = np.bincount(term, minlength=width)
    rarity = np.log1p(len(statements) / np.maximum(1, frequency))
    weight = (1 + np.log(counts)) * rarity[term]
    length = np.sqrt(np.bincount(row, weights=weight**2, minlength=len(statements)))
    starts = np.searchsorted(row, np.arange(len(statements) + 1))
    return _Matrix(row, term, weight / np.maximum(length, 1e-12)[row], starts, width)


def _centre(matrix: _Matrix, statements: Sequence[Statement]) -> NDArray[np.float64]:
    sizes = Counter(s.key for s in statements)
    share = np.array([1 / sizes[s.key] for s in statements])
    centre = _sums(matrix.term, matrix.weight * share[matrix.row], matrix.terms)
    length = float(np.linalg.norm(centre))
    return centre / length if length else centre


def _sums(places: NDArray[np.int64], weights: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    return np.bincount(places, weights=weights, minlength=n).astype(np.float64)
