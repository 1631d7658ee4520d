"""The best passages of one part for a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.lanes.keyword.part import Part, postings_of


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A term and what its occurrences are worth: its idf times its weight in the query."""

    term: int
    weight: float


def score_rows(
    part: Part, terms: Sequence[WeightedTerm], allowed: NDArray[np.bool_] | None
) -> tuple[NDArray[np.uint32], NDArray[np.float32], NDArray[np.uint32]]:
    """All rows of *part* that hold a term: row numbers, best scores, and the best passages.

    Each term's share is a float32 and their sum a float64, which is exact: two passages with the
    same terms have the same score, wherever they lie and in whichever order it was added up.
    """
    batch, rows = part.source.postings(), part.source.rows
    norms = part.norms
    if allowed is not None:
        norms = np.where(allowed_passages(rows, allowed), norms, np.float32(np.inf))
    total = np.zeros(len(rows))
    for term in terms:
        passages, tf = postings_of(batch, term.term)
        share = tf.astype(np.float32)
        share /= share + norms[passages]
        share *= np.float32(term.weight)
        total[passages] += share
    found = np.flatnonzero(total)
    scores = total[found].astype(np.float32)
    order = np.lexsort((found, -scores, rows[found]))
    firsts = np.unique(rows[found][order], return_index=True)[1]
    best = order[firsts]
    passages = found[best]
    numbers = rows[passages]
    index = passages - rows.searchsorted(numbers)
    return numbers, scores[best], index.astype(np.uint32)


def allowed_passages(rows: NDArray[np.uint32], allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which passages belong to allowed rows; rows beyond the mask are not allowed."""
    if not len(allowed):
        return np.zeros(len(rows), np.bool_)
    return allowed.take(rows, mode="clip") & (rows < len(allowed))
