"""The lane's answer by the plainest way there is, for tests to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twolaned.model.result import LaneHits


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceVector:
    """One vector and whose it is."""

    row: int
    passage: int
    numbers: NDArray[np.floating[Any]]


def reference_cosine(first: NDArray[np.floating[Any]], second: NDArray[np.floating[Any]]) -> float:
    """The cosine of two vectors in float64; NaN where one has no direction."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    with np.errstate(all="ignore"):
        return float((a @ b) / (np.sqrt(a @ a) * np.sqrt(b @ b)))


def reference_search(
    vectors: Sequence[ReferenceVector],
    question: NDArray[np.floating[Any]],
    n: int,
    allowed: NDArray[np.bool_] | None = None,
) -> LaneHits:
    """The *n* best rows of *vectors* and all that tie with the n-th, by brute force."""
    best: dict[int, tuple[np.float32, int]] = {}
    for vector in vectors:
        if allowed is not None and not (vector.row < len(allowed) and allowed[vector.row]):
            continue
        score = np.float32(reference_cosine(vector.numbers, question))
        key = (score, -int(vector.passage))
        if np.isfinite(score) and (vector.row not in best or key > best[vector.row]):
            best[vector.row] = key
    ranked = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))
    taken = [item for i, item in enumerate(ranked) if i < n or item[1][0] == ranked[n - 1][1][0]]
    return LaneHits(
        np.array([row for row, _ in taken], np.uint32),
        np.array([score for _, (score, _) in taken], np.float32),
        np.array([-passage for _, (_, passage) in taken], np.uint32),
        exhausted=len(taken) == len(ranked),
    )
