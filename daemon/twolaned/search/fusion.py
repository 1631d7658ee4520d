"""Two lanes' lists become one pool."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twolaned.model.result import FoundBy, LaneHits

LEAST_CANDIDATES = 30
CANDIDATES_A_RESULT = 3

IdKey = Callable[[int], bytes]
"""A row's id in UTF-8, by row number."""


def lane_size(top_k: int) -> int:
    """How many distinct rows each lane returns for *top_k* results."""
    return max(LEAST_CANDIDATES, CANDIDATES_A_RESULT * top_k)


@dataclass(frozen=True, slots=True)
class Pool:
    """The rows that the lanes found, each once. A lane that did not find a row has NaN.

    *passages* are the passages to show, by index within their rows.
    """

    rows: NDArray[np.uint32]
    passages: NDArray[np.uint32]
    bm25: NDArray[np.float64]
    cosine: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def both_ways(self) -> NDArray[np.bool_]:
        """Which rows both lanes found."""
        both: NDArray[np.bool_] = ~(np.isnan(self.bm25) | np.isnan(self.cosine))
        return both

    def found_by(self, index: int) -> FoundBy:
        """Which lanes found the row at *index*."""
        if math.isnan(self.cosine[index]):
            return FoundBy.KEYWORD
        return FoundBy.VECTOR if math.isnan(self.bm25[index]) else FoundBy.HYBRID


@dataclass(frozen=True, slots=True)
class Found:
    """What the lanes found of the same rows in reach."""

    keyword: LaneHits
    meaning: LaneHits


NO_HITS = LaneHits(np.empty(0, np.uint32), np.empty(0, np.float32), np.empty(0, np.uint32))


def best_rows(hits: LaneHits, n: int, id_key: IdKey) -> LaneHits:
    """The first *n* of *hits*, where equal scores stand in order of row id.

    *hits* are the best by score, with all that tie with the last of the first *n*.
    """
    scores = hits.scores
    count = len(scores)
    if count > 1 and (n < count or bool((scores[1:] >= scores[:-1]).any())):
        rows = hits.rows.tolist()
        ranked = sorted(range(count), key=lambda i: (-scores[i], id_key(rows[i])))
        return _taken(hits, ranked[:n], exhausted=hits.exhausted and n >= count)
    return hits


def only(hits: LaneHits, kept: NDArray[np.bool_]) -> LaneHits:
    """Those of *hits* that are *kept*."""
    return _taken(hits, np.flatnonzero(kept), exhausted=hits.exhausted)


def _taken(hits: LaneHits, places: Sequence[int] | NDArray[np.int64], exhausted: bool) -> LaneHits:
    taken = np.asarray(places, np.int64)
    return LaneHits(hits.rows[taken], hits.scores[taken], hits.passages[taken], exhausted)


def joined(first: LaneHits, second: LaneHits) -> LaneHits:
    """Two lists of one lane over different rows as one, not ordered."""
    return LaneHits(
        np.concatenate([first.rows, second.rows]),
        np.concatenate([first.scores, second.scores]),
        np.concatenate([first.passages, second.passages]),
        first.exhausted and second.exhausted,
    )


def found_together(first: Found, second: Found) -> Found:
    """What the lanes found of two sets of rows, each lane's as one list, not ordered."""
    return Found(joined(first.keyword, second.keyword), joined(first.meaning, second.meaning))


def merge(keyword: LaneHits, meaning: LaneHits = NO_HITS) -> Pool:
    """One pool of both lanes' rows, by row number.

    Of a row that both found, the keyword lane's passage is shown: its words can be marked.
    """
    if not len(meaning.rows):
        order = np.argsort(keyword.rows)
        bm25 = keyword.scores[order].astype(np.float64)
        return Pool(keyword.rows[order], keyword.passages[order], bm25, np.full(len(order), np.nan))
    rows = np.union1d(keyword.rows, meaning.rows).astype(np.uint32)
    passages = np.zeros(len(rows), np.uint32)
    bm25 = np.full(len(rows), np.nan)
    cosine = np.full(len(rows), np.nan)
    for hits, scores in ((meaning, cosine), (keyword, bm25)):
        places = np.searchsorted(rows, hits.rows)
        scores[places] = hits.scores
        passages[places] = hits.passages
    return Pool(rows, passages, bm25, cosine)


def ranking(pool: Pool, total: NDArray[np.float64], id_key: IdKey) -> list[int]:
    """Places in *pool*, the highest *total* first and equal ones in order of row id."""
    totals = total.tolist()
    if len(set(totals)) == len(totals):
        return sorted(range(len(totals)), key=totals.__getitem__, reverse=True)
    rows = pool.rows.tolist()
    return sorted(range(len(rows)), key=lambda i: (-totals[i], id_key(rows[i])))
