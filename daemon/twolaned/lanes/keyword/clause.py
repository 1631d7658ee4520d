"""A query's terms with what they are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Clauses:
    """*terms* (distinct) and for each its idf times its weight; 0 where no live passage has it."""

    terms: list[int]
    weights: list[float]


def places_in(
    terms: NDArray[np.uint32], wanted: NDArray[np.uint32], lookup: NDArray[np.int32] | None = None
) -> NDArray[np.int64] | NDArray[np.int32]:
    """The place of each *wanted* term in *terms* (distinct, ascending), -1 where it is not there.

    *lookup* is the place of each number up to the last of *terms*, or None.
    """
    if not len(terms):
        return np.full(len(wanted), -1)
    if lookup is not None:
        return np.where(wanted < len(lookup), lookup.take(wanted, mode="clip"), -1)
    places = terms.searchsorted(wanted)
    return np.where(terms.take(places, mode="clip") == wanted, places, -1)
