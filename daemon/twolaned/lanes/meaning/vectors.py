"""The vectors of a space by position, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.meaning.column import Column

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Positions = NDArray[np.intp]
Rows = NDArray[np.uint32]

_BLOCK = 4096
"""Vectors handled at a time, so that a copy of them stays in the cache until it is used."""
_ROUNDING = 1e-6
_LEAST = 1e-30
"""Of a squared length: below, float32 has no digits left for it."""


class VectorSource(Protocol):
    """Where vectors are read from; `twolaned.store.vector_file.VectorMap` is one."""

    def rows(self, count: int, /) -> Floats:
        """The first *count* vectors, read-only and valid for as long as they are held."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question's vector: at length 1 to rank with, and as it is to score with."""

    unit: Floats
    exact: Doubles
    length: float

    @classmethod
    def of(cls, vector: NDArray[np.floating[Any]], dimensions: int) -> Question:
        """Raises ValueError where *vector* has another width, or no direction."""
        if vector.shape != (dimensions,):
            raise ValueError(f"expected {dimensions} dimensions, got shape {vector.shape}")
        exact = vector.astype(np.float64)
        length = float(np.sqrt(exact @ exact))
        if not 0 < length < np.inf:
            raise ValueError("the question's vector has no direction")
        return cls((exact / length).astype(np.float32), exact, length)


@dataclass(frozen=True, slots=True, eq=False)
class VectorTable:
    """Vectors by position. Immutable; tables made from one another share what they can."""

    dimensions: int
    matrix: Floats
    """float32 [count, dimensions], of any length."""
    inverse: Column[np.float32]
    """One over each vector's length, 0 for those without a direction."""
    rows: Column[np.uint32]
    passages: Column[np.uint32]
    _owned: Column[np.float32] | None = None
    """The matrix, where it is in memory and not in a file."""

    @classmethod
    def empty(cls, dimensions: int) -> VectorTable:
        """A table without vectors."""
        return cls(
            dimensions,
            np.empty((0, dimensions), np.float32),
            Column.empty(np.float32),
            Column.empty(np.uint32),
            Column.empty(np.uint32),
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def margin(self) -> float:
        """By how much the cosines of two vectors must differ for `cosines` to tell which is larger.

        Twice the bound on the error of a float32 dot product of unit vectors, whatever the order of
        its sum (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).
        """
        return 2 * (self.dimensions + 8) * 2.0**-24

    def extended(self, rows: Rows, passages: Rows, vectors: Floats | VectorSource) -> VectorTable:
        """This table and the vectors of *rows* and *passages*. Raises ValueError for odd shapes."""
        total = len(self) + len(rows)
        if isinstance(vectors, np.ndarray):
            owned = self._owned or Column.empty(np.float32, self.dimensions)
            if len(owned) != len(self) or vectors.shape != (len(rows), self.dimensions):
                raise ValueError(f"vectors {vectors.shape} for {len(rows)} rows behind {len(self)}")
            owned = owned.extended(vectors)
            matrix = owned.values
        else:
            owned, matrix = None, vectors.rows(total)
            if (self._owned is not None and len(self)) or matrix.shape != (total, self.dimensions):
                raise ValueError(f"a source of vectors {matrix.shape} for {total} rows")
        if len(passages) != len(rows):
            raise ValueError(f"{len(passages)} passages for {len(rows)} rows")
        inverse = self.inverse
        for start in range(len(self), total, _BLOCK):
            inverse = inverse.extended(_inverse_lengths(matrix[start : min(start + _BLOCK, total)]))
        return replace(
            self,
            matrix=matrix,
            inverse=inverse,
            rows=self.rows.extended(rows),
            passages=self.passages.extended(passages),
            _owned=owned,
        )

    def units(self, at: Positions | slice) -> Floats:
        """The vectors at *at* at length 1; zeros for those without a direction."""
        inverse = self.inverse.values[at]
        if np.all(np.abs(inverse - 1) < _ROUNDING):
            return self.matrix[at]
        with np.errstate(invalid="ignore"):
            units: Floats = self.matrix[at] * inverse[:, np.newaxis]
        units[inverse == 0] = 0.0
        return units

    def cosines(self, question: Question, at: Positions) -> Floats:
        """The cosines of *question* and the vectors at *at*, in float32: good to rank with."""
        result = np.empty(len(at), np.float32)
        for start in range(0, len(at), _BLOCK):
            part = slice(start, start + _BLOCK)
            result[part] = self.matrix[at[part]] @ question.unit
        result *= self.inverse.values[at]
        return result

    def cosines_between(self, question: Question, start: int, stop: int) -> Floats:
        """The same for all positions from *start* to *stop*; NaN where there is no direction."""
        with np.errstate(over="ignore", invalid="ignore"):
            return (self.matrix[start:stop] @ question.unit) * self.inverse.values[start:stop]

    def scores(self, question: Question, at: Positions) -> Floats:
        """The cosines of *question* and the vectors at *at*, rounded once from float64.

        Equal vectors have equal scores, wherever they lie.
        """
        result = np.empty(len(at), np.float32)
        for start in range(0, len(at), _BLOCK):
            vectors = self.matrix[at[start : start + _BLOCK]].astype(np.float64)
            products = (vectors * question.exact).sum(axis=1)
            lengths = np.sqrt((vectors * vectors).sum(axis=1)) * question.length
            result[start : start + _BLOCK] = products / lengths
        return result


def _inverse_lengths(vectors: Floats) -> Floats:
    """One over each vector's length; 0 where it is next to nothing, infinite or not a number."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        squares = np.einsum("ij,ij->i", vectors, vectors)
        inverse: Floats = (1.0 / np.sqrt(squares)).astype(np.float32)
    inverse[~((squares > _LEAST) & np.isfinite(squares))] = 0.0
    return inverse
